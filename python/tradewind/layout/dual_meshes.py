"""The meshes of finite volumes by name: the octahedral one of O<N>, and a flat doubly periodic one of NXxNY."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tradewind.base import memory
from tradewind.layout.closed import ReducedGrid
from tradewind.layout.median_dual import MedianDual
from tradewind.layout.mesh_rows import (
    EARTH_RADIUS_M,
    FlatRows,
    MeshRows,
    OctahedralRows,
    mesh_extents,
    mesh_nodes,
    rows_of,
)

BYTES_PER_NODE = 1100
"""Memory while a mesh, or a rank's part of it, is made (1000 were measured, O320)."""


def mesh_of(name: str) -> MedianDual:
    """The mesh of a name. Raises InputError for an invalid name, and where memory does not suffice for it."""
    nodes = mesh_nodes(name)
    require_memory(f"a mesh of {nodes} nodes", nodes)
    return dual_of(rows_of(name))


def require_memory(what: str, nodes: float) -> None:
    """Raise InputError where the memory of this computer does not suffice for `nodes` of a mesh."""
    memory.require(what, BYTES_PER_NODE * nodes, "name a smaller grid, or another computer")


def map_of(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return values [node] of a mesh by name as a map [y][x] from the south: each place has that of the nearest node
    of its row."""
    n, ny = mesh_extents(name)
    if ny:
        return values.reshape(ny, n)
    rows = ReducedGrid.octahedral(n).rows
    first = np.concatenate([[0], np.cumsum(rows)[:-1]])
    longitude = (np.arange(rows.max()) + 0.5) / rows.max()
    nearest = np.rint(longitude * rows[:, None]).astype(int) % rows[:, None]
    return np.asarray(values[first[:, None] + nearest][::-1])


def flat(nx: int, ny: int) -> MedianDual:
    """The mesh of `FlatRows`."""
    return dual_of(FlatRows(nx, ny))


def octahedral(n: int, radius: float = EARTH_RADIUS_M) -> MedianDual:
    """The mesh of `OctahedralRows`. `radius`: m."""
    return dual_of(OctahedralRows(n, radius))


def dual_of(rows: MeshRows) -> MedianDual:
    """The mesh of all rows."""
    x, y = rows.coordinates(np.arange(rows.nodes))
    cells = [rows.cells(strip) for strip in range(len(rows.strips))]
    sizes = {each.shape[1] for each in cells}
    groups = [np.concatenate([each for each in cells if each.shape[1] == size]) for size in sorted(sizes)]
    return MedianDual.of_cells(x, y, groups, rows.periods, radius=rows.radius, poles=rows.poles, name=rows.name)
