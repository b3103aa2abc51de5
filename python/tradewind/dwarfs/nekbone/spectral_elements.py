"""Spectral elements on a brick: points, derivatives, geometry, and how elements are divided among ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import Legendre
from numpy.typing import NDArray

from tradewind import _core

Values = NDArray[np.float64]
Ids = NDArray[np.int64]
Triple = tuple[int, int, int]

SIDE = 2.0
"""Length of an element that is not deformed: that of the reference element, as in Nekbone."""


@dataclass(frozen=True)
class Basis:
    """Gauss-Lobatto-Legendre points of [-1, 1], their weights [i], and the derivative matrix [i][m].

    The derivative at point i of the polynomial of degree n - 1 with the values u[m] is ``derivative[i] @ u``.
    """

    nodes: Values
    weights: Values
    derivative: Values


def basis(points: int) -> Basis:
    """Return the basis of some points (Canuto, Hussaini, Quarteroni & Zang 2006, Spectral Methods, 2.3.2, 2.3.28)."""
    degree = points - 1
    polynomial = Legendre.basis(degree)
    inner = polynomial.deriv().roots() if degree > 1 else np.empty(0)
    slope, curve = polynomial.deriv(), polynomial.deriv(2)
    for _ in range(3):  # Newton's steps, to the last digit
        inner = inner - slope(inner) / curve(inner)
    nodes = np.concatenate([[-1.0], np.sort(inner), [1.0]])
    nodes = (nodes - nodes[::-1]) / 2
    values = polynomial(nodes)
    weights = 2 / (degree * points * values**2)
    apart = nodes[:, None] - nodes[None, :]
    np.fill_diagonal(apart, 1.0)
    derivative = values[:, None] / values[None, :] / apart
    np.fill_diagonal(derivative, 0.0)
    np.fill_diagonal(derivative, -derivative.sum(axis=1))  # that of a constant is 0
    return Basis(nodes, weights, derivative)


class Part(ABC):
    """A rank's elements of a brick, which may be any of them; x is fastest."""

    points: int
    """Points of an element in each direction."""
    rank: int

    @property
    @abstractmethod
    def all_elements(self) -> Triple:
        """Elements of all ranks along x, y, z."""

    @property
    @abstractmethod
    def element_ids(self) -> Ids:
        """Global numbers of the rank's elements, in the order of its own."""

    @abstractmethod
    def ranks_of(self, x: Ids, y: Ids, z: Ids) -> Ids:
        """Return the ranks of elements by their places."""

    @property
    def count(self) -> int:
        """Elements of the rank."""
        return len(self.element_ids)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of a field, [element][k][j][i]."""
        return self.count, self.points, self.points, self.points

    @property
    def whole(self) -> Brick:
        """All elements as those of one rank."""
        return Brick(self.points, self.all_elements)

    @cached_property
    def places(self) -> tuple[Ids, Ids, Ids]:
        """Places [element] of the elements along x, y, z."""
        z, y, x = np.unravel_index(self.element_ids, self.all_elements[::-1])
        return x, y, z

    @cached_property
    def open(self) -> NDArray[np.uint8]:
        """Sides of each element beyond which there is another one, bit 2 d + s for the side s along d."""
        found = np.zeros(self.count, np.uint8)
        for axis, (at, count) in enumerate(zip(self.places, self.all_elements, strict=True)):
            bits = (at > 0) << (2 * axis) | (at < count - 1) << (2 * axis + 1)
            found |= bits.astype(np.uint8)
        return found

    @cached_property
    def apart(self) -> NDArray[np.bool_]:
        """Return whether another rank has the element beyond: [element][z][y][x], 0 before, 1 beside, 2 behind."""
        found = np.zeros((self.count, 3, 3, 3), bool)
        for steps in np.ndindex(3, 3, 3):
            beyond = [at + step - 1 for at, step in zip(self.places, reversed(steps), strict=True)]
            there = np.logical_and.reduce(
                [(at >= 0) & (at < count) for at, count in zip(beyond, self.all_elements, strict=True)]
            )
            x, y, z = (at[there] for at in beyond)
            found[there, *steps] = self.ranks_of(x, y, z) != self.rank
        return found

    def indices(self) -> tuple[Ids, Ids, Ids]:
        """Global indices x, y, z of points on the brick's grid, each [element][i]; copies of a point have the same."""
        x, y, z = (at[:, None] * (self.points - 1) + np.arange(self.points) for at in self.places)
        return x, y, z

    def ids(self) -> Ids:
        """Global number of each point, from 1, [element][k][j][i]."""
        x, y, z = self.indices()
        nx, ny, _ = (count * (self.points - 1) + 1 for count in self.all_elements)
        return np.asarray(1 + x[:, None, None, :] + nx * (y[:, None, :, None] + ny * z[:, :, None, None]))

    def shares(self) -> Values:
        """Share of each point among the elements that have it, [element][k][j][i]: the inverse of their number."""
        found = []
        for at, count in zip(self.indices(), self.all_elements, strict=True):
            several = (at % (self.points - 1) == 0) & (at > 0) & (at < count * (self.points - 1))
            found.append(np.where(several, 0.5, 1.0))
        x, y, z = found
        return np.asarray(x[:, None, None, :] * y[:, None, :, None] * z[:, :, None, None])

    def inside(self) -> NDArray[np.bool_]:
        """Return whether a point does not lie on the boundary of the brick, [element][k][j][i]."""
        x, y, z = (
            (at > 0) & (at < count * (self.points - 1))
            for at, count in zip(self.indices(), self.all_elements, strict=True)
        )
        return np.asarray(x[:, None, None, :] & y[:, None, :, None] & z[:, :, None, None])

    def shared(self) -> NDArray[np.bool_]:
        """Return whether other ranks have a point, too, [element][k][j][i]."""
        found = self.apart
        for axis in (1, 2, 3):  # a point on a side is beside what lies beyond it
            found = found | np.take(found, [1], axis)
        ends = np.array([0, *[1] * (self.points - 2), 2])
        return np.asarray(found[:, ends][:, :, ends][:, :, :, ends])

    def rim(self) -> NDArray[np.int32]:
        """Elements with points that other ranks have, too."""
        return np.flatnonzero(self.shared().any(axis=(1, 2, 3))).astype(np.int32)

    def vertices(self, deformation: float, element_ids: Ids | None = None) -> Values:
        """Corners [element][8][3] of the elements: of cubes, moved inside the brick by a smooth displacement.

        `deformation`: the displacement's amplitude, as a share of an element's side. Sides of the brick stay planes.
        `element_ids`: of other elements.
        """
        corners = np.array([[q & 1, q >> 1 & 1, q >> 2 & 1] for q in range(8)])
        ids = self.element_ids if element_ids is None else element_ids
        z, y, x = np.unravel_index(ids, self.all_elements[::-1])
        at = SIDE * (np.stack([x, y, z], axis=1)[:, None, :] + corners)
        return self.displaced(at.astype(np.float64), deformation)

    @property
    def length(self) -> Values:
        """Length of the whole brick along x, y, z."""
        return SIDE * np.array(self.all_elements, np.float64)

    def displaced(self, at: Values, deformation: float) -> Values:
        """Places [...][3] of the brick, moved."""
        length = self.length
        turn = np.pi * at / length
        moved = at.copy()
        for d, (a, b) in enumerate(((1, 2), (2, 0), (0, 1))):
            wave = np.sin(turn[..., d]) * np.cos(turn[..., a] - 0.4) * np.cos(turn[..., b] + 0.3)
            moved[..., d] += deformation * SIDE * wave
        return moved

    def core_elements(self, points: Basis, deformation: float) -> _core.Elements:
        """The elements as compiled loops take them. Raises InputError for a deformation that turns one inside out."""
        vertices = self.vertices(deformation)
        return _core.Elements(points.nodes, points.weights, points.derivative, vertices, self.open)

    def coordinates(self, points: Basis, deformation: float) -> Values:
        """Places [element][k][j][i][3] of all points: trilinear between the corners."""
        low, high = (1 - points.nodes) / 2, (1 + points.nodes) / 2
        ends = np.stack([low, high])
        corners = self.vertices(deformation).reshape(-1, 2, 2, 2, 3)
        return np.asarray(np.einsum("ck,bj,ai,ecbad->ekjid", ends, ends, ends, corners, optimize=True))


