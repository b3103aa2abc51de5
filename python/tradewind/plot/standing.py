"""Where the switches of a machine stand in a picture of it: in blocks (groups, planes), each drawn alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tradewind.machine import CubeMesh, Dragonfly, DragonflyPlus, FatTree, Hypercube, HyperX, SlimFly, Table, Torus

Point = tuple[float, float]
"""To the right and upward."""

_MOST_IN_CIRCLE = 150
_MOST_IN_PLANE = 1000


@dataclass(frozen=True)
class Standing:
    """Switch ``blocks_of[b][i]`` stands at ``blocks[b] + reach * inside[i]``."""

    inside: list[Point]
    """Each switch of a block, from its middle."""
    blocks: list[Point] = field(default_factory=lambda: [(0.0, 0.0)])
    """The middle of each block."""
    reach: float = 1.0
    in_rows: bool = False
    """Whether switches stand in straight rows, so that straight links would hide each other."""
    name: str = "block"
    between: list[tuple[int, int, int]] = field(default_factory=list)
    """(block, block, links) of the pairs of blocks that have links."""
    members: Callable[[int], Sequence[int]] | None = None
    """The switches of a block; None: they follow one another."""

    def switches_of(self, block: int) -> Sequence[int]:
        size = len(self.inside)
        return self.members(block) if self.members else range(block * size, (block + 1) * size)

    def places(self) -> dict[int, Point]:
        """Where every switch stands."""
        return {
            switch: (x + self.reach * dx, y + self.reach * dy)
            for block, (x, y) in enumerate(self.blocks)
            for switch, (dx, dy) in zip(self.switches_of(block), self.inside, strict=True)
        }


def standing(table: Table, switches: int) -> Standing:
    """Where the switches of a topology stand."""
    for kind, stand in _STANDINGS.items():
        if isinstance(table, kind):
            return stand(table)
    in_rows = switches > _MOST_IN_CIRCLE
    return Standing(square(switches) if in_rows else circle(switches), in_rows=in_rows)


def circle(count: int) -> list[Point]:
    """Points on a circle of radius 1, the first at the top, clockwise."""
    angles = [2 * math.pi * i / count for i in range(count)]
    return [(math.sin(angle), math.cos(angle)) for angle in angles]


def square(count: int, columns: int | None = None) -> list[Point]:
    """Points in rows from the top, within -1..1."""
    columns = columns or math.isqrt(count - 1) + 1
    rows = math.ceil(count / columns)
    widest = max(columns, rows) - 1 or 1
    return [
        ((2 * (i % columns) - columns + 1) / widest, (rows - 1 - 2 * (i // columns)) / widest) for i in range(count)
    ]


def levels(widths: Sequence[int]) -> list[Point]:
    """Rows of points, the first at the bottom, each as wide as the picture."""
    height = 1.2 / max(1, len(widths) - 1)
    return [((2 * w + 1) / n - 1, level * height - 0.6) for level, n in enumerate(widths) for w in range(n)]


def lattice(shape: Sequence[int]) -> list[Point]:
    """The points of an n-dimensional grid, within -1..1, dimension 0 first, each one along the shorter side so far.

    From the third dimension on each one repeats all before it, a little aslant, so that links do not hide each other.
    """
    points: list[Point] = [(0.0, 0.0)]
    for dimension, count in enumerate(shape):
        width, height = _extent(points, 0), _extent(points, 1)
        step = 1.0 if dimension < 2 else 1.5 * (1 + min(width, height))
        across = 0.0 if dimension < 2 else 0.35
        x, y = (step, across) if width <= height else (across, step)
        points = [(px + c * x, py + c * y) for c in range(count) for px, py in points]
    left, low = (min(p[axis] for p in points) for axis in (0, 1))
    width, height = _extent(points, 0), _extent(points, 1)
    widest = max(width, height) or 1.0
    return [((2 * (x - left) - width) / widest, (2 * (y - low) - height) / widest) for x, y in points]


def _extent(points: list[Point], axis: int) -> float:
    return max(p[axis] for p in points) - min(p[axis] for p in points)


def _grid(shape: Sequence[int], neighbours: Callable[[Sequence[int], int], Iterator[tuple[int, int, int]]]) -> Standing:
    """Planes of the first dimensions, as many as are few enough; `neighbours` of planes, by the other dimensions."""
    inner, outer = list(shape), list[int]()
    while math.prod(inner) > _MOST_IN_PLANE and len(inner) > 1:
        outer.insert(0, inner.pop())
    if not outer:
        return Standing(lattice(inner), in_rows=True) if len(inner) > 1 else Standing(circle(inner[0]))
    blocks = circle(outer[0]) if len(outer) == 1 else lattice(outer)
    between = list(neighbours(outer, math.prod(inner)))
    return Standing(lattice(inner), blocks, 0.1, True, "plane", between)


def _torus(table: Torus) -> Standing:
    return _grid(table.shape, _ring_links)


def _ring_links(shape: Sequence[int], links: int) -> Iterator[tuple[int, int, int]]:
    """Neighbours in a torus, and how many links they share: one pair has two ways around a ring of two."""
    stride = 1
    for count in shape:
        for at in range(math.prod(shape)):
            here = at // stride % count
            there = at + ((here + 1) % count - here) * stride
            if count > 2 or (count == 2 and here == 0):
                yield min(at, there), max(at, there), links * (2 if count == 2 else 1)
        stride *= count


def _dragonfly(table: Dragonfly) -> Standing:
    size, groups = table.rows * table.columns, table.groups
    in_rows = size > _MOST_IN_CIRCLE
    inside = square(size, table.columns) if in_rows else circle(size)
    return _groups(inside, groups, size * table.global_links, in_rows)


def _groups(
    inside: list[Point],
    groups: int,
    links: int,
    in_rows: bool = False,
    members: Callable[[int], Sequence[int]] | None = None,
) -> Standing:
    """Groups on a ring, each with so many links to others, all pairs alike."""
    if groups == 1:
        return Standing(inside, in_rows=in_rows, members=members)
    between = [(a, b, links // (groups - 1)) for a in range(groups) for b in range(a + 1, groups)]
    reach = min(0.5, 0.8 * math.sin(math.pi / groups))
    return Standing(inside, circle(groups), reach, in_rows, "group", between, members)


def _dragonflyplus(table: DragonflyPlus) -> Standing:
    leaves, spines, groups = table.leaves, table.spines, table.groups

    def members(group: int) -> list[int]:
        first_spine = groups * leaves + group * spines
        return [*range(group * leaves, (group + 1) * leaves), *range(first_spine, first_spine + spines)]

    return _groups(levels([leaves, spines]), groups, spines * table.global_links, members=members)


def _hyperx(table: HyperX) -> Standing:
    links = table.links * len(table.shape) if len(table.links) == 1 else table.links
    return _grid(table.shape, lambda outer, pairs: _row_links(outer, links[-len(outer) :], pairs))


def _hypercube(table: Hypercube) -> Standing:
    shape = [2] * table.dimensions
    return _grid(shape, lambda outer, pairs: _row_links(outer, [table.links] * len(outer), pairs))


def _row_links(shape: Sequence[int], links: Sequence[int], pairs: int) -> Iterator[tuple[int, int, int]]:
    """The pairs along every dimension of a HyperX, each of so many pairs of switches."""
    stride = 1
    for count, parallel in zip(shape, links, strict=True):
        for at in range(math.prod(shape)):
            for further in range(1, count - at // stride % count):
                yield at, at + further * stride, pairs * parallel
        stride *= count


def _slimfly(table: SlimFly) -> Standing:
    q = table.q
    across = [(x, q + m, q) for x in range(q) for m in range(q)]
    return Standing(circle(q), circle(2 * q), 0.8 * math.sin(math.pi / (2 * q)), False, "column", across)


_CUBE_MESH = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
"""The four GPUs of one half of a box; those of the other stand beside them."""


def _cubemesh(table: CubeMesh) -> Standing:
    """Box beside box, the GPUs above their PCIe switches, these above the host, all hosts above InfiniBand."""
    corners = range(table.boxes)
    gpus = [(5 * box + half * 2.3 + x, y + half * 0.3) for box in corners for half in (0, 1) for x, y in _CUBE_MESH]
    pcie = [(5 * box + i * 1.1, -1.2) for box in corners for i in range(4)]
    hosts = [(5 * box + 1.65, -2.2) for box in corners]
    fabric = [(2.5 * table.boxes - 0.85, -3.2)] if table.boxes > 1 else []
    return Standing([*gpus, *pcie, *hosts, *fabric], in_rows=True)


def _fattree(table: FatTree) -> Standing:
    return Standing(levels([pods * size for pods, size in tree_levels(table)]))


def tree_levels(table: FatTree) -> list[tuple[int, int]]:
    """Of each level, the lowest first: how many subtrees reach up to it, and how many of its switches each has."""
    down, up = table.ports()
    return [(math.prod(down[level + 1 :]), math.prod(up[:level])) for level in range(table.levels)]


_STANDINGS: dict[type[Table], Callable[..., Standing]] = {
    Torus: _torus,
    Dragonfly: _dragonfly,
    DragonflyPlus: _dragonflyplus,
    HyperX: _hyperx,
    Hypercube: _hypercube,
    SlimFly: _slimfly,
    CubeMesh: _cubemesh,
    FatTree: _fattree,
}
