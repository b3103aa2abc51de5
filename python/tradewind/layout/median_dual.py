"""Median-dual finite volumes: the cells around the nodes of a mesh, and the faces between them.

A cell of the mesh is a polygon of nodes. The median dual of a node is bounded by lines that join the centres of the
polygons around it by way of the middles of its edges; every edge crosses one face of it, which leads from the centre on
the edge's right to the one on its left (Szmelter & Smolarkiewicz 2010, doi:10.1016/j.jcp.2010.03.009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError
from tradewind.layout.mesh_rows import Ids, Reals

_CLOSED = 1e-12
"""How far normals may be from adding up to zero, as a fraction of their lengths' sum; likewise the total area."""


@dataclass(frozen=True)
class MedianDual:
    """A mesh without holes and its median dual, in the plane of its coordinates.

    On the sphere x and y are longitude and latitude in radians, and lines are straight in that plane; the metric enters
    in `volume`, with cos(latitude). `periods`: where x, and y, begin anew; 0: y ends at the poles.
    """

    x: Reals
    """[node]"""
    y: Reals
    """[node]"""
    edges: Ids
    """[edge][2]: the nodes of each edge, the lower number first; ascending by the first, then the second node."""
    corners: Ids
    """[edge][2]: the corner of the dual on the left of the edge, and that on its right, seen from its first node."""
    corner_x: Reals
    """[corner]; of a pole 0."""
    corner_y: Reals
    """[corner]"""
    normal: Reals
    """[edge][2]: (dy, -dx) of the face from the right corner to the left one: its normal, towards the second node."""
    volume: Reals
    """[node]: the area of the dual cell, m2 on the sphere, squares of coordinates on a plane."""
    periods: tuple[float, float]
    radius: float
    """Radius of the sphere in m; 0: a plane."""
    name: str = "mesh"

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.x)

    @property
    def on_sphere(self) -> bool:
        """Whether the mesh lies on a sphere."""
        return self.radius > 0

    @classmethod
    def of_cells(
        cls,
        x: Reals,
        y: Reals,
        cells: Sequence[Ids],
        periods: tuple[float, float],
        *,
        radius: float = 0.0,
        poles: Sequence[Ids] = (),
        name: str = "mesh",
    ) -> Self:
        """Make the dual of cells, arrays [cell][node] each of one number of nodes, counterclockwise.

        `poles`: the nodes around the north pole and those around the south pole, each a cell whose centre is the pole.
        Raises InputError for a mesh with holes, which names an edge that has a cell on one side only.
        """
        mesh = cls._made(x, y, cells, periods, radius, poles, name, None)
        mesh.check(poles)
        return mesh

    @classmethod
    def around(
        cls,
        x: Reals,
        y: Reals,
        cells: Sequence[Ids],
        periods: tuple[float, float],
        own: NDArray[np.bool_],
        *,
        radius: float = 0.0,
        poles: Sequence[Ids] = (),
        name: str = "mesh",
    ) -> Self:
        """Make the faces and duals of the nodes that `own` marks, of all cells that these belong to.

        They have the same bits as in the whole mesh, if nodes are in the same order. Other nodes have the faces towards
        own ones alone, and no whole volume. Raises InputError for an edge of own nodes with a cell on one side only.
        """
        return cls._made(x, y, cells, periods, radius, poles, name, own)

    @classmethod
    def _made(
        cls,
        x: Reals,
        y: Reals,
        cells: Sequence[Ids],
        periods: tuple[float, float],
        radius: float,
        poles: Sequence[Ids],
        name: str,
        own: NDArray[np.bool_] | None,
    ) -> Self:
        count = sum(len(group) for group in cells)
        centres = [_centres(x, y, group, periods) for group in cells]
        corner_x = np.concatenate([cx for cx, _ in centres] + [np.zeros(len(poles))])
        corner_y = np.concatenate([cy for _, cy in centres] + [np.copysign(np.pi / 2, [y[ring[0]] for ring in poles])])
        groups = [*cells, *(ring[None, :] for ring in poles)]
        start = np.concatenate([group.ravel() for group in groups])
        end = np.concatenate([np.roll(group, -1, axis=1).ravel() for group in groups])
        sizes = np.concatenate([np.full(len(group), group.shape[1]) for group in groups])
        cell = np.repeat(np.arange(len(sizes)), sizes)
        if own is not None:
            wanted = own[start] | own[end]
            start, end, cell = start[wanted], end[wanted], cell[wanted]
        edges, corners = _sides(start, end, cell, len(x), name)
        is_pole = corners >= count
        middle_x, middle_y = _middles(x, y, edges, periods)
        corner_dx = np.where(is_pole, 0.0, _wrapped(corner_x[corners] - middle_x[:, None], periods[0]))
        corner_dy = _wrapped(corner_y[corners] - middle_y[:, None], periods[1])
        face = np.stack([corner_dx[:, 0] - corner_dx[:, 1], corner_dy[:, 0] - corner_dy[:, 1]], axis=1)
        normal = np.stack([face[:, 1], -face[:, 0]], axis=1)
        volume = np.zeros(len(x))
        for side in (0, 1):
            part = _area_beside(y, edges[:, side], middle_y, corner_dx, corner_dy, periods, radius > 0)
            np.add.at(volume, edges[:, side], part if side == 0 else -part)
        for ring in poles:  # the dual of a node beside a pole goes up to it, along a line of no length on the sphere
            gap = 1 - np.abs(np.sin(y[ring]))
            width = _wrapped(np.roll(x[ring], -1) - np.roll(x[ring], 1), periods[0]) / 2
            volume[ring] += gap * np.abs(width)
        volume *= radius**2 if radius else 1.0
        return cls(x, y, edges, corners, corner_x, corner_y, normal, volume, periods, radius, name)

    def check(self, poles: Sequence[Ids] = ()) -> None:
        """Raise InputError unless all duals are closed and fill the sphere, or the plane, to rounding."""
        total = np.zeros((self.nodes, 2))
        np.add.at(total, self.edges[:, 0], self.normal)
        np.add.at(total, self.edges[:, 1], -self.normal)
        for ring in poles:  # the line along the pole
            width = _wrapped(np.roll(self.x[ring], -1) - np.roll(self.x[ring], 1), self.periods[0]) / 2
            total[ring, 1] += np.abs(width) * np.sign(self.y[ring])
        open_by = np.abs(total).max(axis=1) / np.abs(self.normal).sum()
        wrong = np.flatnonzero((open_by > _CLOSED) | ~(self.volume > 0))
        if wrong.size:
            raise InputError(f"{self.name}: the dual of node {wrong[0]} is not closed ({wrong.size} such nodes)")
        area = 4 * np.pi * self.radius**2 if self.on_sphere else self.periods[0] * self.periods[1]
        if abs(self.volume.sum() - area) > _CLOSED * area:
            raise InputError(f"{self.name}: the duals fill {self.volume.sum():.17g} of {area:.17g}: it has a hole")

    def halves(self) -> list[tuple[Reals, Reals, Reals]]:
        """Return the halves of each face, from its right corner to the middle of the edge and on to the left corner.

        Of each the step along x, and y at its begin and its end, by edge; y of the middle goes on across a period.
        """
        middle_x, middle_y = _middles(self.x, self.y, self.edges, self.periods)
        found = []
        for side, sign in ((1, -1.0), (0, 1.0)):
            corner = self.corners[:, side]
            at_pole = np.abs(self.corner_y[corner]) == np.pi / 2 if self.on_sphere else np.zeros(len(corner), bool)
            dx = np.where(at_pole, 0.0, sign * _wrapped(self.corner_x[corner] - middle_x, self.periods[0]))
            y = middle_y + _wrapped(self.corner_y[corner] - middle_y, self.periods[1])
            found.append((dx, y, middle_y) if side else (dx, middle_y, y))
        return found

    def edges_per_node(self) -> Ids:
        """Return the number of edges of each node."""
        return np.bincount(self.edges.ravel(), minlength=self.nodes)