@dataclass(frozen=True)
class Brick(Part):
    """A part that is a brick: `elements` of each rank, `points` of an element in a direction, `split` ranks."""

    points: int
    elements: Triple
    split: Triple = (1, 1, 1)
    rank: int = 0

    @property
    def all_elements(self) -> Triple:
        """Elements of all ranks along x, y, z."""
        (ex, ey, ez), (cx, cy, cz) = self.elements, self.split
        return ex * cx, ey * cy, ez * cz

    @cached_property
    def place(self) -> Triple:
        """The rank's place among the ranks, x fastest."""
        cx, cy, _ = self.split
        return self.rank % cx, self.rank // cx % cy, self.rank // (cx * cy)

    @cached_property
    def bounds(self) -> tuple[range, range, range]:
        """The rank's elements along x, y, z."""
        x, y, z = (range(at * n, (at + 1) * n) for at, n in zip(self.place, self.elements, strict=True))
        return x, y, z

    @cached_property
    def beyond(self) -> list[list[bool]]:
        """Return whether elements of other ranks lie beyond a side: [axis][low, high]."""
        return [[part.start > 0, part.stop < count] for part, count in zip(self.bounds, self.all_elements, strict=True)]

    @cached_property
    def element_ids(self) -> Ids:
        """Global numbers of the rank's elements, in the order of its own."""
        x, y, z = (np.arange(part.start, part.stop) for part in self.bounds)
        ex, ey, _ = self.all_elements
        return np.asarray((z[:, None, None] * ey + y[:, None]) * ex + x).ravel()

    def ranks_of(self, x: Ids, y: Ids, z: Ids) -> Ids:
        """Return the ranks of elements by their places."""
        px, py, pz = (at // count for at, count in zip((x, y, z), self.elements, strict=True))
        return np.asarray((pz * self.split[1] + py) * self.split[0] + px)

    def core_brick(self) -> _core.ElementBrick:
        """Return the arrangement of the elements as compiled loops take it."""
        return _core.ElementBrick(self.points, self.elements, self.beyond)


def groups_by_id(ids: Ids) -> tuple[Ids, NDArray[np.int32]]:
    """Offsets and places of the positive ids that occur more than once, see `_core.sum_by_lists`."""
    flat = ids.ravel()
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    lengths = np.diff(begins, append=len(ordered))
    kept = (lengths > 1) & (ordered[begins] > 0)
    chosen = np.repeat(kept, lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths[kept])])
    return offsets.astype(np.int64), order[chosen].astype(np.int32)


def nekbone_side(count: int, first: int = 1, *, wraps: bool = True) -> Values:
    """Nekbone's right-hand side sin(1e9 cos(1e9 i^2)) at the points i = first, first + 1, ...

    `wraps`: i^2 is a signed integer of 32 bits, as there, which overflows above i = 46340; else of 64.
    """
    i = np.arange(first, first + count, dtype=np.int64)
    square = i * i
    if wraps:
        square = square.astype(np.int32).astype(np.int64)
    return np.asarray(np.sin(1e9 * np.cos(1e9 * square.astype(np.float64))))
