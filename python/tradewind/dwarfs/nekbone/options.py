"""The options of the dwarf nekbone, and the elements of each rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from tradewind.base.errors import gathered
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.dwarfs.frame.dwarf import Dwarf, method_option
from tradewind.dwarfs.nekbone.partition import PARTITIONS, Listed, Owners, along_hilbert, read_owners
from tradewind.dwarfs.nekbone.reference import SIDES
from tradewind.dwarfs.nekbone.spectral_elements import Brick, Part, Triple
from tradewind.workload.options import option

FACTORS = ("recomputed", "stored")
SUMS = ("plain", "reproducible")
MASKS = ("full", "nekbone")
OWN = ("lists", "strides")
PRECONDITIONERS = ("none", "jacobi", "schwarz")
SINGLE_REPLACE = 10
"""Iterations after which pipelined conjugate gradients of single precision compute their vectors anew: their
recurrences lose about a digit in as many, see docs/dwarfs/nekbone.md."""
DIGITS = 68
"""Digits of an exact sum, see `src/kernel/exact_sum.hpp`."""
MIN_POINTS, MAX_POINTS = 2, 32
"""Numbers of points that compiled loops take, see `src/kernel/nekbone/elements.hpp`."""
_MAX_DEFORMATION = 1.0


@dataclass(frozen=True)
class NekboneOptions(Dwarf):
    """The options of the dwarf nekbone, and how they divide elements among ranks."""

    elements: tuple[int, int, int] = option(
        "Elements EXxEYxEZ of each rank.", (4, 4, 4), minimum=1, maximum=1024, shown="4x4x4"
    )
    nx1: int = option(
        "Points of an element in each direction (degree + 1).",
        10,
        minimum=MIN_POINTS,
        maximum=MAX_POINTS,
        label="points of an element in each direction",
    )
    brick: tuple[int, int, int] | None = option(
        "Ranks PXxPYxPZ.", None, minimum=1, maximum=MAX_EXTENT, label="ranks along x, y, z", shown="nearest to a cube"
    )
    whole: tuple[int, int, int] | None = option(
        "Elements EXxEYxEZ of all ranks together, in place of --elements.",
        None,
        minimum=1,
        maximum=MAX_EXTENT,
        label="elements of all ranks along x, y, z",
        shown="--elements times --brick",
    )
    partition: str = option(
        "How elements are divided among ranks: brick, or hilbert, along a space-filling curve.",
        "brick",
        known=lambda: PARTITIONS,
        label="division of elements among ranks",
    )
    owners: str | None = option(
        "File with the rank of each element, x fastest, a line each, as METIS writes it; in place of --partition.",
        None,
        swept=False,
        metavar="FILE",
    )
    side: str = option(
        f"Right-hand side: {', '.join(SIDES)}.", "nekbone", known=lambda: SIDES, label="right-hand side", swept=False
    )
    deformation: float = option(
        "How far elements are deformed, as a share of their side.", 0.0, minimum=0.0, maximum=_MAX_DEFORMATION
    )
    mass: bool = option("0.1 u by the mass matrix; Nekbone has none.", False, swept=False)
    mask: str = option(
        "Where results of the operator are set to 0: full, or nekbone, in the first element of a rank alone.",
        "full",
        known=lambda: MASKS,
        swept=False,
    )
    factors: str = option(
        f"Geometric factors: {' or '.join(FACTORS)}.", "recomputed", known=lambda: FACTORS, label="geometric factors"
    )
    sums: str = option(
        "Sums: plain, or reproducible, with the same bits on any ranks.",
        "plain",
        known=lambda: SUMS,
        label="sums over ranks",
    )
    own: str | None = option(
        f"How a rank finds its own copies of a point: {' or '.join(OWN)}.",
        None,
        known=lambda: OWN,
        label="own copies of points",
        shown="lists for the strategy pairwise, else strides",
    )
    reduction: float = option(
        "Stop where the residual is this share of the first one.", 0.0, minimum=0.0, maximum=1.0, shown="never"
    )
    replace: int | None = option(
        "Iterations after which all vectors that recurrences carry along are computed anew (pipelined); 0: never.",
        None,
        minimum=0,
        maximum=1000,
        label="iterations between replacements",
        shown=f"{SINGLE_REPLACE} for pipelined in f4, else 0",
    )
    preconditioner: str = option(
        f"Preconditioner: {', '.join(PRECONDITIONERS)}.", "none", known=lambda: PRECONDITIONERS
    )
    coarse: bool = option("With --preconditioner schwarz: and a coarse grid, of the corners of elements.", False)
    sum_method: str | None = method_option("sum", "allreduce")
    layers_method: str | None = method_option("layers", "gather-scatter")
    coarse_method: str | None = method_option("coarse", "allreduce")

    added_later: ClassVar = {
        "replace": 0,
        "preconditioner": "none",
        "coarse": False,
        "layers_method": None,
        "coarse_method": None,
        "whole": None,
        "partition": "brick",
        "owners": None,
    }
    plans: ClassVar = {
        "exchange": "gather-scatter",
        "sum": "allreduce",
        "layers": "gather-scatter",
        "coarse": "allreduce",
    }
    diagnostics: ClassVar = {
        "residual": "residual",
        "true_residual": "|b - A x|",
        "gap": "gap of the two",
        "largest": "largest value",
        "iterations": "iterations",
    }
    has_map: ClassVar[bool] = True

    def _part_problems(self, brick: Triple) -> list[str]:
        """Return why elements cannot be divided among ranks; of a whole brick, fills in those of each rank."""
        problems, listed = [], f"owners {self.owners}" if self.owners else f"partition {self.partition}"
        if not self.listed:
            if self.whole is None:
                return []
            if any(count % ranks for count, ranks in zip(self.whole, brick, strict=True)):
                text = f"whole {extents_text(self.whole)}: {extents_text(brick)} ranks do not divide it; "
                return [text + "with --partition hilbert any number of ranks does"]
            ex, ey, ez = (count // ranks for count, ranks in zip(self.whole, brick, strict=True))
            object.__setattr__(self, "elements", (ex, ey, ez))
            return []
        if self.algorithm == "cartesian":
            problems.append(f"{listed}: algorithm cartesian sweeps over bricks; pairwise is allowed")
        if self.own == "strides":
            problems.append(f"{listed}: own strides are those of a brick; lists are allowed")
        if math.prod(self.all_elements) < self.ranks:
            problems.append(
                f"{listed}: {self.ranks} ranks: {math.prod(self.all_elements)} elements are too few: each needs one"
            )
        elif self.owners is not None:
            if self.partition != "brick":
                problems.append(f"{listed}: partition {self.partition} is another division; one of them is allowed")
            with gathered(problems):
                assert len(self.owner)
        return problems

    @property
    def listed(self) -> bool:
        """Whether ranks have lists of elements, not bricks."""
        return self.partition != "brick" or self.owners is not None

    @property
    def all_elements(self) -> Triple:
        """Elements of all ranks along x, y, z."""
        if self.whole is not None:
            return self.whole
        assert self.brick is not None
        x, y, z = (count * ranks for count, ranks in zip(self.elements, self.brick, strict=True))
        return x, y, z

    @cached_property
    def owner(self) -> Owners:
        """The rank of each element of lists. Raises InputError for a file that is invalid."""
        if self.owners is not None:
            return read_owners(self.owners, math.prod(self.all_elements), self.ranks)
        return along_hilbert(self.all_elements, self.ranks)

    @cached_property
    def fullest(self) -> Part:
        """The elements of the rank that has most."""
        return self.of_rank(int(np.bincount(self.owner).argmax()) if self.listed else 0)

    def of_rank(self, rank: int) -> Part:
        """The elements of a rank."""
        assert self.brick is not None
        if self.listed:
            return Listed(self.nx1, self.all_elements, self.owner, rank)
        return Brick(self.nx1, self.elements, self.brick, rank)
