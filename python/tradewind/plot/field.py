"""A level of a field before and after a run, as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.files import check_target, write_atomically
from tradewind.plot.export import SUFFIXES, VEGA_LITE, picture
from tradewind.plot.sphere import sphere_cells, sphere_panel
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


@dataclass(frozen=True)
class Shown:
    """What the values of a level are, and where its points lie."""

    name: str = "value"
    units: str = "1"
    on_sphere: bool = False
    """Rows are latitudes from the south, columns longitudes; else both are numbers of grid points."""
    west: float = 0.0
    """On the sphere: by how many points the first one begins before longitude 0."""

    @property
    def title(self) -> str:
        """The name and the unit."""
        return self.name if self.units == "1" else f"{self.name} ({self.units})"


def save_levels(
    levels: Sequence[Sequence[Sequence[float]]],
    titles: Sequence[str],
    extent: tuple[int, int],
    path: Path,
    shown: Shown | None = None,
) -> None:
    """Draws levels [y][x] side by side in one scale of colours; y points up. `extent`: grid points along x, y.

    Fields on the sphere are drawn as maps. Raises InputError where the file cannot be written.
    """
    check_path(path)
    shown = shown or Shown()
    low, high = (pick(pick(row) for level in levels for row in level) for pick in (min, max))
    scale = {"scheme": "viridis", "domain": [low, high]}
    draw = _maps if shown.on_sphere else _grids
    specification = draw(levels, titles, extent, shown, scale)
    described = f"{shown.title}, {extent[0]} x {extent[1]} grid points: {', '.join(titles)}."
    config = {**CONFIG, "background": "white", **specification.get("config", {})}
    write_atomically(
        path, picture({**specification, "config": config, "description": described}, path.suffix, 2), "picture"
    )


def _stride(extent: tuple[int, int]) -> int:
    """Grid points of a drawn cell along a side."""
    return math.ceil(max(extent) / _MAX_CELLS)


def _grids(
    levels: Sequence[Any], titles: Sequence[str], extent: tuple[int, int], shown: Shown, scale: dict[str, Any]
) -> dict[str, Any]:
    """Levels against the numbers of their grid points."""
    import altair as alt

    colour = alt.Color("v:Q", title=shown.title, scale=alt.Scale(**scale))
    panels = [_panel(f"level {i}", extent, colour).properties(title=title) for i, title in enumerate(titles)]
    specification: dict[str, Any] = alt.hconcat(*panels).configure_view(stroke="#888").to_dict()
    # Not by altair, which holds every value against the schema of its charts: seconds for thousands of cells.
    specification["datasets"] = {f"level {i}": _cells(level, extent) for i, level in enumerate(levels)}
    return specification


def _maps(
    levels: Sequence[Any], titles: Sequence[str], extent: tuple[int, int], shown: Shown, scale: dict[str, Any]
) -> dict[str, Any]:
    """Levels as maps of the Earth, one below the other."""
    colour = {"title": shown.title, "scale": scale}
    cells = [sphere_cells(level, extent, _stride(extent), shown.west) for level in levels]
    return {
        "$schema": f"https://vega.github.io/schema/vega-lite/{VEGA_LITE.partition('_')[0]}.json",
        "vconcat": [sphere_panel(f"level {i}", title, colour) for i, title in enumerate(titles)],
        "datasets": {f"level {i}": each for i, each in enumerate(cells)},
        "config": {"view": {"stroke": None}},
    }


def _cells(level: Sequence[Sequence[float]], extent: tuple[int, int]) -> list[dict[str, float]]:
    nx, ny = extent
    stride = _stride(extent)
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
