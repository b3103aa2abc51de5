"""Partitions of a mesh of finite volumes: bands of rows, or pieces of a space-filling curve, of equal cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.layout.closed import cuts
from tradewind.layout.mesh_rows import Ids, MeshRows, Reals

_BITS = 16
"""Bits per coordinate of the curve: 4e9 places, more than 50 per node of O4000."""
_PIECE_BITS = 16
"""Bits of the places along the curve within one of its 65,536 pieces."""


class Mesh(Protocol):
    """Mesh as partitions see it: a `MedianDual`, or an outline."""

    @property
    def x(self) -> Reals:
        """[node] Longitudes in radians on a sphere, coordinates on a plane."""

    @property
    def y(self) -> Reals:
        """[node] Latitudes in radians on a sphere, coordinates on a plane."""

    @property
    def nodes(self) -> int:
        """Number of nodes."""

    @property
    def on_sphere(self) -> bool:
        """Whether the mesh lies on a sphere."""

    @property
    def periods(self) -> tuple[float, float]:
        """Extents along x and y."""

    @property
    def name(self) -> str:
        """Name of the mesh, for messages."""

    def edges_per_node(self) -> Ids:
        """Return the number of edges of each node."""


def bands(mesh: Mesh) -> Ids:
    """Nodes row by row, as they are counted: parts are bands, whose first and last rows may be shared."""
    return np.arange(mesh.nodes)


def curve(mesh: Mesh) -> Ids:
    """Nodes along Hilbert's curve: parts are compact, and neighbours on the mesh are close in memory.

    A sphere is first unfolded into a square as an octahedron, whose centre is the north pole and whose corners are the
    south pole (Hilbert 1891; a space-filling curve as in Dennis 2003, doi:10.1109/IPDPS.2003.1213473).
    """
    return np.lexsort((np.arange(mesh.nodes), _places(mesh, mesh.x, mesh.y)))


ORDERS: dict[str, Callable[[Mesh], Ids]] = {"bands": bands, "curve": curve}


def _places(mesh: Mesh | MeshRows, x: Reals, y: Reals) -> Ids:
    """The places of nodes along the curve."""
    across, up = _octahedron(x, y) if mesh.on_sphere else (x / mesh.periods[0], y / mesh.periods[1])
    cells = 2**_BITS
    places = [np.clip((each * cells).astype(np.int64), 0, cells - 1) for each in (across, up)]
    return _hilbert(*places)


def _octahedron(longitude: NDArray[np.float64], latitude: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Places in the unit square of an octahedron that is cut open along its four southern edges."""
    x, y, z = np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)
    length = np.abs(x) + np.abs(y) + np.abs(z)
    x, y = x / length, y / length
    south = z < 0
    folded = (1 - np.abs(y)) * np.copysign(1.0, x), (1 - np.abs(x)) * np.copysign(1.0, y)
    return (np.where(south, folded[0], x) + 1) / 2, (np.where(south, folded[1], y) + 1) / 2


def _hilbert(x: Ids, y: Ids) -> Ids:
    """The places along Hilbert's curve of whole numbers of `_BITS` bits."""
    x, y, place = x.copy(), y.copy(), np.zeros_like(x)
    side = 2 ** (_BITS - 1)
    while side:
        right, top = (x & side) > 0, (y & side) > 0
        place += side * side * ((3 * right) ^ top)
        flip = ~top & right
        x, y = np.where(flip, 2**_BITS - 1 - x, x), np.where(flip, 2**_BITS - 1 - y, y)
        x, y = np.where(top, x, y), np.where(top, y, x)
        side //= 2
    return place


def parts(mesh: Mesh, ranks: int, order: str) -> list[Ids]:
    """Return the nodes of each rank, in an order that keeps neighbours close: equal cost, as far as whole nodes allow.

    The cost of a node is 1 and 1 for each edge. Raises InputError for an unknown order and for more ranks than nodes.
    """
    _check(mesh, ranks, order)
    nodes = ORDERS[order](mesh)
    return np.split(nodes, cuts(1 + mesh.edges_per_node()[nodes], ranks)[1:-1])


def _check(mesh: Mesh | MeshRows, ranks: int, order: str) -> None:
    if order not in ORDERS:
        raise InputError(unknown("partition", order, ORDERS))
    if not 1 <= ranks <= mesh.nodes:
        raise InputError(f"{ranks} ranks: 1..{mesh.nodes} are allowed for the nodes of {mesh.name}")


def own_nodes(mesh: MeshRows, ranks: int, order: str, rank: int) -> Ids:
    """Return what `parts` returns for one rank, without the whole mesh: row by row, in memory for the part and a row.

    Nodes are first counted in pieces of the order, which rows or stretches of the curve are; then those of the pieces
    that the rank's part may lie in are taken. Raises InputError as `parts` does.
    """
    _check(mesh, ranks, order)
    pieces = mesh.rows if order == "bands" else 2 ** (2 * _BITS - _PIECE_BITS)
    cost = np.zeros(pieces, np.int64)
    for row, degrees in enumerate(mesh.degrees()):
        if order == "bands":
            cost[row] = (1 + degrees).sum()
        else:
            place = _places(mesh, *mesh.coordinates(mesh.row(row)))
            np.add.at(cost, place >> _PIECE_BITS, 1 + degrees)
    reached = np.concatenate([[0], np.cumsum(cost)])
    begin, end = (float(reached[-1]) * each / ranks for each in (rank, rank + 1))  # as `cuts` has them
    last = rank + 1 == ranks
    there = (reached[1:] > begin) & ((reached[:-1] < end) | last)
    found: list[tuple[Ids, Ids, Ids]] = []
    for row, degrees in enumerate(mesh.degrees()):
        nodes = mesh.row(row)
        place = np.full(len(nodes), row) if order == "bands" else _places(mesh, *mesh.coordinates(nodes))
        taken = there[place if order == "bands" else place >> _PIECE_BITS]
        found.append((nodes[taken], place[taken], 1 + degrees[taken]))
    nodes, place, costs = (np.concatenate(each) for each in zip(*found, strict=True))
    along = np.lexsort((nodes, place))
    ends = reached[:-1][there][0] + np.cumsum(costs[along])
    middle = ends - costs[along] / 2
    return np.asarray(nodes[along][(middle >= begin) & ((middle < end) | last)])
