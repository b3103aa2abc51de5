"""The meshes of finite volumes by name, row by row: where nodes lie, and the cells between two rows.

What needs a part of a mesh takes the rows around it; a whole mesh is all of them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError
from tradewind.base.extents import parse_extents
from tradewind.layout.closed import ReducedGrid
from tradewind.layout.gaussian import gaussian_latitudes

Ids = NDArray[np.int64]
Reals = NDArray[np.float64]

EARTH_RADIUS_M = 6.37122e6
"""Williamson et al. 1992, doi:10.1016/S0021-9991(05)80016-6."""
_SMALLEST_SIDE = 3


def mesh_extents(name: str) -> tuple[int, int]:
    """The N of O<N> and 0, or the points along x and y of a flat mesh. Raises InputError for a name that is neither."""
    if found := re.fullmatch(r"[Oo](\d{1,6})", name):
        if int(found[1]) < 1:
            raise InputError(f"grid {name}: O1 and more are allowed")
        return int(found[1]), 0
    try:
        nx, ny = parse_extents(name, 2, "grid")
    except InputError:
        raise InputError(f"grid {name!r}: O<N>, like O40, or NXxNY of a flat mesh, like 64x64, is allowed") from None
    if min(nx, ny) < _SMALLEST_SIDE:
        raise InputError(f"grid {name}: sides of {_SMALLEST_SIDE} or more are allowed")
    return nx, ny


def mesh_nodes(name: str) -> int:
    """Return the number of nodes of a mesh. Raises InputError as `mesh_extents` does."""
    nx, ny = mesh_extents(name)
    return nx * ny if ny else 4 * nx * (nx + 9)


class MeshRows(ABC):
    """A mesh whose nodes are counted row by row."""

    name: str
    periods: tuple[float, float]
    """Extents along x and y where these begin anew; 0: y ends at the poles."""
    radius: float
    """Radius of the sphere in m; 0: a plane."""
    first: Ids
    """[row + 1]: the first node of each row, and of what follows."""
    strips: list[tuple[int, int]]
    """The two rows of each strip of cells."""
    poles: list[Ids]
    """The nodes around the north pole and those around the south pole, each counterclockwise as seen from above."""

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.first[-1])

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.first) - 1

    @property
    def on_sphere(self) -> bool:
        """Whether the mesh lies on a sphere."""
        return self.radius > 0

    def row_of(self, nodes: Ids) -> Ids:
        """Return the rows of nodes."""
        return np.searchsorted(self.first, nodes, side="right") - 1

    def row(self, row: int) -> Ids:
        """Return the nodes of a row."""
        return np.arange(self.first[row], self.first[row + 1])

    @abstractmethod
    def coordinates(self, nodes: Ids) -> tuple[Reals, Reals]:
        """Return x and y of nodes."""

    @abstractmethod
    def cells(self, strip: int) -> Ids:
        """Return the cells of a strip, [cell][node], counterclockwise."""

    @cached_property
    def strips_of(self) -> list[list[int]]:
        """The strips at each row."""
        found: list[list[int]] = [[] for _ in range(self.rows)]
        for strip, rows in enumerate(self.strips):
            for row in rows:
                found[row].append(strip)
        return found

    def degrees(self) -> Iterator[Ids]:
        """Yield by row the number of edges of its nodes: as many as there are cells around a node."""
        kept: dict[int, Ids] = {}
        for row in range(self.rows):
            kept = {strip: kept[strip] if strip in kept else self.cells(strip) for strip in self.strips_of[row]}
            begin, end = self.first[row], self.first[row + 1]
            total = np.full(end - begin, sum(begin in ring for ring in self.poles))
            for cells in kept.values():
                here = cells[(cells >= begin) & (cells < end)] - begin
                total += np.bincount(here, minlength=end - begin)
            yield total


class OctahedralRows(MeshRows):
    """The mesh of the octahedral grid O<n>: triangles between rows, quadrilaterals at the equator, the poles closed.

    Nodes are counted row by row from the north, each row from longitude 0 eastward. Between rows of L and L + 4 points
    each quarter has one interval more in the lower row, so that all points but those of the quarters' ends have six
    neighbours (Malardel et al. 2016, ECMWF Newsletter 146). The poles are corners of the dual: the duals of the first
    row go up to the pole like slices of a cake.
    """

    def __init__(self, n: int, radius: float = EARTH_RADIUS_M) -> None:
        self.n, self.radius, self.name, self.periods = n, radius, f"O{n}", (2 * np.pi, 0.0)
        self.lengths: Ids = ReducedGrid.octahedral(n).rows
        self.first = np.concatenate([[0], np.cumsum(self.lengths)])
        self.strips = [(row, row + 1) for row in range(2 * n - 1)]
        self.poles = [self.row(0), self.row(2 * n - 1)[::-1]]

    def coordinates(self, nodes: Ids) -> tuple[Reals, Reals]:
        """Return longitude and latitude of nodes in radians."""
        row = self.row_of(nodes)
        return 2 * np.pi * (nodes - self.first[row]) / self.lengths[row], gaussian_latitudes(self.n)[row]

    def cells(self, strip: int) -> Ids:
        """Return the triangles, or at the equator the quadrilaterals, between a row and the next one in the south."""
        upper, lower, length = self.first[strip], self.first[strip + 1], self.lengths[strip]
        if strip == self.n - 1:
            west = np.arange(length)
            east = (west + 1) % length
            return np.stack([lower + west, lower + east, upper + east, upper + west], axis=1)
        if strip < self.n:
            return _between(upper, length, lower)
        return _between(lower, self.lengths[strip + 1], upper)[:, ::-1]


class FlatRows(MeshRows):
    """A plane, periodic in x and y, of squares of side 1: node i + nx j at (i, j); its duals are squares, too."""

    radius = 0.0

    def __init__(self, nx: int, ny: int) -> None:
        self.nx, self.name, self.periods, self.poles = nx, f"{nx}x{ny}", (nx, ny), []
        self.first = nx * np.arange(ny + 1)
        self.strips = [(row, (row + 1) % ny) for row in range(ny)]

    def coordinates(self, nodes: Ids) -> tuple[Reals, Reals]:
        """Return x and y of nodes."""
        j, i = np.divmod(nodes, self.nx)
        return i.astype(float), j.astype(float)

    def cells(self, strip: int) -> Ids:
        """Return the squares between a row and the next one in the north."""
        i = np.arange(self.nx)
        east, (below, above) = (i + 1) % self.nx, self.first[list(self.strips[strip])]
        return np.stack([i + below, east + below, east + above, i + above], axis=1)


def rows_of(name: str) -> MeshRows:
    """Return the rows of a mesh by name. Raises InputError for an invalid name."""
    nx, ny = mesh_extents(name)
    return FlatRows(nx, ny) if ny else OctahedralRows(nx)


def _between(first: int, length: int, first_longer: int) -> Ids:
    """The triangles between a row and one of 4 points more in the south of it, counterclockwise."""
    quarter = length // 4
    begin, k = np.arange(4)[:, None], np.arange(quarter + 1)

    def upper(k: Ids) -> Ids:
        return first + (begin * quarter + k) % length

    def lower(k: Ids) -> Ids:
        return first_longer + (begin * (quarter + 1) + k) % (length + 4)

    standing = np.stack([lower(k), lower(k + 1), upper(k)], axis=-1)
    hanging = np.stack([upper(k[1:]), upper(k[:-1]), lower(k[1:])], axis=-1)
    return np.concatenate([standing.reshape(-1, 3), hanging.reshape(-1, 3)])
