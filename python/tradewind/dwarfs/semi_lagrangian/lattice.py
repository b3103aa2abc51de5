"""The columns of a doubly periodic plane or of a latitude-longitude sphere, and those around a rank's block.

A column is known by its number x + nx y. On the sphere rows go from the south, half a row from a pole; beyond a pole
rows come again in reverse, half way around. Cells count columns from a block's first one, on and on in all directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.mpi.library import Array

    Ids = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Cells = tuple[tuple[int, int], tuple[int, int]]

RADIUS_M = 6.37122e6
"""Radius of the Earth (Williamson et al. 1992)."""
MISSING = -1
"""Place of a column that a rank does not have."""
BEYOND = 2
"""Columns that a stencil reaches beyond the cell of a departure point, and a halo beyond the longest way of the air."""
MARGIN = {"linear": (0, 1), "quasi-cubic": (1, 2), "cubic": (1, 2)}
"""Columns before and after the cell of a departure point that each stencil needs."""


@dataclass(frozen=True)
class Lattice:
    """The columns of a grid, and what their coordinates mean."""

    nx: int
    ny: int
    sphere: bool = False
    spacing_m: float = 1.0
    """Between the points of a plane; of the sphere between two rows."""

    @classmethod
    def on_sphere(cls, nx: int, ny: int) -> Lattice:
        """Return the lattice of nx longitudes and ny latitudes on a sphere."""
        return cls(nx, ny, True, np.pi * RADIUS_M / ny)

    def longitudes(self, x: Any) -> Reals:
        """Radians of columns."""
        return np.asarray(2 * np.pi * np.asarray(x) / self.nx)

    def latitudes(self, y: Any) -> Reals:
        """Radians of rows."""
        return np.asarray(np.pi * ((np.asarray(y) + 0.5) / self.ny - 0.5))

    def coordinates(self, longitude: Reals, latitude: Reals) -> tuple[Reals, Reals]:
        """Return the coordinates (x, y) of places on a sphere."""
        return longitude * self.nx / (2 * np.pi), (latitude / np.pi + 0.5) * self.ny - 0.5

    def angles(self, x: Ids, y: Ids) -> dict[str, Any]:
        """Return what loops over trajectories need of columns [x] and rows [y] of a sphere; nothing on a plane."""
        if not self.sphere:
            return {}
        longitudes, latitudes = self.longitudes(x), self.latitudes(y)
        cos_sin_x = {"cos_x": np.cos(longitudes), "sin_x": np.sin(longitudes)}
        return {"grid": (self.nx, self.ny), **cos_sin_x, "cos_y": np.cos(latitudes), "sin_y": np.sin(latitudes)}

    def area(self, y: Any) -> Reals:
        """Area in m2 that a point of each row stands for; together that of the sphere, or of the plane."""
        if not self.sphere:
            return np.full(np.shape(y), self.spacing_m**2)
        edge = np.pi / self.ny / 2
        slices = np.sin(self.latitudes(y) + edge) - np.sin(self.latitudes(y) - edge)
        return np.asarray(2 * np.pi / self.nx * RADIUS_M**2 * slices)

    def folded_rows(self, rows: Ids) -> tuple[Ids, Ids]:
        """Rows of the grid, and by how many columns they are turned, of rows that go on beyond the grid."""
        if not self.sphere:
            return rows % self.ny, np.zeros_like(rows)
        again = rows % (2 * self.ny)
        beyond = again >= self.ny
        return np.where(beyond, 2 * self.ny - 1 - again, again), np.where(beyond, self.nx // 2, 0)

    def ids(self, x: Ids, y: Ids) -> Ids:
        """Numbers of columns (x, y), of the same shape, that go on beyond the grid."""
        rows, turned = self.folded_rows(y)
        return (x + turned) % self.nx + self.nx * rows


@dataclass(frozen=True)
class Window:
    """The cells around a block that a rank looks columns up in."""

    first: tuple[int, int]
    """(x, y) of the first cell, from the block's first column."""
    place: NDArray[np.int32]
    """[y][x]: where a column lies in a level of the rank's array, or `MISSING`."""
    own_first: int
    """Place of the block's first column."""
    own_pitch: int
    """Places from a row of the block to the next one."""

    def holds(self, low: tuple[int, int], high: tuple[int, int], before: int, after: int) -> bool:
        """Return whether the cells low..high, and some `before` and `after` them, are in it."""
        return all(
            begin <= lowest - before and highest + after < begin + cells
            for begin, cells, lowest, highest in zip(self.first, self.place.shape[::-1], low, high, strict=True)
        )


