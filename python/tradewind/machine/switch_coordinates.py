"""Coordinates of the switches in a picture of a machine: blocks (groups, planes), all drawn alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tradewind.base.tables import Table
from tradewind.machine.shapes import Point, circle, lattice, levels, square
from tradewind.machine.topology import CubeMesh, Dragonfly, DragonflyPlus, FatTree, Hypercube, HyperX, SlimFly, Torus

_MAX_IN_CIRCLE = 150
_MAX_IN_PLANE = 1000
_MAX_BLOCKS = 600
MAX_DOTS = 20_000
"""Switches that one drawing can show."""


@dataclass(frozen=True)
class SwitchCoordinates:
    """Switch ``i`` of block ``b`` is drawn at ``blocks[b] + scale * in_block[i]``."""

    in_block: list[Point]
    """Coordinates of each switch of a block, relative to its centre."""
    blocks: list[Point] = field(default_factory=lambda: [(0.0, 0.0)])
    """Coordinates of the centre of each block."""
    scale: float = 1.0
    in_rows: bool = False
    """Whether switches form straight rows, where straight links would hide each other."""
    name: str = "block"
    between: list[tuple[int, int, int]] = field(default_factory=list)
    """(block, block, links) of the pairs of blocks that have links."""
    members: Callable[[int], Sequence[int]] | None = None
    """The switches of a block; None: they follow one another."""

    def switches_of(self, block: int) -> Sequence[int]:
        """Return the switches of a block, in the order of `in_block`."""
        size = len(self.in_block)
        return self.members(block) if self.members else range(block * size, (block + 1) * size)

    def places(self) -> dict[int, Point]:
        """Return the coordinates of every switch."""
        return {
            switch: (x + self.scale * dx, y + self.scale * dy)
            for block, (x, y) in enumerate(self.blocks)
            for switch, (dx, dy) in zip(self.switches_of(block), self.in_block, strict=True)
        }


def switch_coordinates(table: Table, switches: int) -> SwitchCoordinates:
    """Return the coordinates of the switches of a topology; without blocks, at most `MAX_DOTS` + 1 of them."""
    for kind, coordinates in _COORDINATES.items():
        if isinstance(table, kind):
            return coordinates(table)
    shown = min(switches, MAX_DOTS + 1)
    in_rows = shown > _MAX_IN_CIRCLE
    return SwitchCoordinates(square(shown) if in_rows else circle(shown), in_rows=in_rows)


def _grid(
    shape: Sequence[int], neighbours: Callable[[Sequence[int], int], Iterator[tuple[int, int, int]]]
) -> SwitchCoordinates:
    """Return planes of the first dimensions that fit one; `neighbours` yields the links between planes.

    Beyond `_MAX_BLOCKS` planes, only one is drawn.
    """
    inner, outer = list(shape), list[int]()
    while math.prod(inner) > _MAX_IN_PLANE and len(inner) > 1:
        outer.insert(0, inner.pop())
    if len(inner) == 1 and not outer:
        return SwitchCoordinates(circle(inner[0]))
    if not outer or math.prod(outer) > _MAX_BLOCKS:
        return SwitchCoordinates(lattice(inner), in_rows=True, name="plane")
    blocks = circle(outer[0]) if len(outer) == 1 else lattice(outer)
    between = list(neighbours(outer, math.prod(inner)))
    return SwitchCoordinates(lattice(inner), blocks, 0.1, True, "plane", between)


def _torus(table: Torus) -> SwitchCoordinates:
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


def _dragonfly(table: Dragonfly) -> SwitchCoordinates:
    size, groups = table.rows * table.columns, table.groups
    in_rows = size > _MAX_IN_CIRCLE
    in_block = square(size, table.columns) if in_rows else circle(size)
    return _groups(in_block, groups, size * table.global_links, in_rows)


def _groups(
    in_block: list[Point],
    groups: int,
    links: int,
    in_rows: bool = False,
    members: Callable[[int], Sequence[int]] | None = None,
) -> SwitchCoordinates:
    """Groups on a ring, each with `links` links to others, all pairs alike; beyond `_MAX_BLOCKS`, only one group."""
    if groups == 1 or groups > _MAX_BLOCKS:
        return SwitchCoordinates(in_block, in_rows=in_rows, name="group", members=members)
    between = [(a, b, links // (groups - 1)) for a in range(groups) for b in range(a + 1, groups)]
    scale = min(0.5, 0.8 * math.sin(math.pi / groups))
    return SwitchCoordinates(in_block, circle(groups), scale, in_rows, "group", between, members)


def _dragonflyplus(table: DragonflyPlus) -> SwitchCoordinates:
    leaves, spines, groups = table.leaves, table.spines, table.groups

    def members(group: int) -> list[int]:
        first_spine = groups * leaves + group * spines
        return [*range(group * leaves, (group + 1) * leaves), *range(first_spine, first_spine + spines)]

    return _groups(levels([leaves, spines]), groups, spines * table.global_links, members=members)


def _hyperx(table: HyperX) -> SwitchCoordinates:
    links = table.links * len(table.shape) if len(table.links) == 1 else table.links
    return _grid(table.shape, lambda outer, pairs: _row_links(outer, links[-len(outer) :], pairs))


def _hypercube(table: Hypercube) -> SwitchCoordinates:
    shape = [2] * table.dimensions
    return _grid(shape, lambda outer, pairs: _row_links(outer, [table.links] * len(outer), pairs))


def _row_links(shape: Sequence[int], links: Sequence[int], pairs: int) -> Iterator[tuple[int, int, int]]:
    """The pairs along every dimension of a HyperX, each of `pairs` pairs of switches."""
    stride = 1
    for count, parallel in zip(shape, links, strict=True):
        for at in range(math.prod(shape)):
            for further in range(1, count - at // stride % count):
                yield at, at + further * stride, pairs * parallel
        stride *= count


def _slimfly(table: SlimFly) -> SwitchCoordinates:
    q = table.q
    across = [(x, q + m, q) for x in range(q) for m in range(q)]
    return SwitchCoordinates(circle(q), circle(2 * q), 0.8 * math.sin(math.pi / (2 * q)), False, "column", across)


_CUBE_MESH = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
"""The four GPUs of one half of a box; those of the other are drawn beside them."""


def _cubemesh(table: CubeMesh) -> SwitchCoordinates:
    """Box beside box, the GPUs above their PCIe switches, these above the host, all hosts above InfiniBand."""
    corners = range(min(table.boxes, MAX_DOTS))
    gpus = [(5 * box + half * 2.3 + x, y + half * 0.3) for box in corners for half in (0, 1) for x, y in _CUBE_MESH]
    pcie = [(5 * box + i * 1.1, -1.2) for box in corners for i in range(4)]
    hosts = [(5 * box + 1.65, -2.2) for box in corners]
    fabric = [(2.5 * len(corners) - 0.85, -3.2)] if table.boxes > 1 else []
    return SwitchCoordinates([*gpus, *pcie, *hosts, *fabric], in_rows=True)


def _fattree(table: FatTree) -> SwitchCoordinates:
    return SwitchCoordinates(levels([pods * size for pods, size in tree_levels(table)]))


def tree_levels(table: FatTree) -> list[tuple[int, int]]:
    """Return, per level from the lowest: the number of subtrees below it, and its switches per subtree."""
    down, up = table.ports()
    return [(math.prod(down[level + 1 :]), math.prod(up[:level])) for level in range(table.levels)]


_COORDINATES: dict[type[Table], Callable[..., SwitchCoordinates]] = {
    Torus: _torus,
    Dragonfly: _dragonfly,
    DragonflyPlus: _dragonflyplus,
    HyperX: _hyperx,
    Hypercube: _hypercube,
    SlimFly: _slimfly,
    CubeMesh: _cubemesh,
    FatTree: _fattree,
}
