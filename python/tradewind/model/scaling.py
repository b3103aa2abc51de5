"""Strong and weak scaling of a model: the same grid on more ranks, or a grid that grows with the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.machine import MachineFile, load_machine
from tradewind.model.forecast import forecast
from tradewind.model.step_program import OnGrid

Grown = TypeVar("Grown", bound=OnGrid)
SCALES = ("strong", "weak")
"""strong: the grid stays. weak: it grows with the ranks, so that each rank keeps its points."""


def scaled(model: Grown, scale: str, ranks: Sequence[int]) -> list[Grown]:
    """Return the model for each number of ranks. Raises InputError.

    The grid grows along x and y as the ranks along x and y do, from the first number of ranks on; its spacing, its
    step and all numbers stay.
    """
    if scale not in SCALES:
        raise InputError(unknown("scale", scale, SCALES))
    if scale == "strong":
        return [model for _ in ranks]
    if model.extents is None:
        raise InputError(f"scale weak: the points of {model.grid_text} are fixed; a grid such as 1536x1440x90 can grow")
    nx, ny, nz = model.extents
    first = model.split(ranks[0])
    made = []
    for number in ranks:
        cx, cy = model.split(number)
        grid = (round(nx * cx / first[0]), round(ny * cy / first[1]), nz)
        made.append(model.on_grid(grid))
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
    for number, each in zip(ranks, scaled(model, scale, ranks), strict=True):
        result = forecast(each, file, number, split=model.split(number), **options)
        first = first or result
        result |= {"scale": scale, "grid": each.grid_text, "efficiency": _efficiency(result, first, scale)}
        yield each, result


def _efficiency(result: dict[str, Any], first: dict[str, Any], scale: str) -> float:
    speed_up = first["time_s"] / result["time_s"]
    return float(speed_up if scale == "weak" else speed_up * first["ranks"] / result["ranks"])
