"""Gaussian grids: full, octahedral, and any other with symmetric rows."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import whole_number
from tradewind.layout.closed import ReducedGrid
from tradewind.layout.grid_names import MAX_HALF
from tradewind.layout.lists import ids

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

KINDS = {"O": "octahedral", "F": "full"}


class GaussianGrid:
    """A Gaussian grid: an even number of latitudes, the roots of a Legendre polynomial, each with points of its own.

    `name`: ``"O80"``, the octahedral grid with 80 latitudes in a hemisphere, of which the i-th from a pole (from 0) has
    20 + 4 i points (Malardel et al. 2016, ECMWF Newsletter 146); ``"F80"``, the full grid of 160 x 320 points.
    `rows`, instead of a name: the points of each row from north to south, as a classic reduced grid has them.

    `rows` [row] points of each row; `first` [row + 1] its first point; `half` latitudes of a hemisphere; `points` of
    all rows. Raises InputError for a name that means nothing here, and for rows that are odd in number, differ between
    the hemispheres or have fewer than 2 points.
    """

    def __init__(self, name: str | None = None, *, rows: ArrayLike | None = None) -> None:
        if (name is None) == (rows is None):
            raise InputError("a Gaussian grid has a name like O80 or F80, or rows: one of the two is allowed")
        self.rows: NDArray[np.int64] = _rows_of(name) if name is not None else _checked(rows)
        self.name = name if name is not None else f"reduced Gaussian grid of {len(self.rows)} rows"
        self.half = len(self.rows) // 2
        self.first: NDArray[np.int64] = np.concatenate([[0], np.cumsum(self.rows)])
        self.points = int(self.first[-1])

    def __repr__(self) -> str:
        return f"GaussianGrid({self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Return what other processes need: the latitudes of the core are computed anew there."""
        return {name: value for name, value in vars(self).items() if name != "gaussian"}

    @cached_property
    def gaussian(self) -> _core.Gaussian:
        """The latitudes of a hemisphere in the digits that Legendre functions need."""
        return _core.Gaussian(self.half)

    @cached_property
    def latitudes(self) -> NDArray[np.float64]:
        """Latitude of each row in degrees, positive in the north. [row]"""
        north = 90 - np.degrees(self.gaussian.colatitude)
        return np.concatenate([north, -north[::-1]])

    @cached_property
    def cosines(self) -> NDArray[np.float64]:
        """Cosine of each row's latitude. [row]"""
        return _mirrored(self.gaussian.sine)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Gaussian weight of each row: its share of the mean over the sphere, 1 in all. [row]"""
        return _mirrored(self.gaussian.weight)

    @property
    def is_full(self) -> bool:
        """All rows have the same number of points."""
        return bool((self.rows == self.rows[0]).all())

    def longitudes(self, row: int) -> NDArray[np.float64]:
        """Return the longitudes of a row's points in degrees, from 0 to the east. [point of the row]"""
        row = whole_number("row", row, 0, len(self.rows) - 1)
        return 360 * np.arange(self.rows[row]) / float(self.rows[row])

    def layout_grid(self, levels: int = 1) -> ReducedGrid:
        """Return the grid as layouts divide it: the points along x, `levels` along z."""
        return ReducedGrid(self.rows, levels)


def _mirrored(north: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([north, north[::-1]])


def _rows_of(name: str) -> NDArray[np.int64]:
    match = re.fullmatch(r"([OF])([1-9][0-9]{0,8})", name) if isinstance(name, str) else None
    if match is None or int(match[2]) > MAX_HALF:
        raise InputError(
            f"unknown grid {quoted(name)}: O1..O{MAX_HALF} (octahedral) and F1..F{MAX_HALF} (full Gaussian) are "
            "allowed; for other reduced grids name the points of each row"
        )
    half = int(match[2])
    return ReducedGrid.octahedral(half).rows if match[1] == "O" else np.full(2 * half, 4 * half, np.int64)


def _checked(rows: Any) -> NDArray[np.int64]:
    lengths = ids("rows of a Gaussian grid", rows)
    if not lengths.size or len(lengths) % 2 or lengths.min() < 2 or (lengths != lengths[::-1]).any():
        raise InputError(
            "rows of a Gaussian grid: an even number of whole numbers, 2 or more, alike in both hemispheres, is allowed"
        )
    return lengths
