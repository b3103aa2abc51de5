"""Partitions of a mesh of finite volumes: bands of rows, or pieces of a space-filling curve, of equal cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.layout.closed import cuts
from tradewind.layout.median_dual import Ids, MedianDual, Reals

_BITS = 16
"""Bits per coordinate of the curve: 4e9 places, more than 50 per node of O4000."""


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
    across, up = _octahedron(mesh.x, mesh.y) if mesh.on_sphere else (mesh.x / mesh.periods[0], mesh.y / mesh.periods[1])
    cells = 2**_BITS
    places = [np.clip((each * cells).astype(np.int64), 0, cells - 1) for each in (across, up)]
    return np.lexsort((np.arange(mesh.nodes), _hilbert(*places)))


ORDERS: dict[str, Callable[[Mesh], Ids]] = {"bands": bands, "curve": curve}


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
    if order not in ORDERS:
        raise InputError(unknown("partition", order, ORDERS))
    if not 1 <= ranks <= mesh.nodes:
        raise InputError(f"{ranks} ranks: 1..{mesh.nodes} are allowed for the nodes of {mesh.name}")
    nodes = ORDERS[order](mesh)
    return np.split(nodes, cuts(1 + mesh.edges_per_node()[nodes], ranks)[1:-1])


@dataclass(frozen=True)
class Part:
    """A rank's part of a mesh: its own nodes, those around them (the halo), and all edges of its own nodes.

    Local numbers count own nodes first, then the halo. The edges of a node follow each other as they do in the whole
    mesh, so that sums over them have the same bits on any ranks.
    """

    own: Ids
    """Global ids of the own nodes, in local order."""
    halo: Ids
    """Global ids of the halo, in local order."""
    offsets: Ids
    """[own + 1]: the entries of node i in `neighbours` and `faces` are ``offsets[i]:offsets[i + 1]``."""
    neighbours: NDArray[np.int32]
    """Local numbers of the nodes at the other ends of a node's edges."""
    faces: NDArray[np.int32]
    """2 e, or 2 e + 1 where the normal of local edge e points to the node itself."""
    edge_ids: Ids
    """Global numbers of the local edges, ascending."""
    edges: NDArray[np.int32]
    """[edge][2]: local numbers of their nodes."""

    def rim(self) -> NDArray[np.int32]:
        """Return the own nodes with a neighbour in the halo, ascending: those that other ranks want in their halos."""
        owner = np.repeat(np.arange(len(self.own), dtype=np.int32), np.diff(self.offsets))
        return np.unique(owner[self.neighbours >= len(self.own)])

    def near_rim(self) -> NDArray[np.int32]:
        """Return the nodes of the rim and their own neighbours, ascending."""
        at_rim = np.zeros(len(self.own) + len(self.halo), bool)
        at_rim[self.rim()] = True
        owner = np.repeat(np.arange(len(self.own), dtype=np.int32), np.diff(self.offsets))
        near = np.concatenate([self.rim(), owner[at_rim[self.neighbours]]])
        return np.unique(near)


class Divided:
    """A mesh with what finding the parts of several ranks has in common."""

    def __init__(self, mesh: MedianDual) -> None:
        self.mesh = mesh
        ends = mesh.edges.ravel()
        self._slots = np.argsort(ends, kind="stable")  # 2 e + side, by node, then by edge
        self._first = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=mesh.nodes))])
        self._other = mesh.edges[:, ::-1].ravel()[self._slots]

    def _entries(self, own: Ids) -> tuple[Ids, Ids]:
        """The offsets of own nodes, and their entries in the lists of the whole mesh."""
        begin, length = self._first[own], self._first[own + 1] - self._first[own]
        offsets = np.concatenate([[0], np.cumsum(length)])
        return offsets, np.repeat(begin - offsets[:-1], length) + np.arange(offsets[-1])

    def halo(self, own: Ids) -> Ids:
        """Return the global ids around own nodes, ascending."""
        inside = np.zeros(self.mesh.nodes, bool)
        inside[own] = True
        around = self._other[self._entries(own)[1]]
        return np.unique(around[~inside[around]])

    def part(self, own: Ids, halo: Ids) -> Part:
        """Make the part of own nodes, and the halo in any order, as `halo` returns it or renumbered."""
        local = np.full(self.mesh.nodes, -1, np.int32)
        local[own] = np.arange(len(own), dtype=np.int32)
        local[halo] = np.arange(len(own), len(own) + len(halo), dtype=np.int32)
        offsets, entries = self._entries(own)
        slots = self._slots[entries]
        edge_ids, edge = np.unique(slots >> 1, return_inverse=True)
        faces = (2 * edge + (slots & 1)).astype(np.int32)
        neighbours = local[self._other[entries]]
        return Part(own, halo, offsets, neighbours, faces, edge_ids, local[self.mesh.edges[edge_ids]])
