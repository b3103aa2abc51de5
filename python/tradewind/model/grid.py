"""The grid of a model: points along x, y and z, or a grid of the sphere by its name, with levels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT, extents_text, parse_extents
from tradewind.layout.grid_names import NamedGrid, named_grid
from tradewind.layout.names import LAYOUTS, shares
from tradewind.workload.exchange import Exchange
from tradewind.workload.on_grid import OnGrid, layout_imbalance

MAX_RANKS = 2_000_000
POINTS = "points"
"""Layout of a computation at the points of a grid with a name, of which all ranks have equal numbers."""


@dataclass(frozen=True)
class ModelGrid:
    """The points of a model."""

    extents: tuple[int, int, int] | None = None
    """Points along x, y and z; of a Gaussian grid those of its longest row, its rows, and levels; of triangles all
    along x. None: there is no grid, as each rank has elements of its own."""
    named: NamedGrid | None = None

    @property
    def columns(self) -> int:
        """Points of a level; 0 without a grid."""
        return self.named.columns if self.named is not None else math.prod(self.extents[:2]) if self.extents else 0

    @property
    def point_count(self) -> int:
        """Points of all levels; 0 without a grid."""
        return self.columns * self.extents[2] if self.extents else 0

    @property
    def text(self) -> str:
        """The grid as a model file names it."""
        if self.extents is None:
            return "elements of each rank"
        return extents_text(self.extents) if self.named is None else f"{self.named.name}, {self.extents[2]} levels"

    @property
    def numbers(self) -> dict[str, float]:
        """Return the numbers that formulas may use: points, and those that grids of its kind have."""
        if self.extents is None:
            return {}
        found = {"columns": float(self.columns), "levels": float(self.extents[2])}
        if self.named is None or self.named.rows is not None:
            found |= dict(zip(("nx", "ny", "nz"), map(float, self.extents), strict=True))
        if self.named is not None and self.named.truncation is not None:
            found["truncation"] = float(self.named.truncation)
        return found

    @property
    def is_divided(self) -> bool:
        """Whether its points are divided along x and y as one box."""
        return self.extents is not None and self.named is None

    @property
    def takes_splits(self) -> bool:
        """Whether ranks along x and y divide it: a box, or tiles of a grid with a name."""
        return self.is_divided or (self.named is not None and self.named.points is not None)

    def split(
        self, ranks: int, layouts: Iterable[str] = ("xy",), grown_from: tuple[int, int] | None = None
    ) -> tuple[int, int]:
        """Return the ranks over x and y that a step has unless others are named; all over x where it is not divided.

        `layouts`: those that a step goes through, like xy and zy. `grown_from`: see `default_split`. Raises InputError
        where a rank would have no point.
        """
        if self.extents is not None and self.named is None:
            return default_split(self.extents, ranks, layouts, grown_from)
        maximum = min(MAX_RANKS, self.columns or MAX_RANKS)
        if not 1 <= ranks <= maximum:
            raise InputError(f"{ranks} ranks: 1..{maximum} are allowed on {self.text}")
        if self.named is None or self.named.points is None:
            return ranks, 1
        halo = Exchange("fetch", ranks, self.extents, mesh=self.named.kind, width=1)
        assert isinstance(halo, OnGrid)
        return halo.sizes[1]

    def imbalance(self, split: tuple[int, int]) -> float:
        """Return the maximum points of a rank over the mean; 1 without a grid."""
        if self.extents is not None and self.named is None:
            return layout_imbalance(self.extents, split, "xy")
        ranks = math.prod(split)
        return -(-self.columns // ranks) * ranks / self.columns if self.columns else 1.0

    def options(self, split: tuple[int, int]) -> dict[str, Mapping[str, Any]]:
        """Return what a dwarf on this grid has for its options, by their kind, unless a model file says otherwise."""
        if self.extents is None:
            return {}
        found: dict[str, Mapping[str, Any]] = {"int": {"levels": self.extents[2]}}
        if self.named is None:
            return found | {"extents": {"grid": self.extents, "split": split}}
        if self.named.truncation is not None:
            found["int"] = {"levels": self.extents[2], "truncation": self.named.truncation}
        if self.named.gaussian_name is not None:
            found["str"] = {"grid": self.named.gaussian_name, "gaussian_grid": self.named.gaussian_name}
        return found


def model_grid(text: str | None, levels: int | None) -> ModelGrid:
    """Return the grid of a model file. Raises InputError for one that does not exist."""
    if text is None:
        if levels is not None:
            raise InputError(f"levels {levels}: of which grid? key 'grid' is missing")
        return ModelGrid()
    if re.fullmatch(r"[0-9].*", text):
        if levels is not None:
            raise InputError(f"levels {levels}: grid {text} has them as its third number; leave them out")
        nx, ny, nz = parse_extents(text, 3, "grid")
        if not all(1 <= each <= MAX_EXTENT for each in (nx, ny, nz)):
            raise InputError(f"grid {text}: 1..{MAX_EXTENT} points along each direction are allowed")
        return ModelGrid((nx, ny, nz))
    named = named_grid(text)
    if levels is None:
        raise InputError(f"grid {text}: key 'levels' is missing, such as levels = 137")
    nx, ny = named.points or (named.longest_row or named.columns, named.rows or 1)
    return ModelGrid((nx, ny, levels), named)


def points_formula(numbers: Mapping[str, float]) -> str:
    """Return the points of a rank, as a formula of its number: bands of equal numbers of columns with all levels."""
    columns, levels = int(numbers["columns"]), int(numbers["levels"])
    return f"{levels} * ({columns} * (rank + 1) // ranks - {columns} * rank // ranks)"


def default_split(
    grid: tuple[int, int, int],
    ranks: int,
    layouts: Iterable[str] = ("xy",),
    grown_from: tuple[int, int] | None = None,
) -> tuple[int, int]:
    """Return the factors (cx, cy) of the ranks nearest to a square that fit all layouts of a step.

    Of two the one with the larger factor along the direction with more points. `grown_from`: the ranks over x and y
    of the grid, which grows with the factors; as many ranks keep these. Raises InputError where a rank would have no
    point.
    """
    if grown_from is not None and math.prod(grown_from) == ranks:
        return grown_from
    if not 1 <= ranks <= MAX_RANKS:
        raise InputError(f"{ranks} ranks: 1..{MAX_RANKS} are allowed")
    names = [layout for layout in layouts if layout in LAYOUTS]
    for split in _splits(grid, ranks):
        extents = grid if grown_from is None else grown(grid, split, grown_from)
        if all(parts <= points for layout in names for points, parts in shares(layout, extents, split)):
            return split
    nearest = extents_text(next(_splits(grid, ranks)))
    raise InputError(
        f"{ranks} ranks: neither {nearest} nor other factors of them fit {extents_text(grid)} points"
        + (f", grown from {extents_text(grown_from)} ranks on" if grown_from else "")
        + (f" in the layouts {', '.join(names)}" if len(names) > 1 else "")
    )


def grown(grid: tuple[int, int, int], split: tuple[int, int], grown_from: tuple[int, int]) -> tuple[int, int, int]:
    """Return the points of a grid that grows along x and y as the ranks along these do."""
    (nx, ny, nz), (cx, cy), (first_x, first_y) = grid, split, grown_from
    return round(nx * cx / first_x), round(ny * cy / first_y), nz


def fixed(text: str) -> InputError:
    """Return the error of a grid that cannot grow, by its text."""
    return InputError(f"scale weak: the points of {text} are fixed; a grid such as 1536x1440x90 can grow")


def _splits(grid: tuple[int, int, int], ranks: int) -> Iterator[tuple[int, int]]:
    """Yield the factors of the ranks, those nearest to a square first."""
    for a in range(math.isqrt(ranks), 0, -1):
        if ranks % a == 0:
            wide, tall = (ranks // a, a), (a, ranks // a)
            yield from (wide, tall) if grid[0] >= grid[1] else (tall, wide)
