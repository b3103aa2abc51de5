"""The columns of an octahedral reduced Gaussian grid, and what their coordinates mean.

A column is known by its number, counted row by row from the north. Rows beyond a pole are those of the grid again, in
reverse, half a circle away: row -1 is row 0. Departure points are shares of a circle, and rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.dwarfs.semi_lagrangian.lattice import RADIUS_M
from tradewind.layout.closed import ReducedGrid
from tradewind.layout.gaussian import gaussian_latitudes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Octahedral:
    """The columns of O<half>, and what their coordinates mean: (x, y) are longitude and latitude in radians."""

    half: int
    sphere = True

    @cached_property
    def lengths(self) -> Ids:
        """Columns of each row."""
        return np.asarray(ReducedGrid.octahedral(self.half).rows)

    @cached_property
    def first(self) -> Ids:
        """Number of the first column of each row, and of all columns."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @property
    def nx(self) -> int:
        """Columns of the longest row."""
        return int(self.lengths.max())

    @property
    def ny(self) -> int:
        """Number of rows."""
        return 2 * self.half

    @property
    def rows(self) -> Reals:
        """Latitude of each row in radians."""
        return gaussian_latitudes(self.half)

    @cached_property
    def core(self) -> _core.ReducedRows:
        """The rows as the compiled loops take them."""
        return _core.ReducedRows(self.lengths.tolist(), self.rows.tolist())

    @cached_property
    def step(self) -> float:
        """Radians between the two rows that are closest to each other."""
        return float(-np.diff(self.rows).max()) if self.half > 1 else float(2 * self.rows[0])

    @property
    def spacing_m(self) -> float:
        """Meters between these."""
        return RADIUS_M * self.step

    def longitudes(self, x: Any) -> Reals:
        """Return longitudes, which they are."""
        return np.asarray(x)

    def latitudes(self, y: Any) -> Reals:
        """Return latitudes, which they are."""
        return np.asarray(y)

    def coordinates(self, longitude: Reals, latitude: Reals) -> tuple[Reals, Reals]:
        """Return the coordinates (x, y) of places."""
        return longitude, latitude

    def row_of(self, ids: Ids) -> Ids:
        """Return the row of each column."""
        return np.searchsorted(self.first, ids, side="right") - 1

    def places(self, ids: Ids) -> tuple[Reals, Reals]:
        """Return longitude and latitude of columns."""
        row = self.row_of(ids)
        return 2 * np.pi * (ids - self.first[row]) / self.lengths[row], self.rows[row]

    def areas(self, ids: Ids) -> Reals:
        """Return the area in m2 that each column stands for: by Gaussian weights, together that of the sphere."""
        row = self.row_of(ids)
        north = np.asarray(_core.Gaussian(self.half).weight)
        weight = np.concatenate([north, north[::-1]])
        return np.asarray(4 * np.pi * RADIUS_M**2 * weight[row] / self.lengths[row])

    def folded(self, row: Ids) -> tuple[Ids, Ids]:
        """Return the rows of the grid, and by how many columns they are turned, of rows that go on beyond the poles."""
        again = np.where(row < 0, -1 - row, np.where(row >= self.ny, 2 * self.ny - 1 - row, row))
        return again, np.where(again != row, self.lengths[again] // 2, 0)
