"""The transposition: a grid is redistributed from one layout to another, or along a path of layouts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.layout.closed import indices
from tradewind.layout.names import SPECTRAL, Leg, is_path, legs, path_problems, transposition
from tradewind.workload.arrays import Array, Arrays, numbers
from tradewind.workload.on_grid import OnGrid
from tradewind.workload.options import option
from tradewind.workload.workload import Step

Transposition = _core.Transpose | _core.Redistribution
SLABS = {"xz": ("xy", "zy"), "xy": ("zy", "zx"), "yz": ("zx", "yx")}
"""The transpositions of a spectral model: the axes divided before and after (Zheng & Marguinaud 2018, Fig. 3)."""


def slab_problems(slab: str) -> list[str]:
    """Return the problems of the name of a transposition, or of a path through layouts."""
    if is_path(slab):
        return path_problems(slab, blocks_alone=False)
    return [] if slab in (*SLABS, "all") else [unknown("slab", slab, (*SLABS, "all")) + ", or a path like xy-zy-xy"]


@dataclass(frozen=True)
class TransposeExchange(OnGrid):
    """A request for one transposition or several in order."""

    slab: str = option(
        "Transposition xz, xy or yz, all three in order, or a path of layouts like y-bands-whole:2 or points-rows.",
        "all",
        problems=slab_problems,
        label="transpositions",
    )

    kind: ClassVar[str] = "transpose"
    core_pattern: ClassVar[str] = "transpose"
    floor_algorithm: ClassVar[str | None] = "burst"
    prefers_even: ClassVar[bool] = True

    def layouts(self) -> list[str]:
        """Return the layouts of all transpositions, each once."""
        if slab_problems(self.slab):
            return []
        return list(dict.fromkeys(axes for _, *pair in self.legs() for axes in pair))

    def legs(self) -> list[Leg]:
        """The transpositions, in order."""
        if is_path(self.slab):
            return legs(self.slab, blocks_alone=False)
        return [(slab, *SLABS[slab]) for slab in (SLABS if self.slab == "all" else [self.slab])]

    def require_arrays(self) -> None:
        """Raise InputError for several exchanges of a spherical-harmonics transform."""
        super().require_arrays()
        if len(self.legs()) > 1 and any(before in SPECTRAL for _, before, _ in self.legs()):
            raise InputError(
                f"slab {self.slab}: data are transformed between the exchanges of a spherical-harmonics transform, so "
                "one of them alone has arrays"
            )

    def alone(self, step: str) -> TransposeExchange:
        """Return the request for one of its transpositions, once."""
        return replace(self, times=1, slab=step)

    @classmethod
    def sized(cls, size: int, ranks: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return a grid whose transposition xz sends this size from each rank to each, as `osu_alltoall` does."""
        points = cls._elements(size, options, ("grid", "split", "slab"))
        return {"grid": (ranks, points, ranks), "split": (ranks, 1), "slab": "xz"}

    def steps(self) -> list[Step]:
        """Return the transpositions in order, repeated. Raises InputError."""
        points, split = self.sizes
        grid = _core.Grid(*points)
        steps = []
        for name, *pair in self.legs():
            try:
                schedule = self.schedule(_pattern(grid, split, *pair))
            except InputError as error:
                raise InputError(f"slab {name}: {error}") from None
            steps.append(Step(name, schedule))
        return steps * self.times

    @staticmethod
    def arrays() -> type[Arrays]:
        """Return the arrays of a transposition."""
        return TransposeArrays


def _pattern(grid: _core.Grid, split: tuple[int, int], before: str, after: str) -> Transposition:
    """The pattern of a leg. Raises InputError."""
    if before not in SPECTRAL:
        return transposition(grid, split, before, after)
    from tradewind.spectral.distribution import exchange_between

    _, rows, levels = grid.points
    return exchange_between(rows, levels, split, before, after)


class TransposeArrays(Arrays):
    """Numbers of grid points."""

    @staticmethod
    def source(pattern: Transposition, rank: int, field: int, dtype: str) -> Array:
        """Return the points of a rank before, [z][y][x]."""
        layout = pattern.from_layout
        return numbers(indices(layout, rank), layout.grid.points, field, dtype)

    @staticmethod
    def expected(pattern: Transposition, rank: int, field: int, dtype: str) -> Array:
        """Return the points of a rank after, [z][y][x]."""
        layout = pattern.to_layout
        return numbers(indices(layout, rank), layout.grid.points, field, dtype)

    @staticmethod
    def expected_points(pattern: Transposition, rank: int) -> int:
        """Return the number of points that a rank has after."""
        return math.prod(pattern.target_shape(rank))
