"""Halos of boxes: a grid divided along one, two or three directions, whose ranks exchange with the boxes around theirs.

The halo of the core is proved point by point; here only messages are known: to all neighbors or to some, all
at once or one direction after another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text

Direction = tuple[int, int, int]
"""-1, 0 or 1 along x, y, z: where a neighbor lies."""
Parts = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Points of each part along x, y and z."""
ALL_AROUND: tuple[Direction, ...] = tuple(d for d in product((-1, 0, 1), (-1, 0, 1), (-1, 0, 1)) if any(d))
"""The 26 directions to neighbors."""
_LETTERS = "xyz"


def direction_text(direction: Direction) -> str:
    """``(1, 0, -1)`` -> "+x-z"."""
    return "".join("-0+"[step + 1] + letter for step, letter in zip(direction, _LETTERS, strict=True) if step)


DIRECTIONS = {direction_text(each): each for each in ALL_AROUND}
"""Directions by their names."""


def even_parts(points: int, parts: int) -> tuple[int, ...]:
    """Return the points of each part: the first ones have one more where it does not divide evenly."""
    return tuple(points // parts + (part < points % parts) for part in range(parts))


@dataclass(frozen=True)
class BoxHalo:
    """Sends of each rank; ranks are numbered along x first, then along y, then along z."""

    parts: Parts
    width: int
    """Points on every side."""
    periodic: tuple[bool, bool, bool] = (False, False, False)
    toward: tuple[Direction, ...] = ALL_AROUND
    """Neighbors to which a rank sends."""
    sweep: bool = False
    """Along x, then y, then z, each with the halo of the directions before it, in place of `toward`."""

    @cached_property
    def split(self) -> tuple[int, int, int]:
        """Ranks along x, y and z."""
        nx, ny, nz = (len(each) for each in self.parts)
        return nx, ny, nz

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return math.prod(self.split)

    def place(self, rank: int) -> tuple[int, int, int]:
        """Return the coordinates of a rank."""
        px, py, _ = self.split
        return rank % px, rank // px % py, rank // (px * py)

    def neighbor(self, rank: int, direction: Direction) -> int | None:
        """Return the rank in a direction; None at an edge, and where that is the rank itself."""
        there = []
        for at, step, parts, around in zip(self.place(rank), direction, self.split, self.periodic, strict=True):
            if not around and not 0 <= at + step < parts:
                return None
            there.append((at + step) % parts)
        px, py, _ = self.split
        found = there[0] + px * (there[1] + py * there[2])
        return None if found == rank else found

    def sends(self, rank: int) -> list[list[tuple[int, int, int]]]:
        """Return the messages of a rank by stage: receiver, points and number of the direction."""
        if not self.sweep:
            return [list(self._toward(rank, self.toward, 3))]
        axes = [axis for axis in range(3) if self.split[axis] > 1]
        return [list(self._toward(rank, _along(axis), axis)) for axis in axes]

    def _toward(self, rank: int, toward: Sequence[Direction], extended: int) -> Iterator[tuple[int, int, int]]:
        """Yield messages; along axes before `extended` with the halo of these. Those of no points are left out."""
        place = self.place(rank)
        own = [parts[at] for parts, at in zip(self.parts, place, strict=True)]
        wide = [
            points + self.width * sum(self._goes_on(axis, place[axis], step) for step in (-1, 1))
            if self.sweep and axis < extended
            else points
            for axis, points in enumerate(own)
        ]
        for direction in toward:
            peer = self.neighbor(rank, direction)
            if peer is not None:
                sides = zip(direction, wide, strict=True)
                points = math.prod(self.width if step else along for step, along in sides)
                if points:
                    yield peer, points, ALL_AROUND.index(direction)

    def _goes_on(self, axis: int, at: int, step: int) -> bool:
        return self.periodic[axis] or 0 <= at + step < self.split[axis]

    def schedule(self) -> _core.Schedule:
        """Return the messages of all ranks. Raises InputError for a halo that reaches beyond the nearest neighbors."""
        smallest = min(min(parts) for parts in self.parts if len(parts) > 1) if self.ranks > 1 else self.width
        if self.width > smallest:
            raise InputError(
                f"halo {self.width}: of boxes {extents_text(self.split)} the smallest has {smallest} points along a "
                f"direction, and up to {smallest} are allowed"
            )
        listed = [
            (stage, rank, peer, points, number, 0)
            for rank in range(self.ranks)
            for stage, messages in enumerate(self.sends(rank))
            for peer, points, number in messages
        ]
        return _core.schedule_of_messages(self.ranks, listed)


def _along(axis: int) -> list[Direction]:
    """Return the two directions along an axis."""
    return [(step * (axis == 0), step * (axis == 1), step * (axis == 2)) for step in (-1, 1)]


def box_halo(
    grid: tuple[int, int, int],
    split: tuple[int, ...],
    width: int,
    periodic: str,
    toward: Sequence[str] | None,
    algorithm: str | None,
) -> BoxHalo:
    """Return the halo of a program file. Raises InputError.

    `split` has two or three numbers; `toward`: names of directions, None: all; `algorithm`: direct, sweep, or None:
    sweep, and direct with `toward`.
    """
    sizes = (split[0], split[1], split[2] if len(split) > 2 else 1)
    problems = [
        f"split {extents_text(split)}: {parts} ranks do not divide {points} points along {letter} among them "
        f"(1..{points} are allowed)"
        for points, parts, letter in zip(grid, sizes, _LETTERS, strict=True)
        if not 1 <= parts <= points
    ]
    name = algorithm or ("sweep" if toward is None else "direct")
    if name not in ("sweep", "direct"):
        problems.append(f"algorithm {name!r}: a halo of boxes has direct and sweep")
    elif name == "sweep" and toward is not None:
        problems.append("algorithm 'sweep' goes along all directions: leave toward out")
    if problems:
        raise InputError(*problems)
    x, y, z = (even_parts(points, parts) for points, parts in zip(grid, sizes, strict=True))
    directions = ALL_AROUND if toward is None else tuple(DIRECTIONS[each] for each in toward)
    around = ("x" in periodic, "y" in periodic, "z" in periodic)
    return BoxHalo((x, y, z), width, around, directions, name == "sweep")
