"""Where the switches of a machine stand in a picture of it: in blocks (groups, planes), each drawn alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tradewind.machine import Dragonfly, FatTree, Table, Torus

Point = tuple[float, float]
"""To the right and upward."""

_MOST_IN_CIRCLE = 150
_MOST_IN_PLANE = 1000


@dataclass(frozen=True)
class Standing:
    """Switch i stands at ``blocks[i // len(inside)] + reach * inside[i % len(inside)]``."""

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

    def place(self, switch: int) -> Point:
        block, i = divmod(switch, len(self.inside))
        (x, y), (dx, dy) = self.blocks[block], self.inside[i]
        return x + self.reach * dx, y + self.reach * dy


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


def lattice(shape: Sequence[int]) -> list[Point]:
    """The points of an n-dimensional grid, within -1..1, dimension 0 first, each one along the shorter side so far.

    From the third dimension on each one repeats all before it, a little aslant, so that links do not hide each other.
    """
    points: list[Point] = [(0.0, 0.0)]
    for dimension, count in enumerate(shape):
        width, height = _extent(points, 0), _extent(points, 1)
        to_the_right = width <= height
        step = 1.0 if dimension < 2 else 1.5 * (1 + min(width, height))
        across = 0.0 if dimension < 2 else 0.35
        x, y = (step, across) if to_the_right else (across, step)
        points = [(px + c * x, py + c * y) for c in range(count) for px, py in points]
    left, low = (min(p[axis] for p in points) for axis in (0, 1))
    width, height = _extent(points, 0), _extent(points, 1)
    widest = max(width, height) or 1.0
    return [((2 * (x - left) - width) / widest, (2 * (y - low) - height) / widest) for x, y in points]


def _extent(points: list[Point], axis: int) -> float:
    return max(p[axis] for p in points) - min(p[axis] for p in points)


def _torus(table: Torus) -> Standing:
    inner, outer = list(table.shape), list[int]()
    while math.prod(inner) > _MOST_IN_PLANE and len(inner) > 1:
        outer.insert(0, inner.pop())
    plane = math.prod(inner)
    if not outer:
        return Standing(lattice(inner), in_rows=True) if len(inner) > 1 else Standing(circle(plane))
    blocks = circle(outer[0]) if len(outer) == 1 else lattice(outer)
    return Standing(lattice(inner), blocks, 0.1, True, "plane", list(_ring_links(outer, plane)))


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
    if groups == 1:
        return Standing(inside, in_rows=in_rows)
    links = size * table.global_links // (groups - 1)
    between = [(a, b, links) for a in range(groups) for b in range(a + 1, groups)]
    reach = min(0.5, 0.8 * math.sin(math.pi / groups))
    return Standing(inside, circle(groups), reach, in_rows, "group", between)


def _fattree(table: FatTree) -> Standing:
    width = table.down_ports ** (table.levels - 1)
    return Standing(levels([width] * table.levels))


def levels(widths: Sequence[int]) -> list[Point]:
    """Rows of points, the first at the bottom, each as wide as the picture."""
    height = 1.2 / max(1, len(widths) - 1)
    return [((2 * w + 1) / n - 1, level * height - 0.6) for level, n in enumerate(widths) for w in range(n)]


_STANDINGS: dict[type[Table], Callable[..., Standing]] = {Torus: _torus, Dragonfly: _dragonfly, FatTree: _fattree}
