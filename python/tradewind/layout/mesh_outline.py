"""Nodes and edges of a mesh by name, without its dual: enough to share it out and to know who needs what.

A mesh of finite volumes takes seven times the memory and ten times the time, so what is only simulated uses this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tradewind.base import memory
from tradewind.layout.mesh_rows import FlatRows, Ids, OctahedralRows, Reals, mesh_extents, mesh_nodes
from tradewind.layout.partition import parts

BYTES_PER_NODE = 150
"""Memory while an outline is made and shared out (120 to 170 were measured, O1024)."""


@dataclass(frozen=True)
class MeshOutline:
    """Nodes and edges, as those of the `MedianDual` of this name."""

    x: Reals
    """[node]"""
    y: Reals
    """[node]"""
    edges: NDArray[np.int32]
    """[edge][2]: the nodes of each edge, in no order."""
    periods: tuple[float, float]
    on_sphere: bool
    name: str

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.x)

    def edges_per_node(self) -> Ids:
        """Return the number of edges of each node."""
        return np.bincount(self.edges.ravel(), minlength=self.nodes)


def require_memory(name: str) -> None:
    """Raise InputError where the memory of this computer does not suffice for the outline of a mesh by name."""
    nodes = mesh_nodes(name)
    what = f"the outline of a mesh of {nodes} nodes"
    memory.require(what, BYTES_PER_NODE * nodes, "name a smaller grid, or another computer")


def outline_of(name: str) -> MeshOutline:
    """The outline of a mesh by name. Raises InputError for an invalid name, and where memory does not suffice."""
    require_memory(name)
    nx, ny = mesh_extents(name)
    if ny:
        x, y = FlatRows(nx, ny).coordinates(np.arange(nx * ny))
        node = np.arange(nx * ny, dtype=np.int32).reshape(ny, nx)
        ways = [np.roll(node, -1, axis) for axis in (0, 1)]
        edges = np.concatenate([np.stack([node.ravel(), other.ravel()], axis=1) for other in ways])
        return MeshOutline(x, y, edges, (nx, ny), False, name)
    mesh = OctahedralRows(nx)
    rows, first = mesh.lengths, mesh.first
    x, y = mesh.coordinates(np.arange(mesh.nodes))
    nodes = np.arange(mesh.nodes, dtype=np.int32)
    east = nodes + 1
    east[first[1:] - 1] = first[:-1]
    across: list[NDArray[Any]] = [np.stack([nodes, east], axis=1)]
    for i in range(nx - 1):
        across.append(_between(first[i], rows[i], first[i + 1]))
        below = 2 * nx - 1 - i
        across.append(_between(first[below], rows[below], first[below - 1]))
    west = np.arange(rows[nx - 1])
    across.append(np.stack([first[nx - 1] + west, first[nx] + west], axis=1))
    return MeshOutline(x, y, np.concatenate(across, dtype=np.int32), (2 * np.pi, 0.0), True, f"O{nx}")


def _between(first: int, length: int, first_longer: int) -> Ids:
    """The edges between a row and one of 4 points more: to two points of each, to three at the ends of quarters."""
    quarter = length // 4
    begin, k = np.arange(4)[:, None], np.arange(quarter + 1)
    lower = begin * (quarter + 1) + k
    upper = (begin * quarter + k) % length
    one = np.stack([first + upper, first_longer + lower], axis=-1)
    other = np.stack([first + upper[:, :-1], first_longer + lower[:, 1:]], axis=-1)
    return np.concatenate([one.reshape(-1, 2), other.reshape(-1, 2)])


@dataclass(frozen=True)
class Shares:
    """Nodes that each rank has of a mesh, and needs of others."""

    own: list[Ids]
    """[rank]: global ids of own nodes, in local order."""
    halo: list[Ids]
    """[rank]: global ids of the nodes around them, ascending."""
    rim: Ids
    """[rank]: how many own nodes others need."""
    near_rim: Ids
    """[rank]: how many own nodes are such or have such as neighbours."""


def shares_of(outline: MeshOutline, ranks: int, order: str) -> Shares:
    """Share a mesh out by an order of `partition.ORDERS`. Raises InputError as `partition.parts` does."""
    own = parts(outline, ranks, order)
    owner = np.empty(outline.nodes, np.int32)
    for rank, ids in enumerate(own):
        owner[ids] = rank
    one, other = owner[outline.edges[:, 0]], owner[outline.edges[:, 1]]
    cut = np.flatnonzero(one != other)
    ends = outline.edges[cut].astype(np.int64)
    needs = np.concatenate(
        [one[cut] * np.int64(outline.nodes) + ends[:, 1], other[cut] * np.int64(outline.nodes) + ends[:, 0]]
    )
    rank_of, ids = np.divmod(np.unique(needs), outline.nodes)
    halo = np.split(ids, np.searchsorted(rank_of, np.arange(1, ranks)))
    near = np.zeros(outline.nodes, bool)
    near[ends.ravel()] = True
    rim = np.bincount(owner[near], minlength=ranks)
    touches = near[outline.edges].any(axis=1) & (one == other)
    near[outline.edges[touches].ravel()] = True
    return Shares(own, halo, rim, np.bincount(owner[near], minlength=ranks))
