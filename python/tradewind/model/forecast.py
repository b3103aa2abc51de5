"""The time of a model's step on a machine, and how fast a forecast is: by simulation, split by part and by cause."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.result import Result
from tradewind.machine import MachineFile, load_machine
from tradewind.model.energy import forecast_energy
from tradewind.model.step_program import Stepping, StepProgram
from tradewind.simulation import simulate as whole_simulation
from tradewind.simulation.causes import ROOFS, Idealized, by_cause, idealized
from tradewind.simulation.checks import ranks_per_node_on, threads_per_rank_on
from tradewind.simulation.progress import Watch

Simulate = Callable[..., dict[str, Any]]
"""Simulates a program, (program, machine, ...), as `tradewind.simulation.simulate` does."""
_DAYS_PER_YEAR = 365.25
_SECONDS_PER_DAY = 86400.0
_KEPT = (
    *("model", "machine", "topology", "routing", "buffers", "packet_bytes", "seed", "settings"),
    *("messages", "bytes", "packet_hops"),
    *("compute_imbalance", "noise", "background"),
)
"""Values of the simulation of a step that are kept in a forecast."""


@dataclass(frozen=True)
class _Run:
    """A simulated step, and the share of the steps of a forecast that it stands for."""

    weight: float
    made: StepProgram
    figures: dict[str, Any]
    without: Idealized | None = None

    @property
    def durations(self) -> list[float]:
        """Time from the end of each step of the program to that of the next, on the last rank."""
        ends = list((self.figures.get("step_end_s") or self.figures["step_time_s"]).values())
        latest = [max(ends[: i + 1]) for i in range(len(ends))]
        return [end - begin for begin, end in zip([0.0, *latest], latest, strict=False)]

    @property
    def computing_s(self) -> float:
        return sum(s for computes, s in zip(self.made.computes, self.durations, strict=True) if computes)


def forecast(
    model: Stepping,
    machine: str | Path | MachineFile,
    ranks: int,
    /,  # `model` is an option of simulations, too
    *,
    split: tuple[int, int] | None = None,
    threads_per_rank: int | None = None,
    causes: bool = False,
    force: bool = False,
    progress: Watch | None = None,
    settings: Mapping[str, str] | None = None,
    simulate: Simulate = whole_simulation,
    **options: Any,
) -> dict[str, Any]:
    """Simulate a step of a model on a machine.

    `threads_per_rank`: threads of a rank that compute, on a machine with rates of cores, in whose results they are;
    None: as many as fill the cores of a node. Returns `time_s`, the seconds of a step, in the mean over steps that
    do something every n steps and those that do not; `forecast_days_per_day` and `simulated_years_per_day`, which
    follow; `part_s` and `share`: the seconds of each part of the model and their share; `computing_s` and
    `exchanging_s`; `nodes`; `simulations` and `wall_s`, what the answer has cost. With `causes`: `cause_s`, the
    same seconds by cause (see `tradewind.simulation.causes`); `compute_by_s`, those of the cause compute by what
    limits them; `bound_by`, what takes the most, and its `bound_share`. And the energy of a step and of a forecast
    day (see `tradewind.model.energy`). `settings`: changed values of the machine. `simulate`: simulates the
    programs; `options`: those of `tradewind.simulation.prepare`. Raises InputError.
    """
    begin = time.perf_counter()
    file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
    each = ranks_per_node_on(file, options.get("ranks_per_node") or 1)
    threads = threads_per_rank_on(file.machine, each, threads_per_rank)
    runs = _runs(model, file, ranks, split, threads, partial(simulate, force=force, progress=progress, **options))
    if causes:
        runs = [_with_causes(run, file, options) for run in runs]
    figures, time_s = runs[0].figures, sum(run.weight * run.figures["time_s"] for run in runs)
    part_s, computing_s = _by_part(runs), sum(run.weight * run.computing_s for run in runs)
    if time_s == 0:
        raise InputError(
            f"a step of {model.name} takes no time on {ranks} ranks: a computation or messages between ranks are needed"
        )
    days = model.step_s / time_s
    found = {
        "program": model.name,
        "ranks": ranks,
        "split": list(split or model.split(ranks)),
        "numbers": model.numbers(ranks),
        **{name: value for name, value in options.items() if name not in _KEPT},
        **{key: figures[key] for key in _KEPT if key in figures},
        "ranks_per_node": each,
        **({"threads_per_rank": threads} if file.machine.has_core_rates else {}),
        "nodes": math.ceil(ranks / each),
        "step_s": model.step_s,
        "time_s": time_s,
        "forecast_days_per_day": days,
        "simulated_years_per_day": days / _DAYS_PER_YEAR,
        "part_s": part_s,
        "share": {part: seconds / time_s for part, seconds in part_s.items()},
        "computing_s": computing_s,
        "exchanging_s": time_s - computing_s,
        **(_caused(runs) if causes else {}),
        **forecast_energy([(run.weight, run.figures) for run in runs], model.step_s),
        "simulations": len(runs) + sum(run.without.simulations for run in runs if run.without),
        "wall_s": time.perf_counter() - begin,
    }
    return Result(found)


def forecast_s(days: float, result: Mapping[str, Any]) -> float:
    """Return the seconds that a forecast of `days` days takes, by the result of `forecast`."""
    return float(days / result["forecast_days_per_day"] * _SECONDS_PER_DAY)


def _runs(
    model: Stepping,
    file: MachineFile,
    ranks: int,
    split: tuple[int, int] | None,
    threads: int,
    simulate: Simulate,
) -> list[_Run]:
    """Simulate a step that does what each one does, and one more for all that is done now and then."""
    kinds = model.every(ranks)
    weights = {1: 1 - sum(1 / every for every in kinds)} | {every: 1 / every for every in kinds}
    runs = []
    for every, weight in weights.items():
        made = model.program(ranks, split, every)
        made = replace(made, program=made.program.with_threads(threads))
        runs.append(_Run(weight, made, simulate(made.program, file)))
    return runs


def _with_causes(run: _Run, file: MachineFile, options: dict[str, Any]) -> _Run:
    return replace(run, without=idealized(run.made.program, file, run.figures["time_s"], options))


def _by_part(runs: Sequence[_Run]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for run in runs:
        for part, seconds in zip(run.made.parts, run.durations, strict=True):
            found[part] += run.weight * seconds
    return dict(found)


def _caused(runs: Sequence[_Run]) -> dict[str, Any]:
    """Return the seconds of a step by cause, and what takes the most."""
    without = [(run.weight, run.without) for run in runs if run.without is not None]
    times = [sum(weight * each.time_s[i] for weight, each in without) for i in range(len(without[0][1].time_s))]
    compute_by = dict.fromkeys(ROOFS, 0.0)
    for weight, each in without:
        for roof, seconds in zip(each.roofs, each.computing_s, strict=True):
            compute_by[roof] += weight * seconds
    cause_s = by_cause(times, sum(compute_by.values()))
    bounds = {**compute_by, **{cause: seconds for cause, seconds in cause_s.items() if cause != "compute"}}
    most = max(bounds, key=lambda name: bounds[name])
    return {
        "cause_s": cause_s,
        "compute_by_s": {roof: seconds for roof, seconds in compute_by.items() if seconds},
        "bound_by": most,
        "bound_share": bounds[most] / times[0],
    }
