"""Comparison of machines for an exchange: the best algorithm on each, and by what factor they differ.

A simulated time depends on the order in which packets that come to a switch at one time are sent on. Machines are
compared by the range of the times of several orders: where the ranges of two meet, neither is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError, gathered
from tradewind.base.result import Result
from tradewind.machine import MachineFile, load_machine
from tradewind.simulation import prepare
from tradewind.simulation.advice import BY, Clock, Report, TooLongError, advise
from tradewind.workload.exchange import Exchange

ORDERS = "ports,seed=1..3"
"""Orders of packets whose times make the spread."""
SPREAD = 1 / 3
"""The part of a machine's share of the budget that is kept for them."""


def compare_machines(
    exchange: Exchange,
    machines: Sequence[str | Path | MachineFile],
    *,
    budget_s: float = 60.0,
    settings: dict[str, str] | None = None,
    progress: Report | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The best algorithm for an exchange on each of several machines, and the fastest machine, by simulation.

    `budget_s`: seconds of processor time for all machines; each has an equal share of what is left. `options` as of
    `advise`; ``ranks_per_node="cores"`` takes those of each machine.

    Returns the request without its algorithm, ``budget_s``, and

    - ``best``: the name of the machine with the minimum time, None where the budget did not do for any;
    - ``machines``: what `advise` returns for each, by ascending time (or joules: `by`) of its best algorithm, with
      ``ratio`` to the best machine, ``spread_s``, the shortest and the longest time of that algorithm in several
      orders of packets (None where the budget did not do for them), and ``ratio_range``, that of the ratios between
      the two ranges of times;
    - ``left_out``: machines that cannot be used or for which the budget did not do: ``machine`` and ``reason``.

    Raises InputError, also where no machine can be used.
    """
    files: list[MachineFile] = []
    problems: list[str] = []
    for machine in machines:
        with gathered(problems):
            files.append(machine if isinstance(machine, MachineFile) else load_machine(machine, settings))
    if problems:
        raise InputError(*problems)
    if not budget_s > 0:
        raise InputError(f"budget {budget_s} s: a time above 0 is allowed")
    clock = Clock(budget_s)
    found: list[dict[str, Any]] = []
    left_out: list[dict[str, str]] = []
    refusals: dict[str, str] = {}
    for number, file in enumerate(files):
        share_s = max(clock.left_s / (len(files) - number), 1e-9)
        report = _of_machine(progress, file.name)
        began = Clock(share_s)
        try:
            advice = advise(exchange, file, budget_s=share_s * (1 - SPREAD), progress=report, **options)
        except InputError as error:
            refusals[file.name] = "; ".join(error.problems)
            left_out.append({"machine": file.name, "reason": refusals[file.name]})
            continue
        if advice["best"] is None:
            left_out.append({"machine": file.name, "reason": "nothing could be simulated: give it more time"})
        else:
            advice["spread_s"] = _spread(exchange, file, advice, began, report, options)
            found.append(advice)
    if len(refusals) == len(files):
        reasons = set(refusals.values())
        raise InputError(*(reasons if len(reasons) == 1 else (f"{name}: {text}" for name, text in refusals.items())))
    key = BY[found[0]["by"]] if found else "time_s"
    found.sort(key=lambda advice: float(advice["results"][0][key]))
    for advice in found:
        advice |= _ratios(advice, found[0])
    request = {key: value for key, value in exchange.as_dict().items() if key != "algorithm"}
    comparison = {
        "budget_s": budget_s,
        "best": found[0]["machine"] if found else None,
        "machines": found,
        "left_out": left_out,
    }
    return Result(request | comparison)


def _of_machine(progress: Report | None, machine: str) -> Callable[[str], None]:
    """Return a callback that reports what is done for one machine."""
    return lambda text: None if progress is None else progress(f"{machine}: {text}")


def _spread(
    exchange: Exchange, file: MachineFile, advice: dict[str, Any], clock: Clock, report: Report, options: dict[str, Any]
) -> list[float] | None:
    """Return the shortest and the longest time of the best algorithm in several orders of packets."""
    if advice["model"] != "packet":
        return None
    asked = {key: value for key, value in options.items() if key not in ("algorithms", "packet", "by")}
    asked["ranks_per_node"] = advice["ranks_per_node"]
    packet = advice["packet_bytes"] if advice["packet_bytes"] == "message" else f"{advice['packet_bytes']}B"
    best = replace(exchange, algorithm=advice["best"])
    report(f"orders of packets of {advice['best']}")
    try:
        result = clock.run(prepare(best, file, packet=packet, buffers="unbounded", order=ORDERS, **asked))
    except (TooLongError, InputError):
        return None
    times = result["order_time_s"].values()
    return [min(times), max(times)]


def _ratios(advice: dict[str, Any], best: dict[str, Any]) -> dict[str, Any]:
    """Return the ratio of the time of a machine to that of the fastest, and its range."""
    key = BY[best["by"]]
    time_s, best_s = advice["results"][0][key], best["results"][0][key]
    ratio = time_s / best_s if best_s > 0 else 1.0
    own, other = advice["spread_s"], best["spread_s"]
    if own is None or other is None or not other[0] > 0 or key != "time_s":
        return {"ratio": ratio, "ratio_range": None}
    return {"ratio": ratio, "ratio_range": [own[0] / other[1], own[1] / other[0]] if advice is not best else [1.0, 1.0]}
