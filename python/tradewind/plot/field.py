"""A level of a field before and after a run, as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.files import check_target, write_atomically
from tradewind.plot.export import SUFFIXES, picture
from tradewind.plot.style import CONFIG

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_CELLS = 96  # along a side
_SIDE = 320  # pixels of the longer side


def coarse(level: NDArray[Any]) -> NDArray[np.float64]:
    """A level [y][x] as a picture can show it: the means of blocks of points, at most 96 along a side."""
    stride = math.ceil(max(level.shape) / _MAX_CELLS)
    values = np.asarray(level, np.float64)
    for axis in (0, 1):
        starts = np.arange(0, level.shape[axis], stride)
        lengths = np.diff([*starts, level.shape[axis]])
        shape = [-1 if a == axis else 1 for a in (0, 1)]
        values = np.add.reduceat(values, starts, axis) / lengths.reshape(shape)
    return values


def check_path(path: Path) -> None:
    """Raises InputError where a picture cannot be written to a file of this name."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"picture {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    check_target(path, "picture")


def save_levels(
    levels: Sequence[Sequence[Sequence[float]]], titles: Sequence[str], extent: tuple[int, int], path: Path
) -> None:
    """Draws levels [y][x] side by side in one scale of colours; y points up. `extent`: grid points along x, y.

    Raises InputError where the file cannot be written.
    """
    import altair as alt

    check_path(path)
    low, high = (pick(pick(row) for level in levels for row in level) for pick in (min, max))
    colour = alt.Color("v:Q", title="value", scale=alt.Scale(scheme="viridis", domain=[low, high]))
    panels = [_panel(f"level {i}", extent, colour).properties(title=title) for i, title in enumerate(titles)]
    specification = alt.hconcat(*panels).configure_view(stroke="#888").to_dict()
    # Not by altair, which holds every value against the schema of its charts: seconds for thousands of cells.
    specification["datasets"] = {f"level {i}": _cells(level, extent) for i, level in enumerate(levels)}
    described = f"A level of a field, {extent[0]} x {extent[1]} grid points: {', '.join(titles)}."
    config = {**CONFIG, "background": "white", **specification["config"]}
    drawn = {**specification, "config": config, "description": described}
    write_atomically(path, picture(drawn, path.suffix, 2), "picture")


def _cells(level: Sequence[Sequence[float]], extent: tuple[int, int]) -> list[dict[str, float]]:
    nx, ny = extent
    stride = math.ceil(max(extent) / _MAX_CELLS)
    return [
        {"x": i * stride, "x2": min((i + 1) * stride, nx), "y": j * stride, "y2": min((j + 1) * stride, ny), "v": value}
        for j, row in enumerate(level)
        for i, value in enumerate(row)
    ]


def _panel(cells: str, extent: tuple[int, int], colour: Any) -> Any:
    """A picture of the dataset of that name."""
    import altair as alt

    nx, ny = extent
    axis = alt.Axis(grid=False, tickMinStep=1, format="d")
    return (
        alt.Chart(alt.NamedData(cells))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X("x:Q", title="x (grid point)", axis=axis, scale=alt.Scale(domain=[0, nx], nice=False)),
            x2="x2",
            y=alt.Y("y:Q", title="y (grid point)", axis=axis, scale=alt.Scale(domain=[0, ny], nice=False)),
            y2="y2",
            color=colour,
        )
        .properties(width=_SIDE * nx / max(extent), height=_SIDE * ny / max(extent))
    )
