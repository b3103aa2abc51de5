"""A rank's region of an octahedral grid, and the columns around it: what `lattice.Surroundings` is of blocks.

Of each row a stencil takes the columns around the longitude of its departure point, so a window has whole rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.semi_lagrangian.lattice import BEYOND, MARGIN, MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.dwarfs.semi_lagrangian.octahedral import Octahedral
    from tradewind.layout.regions import Regions
    from tradewind.mpi.library import Array

    Ids = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Cells = tuple[tuple[int, int], tuple[int, int]]

_POLE = 2
"""Rows beyond a pole that stencils reach."""
_AGAIN = 3
"""Cells of a row in a window beside its columns: the last one before them, the first two behind them."""


@dataclass(frozen=True)
class RowWindow:
    """Some rows in line, of each of which a rank looks columns up: -1..columns + 1, around the circle."""

    first: tuple[int, int]
    """The first row, and how many."""
    place: NDArray[np.int32]
    """Where each column lies in a level of the rank's array, or `MISSING`, row after row."""

    def holds(self, low: tuple[int, int], high: tuple[int, int], before: int, after: int) -> bool:
        """Return whether the rows low..high, and some `before` and `after` them, are in it."""
        begin, count = self.first
        return begin <= low[1] - before and high[1] + after < begin + count