@dataclass(frozen=True)
class Surroundings:
    """A rank's block of a lattice that is divided among ranks, and the columns around it."""

    lattice: Lattice
    layout: _core.Blocks
    rank: int

    @cached_property
    def box(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """First columns (x, y) of the block and behind it."""
        (x0, y0, _), (x1, y1, _) = self.layout.box(self.rank)
        return (x0, y0), (x1, y1)

    @property
    def first(self) -> tuple[int, int]:
        """(x, y) of its first column."""
        return self.box[0]

    @property
    def points(self) -> tuple[int, int]:
        """Columns along x and y."""
        (x0, y0), (x1, y1) = self.box
        return x1 - x0, y1 - y0

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.points[0] * self.points[1]

    def core(self, levels: int) -> _core.ColumnBlock:
        """The block as the compiled loops take it."""
        return _core.ColumnBlock(self.first, self.points, levels, self.lattice.nx if self.lattice.sphere else 0)

    @cached_property
    def coordinates(self) -> tuple[Ids, Ids]:
        """x of its columns, and y of its rows, [y][1]."""
        (x0, y0), (x1, y1) = self.box
        return np.arange(x0, x1), np.arange(y0, y1)[:, None]

    @property
    def ids(self) -> Ids:
        """Numbers of its columns."""
        x, y = self.coordinates
        return (x + self.lattice.nx * y).ravel()

    def angles(self) -> dict[str, Any]:
        """Return what loops over trajectories need of its columns and rows."""
        x, y = self.coordinates
        return self.lattice.angles(x, y[:, 0])

    def areas(self) -> Reals:
        """Return the area of each column in m2."""
        return np.broadcast_to(self.lattice.area(self.coordinates[1]), self.points[::-1]).ravel()

    def part(self, whole: Array) -> Array:
        """Return its columns of an array [...][y][x] of the whole grid."""
        (x0, y0), (x1, y1) = self.box
        return np.ascontiguousarray(whole[..., y0:y1, x0:x1])

    def place_of(self, index: int) -> str:
        """Name the place of one of its columns in arrays of the whole grid."""
        (x0, y0), nx = self.first, self.points[0]
        return f"[z][y][x] = [{{}}, {index // nx + y0}, {index % nx + x0}]"

    # The loops.

    def trace(self, *arguments: Any, **more: Any) -> Any:
        """Compute departure points, see `trace_departures`."""
        return _core.trace_departures(*arguments, **more)

    def interpolate(self, block: _core.ColumnBlock, field: Array, departures: Array, window: Any, *how: Any) -> int:
        """Interpolate the tracers of an array, see `interpolate_tracers`."""
        at = window.first, window.place, window.own_first, window.own_pitch
        return int(_core.interpolate_tracers(block, field, departures, *at, *how))

    def cells(self, block: _core.ColumnBlock, departures: Array) -> Any:
        """Return the first and the last cell (x, y) of departure points."""
        return _core.departure_cells(block, departures)

    def mark(
        self, block: _core.ColumnBlock, departures: Array, first: Any, marks: Any, reach: str, *waiting: Any
    ) -> None:
        """Mark the cells of a window that stencils need, where not all of them lie in the block."""
        _core.mark_stencils(block, departures, first, marks, reach, *waiting)

    # The columns around it.

    def way(self, cells: Cells, departures: Array) -> int:
        """Return how many points the air has come at most, beyond the block."""
        (low_x, low_y), (high_x, high_y) = cells
        nx, ny = self.points
        return max(-low_x, -low_y, high_x - (nx - 1), high_y - (ny - 1))

    def stencil_window(self, cells: Cells, reach: str) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the first cell (x, y), and rows and columns, of the stencils of all cells."""
        (low_x, low_y), (high_x, high_y) = cells
        before, after = MARGIN[reach]
        width, height = high_x - low_x + 1 + before + after, high_y - low_y + 1 + before + after
        return (low_x - before, low_y - before), (height, width)

    def around(self, width: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the first cell (x, y), and rows and columns, of a window that is so much wider on all sides."""
        nx, ny = self.points
        return (-width, -width), (ny + 2 * width, nx + 2 * width)

    def halo(self, width: int) -> tuple[tuple[int, int], NDArray[np.uint8]]:
        """Return the first cell (x, y) of the window of a halo, and its marked cells: all."""
        first, shape = self.around(width)
        return first, np.ones(shape, np.uint8)

    def room(self, way: int) -> int:
        """Return how many columns may lie so far around it."""
        nx, ny = self.points
        return min(way * (nx + ny + way), self.lattice.nx * self.lattice.ny)

    def wanted(self, first: tuple[int, int], marks: NDArray[np.uint8]) -> Ids:
        """Numbers, ascending, of the marked cells' columns that belong to others."""
        ids = self._ids(first, *np.nonzero(marks.view(bool)))
        columns, rows = ids % self.lattice.nx, ids // self.lattice.nx
        (x0, y0), (x1, y1) = self.box
        others = (columns < x0) | (columns >= x1) | (rows < y0) | (rows >= y1)
        return np.unique(ids[others])

    def window(
        self,
        first: tuple[int, int],
        shape: tuple[int, int],
        fetched: Ids,
        places: Ids,
        marks: NDArray[np.uint8] | None = None,
    ) -> Window:
        """The window of an array that holds the block row by row, and columns of others (ascending) at some places.

        With `marks` columns of others are placed in the marked cells alone.
        """
        lattice, (x0, y0) = self.lattice, self.first
        nx, ny = self.points
        place = np.full(shape, MISSING, np.int32)
        rows, turned = lattice.folded_rows(np.arange(shape[0]) + (first[1] + y0))
        columns = np.arange(shape[1]) + (first[0] + x0)
        for turn in np.unique(turned):
            x = (columns + turn) % lattice.nx
            own_x = np.flatnonzero((x >= x0) & (x < x0 + nx))
            own_y = np.flatnonzero((turned == turn) & (rows >= y0) & (rows < y0 + ny))
            if len(own_x) and len(own_y):
                place[np.ix_(own_y, own_x)] = ((rows[own_y] - y0) * nx)[:, None] + (x[own_x] - x0)
        cells = np.nonzero(place == MISSING if marks is None else (place == MISSING) & marks.view(bool))
        if len(fetched) and len(cells[0]):
            wanted = self._ids(first, *cells)
            found = np.minimum(np.searchsorted(fetched, wanted), len(fetched) - 1)
            place[cells] = np.where(fetched[found] == wanted, places[found], MISSING)
        return Window(first, place, 0, nx)

    def _ids(self, first: tuple[int, int], y: Ids, x: Ids) -> Ids:
        """Numbers of the columns of some cells of a window."""
        return self.lattice.ids(x + (first[0] + self.first[0]), y + (first[1] + self.first[1]))

    def listed(self, wanted: Ids) -> tuple[Ids, Ids, Ids]:
        """Owners and indices of columns in the order in which they are fetched, and the place of each of `wanted`.

        They lie behind the block, owner by owner, so that they travel in long runs.
        """
        owner, index = self.owners(wanted)
        order = np.lexsort((index, owner))
        places = np.empty_like(wanted)
        places[order] = self.columns + np.arange(len(wanted))
        return owner[order], index[order], places

    def owners(self, ids: Ids) -> tuple[Ids, Ids]:
        """Owner of each column, and its place in the owner's array."""
        begins_x, begins_y = _begins(self.layout)
        x, y = ids % self.lattice.nx, ids // self.lattice.nx
        i = np.searchsorted(begins_x, x, side="right") - 1
        j = np.searchsorted(begins_y, y, side="right") - 1
        widths = np.diff(np.append(begins_x, self.lattice.nx))
        return i + len(begins_x) * j, (y - begins_y[j]) * widths[i] + (x - begins_x[i])


def _begins(layout: _core.Blocks) -> tuple[Ids, Ids]:
    """First columns along x, and first rows, of the parts of a layout."""
    cx, cy = layout.split
    x = [layout.box(i)[0][0] for i in range(cx)]
    y = [layout.box(cx * j)[0][1] for j in range(cy)]
    return np.array(x, np.int64), np.array(y, np.int64)
