"""Which points of a source grid each point of a target grid is interpolated of, direction by direction.

Both grids are regular along each direction: n cells of one width, with a point in the middle of each, as the grids of
limited areas and those of longitude and latitude are. Positions are fractions of whole numbers, so that no rounding
decides whether two cells overlap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
else:
    np = Deferred("numpy")

METHODS = ("nearest", "bilinear", "conservative")
"""Interpolation of the nearest point, of two points along each direction, of all cells that overlap (first order)."""
Area = tuple[float, float, float, float]
"""West, east, south and north of a grid, in degrees or any other unit that both grids have."""
UNIT_AREA: Area = (0.0, 1.0, 0.0, 1.0)
"""The area of grids that cover the same region."""


@dataclass(frozen=True)
class Direction:
    """Source and target points along one direction, and where both grids begin and end."""

    sources: int
    targets: int
    source: tuple[float, float] = (0.0, 1.0)
    target: tuple[float, float] = (0.0, 1.0)
    periodic: bool = False
    """Whether the source points go on around the end; else those beyond the outermost point are that point."""

    def ranges(self, method: str) -> tuple[Numbers, Numbers]:
        """Return the first and the last source point of each target point by one of METHODS, before they go around.

        Raises InputError where the source grid does not cover the target grid.
        """
        begin, end = (Fraction(str(each)) for each in self.source)
        low, high = (Fraction(str(each)) for each in self.target)
        if not self.periodic and not begin <= low < high <= end:
            raise InputError(
                f"the source grid has {self.source[0]:g}..{self.source[1]:g} and does not cover the target grid, which "
                f"has {self.target[0]:g}..{self.target[1]:g}"
            )
        cells = self.sources / (end - begin)
        offset, width = (low - begin) * cells, (high - low) / self.targets * cells
        unit = math.lcm(offset.denominator, width.denominator)
        # Target cell i lies between (a + b i) / unit and (a + b (i + 1)) / unit, in widths of source cells.
        a, b = int(offset * unit), int(width * unit)
        i = np.arange(self.targets, dtype=object)  # whole numbers of any size
        middle = 2 * a + b * (2 * i + 1)
        if method == "nearest":
            first = last = middle // (2 * unit)
        elif method == "bilinear":
            first = (middle - unit) // (2 * unit)
            last = first + 1
        else:
            first, last = (a + b * i) // unit, -(-(a + b * (i + 1)) // unit) - 1
        if not self.periodic:
            first, last = np.maximum(first, 0), np.minimum(last, self.sources - 1)
        return first.astype(np.int64), last.astype(np.int64)

    def wanted(self, method: str, begin: int, end: int) -> Numbers:
        """Return the source points of the target points from `begin` to before `end`, ascending, each once."""
        first, last = (each[begin:end] for each in self.ranges(method))
        return points_of_ranges(first, last, self.sources)


def points_of_ranges(first: Numbers, last: Numbers, points: int) -> Numbers:
    """Return the numbers of all ranges of points, modulo `points`, ascending, each once."""
    longest = min(int(np.max(last - first, initial=0)) + 1, points)
    found = first[:, None] + np.arange(longest)
    return np.unique(found[found <= last[:, None]] % points)


def directions(
    sources: Sequence[int],
    targets: Sequence[int],
    periodic: str = "",
    source_area: Area = UNIT_AREA,
    target_area: Area = UNIT_AREA,
) -> tuple[Direction, Direction]:
    """Return the directions x and y of two grids, by their points along x, y and more.

    `periodic`: those along which the source grid goes around.
    """
    one, other = (
        Direction(
            sources[axis],
            targets[axis],
            (source_area[2 * axis], source_area[2 * axis + 1]),
            (target_area[2 * axis], target_area[2 * axis + 1]),
            "xy"[axis] in periodic,
        )
        for axis in (0, 1)
    )
    return one, other
