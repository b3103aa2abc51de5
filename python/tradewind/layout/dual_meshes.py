"""The meshes of finite volumes by name: the octahedral one of O<N>, and a flat doubly periodic one of NXxNY."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tradewind.base import memory
from tradewind.base.errors import InputError
from tradewind.base.extents import parse_extents
from tradewind.layout.closed import ReducedGrid
from tradewind.layout.gaussian import gaussian_latitudes
from tradewind.layout.median_dual import Ids, MedianDual, Reals

EARTH_RADIUS_M = 6.37122e6
"""Williamson et al. 1992, doi:10.1016/S0021-9991(05)80016-6."""
BYTES_PER_NODE = 1100
"""Memory while a mesh is made in one process (1000 were measured, O320)."""
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


def mesh_of(name: str) -> MedianDual:
    """The mesh of a name. Raises InputError for an invalid name, and where memory does not suffice for it."""
    nx, ny = mesh_extents(name)
    nodes = mesh_nodes(name)
    memory.require(f"a mesh of {nodes} nodes", BYTES_PER_NODE * nodes, "name a smaller grid, or another computer")
    return flat(nx, ny) if ny else octahedral(nx)


def map_of(mesh: MedianDual, values: NDArray[Any]) -> NDArray[Any]:
    """Return values [node] of a mesh by name as a map [y][x] from the south: each place has that of the nearest node
    of its row."""
    n, ny = mesh_extents(mesh.name)
    return values.reshape(ny, n) if ny else octahedral_map(n, values)


def octahedral_map(n: int, values: NDArray[Any]) -> NDArray[Any]:
    """Return values [point] of O<n> as a map [y][x] from the south: each place has that of the nearest point of its
    row."""
    rows = ReducedGrid.octahedral(n).rows
    first = np.concatenate([[0], np.cumsum(rows)[:-1]])
    longitude = (np.arange(rows.max()) + 0.5) / rows.max()
    nearest = np.rint(longitude * rows[:, None]).astype(int) % rows[:, None]
    return np.asarray(values[first[:, None] + nearest][::-1])


def flat(nx: int, ny: int) -> MedianDual:
    """A plane, periodic in x and y, of squares of side 1: node i + nx j at (i, j); its duals are squares, too."""
    i, j = np.arange(nx), np.arange(ny)[:, None]
    east, north = (i + 1) % nx, (j + 1) % ny
    squares = np.stack(np.broadcast_arrays(i + nx * j, east + nx * j, east + nx * north, i + nx * north), axis=-1)
    x, y = flat_nodes(nx, ny)
    return MedianDual.of_cells(x, y, [squares.reshape(-1, 4)], (nx, ny), name=f"{nx}x{ny}")


def flat_nodes(nx: int, ny: int) -> tuple[Reals, Reals]:
    """Return x and y of the nodes of a flat mesh."""
    x, y = np.broadcast_arrays(np.arange(float(nx)), np.arange(float(ny))[:, None])
    return x.ravel(), y.ravel()


def octahedral_nodes(n: int) -> tuple[Ids, Ids, Reals, Reals]:
    """Return the points of each row of O<n>, the first node of each row and of what follows, longitude and latitude."""
    rows = ReducedGrid.octahedral(n).rows
    first = np.concatenate([[0], np.cumsum(rows)])
    row = np.repeat(np.arange(2 * n), rows)
    x = 2 * np.pi * (np.arange(first[-1]) - first[row]) / rows[row]
    return rows, first, x, gaussian_latitudes(n)[row]


def octahedral(n: int, radius: float = EARTH_RADIUS_M) -> MedianDual:
    """The mesh of the octahedral grid O<n>: triangles between rows, quadrilaterals at the equator, the poles closed.

    Nodes are counted row by row from the north, each row from longitude 0 eastward. Between rows of L and L + 4 points
    each quarter has one interval more in the lower row, so that all points but those of the quarters' ends have six
    neighbours (Malardel et al. 2016, ECMWF Newsletter 146). The poles are corners of the dual: the duals of the first
    row go up to the pole like slices of a cake. `radius`: m.
    """
    rows, first, x, y = octahedral_nodes(n)
    triangles = []
    for i in range(n - 1):
        triangles.append(_between(first[i], rows[i], first[i + 1]))
        below = 2 * n - 1 - i
        triangles.append(_between(first[below], rows[below], first[below - 1])[:, ::-1])
    west = np.arange(rows[n - 1])
    east = (west + 1) % rows[n - 1]
    squares = np.stack([first[n] + west, first[n] + east, first[n - 1] + east, first[n - 1] + west], axis=1)
    poles = [np.arange(rows[0]), first[-2] + np.arange(rows[0])[::-1]]
    cells = [squares] if n == 1 else [np.concatenate(triangles), squares]
    return MedianDual.of_cells(x, y, cells, (2 * np.pi, 0.0), radius=radius, poles=poles, name=f"O{n}")


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
