"""A field on its way from the ranks of one group to those of another, like from a model to servers or to an ocean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.layout.names import blocks
from tradewind.workload.coupling import Side, coupling
from tradewind.workload.program_tables import FileGroup, NamedExchange


@dataclass(frozen=True)
class Placed:
    """A group of a file, and its ranks among those of the program."""

    group: FileGroup
    ranks: Sequence[int]

    @property
    def split(self) -> tuple[int, int]:
        """Ranks over x and y. Raises InputError for another number of them."""
        split, name = self.group.split or (self.group.size, 1), self.group.name
        if math.prod(split) != self.group.size:
            raise InputError(f"split {split[0]}x{split[1]} of group {name!r} is not {self.group.size} ranks")
        return split


def placed(groups: Sequence[FileGroup]) -> list[Placed]:
    """Return groups with their ranks: those that they list, or in their order, from rank 0 on."""
    found, first = [], 0
    for group in groups:
        found.append(Placed(group, group.members or range(first, first + group.size)))
        first += group.size
    return found


def between(
    entry: NamedExchange, source: Placed, target: Placed, grid: tuple[int, int, int] | None
) -> tuple[_core.Pattern, tuple[str, ...]]:
    """Return the pattern of a field that goes from one group to another, and the groups in the order of their ranks.

    `grid`: that of the file. Raises InputError for groups whose ranks are mixed, and for layouts and grids that do not
    go together.
    """
    one, other = source.group, target.group
    both = [source] if source is target else sorted((source, target), key=lambda each: each.ranks[0])
    if len(both) == 2 and both[0].ranks[-1] > both[1].ranks[0]:
        raise InputError(
            f"exchange {entry.name!r}: the ranks of groups {one.name!r} and {other.name!r} are mixed: one group with "
            "all the lower ranks is allowed"
        )
    if source is target and entry.interpolation is None:
        raise InputError(f"exchange {entry.name!r}: from a group to itself: with an interpolation, to another grid")
    ranks = sum(each.group.size for each in both)
    first = {id(each): sum(before.group.size for before in both[:i]) for i, each in enumerate(both)}
    names = tuple(each.group.name for each in both)
    grids = [entry.points or one.grid or grid, entry.target_grid or other.grid or grid]
    if entry.interpolation is None:
        grids[1] = entry.points or grids[1]
    layouts = [
        blocks(_core.Grid(*_levelled(points, entry.levels)), each.split, layout)
        for points, each, layout in zip(
            grids,
            (source, target),
            (entry.source_layout, entry.target_layout or ("xy" if entry.interpolation else "z")),
            strict=True,
        )
    ]
    places = first[id(source)], first[id(target)]
    if entry.interpolation is None:
        moved = [_core.Product(each).placed(place, ranks) for each, place in zip(layouts, places, strict=True)]
        return _core.Redistribution(*moved), names
    sides = (
        Side(layouts[0], places[0], entry.area or one.area),
        Side(layouts[1], places[1], entry.target_area or other.area),
    )
    try:
        return coupling(sides[0], sides[1], ranks, entry.interpolation, entry.periodic), names
    except InputError as error:
        raise InputError(*(f"exchange {entry.name!r}: {problem}" for problem in error.problems)) from None


def _levelled(points: tuple[int, int, int] | None, levels: int | None) -> tuple[int, int, int]:
    """Return the points of a grid with other levels. Raises InputError where there is no grid."""
    if points is None:
        raise InputError("key 'grid' is missing: layouts, halos and paths lie on one")
    return points if levels is None else (*points[:2], levels)
