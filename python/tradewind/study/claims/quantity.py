"""Quantities that findings and plots compare.

===================== ===========================================================================================
``time``              the time of the exchange
``days-per-day``      of a whole model: days of forecast in a day
``hour-time``         of a whole model: seconds that an hour of forecast takes
``congestion-share``  of a whole model, of a sweep with `causes`: the share of a step that is due to a cause; likewise
                      ``compute-``, ``imbalance-``, ``waiting-for-servers-``, ``pack-``, ``latency-`` and
                      ``bandwidth-share``
``minimum``           the shortest sample of a measurement; for other cases, the time
``step-time``         time per step of a dwarf, program or model
``replay-ratio``      of a recorded program: its time on the machine over the recorded time
``compute``           the part of a step in which the median rank computes; simulated: a step without exchanges
``non-compute``       the rest of the step: the exchange, waiting, and the loop around
``non-compute-share`` the rest, as a share of the step
``points``            grid points per second: those that all ranks together advance by a step
``copy-ratio``        time of a run over that of a memory copy of what it must read and write; of a measured
                      exchange, over that of a memory copy of the bytes that it sends
``imbalance``         bytes of the busiest link between switches over the mean of those used
``bound``             the time of the busiest link or NIC alone
``delay``             mean delay of packets, over all pairs of blocks of ranks that sent any (with `pairs`)
``delay-imbalance``   the largest mean delay of such a pair over the mean of all pairs
``switch-time``       time times the number of switches: what the exchange costs where all switches cost the same
``node-time``         time times the number of nodes: what a step costs where all nodes cost the same
``memory``            bytes per node: of a simulated dwarf its arrays and tables, where it states them; of a run here
                      the largest resident set, of all ranks together
``messages``          messages of all ranks in a simulation
``efficiency``        of a program: compute time of one rank with the whole grid, over ranks x time
``parallel-loss``     time of a program beyond an equal share of what one rank computes
``blocked``           of a run with output: time that the model does not compute
``blocked-share``     the same as a share of the model's time
``link-time``         time times the number of links between switches, likewise
``energy``            joules of an exchange, or per step, of a simulation on a machine with power
``node-power``        mean power of a node of the job, likewise
``power-imbalance``   power of the rank that draws most over the mean of all, likewise
===================== ===========================================================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tradewind.base.units import format_joules, format_seconds, format_watts
from tradewind.simulation.causes import CAUSES
from tradewind.study.cases.model_request import WEATHER_MODEL
from tradewind.study.cases.whole_steps import WHOLE_STEPS

Record = Mapping[str, Any]
_HOUR_S = 3600.0
COMPUTE = "compute"
"""Beginning of the names of parts of a run that compute, see `tradewind.dwarfs.frame.running`."""


@dataclass(frozen=True)
class Quantity:
    """A quantity: how to get it from a case, and its title on axes and in tables."""

    get: Callable[[Record], float | None]
    title: str
    """Title with its unit."""
    show: Callable[[float], str]
    is_part: bool = False
    """Shares of a whole: axes go from 0 to 100 %."""


def quantity_of(case: Record, quantity: str) -> float | None:
    """The value of a case; None where it does not have it."""
    value = QUANTITIES[quantity].get(case)
    return None if value is None else float(value)


def _minimum(case: Record) -> float | None:
    if case["kind"] == "measure":
        return float(case["result"]["results"][0]["min_s"])
    if case["kind"] == "run":
        return float(min(case["result"]["samples_s"]) / case["result"]["steps"])
    return None if case["time_s"] is None else float(case["time_s"])


def _hour_time(case: Record) -> float | None:
    days = case["result"].get("forecast_days_per_day")
    return None if days is None else _HOUR_S / float(days)


def _of_result(key: str) -> Callable[[Record], float | None]:
    return lambda case: case["result"].get(key)


def _copy_ratio(case: Record) -> float | None:
    """Return the ratio of a run, or of a measured exchange that of all bytes that were sent."""
    result = case["result"]
    if case["kind"] != "measure":
        return _of_result("ratio_to_copy")(case)
    copied, sent = result.get("copy_bytes_per_s"), result["results"][0].get("bytes_per_s")
    return copied / sent if copied and sent else None


def _waits(case: Record) -> list[float]:
    """The mean delays of all pairs of blocks. Those that sent nothing, or waited for nothing, are 0 and left out."""
    return [delay for row in case["result"].get("delay_pairs") or [] for delay in row if delay > 0]


def _mean_delay(case: Record) -> float | None:
    waits = _waits(case)
    return sum(waits) / len(waits) if waits else None


def _delay_imbalance(case: Record) -> float | None:
    waits = _waits(case)
    return max(waits) * len(waits) / sum(waits) if waits else None


def is_step(case: Record) -> bool:
    """Whether a case is about a whole time step, of a dwarf, a program, a model or a run with output."""
    return bool(case.get("dwarf")) or case.get("pattern") in WHOLE_STEPS


def _step_time(case: Record) -> float | None:
    return float(case["time_s"]) if is_step(case) else None


def _compute(case: Record) -> float | None:
    """Return the seconds per step of computing: of a run, of all its parts that begin so, medians added."""
    if case["kind"] == "run":
        return sum(seconds for part, seconds in parts_of(case).items() if part.startswith(COMPUTE))
    seconds = case["result"].get("compute_s")
    return None if seconds is None else float(seconds)


def has_parts(case: Record) -> bool:
    """Whether the time of a case is that of parts: of a run, or of a whole model."""
    return case["kind"] == "run" or case.get("pattern") == WEATHER_MODEL


def parts_of(case: Record) -> dict[str, float]:
    """Return the seconds per step of each part of a run: the median over the ranks; of a model, those simulated."""
    result = case["result"]
    if case.get("pattern") == WEATHER_MODEL:
        return dict(result["step_time_s"])
    return {row["part"]: row["median_s"] / result["steps"] for row in result.get("parts", [])}


def causes_of(case: Record) -> dict[str, float]:
    """Return the seconds of each cause of a step (see `tradewind.simulation.causes`); none where they are not known."""
    return dict(case["result"].get("cause_s") or {})


def _cause_share(cause: str) -> Callable[[Record], float | None]:
    def get(case: Record) -> float | None:
        seconds = causes_of(case).get(cause)
        return None if seconds is None else seconds / float(case["time_s"])

    return get


def _non_compute(case: Record) -> float | None:
    compute = _compute(case) if is_step(case) else None
    return None if compute is None else max(0.0, float(case["time_s"]) - compute)


def _share(case: Record) -> float | None:
    seconds = _non_compute(case)
    return None if seconds is None else seconds / float(case["time_s"])


def _points(case: Record) -> float | None:
    if not is_step(case) or not case.get("grid"):
        return None
    points = case["result"].get("points")
    if points is None:
        if not re.fullmatch(r"\d+(x\d+)*", case["grid"]):  # a mesh such as O1024, of a published time
            return None
        points = math.prod(int(n) for n in case["grid"].split("x"))
    return float(points) / float(case["time_s"])


def _share_of_one(case: Record) -> float | None:
    """Return what one rank computes for the whole grid of a program, divided by the number of ranks."""
    alone = case["result"].get("alone_s")
    return None if alone is None else float(alone) / case["ranks"]


def _efficiency(case: Record) -> float | None:
    share = _share_of_one(case)
    return None if share is None else share / float(case["time_s"])


def _parallel_loss(case: Record) -> float | None:
    share = _share_of_one(case)
    return None if share is None else float(case["time_s"]) - share


def _blocked_share(case: Record) -> float | None:
    blocked, compute = (case["result"].get(key) for key in ("blocked_s", "compute_s"))
    return None if blocked is None or compute is None else float(blocked) / (float(blocked) + float(compute))


def _times(what: str) -> Callable[[Record], float | None]:
    def get(case: Record) -> float | None:
        number = case.get(what)
        return None if number is None else float(case["time_s"]) * number

    return get


def _node_time(case: Record) -> float | None:
    """Return the time of all nodes; where the case does not have their number, of as many as its ranks fill."""
    nodes = case.get("nodes")
    if nodes is None and case.get("ranks_per_node"):
        nodes = math.ceil(case["ranks"] / case["ranks_per_node"])
    return None if nodes is None else float(case["time_s"]) * nodes


def _memory(case: Record) -> float | None:
    total = case["result"].get("peak_rss_bytes" if case["kind"] == "run" else "memory_bytes")
    nodes = 1 if case["kind"] == "run" else case.get("nodes")
    return None if total is None or nodes is None else float(total) / nodes / 1e9


def _energy(case: Record) -> float | None:
    """Return the joules of an exchange, or of a step; of simulations alone: measured ones are of all repetitions."""
    joules = case["result"].get("energy_j") if case["kind"] == "simulate" else None
    return None if joules is None else float(joules) / case["result"].get("steps", 1)


def _number(value: float) -> str:
    return f"{value:.3g}"


QUANTITIES: dict[str, Quantity] = {
    "time": Quantity(lambda case: case["time_s"], "time of the exchange (s)", format_seconds),
    "days-per-day": Quantity(
        _of_result("forecast_days_per_day"), "days of forecast in a day", lambda value: f"{value:.3g} days per day"
    ),
    "hour-time": Quantity(_hour_time, "time of an hour of forecast (s)", format_seconds),
    "minimum": Quantity(_minimum, "shortest time of the exchange (s)", format_seconds),
    "step-time": Quantity(_step_time, "time per step (s)", format_seconds),
    "replay-ratio": Quantity(_of_result("replay_ratio"), "replayed time over recorded time", _number),
    "compute": Quantity(
        lambda case: _compute(case) if is_step(case) else None, "compute time per step (s)", format_seconds
    ),
    "non-compute": Quantity(_non_compute, "non-compute time per step (s)", format_seconds),
    "non-compute-share": Quantity(_share, "non-compute share of a step", _number),
    "points": Quantity(_points, "points per second", lambda value: f"{value / 1e9:.3g} Gpoint/s"),
    "copy-ratio": Quantity(_copy_ratio, "time over that of a memory copy", _number),
    "imbalance": Quantity(_of_result("imbalance"), "busiest link over the mean", _number),
    "bound": Quantity(_of_result("bound_s"), "time of the busiest link or NIC (s)", format_seconds),
    "delay": Quantity(_mean_delay, "mean delay of packets between blocks of ranks (s)", format_seconds),
    "delay-imbalance": Quantity(_delay_imbalance, "largest delay between blocks of ranks over the mean", _number),
    "node-time": Quantity(_node_time, "time x nodes (s)", lambda value: f"{value:.3g} node-seconds"),
    "memory": Quantity(_memory, "memory per node (GB)", lambda value: f"{value:.3g} GB"),
    "messages": Quantity(_of_result("messages"), "messages", _number),
    "efficiency": Quantity(_efficiency, "parallel efficiency", _number, is_part=True),
    "parallel-loss": Quantity(_parallel_loss, "parallel loss per step: time beyond an equal share (s)", format_seconds),
    "blocked": Quantity(_of_result("blocked_s"), "time that the model does not compute (s)", format_seconds),
    "blocked-share": Quantity(_blocked_share, "share of time without computing", _number, is_part=True),
    "switch-time": Quantity(_times("switches"), "time x switches (s)", lambda value: f"{value:.3g} switch-seconds"),
    "energy": Quantity(_energy, "energy (J)", format_joules),
    "node-power": Quantity(_of_result("node_power_w"), "mean power of a node (W)", format_watts),
    "power-imbalance": Quantity(_of_result("power_imbalance"), "largest power of a rank over the mean", _number),
    "link-time": Quantity(_times("links"), "time x links (s)", lambda value: f"{value:.3g} link-seconds"),
    **{
        f"{cause.replace(' ', '-')}-share": Quantity(
            _cause_share(cause), f"share of a step that is due to {cause}", _number, is_part=True
        )
        for cause in CAUSES
    },
}
