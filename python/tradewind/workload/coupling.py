"""A coupling: a field goes from one grid to another, of another resolution, on the same ranks or other ones.

Each rank fetches the points of the source grid of which its points of the target grid are interpolated ("rearrange,
then map" of the couplers OASIS3-MCT and CPL7); how much the interpolation computes is a computation of the program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.base import memory
from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text
from tradewind.workload.interpolation import Direction, directions, points_of_ranges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tradewind.workload.interpolation import Area

    Numbers = NDArray[np.int64]
else:
    np = Deferred("numpy")

BYTES_PER_POINT = 60
"""Memory per fetched point while a coupling of all ranks is made."""


@dataclass(frozen=True)
class Side:
    """One end of a coupling: a layout of whole columns on the ranks from `first` on, and where its grid lies."""

    layout: _core.Blocks
    first: int = 0
    area: Area | None = None
    """None: both grids cover the same region."""

    def __post_init__(self) -> None:
        if _core.Product(self.layout).parts(2).parts > 1:
            raise InputError(f"layout {self.layout.axes}: a coupling is between layouts of whole columns: xy, yx, x, y")

    def bounds(self, axis: int) -> list[int]:
        """Return the first points of all parts of a direction, and the number of points."""
        parts = _core.Product(self.layout).parts(axis)
        return [*(parts.runs(part)[0][0] for part in range(parts.parts)), self.layout.grid.points[axis]]

    def stride(self, axis: int) -> int:
        """Return the distance in ranks of two neighbouring parts of a direction."""
        coordinate = self.layout.axes.find("xyz"[axis])
        return (0, 1, self.layout.split[0])[coordinate + 1]


@dataclass(frozen=True)
class _Wanted:
    """The source points that a part of the target grid wants along a direction."""

    owner: Numbers
    """[point] Part of the source grid."""
    offset: Numbers
    """[point] Its place in that part."""


def coupling(source: Side, target: Side, ranks: int, method: str, periodic: str = "") -> _core.Fetch:
    """Return the fetch of the points of the source grid that each rank needs for its points of the target grid.

    On `ranks` ranks in all, where the target array of a rank holds source points row by row, in ascending order, each
    once. `method`: one of `tradewind.workload.interpolation.METHODS`, along x and y; levels go to the same level.
    `periodic`: the directions along which the source grid goes around. Raises InputError for grids with different
    levels, and for a target grid that the source grid does not cover.
    """
    along = _directions(source, target, periodic)
    wanted = [_wanted(source, target, axis, each, method) for axis, each in enumerate(along)]
    points = math.prod(sum(len(part.owner) for part in parts) for parts in wanted)
    memory.require(f"a coupling that fetches {points} points", BYTES_PER_POINT * points, "name coarser grids")
    widths = np.diff(source.bounds(0))
    heights = np.diff(source.bounds(1))
    in_order = np.zeros(0, np.int64)  # places of the target array: one after another
    sources, lists = np.zeros(ranks, np.int64), [(in_order, in_order, in_order, 0)] * ranks
    for i, width in enumerate(widths):
        for j, height in enumerate(heights):
            sources[source.first + i * source.stride(0) + j * source.stride(1)] = width * height
    for j, y in enumerate(wanted[1]):
        row = source.first + y.owner[:, None] * source.stride(1)
        for i, x in enumerate(wanted[0]):
            owner = (row + x.owner * source.stride(0)).ravel()
            index = (y.offset[:, None] * widths[x.owner] + x.offset).ravel()
            rank = target.first + i * target.stride(0) + j * target.stride(1)
            lists[rank] = (owner, index, in_order, len(owner))
    return _core.Fetch(sources.tolist(), lists).with_levels([1, source.layout.grid.points[2]])


def _directions(source: Side, target: Side, periodic: str) -> tuple[Direction, Direction]:
    one, other = source.layout.grid.points, target.layout.grid.points
    if one[2] != other[2]:
        raise InputError(
            f"grids {extents_text(one)} and {extents_text(other)}: as many levels are allowed, and these have {one[2]} "
            f"and {other[2]}"
        )
    if (source.area is None) != (target.area is None):
        raise InputError("the area of one grid alone: those of both are allowed, or none where they are the same")
    areas = () if source.area is None or target.area is None else (source.area, target.area)
    return directions(one, other, periodic, *areas)


def _wanted(source: Side, target: Side, axis: int, along: Direction, method: str) -> list[_Wanted]:
    """Return what each part of the target grid wants along a direction. Raises InputError."""
    try:
        first, last = along.ranges(method)
    except InputError as error:
        raise InputError(f"along {'xy'[axis]} {error}") from None
    bounds, found = np.array(source.bounds(axis)), []
    for begin, end in pairwise(target.bounds(axis)):
        points = points_of_ranges(first[begin:end], last[begin:end], along.sources)
        owner = np.searchsorted(bounds, points, side="right") - 1
        found.append(_Wanted(owner, points - bounds[owner]))
    return found
