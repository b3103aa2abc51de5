"""A rank's part of a mesh of finite volumes, made from the rows of the mesh around its nodes alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tradewind.layout.median_dual import MedianDual
from tradewind.layout.mesh_rows import Ids, MeshRows


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
    dual: MedianDual
    """The faces of these edges and the volumes of own nodes, by local numbers, in the order of the whole mesh's edges;
    with the coordinates of own nodes and the halo. Its bits are those of the whole mesh."""
    edges: NDArray[np.int32]
    """[edge][2]: local numbers of their nodes."""
    offsets: Ids
    """[own + 1]: the entries of node i in `neighbours` and `faces` are ``offsets[i]:offsets[i + 1]``."""
    neighbours: NDArray[np.int32]
    """Local numbers of the nodes at the other ends of a node's edges."""
    faces: NDArray[np.int32]
    """2 e, or 2 e + 1 where the normal of edge e points to the node itself."""

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


class Surroundings:
    """The cells around some nodes of a mesh, and the duals of these nodes."""

    def __init__(self, mesh: MeshRows, own: Ids) -> None:
        """`own`: global ids in any order."""
        inside = np.sort(own)
        rows = np.unique(mesh.row_of(inside))
        groups: dict[int, list[Ids]] = {}
        for strip in sorted({strip for row in rows for strip in mesh.strips_of[row]}):
            there = mesh.cells(strip)
            groups.setdefault(there.shape[1], []).append(there[_within(inside, there).any(axis=1)])
        cells = [np.concatenate(each) for each in groups.values()]
        poles = [ring for ring in mesh.poles if _within(inside, ring).any()]
        self._nodes = np.unique(np.concatenate([each.ravel() for each in [*cells, *poles]]))
        is_own = _within(inside, self._nodes)
        x, y = mesh.coordinates(self._nodes)
        self._dual = MedianDual.around(
            *(x, y, [np.searchsorted(self._nodes, each) for each in cells], mesh.periods, is_own),
            radius=mesh.radius,
            poles=[np.searchsorted(self._nodes, ring) for ring in poles],
            name=mesh.name,
        )
        at_edges = np.zeros(len(self._nodes), bool)
        at_edges[self._dual.edges] = True
        self.halo: Ids = self._nodes[at_edges & ~is_own]
        """Global ids of the nodes around these, ascending."""

    def part(self, own: Ids, halo: Ids) -> Part:
        """Make the part of the nodes and of their halo, each in any order."""
        ids = np.concatenate([own, halo])
        place = np.searchsorted(self._nodes, ids)
        local = np.full(len(self._nodes), -1, np.int32)
        local[place] = np.arange(len(ids), dtype=np.int32)
        dual, edges = self._dual, local[self._dual.edges]
        volume = dual.volume[place[: len(own)]]
        here = replace(dual, x=dual.x[place], y=dual.y[place], edges=edges.astype(np.int64), volume=volume)
        ends = edges.ravel()
        slots = np.argsort(ends, kind="stable")  # 2 e + side, by node, then by edge
        slots = slots[: np.count_nonzero(ends < len(own))]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=len(ids))[: len(own)])])
        return Part(own, halo, here, edges, offsets, edges[:, ::-1].ravel()[slots], slots.astype(np.int32))


def _within(ascending: Ids, nodes: Ids) -> NDArray[np.bool_]:
    """Return which nodes are among ascending ones."""
    place = np.minimum(np.searchsorted(ascending, nodes), len(ascending) - 1)
    return np.asarray(ascending[place] == nodes)


def part_of(mesh: MeshRows, own: Ids) -> Part:
    """Make the part of nodes, with the halo in ascending order."""
    around = Surroundings(mesh, own)
    return around.part(own, around.halo)
