"""The icosahedral grid of ICON: triangles of triangles, numbered along a curve, with the neighbours of each cell.

The faces of an icosahedron are divided into m x m triangles each. Numbers follow a curve that runs through the four
quarters of a triangle, and the quarters of these, and goes from cell to cell through a corner: cells of a run of
numbers lie close together. All is computed from a cell's number, in closed form; nothing is stored for a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError

Ids = NDArray[np.int64]
FACES = 20
MAX_DIVISIONS = 2**24
"""Divisions of an edge of the icosahedron: 0.4 m on the Earth; cells are counted in 64 bits."""
_LEVELS = 5
"""Quarterings that one table holds."""
_WALK = 5
"""Steps around a corner at which six cells meet, or five."""


def _vertices() -> tuple[NDArray[np.float64], list[tuple[int, int, int]]]:
    """Return the 12 corners of an icosahedron on the unit sphere, and its faces, counterclockwise from outside."""
    z, r = 1 / np.sqrt(5), 2 / np.sqrt(5)
    turn = 2 * np.pi * np.arange(5) / 5
    north = np.stack([r * np.cos(turn), r * np.sin(turn), np.full(5, z)], axis=1)
    south = np.stack([r * np.cos(turn + np.pi / 5), r * np.sin(turn + np.pi / 5), np.full(5, -z)], axis=1)
    corners = np.concatenate([[[0.0, 0.0, 1.0]], north, south, [[0.0, 0.0, -1.0]]])
    faces = []
    for i in range(5):  # slices from pole to pole, in which each face follows its neighbour
        j = (i + 1) % 5
        faces += [(0, 1 + i, 1 + j), (1 + i, 6 + i, 1 + j), (6 + i, 6 + j, 1 + j), (6 + i, 11, 6 + j)]
    return corners, faces


_CORNERS, _FACES = _vertices()


def _across_faces() -> tuple[Ids, Ids]:
    """Return, for each face and edge (from its corner of that number to the next one), the face there and its edge."""
    of_edge = {(face[e], face[(e + 1) % 3]): (f, e) for f, face in enumerate(_FACES) for e in range(3)}
    met = [[of_edge[face[(e + 1) % 3], face[e]] for e in range(3)] for face in _FACES]
    return np.array([[f for f, _ in row] for row in met]), np.array([[e for _, e in row] for row in met])


_NEXT_FACE, _NEXT_EDGE = _across_faces()


@dataclass(frozen=True)
class Cells:
    """Cells of faces as places: a face is cut into m rows of parallelograms (i, j), each of which has the cell with the
    corners (i, j), (i + 1, j), (i, j + 1), and, where i + j < m - 1, the one that stands on its head beside it."""

    face: Ids
    i: Ids
    j: Ids
    inverted: NDArray[np.bool_]


@lru_cache(maxsize=8)
def _curve(levels: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the curve through a triangle that is quartered `levels` times, as two tables of its states.

    A state is the order (first, last, other) of a triangle's corners: the curve leads from the first to the last. Table
    one: [state][number along the curve] -> [i, j, inverted, state of the cell]; table two: [state][inverted][j][i] ->
    [number, state].
    """
    orders = list(permutations(range(3)))
    if levels == 0:
        states = np.arange(len(orders), dtype=np.int32)
        forward = np.zeros((6, 1, 4), np.int32)
        forward[:, 0, 3] = states
        back = np.zeros((6, 2, 1, 1, 2), np.int32)
        back[..., 1] = states[:, None, None, None]
        return forward, back
    inner, _ = _curve(levels - 1)
    half, count = 2 ** (levels - 1), 4 ** (levels - 1)
    forward = np.empty((6, 4 * count, 4), np.int32)
    for state, (first, last, other) in enumerate(orders):
        # The quarter at a corner has that corner in its own place; the one in the middle stands on its head: its corner
        # of a number lies across from the triangle's.
        quarters = [
            (first, (first, other, last)),
            (other, (first, last, other)),
            (None, (first, other, last)),
            (last, (first, last, other)),
        ]
        for number, (corner, order) in enumerate(quarters):
            cell = inner[orders.index(order)].copy()
            if corner is None:
                cell[:, :2] = half - 1 - cell[:, :2]
                cell[:, 2] ^= 1
            else:
                cell[:, 0] += half * (corner == 1)
                cell[:, 1] += half * (corner == 2)
            forward[state, number * count : (number + 1) * count] = cell
    back = np.full((6, 2, 2 * half, 2 * half, 2), -1, np.int32)
    i, j, inverted, into = np.moveaxis(forward, -1, 0)
    begun = np.arange(6)[:, None]
    back[begun, inverted, j, i, 0] = np.arange(4 * count)
    back[begun, inverted, j, i, 1] = into
    return forward, back