def _wrapped(distance: Reals, period: float) -> Reals:
    """Return distances as the shortest ones around."""
    return distance - period * np.round(distance / period) if period else distance


def _centres(x: Reals, y: Reals, cells: Ids, periods: tuple[float, float]) -> tuple[Reals, Reals]:
    """The means of the nodes of each cell."""
    first = cells[:, :1]
    return (
        x[cells[:, 0]] + _wrapped(x[cells] - x[first], periods[0]).mean(axis=1),
        y[cells[:, 0]] + _wrapped(y[cells] - y[first], periods[1]).mean(axis=1),
    )


def _middles(x: Reals, y: Reals, edges: Ids, periods: tuple[float, float]) -> tuple[Reals, Reals]:
    """The middles of edges, not brought back into the period."""
    first, second = edges.T
    return (
        x[first] + _wrapped(x[second] - x[first], periods[0]) / 2,
        y[first] + _wrapped(y[second] - y[first], periods[1]) / 2,
    )


def _sides(start: Ids, end: Ids, cell: Ids, nodes: int, name: str) -> tuple[Ids, Ids]:
    """The edges of cells, and the cells on the left and on the right of each; `start` to `end` has `cell` on its left.

    Raises InputError for an edge that has not one cell on each side.
    """
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * nodes + high
    found, edge = np.unique(key, return_inverse=True)
    corners = np.full((len(found), 2), -1, np.int64)
    right = (start > end).astype(np.int64)
    corners[edge, right] = cell
    sides = np.bincount(edge * 2 + right, minlength=2 * len(found)).reshape(-1, 2)
    wrong = np.flatnonzero((sides != 1).any(axis=1))
    if wrong.size:
        first, second = divmod(int(found[wrong[0]]), nodes)
        raise InputError(
            f"{name}: the edge between nodes {first} and {second} has {sides[wrong[0]].sum()} cells, not one on each "
            f"side ({wrong.size} such edges): a mesh without holes is allowed"
        )
    return np.stack([found // nodes, found % nodes], axis=1), corners


def _area_beside(
    y: Reals,
    node: Ids,
    middle_y: Reals,
    corner_dx: Reals,
    corner_dy: Reals,
    periods: tuple[float, float],
    on_sphere: bool,
) -> Reals:
    """The part that a face, from its right corner to its left one, has in the area of the first node's dual.

    The area is the integral of (sin y0 - sin y) dx around it on the sphere, of (y0 - y) dx on a plane: exact along
    straight lines. y0 is the node's latitude, so that nothing cancels near a pole.
    """
    dy = _wrapped(middle_y - y[node], periods[1])
    total = np.zeros(len(node))
    for corner, sign in ((0, 1.0), (1, -1.0)):  # from the middle to the left corner; from the right one to the middle
        dx, rise = corner_dx[:, corner], corner_dy[:, corner]
        if on_sphere:
            mean = y[node] + dy + rise / 2
            half = rise / 2
            shrink = np.sinc(half / np.pi)
            height = 2 * np.cos((mean + y[node]) / 2) * np.sin((mean - y[node]) / 2) + np.sin(mean) * (shrink - 1)
        else:
            height = dy + rise / 2
        total -= sign * dx * height
    return total
