"""The time of a model's step on a machine, and how fast a forecast is: by simulation, split by part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tradewind.base.result import Result
from tradewind.machine import MachineFile
from tradewind.model.energy import forecast_energy
from tradewind.model.step_program import Stepping, StepProgram
from tradewind.simulation import simulate as whole_simulation
from tradewind.simulation.progress import Watch

Simulate = Callable[..., dict[str, Any]]
"""Simulates a program, (program, machine, ...), as `tradewind.simulation.simulate` does."""
_DAYS_PER_YEAR = 365.25


def forecast(
    model: Stepping,
    machine: str | Path | MachineFile,
    ranks: int,
    /,  # `model` is an option of simulations, too
    *,
    split: tuple[int, int] | None = None,
    force: bool = False,
    progress: Watch | None = None,
    simulate: Simulate = whole_simulation,
    **options: Any,
) -> dict[str, Any]:
    """Simulate a step of a model on a machine.

    Returns `time_s`, the seconds of a step, in the mean over steps that do something every n steps and those that do
    not; `forecast_days_per_day` and `simulated_years_per_day`, which follow; `part_s` and `share`: the seconds of each
    part of the model and their share; `computing_s` and `exchanging_s`; the energy of a step and of a forecast day (see
    `tradewind.model.energy`). `simulate`: simulates the programs; `options`: those of `tradewind.simulation.prepare`.
    Raises InputError.
    """
    run = partial(
        _simulated, model, machine, ranks, split, partial(simulate, force=force, progress=progress, **options)
    )
    first, figures = run(1)
    part_s = _by_part(first, figures)
    time_s, computing_s = figures["time_s"], _computing(first, figures)
    runs = [(1.0, figures)]
    for every in model.every(ranks):
        more, found = run(every)
        runs += [(1 / every, found), (-1 / every, figures)]
        time_s += (found["time_s"] - figures["time_s"]) / every
        computing_s += (_computing(more, found) - _computing(first, figures)) / every
        others = _by_part(more, found)
        for part in others.keys() | part_s.keys():
            plain = _by_part(first, figures).get(part, 0.0)
            part_s[part] = part_s.get(part, 0.0) + (others.get(part, 0.0) - plain) / every
    days = model.step_s / time_s
    kept = (
        *("model", "machine", "topology", "routing", "buffers", "packet_bytes", "seed"),
        *("messages", "bytes", "packet_hops"),
        *("compute_imbalance", "noise", "background"),
    )
    found = {
        "program": model.name,
        "ranks": ranks,
        "split": list(split or model.split(ranks)),
        "numbers": model.numbers(ranks),
        **{name: value for name, value in options.items() if name not in kept},
        **{key: figures[key] for key in kept if key in figures},
        "ranks_per_node": options.get("ranks_per_node") or 1,
        "step_s": model.step_s,
        "time_s": time_s,
        "forecast_days_per_day": days,
        "simulated_years_per_day": days / _DAYS_PER_YEAR,
        "part_s": part_s,
        "share": {part: seconds / time_s for part, seconds in part_s.items()},
        "computing_s": computing_s,
        "exchanging_s": time_s - computing_s,
        **forecast_energy(runs, model.step_s),
        "wall_s": figures["wall_s"],
    }
    return Result(found)


def _simulated(
    model: Stepping,
    machine: str | Path | MachineFile,
    ranks: int,
    split: tuple[int, int] | None,
    simulate: Simulate,
    every: int,
) -> tuple[StepProgram, dict[str, Any]]:
    made = model.program(ranks, split, every)
    return made, simulate(made.program, machine)


def _durations(figures: dict[str, Any]) -> list[float]:
    """Return the time from the end of each step to that of the next, on the last rank."""
    ends = list((figures.get("step_end_s") or figures["step_time_s"]).values())
    latest = [max(ends[: i + 1]) for i in range(len(ends))]
    return [end - begin for begin, end in zip([0.0, *latest], latest, strict=False)]


def _by_part(made: StepProgram, figures: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for part, seconds in zip(made.parts, _durations(figures), strict=True):
        found[part] += seconds
    return dict(found)


def _computing(made: StepProgram, figures: dict[str, Any]) -> float:
    return sum(s for computes, s in zip(made.computes, _durations(figures), strict=True) if computes)