@dataclass(frozen=True)
class Region:
    """A rank's region of an octahedral grid, and the columns around it. Arrays have its columns in one row."""

    lattice: Octahedral
    regions: Regions
    rank: int

    @cached_property
    def ids(self) -> Ids:
        """Numbers of its columns, ascending."""
        return self.regions.own(self.rank)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.ids)

    @property
    def points(self) -> tuple[int, int]:
        """Columns along the two directions of arrays."""
        return self.columns, 1

    def core(self, levels: int) -> _core.ColumnBlock:
        """Return the columns as the compiled loops take them."""
        return _core.ColumnBlock((0, 0), self.points, levels)

    @cached_property
    def coordinates(self) -> tuple[Reals, Reals]:
        """Longitudes and latitudes of its columns, [0][column]."""
        x, y = self.lattice.places(self.ids)
        return x[None], y[None]

    def angles(self) -> dict[str, Any]:
        """Return what loops over trajectories need of its columns."""
        (x,), (y,) = self.coordinates
        return {"cos_x": np.cos(x), "sin_x": np.sin(x), "cos_y": np.cos(y), "sin_y": np.sin(y)}

    def areas(self) -> Reals:
        """Return the area of each column in m2."""
        return self.lattice.areas(self.ids)

    def part(self, whole: Array) -> Array:
        """Return its columns of an array [...][0][column] of the whole grid."""
        return np.ascontiguousarray(whole[..., self.ids])

    def place_of(self, index: int) -> str:
        """Name the place of one of its columns in arrays of the whole grid."""
        return f"[z][0][column] = [{{}}, 0, {self.ids[index]}]"

    # The loops.

    def trace(
        self,
        block: _core.ColumnBlock,
        wind: Array,
        half_step: float,
        scale: float,
        departures: Array,
        team: _core.Team,
        **more: Any,
    ) -> Any:
        """Compute departure points, see `trace_on_rows`; `scale` is that of planes."""
        return _core.trace_on_rows(self.lattice.core, block, wind, half_step, departures, team, **more)

    def interpolate(self, block: _core.ColumnBlock, field: Array, departures: Array, window: Any, *how: Any) -> int:
        """Interpolate the tracers of an array, see `interpolate_on_rows`."""
        at = window.first, window.place
        return int(_core.interpolate_on_rows(self.lattice.core, block, field, departures, *at, *how))

    def cells(self, block: _core.ColumnBlock, departures: Array) -> Any:
        """Return the first and the last row that departure points lie behind."""
        return _core.rows_reached(block, departures)

    def mark(
        self, block: _core.ColumnBlock, departures: Array, first: Any, marks: Any, reach: str, *waiting: Any
    ) -> None:
        """Mark the cells of a window that stencils need. All points are taken."""
        _core.mark_on_rows(self.lattice.core, block, departures, first, marks, reach)

    # The columns around it.

    def way(self, cells: Cells, departures: Array) -> int:
        """Return how many rows the air has come at most."""
        n = self.lattice.ny
        rows = np.arange(-1, n + 1)
        folded, turned = self.lattice.folded(rows)
        latitude = np.where(turned > 0, np.sign(self.lattice.rows[folded]) * np.pi, 0.0)
        latitude += np.where(turned > 0, -1.0, 1.0) * self.lattice.rows[folded]
        there = np.interp(departures[1], rows, latitude)
        (x,), (y,) = self.coordinates
        cosine = np.sin(y) * np.sin(there) + np.cos(y) * np.cos(there) * np.cos(2 * np.pi * departures[0] - x)
        return int(np.ceil(np.nanmax(np.arccos(np.clip(cosine, -1, 1))) / self.lattice.step))

    def stencil_window(self, cells: Cells, reach: str) -> tuple[tuple[int, int], int]:
        """Return the first row and the number of rows, and the cells, of the stencils of departure points."""
        (_, low), (_, high) = cells
        before, after = MARGIN[reach]
        first = (low - before, high - low + 1 + before + after)
        return first, int(self._begins(first)[-1])

    def halo(self, width: int) -> tuple[tuple[int, int], NDArray[np.uint8]]:
        """Return the window of a halo, and its marked cells.

        Of each row as far along the row as air may come from that passes `width` rows but for those of the stencil.
        """
        rows, begin, count = self.regions.pieces(self.rank)
        lengths, away = self.lattice.lengths[rows], (width - BEYOND) * self.lattice.step * (1 + 1e-9)
        cosine = np.cos(self.lattice.rows[rows])
        across = away >= np.pi / 2 - np.abs(self.lattice.rows[rows])
        along = np.where(across, 0.5, np.arcsin(np.minimum(1.0, np.sin(min(away, 1.5)) / cosine)) / (2 * np.pi))
        west, east = begin / lengths - along, (begin + count - 1) / lengths + along
        top, bottom = max(int(rows[0]) - width, -_POLE), min(int(rows[-1]) + width, self.lattice.ny - 1 + _POLE)
        marks = []
        for row in range(top, bottom + 1):
            near = np.abs(rows - row) <= width
            n = int(self.lattice.lengths[self.lattice.folded(np.array(row))[0]])
            inside = np.zeros(n, np.uint8)
            if near.any():
                low = int(np.floor(west[near].min() * n + 1e-9)) - MARGIN["cubic"][0]
                high = int(np.floor(east[near].max() * n + 1e-9)) + MARGIN["cubic"][1]
                inside[np.arange(low, min(high + 1, low + n)) % n] = 1
            marks.append(np.concatenate([inside[-1:], inside, inside[:2]]))
        return (top, bottom - top + 1), np.concatenate(marks)

    def room(self, way: int) -> int:
        """Return about how many columns may lie so far around it."""
        side = int(np.ceil(np.sqrt(self.columns)))
        return min(int(self.lattice.first[-1]), 2 * way * (2 * side + way))

    def wanted(self, first: tuple[int, int], marks: NDArray[np.uint8]) -> Ids:
        """Return the numbers, ascending, of the marked cells' columns that belong to others."""
        ids = np.unique(self._columns(first, np.flatnonzero(marks)))
        others: Ids = ids[self._own_place(ids) == MISSING]
        return others

    def window(
        self,
        first: tuple[int, int],
        shape: tuple[int, ...],
        fetched: Ids,
        places: Ids,
        marks: NDArray[np.uint8] | None = None,
    ) -> RowWindow:
        """Return the window of an array that has its columns, and columns of others (ascending) at some places.

        With `marks` columns are placed in the marked cells alone.
        """
        place = np.full(shape, MISSING, np.int32)
        cells = np.arange(len(place)) if marks is None else np.flatnonzero(marks)
        ids = self._columns(first, cells)
        found = self._own_place(ids)
        if len(fetched):
            at = np.minimum(np.searchsorted(fetched, ids), len(fetched) - 1)
            found = np.where(fetched[at] == ids, places[at], found)
        place[cells] = found
        return RowWindow(first, place)

    def listed(self, wanted: Ids) -> tuple[Ids, Ids, Ids]:
        """Return owners and indices of columns in the order in which they are fetched, and the place of each of
        `wanted`: behind its own, owner by owner, so that they travel in long runs."""
        owner, index = self.regions.owners(wanted)
        order = np.lexsort((index, owner))
        places = np.empty_like(wanted)
        places[order] = self.columns + np.arange(len(wanted))
        return owner[order], index[order], places

    def _own_place(self, ids: Ids) -> Ids:
        """Place of each column among its own, or `MISSING`."""
        at = np.minimum(np.searchsorted(self.ids, ids), self.columns - 1)
        return np.where(self.ids[at] == ids, at, MISSING)

    def _begins(self, first: tuple[int, int]) -> Ids:
        """First cell of each row of a window, and the number of all cells."""
        begin, count = first
        if begin < -_POLE or begin + count > self.lattice.ny + _POLE:
            raise InputError(f"rows {begin}..{begin + count - 1}: those of the grid, and two beyond each pole")
        lengths = self.lattice.lengths[self.lattice.folded(np.arange(begin, begin + count))[0]]
        return np.concatenate([[0], np.cumsum(lengths + _AGAIN)])

    def _columns(self, first: tuple[int, int], cells: Ids) -> Ids:
        """Numbers of the columns of some cells of a window."""
        begins = self._begins(first)
        at = np.searchsorted(begins, cells, side="right") - 1
        row, turned = self.lattice.folded(at + first[0])
        found: Ids = self.lattice.first[row] + (cells - begins[at] - 1 + turned) % self.lattice.lengths[row]
        return found
