"""The gather-scatter: points that elements share become the sum of their values, on a brick of elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tradewind import _core
from tradewind.base.deferred import Deferred
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.workload.arrays import Array, Arrays
from tradewind.workload.exchange import Exchange
from tradewind.workload.options import option
from tradewind.workload.workload import Step

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

OPERATIONS = ("add", "mul", "min", "max")


def cubic(ranks: int) -> tuple[int, int, int]:
    """Return the three factors of a number of ranks whose brick is nearest to a cube, the largest first."""
    best = (ranks, 1, 1)
    for z in (n for n in range(1, round(ranks ** (1 / 3)) + 1) if ranks % n == 0):
        rest = ranks // z
        y = next(n for n in range(math.isqrt(rest), 0, -1) if rest % n == 0)
        best = min(best, (rest // y, y, z), key=lambda brick: (max(brick) - min(brick), sum(brick)))
    return best


def _direction_problems(periodic: str) -> list[str]:
    if not set(periodic) <= {"x", "y", "z"} or len(set(periodic)) != len(periodic):
        return [f"periodic {periodic!r}: some of 'xyz' are allowed"]
    return []


@dataclass(frozen=True)
class GatherScatterExchange(Exchange):
    """A request for the gather-scatter of a brick of spectral elements."""

    elements: tuple[int, int, int] = option(
        "Elements EXxEYxEZ of each rank.",
        (8, 8, 4),
        minimum=1,
        maximum=MAX_EXTENT,
        label="elements of a rank along x, y, z",
        shown="8x8x4",
    )
    points: int = option(
        "Points of an element along each direction (degree + 1).",
        10,
        minimum=2,
        maximum=MAX_EXTENT,
        label="points of an element along a direction",
    )
    brick: tuple[int, int, int] | None = option(
        "Ranks PXxPYxPZ.", None, minimum=1, maximum=MAX_EXTENT, label="ranks along x, y, z", shown="nearest to a cube"
    )
    periodic: str = option(
        "Periodic directions, some of x, y, z.",
        "",
        problems=_direction_problems,
        label="periodic directions",
        shown="none",
    )
    operation: str = option(
        f"Operation: {', '.join(OPERATIONS)}.", "add", known=lambda: OPERATIONS, label="operation of a gather-scatter"
    )

    kind: ClassVar[str] = "gather-scatter"
    core_pattern: ClassVar[str] = "gather-scatter"
    floor_algorithm: ClassVar[str | None] = "pairwise"

    @property
    def detail(self) -> str:
        """Elements of a rank and points of an element."""
        return f"{extents_text(self.elements)} of {self.points}"

    def _problems(self) -> list[str]:
        problems = super()._problems()
        if self.brick is not None and math.prod(self.brick) != self.ranks:
            made = math.prod(self.brick)
            problems.append(f"brick {extents_text(self.brick)} makes {made} ranks: {made} is not {self.ranks}")
        if self.operation in ("min", "max") and str(self.dtype).startswith("c"):
            problems.append(
                f"operation {self.operation}: complex numbers ({self.dtype}) have no order; add and mul are allowed"
            )
        return problems

    def _complete(self) -> None:
        super()._complete()
        self._fill("brick", cubic(self.ranks))

    def steps(self) -> list[Step]:
        """Return the one gather-scatter, repeated."""
        assert self.brick is not None
        around = ["x" in self.periodic, "y" in self.periodic, "z" in self.periodic]
        pattern = _core.BrickGatherScatter(self.elements, self.points, self.brick, around, self.operation)
        return [Step("gather-scatter", self.schedule(pattern), self.times)]

    @staticmethod
    def arrays() -> type[Arrays]:
        """Return the arrays of a gather-scatter."""
        return GatherScatterArrays


class GatherScatterArrays(Arrays):
    """Small whole numbers, another one for each copy of a point."""

    @staticmethod
    def source(pattern: _core.BrickGatherScatter, rank: int, field: int, dtype: str) -> Array:
        """Return the values of a rank, [z][y][value]."""
        levels = pattern.levels[0] * pattern.levels[1]
        places = np.arange(pattern.values(rank) * levels).reshape(pattern.source_shape(rank))
        return ((places * 7 + rank * 5 + field) % 11 + 1).astype(dtype)

    @staticmethod
    def expected(pattern: _core.BrickGatherScatter, rank: int, field: int, dtype: str) -> Array:
        """Return the values of a rank after the copies of each point are combined, [z][y][value]."""
        combine = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[pattern.operation]
        own = pattern.ids(rank)
        known, place = np.unique(own, return_inverse=True)
        shape = pattern.source_shape(rank)
        neutral = {"add": 0, "mul": 1, "min": 12, "max": 0}[pattern.operation]
        sums = np.full((*shape[:2], known.size), neutral, dtype)
        for peer in _around(pattern, rank):
            ids = pattern.ids(peer)
            at = np.minimum(np.searchsorted(known, ids), known.size - 1)
            meant = known[at] == ids
            values = GatherScatterArrays.source(pattern, peer, field, dtype)
            for z in range(shape[0]):
                for y in range(shape[1]):
                    combine.at(sums[z, y], at[meant], values[z, y, meant])
        return sums[:, :, place.reshape(-1)]

    @staticmethod
    def expected_points(pattern: _core.BrickGatherScatter, rank: int) -> int:
        """Return the cells that a rank exchanges."""
        return len(pattern.shared_ids(rank)) * pattern.levels[0] * pattern.levels[1]


def _around(pattern: _core.BrickGatherScatter, rank: int) -> list[int]:
    """Return a rank and its neighbours in the brick, each once."""
    px, py, pz = pattern.split
    place = (rank % px, rank // px % py, rank // px // py)
    found = set()
    for dz in (-1, 0, 1):
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                x, y, z = place[0] + dx, place[1] + dy, place[2] + dz
                inside = [
                    around or 0 <= n < parts
                    for n, parts, around in zip((x, y, z), (px, py, pz), pattern.periodic, strict=True)
                ]
                if all(inside):
                    found.add(x % px + px * (y % py + py * (z % pz)))
    return sorted(found)
