"""Strong and weak scaling of a model: the same grid on more ranks, or a grid that grows with the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tradewind.base.errors import InputError, gathered
from tradewind.base.names import unknown
from tradewind.machine import MachineFile, load_machine
from tradewind.model.forecast import forecast
from tradewind.model.step_program import OnGrid

Grown = TypeVar("Grown", bound=OnGrid)
SCALES = ("strong", "weak")
"""strong: the grid stays. weak: it grows with the ranks, so that each rank keeps its points."""


def scaled(model: Grown, scale: str, ranks: Sequence[int]) -> list[tuple[Grown, tuple[int, int] | None]]:
    """Return the model for each number of ranks, with its split; None: the usual one.

    The grid grows along x and y as the ranks along x and y do, from the first number of ranks on; its spacing, its
    step and all numbers stay. Raises InputError with the problems of all numbers of ranks.
    """
    if scale not in SCALES:
        raise InputError(unknown("scale", scale, SCALES))
    if scale == "strong":
        return [(model, None) for _ in ranks]
    first = model.split(ranks[0])
    made: list[tuple[Grown, tuple[int, int] | None]] = []
    problems: list[str] = []
    for number in ranks:
        with gathered(problems):
            made.append(model.grown(number, first))
    if problems:
        raise InputError(*dict.fromkeys(problems))
    return made


def scaling(
    model: Grown,
    machine: str | Path | MachineFile,
    ranks: Sequence[int],
    *,
    scale: str = "strong",
    settings: dict[str, str] | None = None,
    **options: Any,
) -> Iterator[tuple[Grown, dict[str, Any]]]:
    """Simulate a model on several numbers of ranks, and yield what was simulated and its forecast.

    A forecast is the result of `tradewind.model.forecast.forecast`, with `scale`, `grid` and `efficiency`: the points
    that a rank has done per second, over those of a rank of the first forecast. Raises InputError.
    """
    file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
    first: dict[str, Any] = {}
    first_points = 0.0
    for number, (each, split) in zip(ranks, scaled(model, scale, ranks), strict=True):
        result = forecast(each, file, number, split=split, **options)
        points = each.point_count / number or 1.0  # of elements each rank has the same number
        first, first_points = first or result, first_points or points
        efficiency = first["time_s"] / result["time_s"] * (points / first_points)
        result |= {"scale": scale, "grid": each.grid_text, "efficiency": efficiency}
        yield each, result
