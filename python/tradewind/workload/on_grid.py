"""Exchanges on a grid whose columns are divided among the ranks: what these patterns have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tradewind import _core
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.layout.named_grids import MeshGrid, is_name, mesh_grid
from tradewind.layout.names import LAYOUTS, divided, shares
from tradewind.workload.exchange import Exchange
from tradewind.workload.options import Option, option


def periodic_problems(periodic: str) -> list[str]:
    """Return the problems of the names of periodic directions."""
    if not set(periodic) <= {"x", "y"} or len(set(periodic)) != len(periodic):
        return [f"periodic {periodic!r}: some of 'xy' are allowed"]
    return []


@dataclass(frozen=True)
class GridOption(Option):
    """The points of a grid, or the name of one with its levels."""

    def read(self, text: Any) -> Any:
        """Return the value of a text; a name as it is, which the request takes."""
        return text if is_name(text) else super().read(text)


def named_or_points() -> Any:
    """Return the option for a grid that may have a name."""
    help = "Points NXxNYxNZ, like 28800x14400x256, or a grid by name with its levels, like eORCA025x75 or R2B9x90."
    return option(help, None, label="grid points along x, y, z", by_name=False, of=GridOption)


@dataclass(frozen=True)
class OnGrid(Exchange):
    """A request for an exchange on a grid."""

    grid: tuple[int, int, int] | None = option(
        "Points NXxNYxNZ, like 28800x14400x256.", None, label="grid points along x, y, z", by_name=False, of=GridOption
    )
    split: tuple[int, int] | None = option(
        "Ranks CXxCY over x and y.", None, label="ranks along x, y", shown="the most even one that fits", by_name=False
    )

    prefers_even: ClassVar[bool] = False
    """Whether of several splits the one with the smallest imbalance is taken, and not the one nearest to a square."""

    def __post_init__(self) -> None:
        if is_name(self.grid):
            self._take_named(mesh_grid(str(self.grid)))
        super().__post_init__()

    def _take_named(self, grid: MeshGrid) -> None:
        """Set points, and what else follows from the name of a grid. Raises InputError where it does not apply."""
        raise InputError(
            f"grid {self.grid}: a {self.kind} needs NXxNYxNZ, like 602x568x60; a halo or a fetch has names"
        )

    @property
    def tiles(self) -> int:
        """Number of tiles of the grid, one after another along y."""
        return 1

    def layouts(self) -> list[str]:
        """Every layout that the exchange touches and that divides x and y, by its name (`tradewind.layout.names`)."""
        return ["xy"]

    def _problems(self) -> list[str]:
        problems = self._own_problems()
        if self.grid is None:
            return [*problems, f"a {self.pattern} needs a grid, like 602x568x60"]
        if min(self.grid) < 1 or max(self.grid) > MAX_EXTENT:
            text = extents_text(self.grid)
            problems.append(f"grid {text}: 1..{MAX_EXTENT} points along each direction are allowed")
        else:
            problems += self._size_problems()
        if self.split is not None:
            problems += self._split_problems(self.split)
        return problems

    def _own_problems(self) -> list[str]:
        """Return the problems of the options of a pattern, taken together."""
        return []

    def _size_problems(self) -> list[str]:
        """Return why a grid has more points than can be counted."""
        assert self.grid is not None
        return _count_problems(self.grid, self.fields, self.dtype)

    def _split_problems(self, split: tuple[int, int]) -> list[str]:
        """Return the problems of a split."""
        cx, cy = split
        if cx < 1 or cy < 1:
            return [f"split {extents_text(split)}: 1 or more ranks along each direction are allowed"]
        problems = []
        if cx * cy != self.ranks:
            problems.append(f"split {extents_text(split)} makes {cx * cy} ranks: {cx * cy} is not {self.ranks}")
        if self.grid is not None:
            problems += misfits(self.grid, split, self.layouts())
        return problems

    def _complete(self) -> None:
        super()._complete()
        if self.split is None:
            self._fill("split", default_split(self))

    @property
    def sizes(self) -> tuple[tuple[int, int, int], tuple[int, int]]:
        """Grid and split of a request that is complete."""
        assert self.grid is not None
        assert self.split is not None
        return self.grid, self.split

    def blocks(self) -> _core.Blocks:
        """The layout of whole columns."""
        grid, split = self.sizes
        return _core.Blocks(_core.Grid(*grid), split)

    def imbalance(self) -> float:
        """Return the load imbalance: the maximum points of a rank over the mean, the largest over all layouts."""
        grid, split = self.sizes
        return max(layout_imbalance(grid, split, axes) for axes in self.layouts())


def _count_problems(grid: tuple[int, int, int], fields: int, dtype: str) -> list[str]:
    """Return why the points of a grid, or the bytes of all fields, cannot be counted."""
    points = math.prod(grid)
    if points > _core.max_points:
        return [f"grid {extents_text(grid)}: {points} points; at most {_core.max_points} can be counted"]
    each = fields * DTYPES.get(dtype, 1)
    if points * each > _core.max_bytes:
        return [
            f"grid {extents_text(grid)} of {fields} fields: {points} x {each} bytes; "
            f"at most {_core.max_bytes} can be counted"
        ]
    return []


def misfits(grid: tuple[int, int, int], split: tuple[int, int], layouts: Iterable[str]) -> list[str]:
    """Return where a split has more ranks along a direction than the grid has points, in any of the layouts."""
    problems = {}
    for axes in layouts:
        for axis, parts in divided(axes, split) if axes in LAYOUTS else []:  # in other layouts a part may be empty
            points = grid["xyz".index(axis)]
            if parts > points:
                levels = "levels" if axis == "z" else f"points along {axis}"
                problems[axis, parts] = (
                    f"split {extents_text(split)}: {parts} ranks do not divide {points} {levels} among them "
                    f"(1..{points} are allowed)"
                )
    return list(problems.values())


def layout_imbalance(grid: tuple[int, int, int], split: tuple[int, int], axes: str) -> float:
    """Return the maximum points of a rank over the mean, of one layout."""
    worst = 1.0
    for points, parts in shares(axes, grid, split):
        worst *= math.ceil(points / parts) * parts / points
    return worst


def default_split(exchange: OnGrid, others: Iterable[str] = ()) -> tuple[int, int]:
    """The split of an exchange that names none; one that suits other algorithms too, so that they can be compared.

    A transposition takes the factor pair of the ranks that fits the grid and the algorithm's radix with the least
    imbalance, of several the one nearest to a square; a halo the pair nearest to a square, the larger number along
    the direction with more points. Raises InputError where no pair fits.
    """
    grid, ranks = exchange.grid, exchange.ranks
    assert grid is not None
    layouts = exchange.layouts()
    divisors = [a for a in range(1, math.isqrt(ranks) + 1) if ranks % a == 0]
    pairs = [(a, ranks // a) for a in sorted({*divisors, *(ranks // a for a in divisors)})]
    pairs = [pair for pair in pairs if not misfits(grid, pair, layouts)]
    pairs.sort(key=lambda p: (abs(math.log(p[0] * exchange.tiles / p[1])), (p[0] < p[1]) == (grid[0] >= grid[1])))
    if exchange.prefers_even:
        pairs.sort(key=lambda p: round(max(layout_imbalance(grid, p, axes) for axes in layouts), 9))
    reasons = set()
    for pair in pairs:
        try:
            for algorithm in (exchange.algorithm, *others):
                replace(exchange, split=pair, algorithm=algorithm)
        except InputError as error:
            reasons.add(str(error))
            continue
        return pair
    if len(reasons) == 1:  # whatever the split
        raise InputError(*reasons)
    raise InputError(
        f"{ranks} ranks: no split CXxCY of them fits the grid {extents_text(grid)} with {exchange.algorithm}; "
        "name fewer ranks, or another algorithm"
    )


def common_split(exchange: Exchange, algorithms: Iterable[str]) -> tuple[int, int] | None:
    """The default split that suits other algorithms too; None for an exchange without a grid. Raises InputError."""
    return default_split(exchange, algorithms) if isinstance(exchange, OnGrid) else None