@dataclass(frozen=True)
class Icosahedral:
    """The icosahedral grid whose edges have `divisions` parts: of 20 divisions^2 triangles.

    ICON's grid RnBk has n 2^k divisions: 20 n^2 4^k cells (Zaengl et al. 2015, doi:10.1002/qj.2378). Here corners are
    interpolated between those of the icosahedron and projected; ICON moves them a little (spring dynamics), which
    changes no neighbour. Raises InputError for divisions out of range.
    """

    divisions: int

    def __post_init__(self) -> None:
        if not 1 <= self.divisions <= MAX_DIVISIONS:
            raise InputError(f"{self.divisions} divisions of an edge: 1..{MAX_DIVISIONS} are allowed")

    @property
    def cells(self) -> int:
        """Number of cells."""
        return FACES * self.divisions**2

    @cached_property
    def _quarterings(self) -> int:
        """Number of times that triangles are quartered; those before have an odd number of divisions."""
        return (self.divisions & -self.divisions).bit_length() - 1

    def _blocks(self) -> list[int]:
        """Return the quarterings of each table, from the coarsest."""
        full, rest = divmod(self._quarterings, _LEVELS)
        return [rest] * (rest > 0) + [_LEVELS] * full

    def places(self, cell: Ids) -> Cells:
        """Return the places of cells by number."""
        roots = (self.divisions >> self._quarterings) ** 2
        size = 4**self._quarterings
        root, rest = np.divmod(cell, size)
        face, root = np.divmod(root, roots)
        i, j, inverted = self._root_place(root)
        state = np.zeros(root.shape, np.int64)
        for levels in self._blocks():
            size >>= 2 * levels
            number, rest = np.divmod(rest, size)
            inner = _curve(levels)[0][state, number].astype(np.int64)
            half = 2**levels
            x, y, turned = inner[..., 0], inner[..., 1], inner[..., 2] > 0
            i = half * i + np.where(inverted, half - 1 - x, x)
            j = half * j + np.where(inverted, half - 1 - y, y)
            inverted = inverted ^ turned
            state = inner[..., 3]
        return Cells(face, i, j, inverted)

    def _root_place(self, root: Ids) -> tuple[Ids, Ids, NDArray[np.bool_]]:
        """Return the places of the triangles that are not quarters, row by row along their face."""
        rows = self.divisions >> self._quarterings
        from_end = rows * rows - 1 - root  # row j has 2 (rows - j) - 1 triangles
        above = np.sqrt(from_end.astype(np.float64)).astype(np.int64)
        above += (above + 1) ** 2 <= from_end
        j = rows - 1 - above
        place = 2 * above - (from_end - above * above)
        return place // 2, j, place % 2 == 1

    def numbers(self, at: Cells) -> Ids:
        """Return the numbers of cells by place."""
        rows, left = self.divisions >> self._quarterings, self._quarterings
        i, j, inverted = at.i, at.j, at.inverted
        root_i, root_j, x, y = i >> left, j >> left, i & ((1 << left) - 1), j & ((1 << left) - 1)
        turned = x + y + inverted >= 1 << left
        number = at.face * rows * rows + rows * rows - (rows - root_j) ** 2 + 2 * root_i + turned
        state = np.zeros(number.shape, np.int64)
        for levels in self._blocks():
            mask = (1 << left) - 1
            x, y = np.where(turned, mask - x, x), np.where(turned, mask - y, y)
            inverted = inverted ^ turned  # within the triangle, which stands upright again
            left -= levels
            column, row = x >> left, y >> left
            x, y = x & ((1 << left) - 1), y & ((1 << left) - 1)
            turned = x + y + inverted >= 1 << left
            found = _curve(levels)[1][state, turned.astype(np.int64), row, column].astype(np.int64)
            number = (number << (2 * levels)) + found[..., 0]
            state = found[..., 1]
        return np.asarray(number)

    def across(self, at: Cells, edge: Ids) -> tuple[Cells, Ids]:
        """Return the cells across edges, and the numbers of these edges there.

        The edge e of a cell leads from its corner e to the next one, counterclockwise; an inverted cell has its first
        corner across from that of an upright one.
        """
        last = self.divisions - 1
        sign = np.where(at.inverted, 1, -1)
        i, j = at.i + sign * (edge == 2), at.j + sign * (edge == 0)
        leaves = ~at.inverted & ((i < 0) | (j < 0) | ((edge == 1) & (at.i + at.j == last)))
        along = np.choose(edge, [at.i, at.j, last - at.j])  # counted from the corner of the face where its edge begins
        met, back = _NEXT_EDGE[at.face, edge], last - along
        face = np.where(leaves, _NEXT_FACE[at.face, edge], at.face)
        i = np.where(leaves, np.choose(met, [back, last - back, 0]), i)
        j = np.where(leaves, np.choose(met, [0, back, last - back]), j)
        return Cells(face, i, j, ~at.inverted & ~leaves), np.where(leaves, met, edge)

    def around(self, at: Cells, edge: Ids) -> Ids:
        """Return the numbers of the cells that share a corner of an edge with a cell, [10, ...], repeated at times.

        Six cells meet at a corner, five at those of the icosahedron. First come those next to the edge's first corner,
        beginning with the cell across the edge.
        """
        found = []
        for further in (1, 2):  # around the first corner of the edge, and around the other one
            cell, by = at, edge
            for _ in range(_WALK):
                cell, by = self.across(cell, by)
                found.append(self.numbers(cell))
                by = (by + further) % 3
        return np.stack(found)

    def edges(self, cell: Ids) -> Ids:
        """Return the numbers of the edges of cells, [..., 3]: three times the lower number of an edge's two cells, and
        the edge's number there. So not all numbers are those of edges."""
        at, found = self.places(cell), []
        for edge in range(3):
            other, there = self.across(at, np.full(cell.shape, edge))
            found.append(np.minimum(3 * cell + edge, 3 * self.numbers(other) + there))
        return np.stack(found, axis=-1)

    def corners(self, cell: Ids) -> NDArray[np.float64]:
        """Return the corners of cells on the unit sphere, [..., corner, xyz], counterclockwise."""
        at = self.places(cell)
        turned = at.inverted[..., None]
        i = np.where(turned, at.i[..., None] + [1, 0, 1], at.i[..., None] + [0, 1, 0])[..., None]
        j = np.where(turned, at.j[..., None] + [1, 1, 0], at.j[..., None] + [0, 0, 1])[..., None]
        a, b, c = (_CORNERS[np.array(_FACES)[at.face, k]][..., None, :] for k in range(3))
        found = (self.divisions - i - j) * a + i * b + j * c
        return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))

    def centres(self, cell: Ids) -> NDArray[np.float64]:
        """Return the centres of cells on the unit sphere, [..., xyz]."""
        found = self.corners(cell).sum(axis=-2)
        return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))
