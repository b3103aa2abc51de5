"""The request for the dwarf nekbone: options, elements of ranks, exchanges, the reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.dwarfs.frame.dwarf import Dwarf, method_option
from tradewind.dwarfs.nekbone.reference import SHIFT, SIDES, ReferenceNekbone
from tradewind.dwarfs.nekbone.schwarz import layer_ids
from tradewind.dwarfs.nekbone.spectral_elements import SIDE, Brick, Ids, basis
from tradewind.method.method import Method
from tradewind.workload.options import option, problems_of
from tradewind.workload.patterns.gather_scatter import cubic

if TYPE_CHECKING:
    from tradewind.mpi.library import Array
    from tradewind.workload.program import Exchanged

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
_MAX_LISTED = 20_000_000
METHODS = {
    "pairwise": Method("pairwise", "isend-irecv"),
    "cartesian-blocking": Method("cartesian", "sendrecv"),
    "cartesian": Method("cartesian", "isend-irecv"),
    "overlap": Method("pairwise", "put-notify"),
    "pipelined": Method("cartesian", "isend-irecv"),
}
"""Method of the gather-scatter where the request names none: pairwise is that of Nek5000, blocking its new kernel."""


@dataclass(frozen=True)
class NekboneRequest(Dwarf):
    """The options of the dwarf nekbone, and what follows from them but for how it runs and is simulated."""

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
    sum_method: str | None = method_option("sum", "allreduce")
    layers_method: str | None = method_option("layers", "gather-scatter")

    added_later: ClassVar = {"replace": 0, "preconditioner": "none", "layers_method": None}
    plans: ClassVar = {"exchange": "gather-scatter", "sum": "allreduce", "layers": "gather-scatter"}
    diagnostics: ClassVar = {
        "residual": "residual",
        "true_residual": "|b - A x|",
        "gap": "gap of the two",
        "largest": "largest value",
        "iterations": "iterations",
    }
    has_map: ClassVar[bool] = True

    def _problems(self) -> list[str]:
        problems = []
        if self.strategy not in METHODS:
            return []
        self._choose(brick=cubic(self.ranks), **vars(METHODS[self.strategy]) if self._is_open else {})
        self._choose(own="lists" if self.strategy == "pairwise" and self.in_parts else "strides")
        self._choose(replace=SINGLE_REPLACE if (self.strategy, self.precision) == ("pipelined", "f4") else 0)
        assert self.brick is not None
        if math.prod(self.brick) != self.ranks:
            problems.append(f"brick {extents_text(self.brick)}: {self.ranks} ranks are asked for")
        if self.side == "wave" and not self.mass:
            problems.append("side wave: its solution is known with --mass alone")
        if self.sums == "reproducible" and self.algorithm == "cartesian":
            object.__setattr__(self, "algorithm", "pairwise")  # sums are by direction then, whatever the algorithm
        if self.strategy == "overlap" and self.algorithm == "cartesian":
            problems.append("algorithm cartesian: the strategy overlap exchanges lists of points; pairwise is allowed")
        if self.own == "lists" and not self.in_parts:
            problems.append(f"own lists: strategy {self.strategy} sums own copies by strides, on the way; of pairwise")
        if self.mask == "nekbone" and self.strategy == "pipelined":
            problems.append("mask nekbone: pipelined needs a symmetric operator; full is allowed")
        if self.replace and self.strategy != "pipelined":
            problems.append(
                f"replace {self.replace}: strategy {self.strategy} has few recurrences; pipelined is allowed"
            )
        problems += self._preconditioner_problems()
        if not problems and not problems_of(self):
            problems += self._exchange_problems()
        return problems

    def _preconditioner_problems(self) -> list[str]:
        if self.preconditioner == "none":
            return []
        problems, name = [], f"preconditioner {self.preconditioner}"
        if self.strategy == "pipelined":
            problems.append(f"{name}: strategy pipelined has none; classic conjugate gradients, as of cartesian, are")
        if self.mask == "nekbone":
            problems.append(f"{name}: with mask nekbone the operator is not symmetric; full is allowed")
        if self.preconditioner == "schwarz" and self.nx1 < 3:
            problems.append(f"{name}: elements of {self.nx1} points have no inner layer; nx1 of 3 or more is allowed")
        return problems

    @property
    def schwarz_shift(self) -> float:
        """Factor of the mass in the operators of subdomains.

        Of an operator without mass matrix, the mean: 0.1 is multiplied by the points per volume.
        """
        return SHIFT if self.mass else SHIFT * (self.nx1 / SIDE) ** 3

    @property
    def steps_per_round(self) -> int:
        """Iterations of the program: those from one replacement to the next."""
        return max(1, self.replace or 0)

    @property
    def in_parts(self) -> bool:
        """Whether points that other ranks have are summed apart from those that no other rank has."""
        return self.strategy in ("pairwise", "overlap") and self.sums == "plain" and self.algorithm != "cartesian"

    @property
    def _is_open(self) -> bool:
        return self.algorithm is None and self.transport is None and self.packing is None

    def _exchange_problems(self) -> list[str]:
        found = []
        if self.transport is not None:
            found += self.transport_problems("exchange", {"exchange": self.schedule("exchange", self.brick_exchange())})
        if self.preconditioner == "schwarz" and self.layers_method is not None:
            found += self.transport_problems("layers", {"layers": self.schedule("layers", self.pattern("layers"))})
        return found + self.transport_problems("sum", {"sum": self.schedule("sum", self.sum_pattern())})

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{super().name} {extents_text(self.elements)} of {self.nx1}"

    def method(self, plan: str) -> Method:
        """The method of a plan; reproducible sums have a plan for each direction."""
        return super().method(plan.partition("-")[0])

    @property
    def points(self) -> int:
        """Points of all elements, those that several share as often as they do: as Nekbone counts."""
        return math.prod(self.elements) * self.nx1**3 * self.ranks

    @property
    def flops(self) -> int:
        """Flops of an iteration per point as Nekbone counts them: 154 for nx1 = 10."""
        return 12 * self.nx1 + 34

    @property
    def tolerance(self) -> float:
        """Only sums are in another order, but a solver goes on from their rounding.

        The reference has double precision. Before it has converged, a solver multiplies rounding errors: 2^14 of them
        are allowed in single precision; in double precision there is room for more.
        """
        return 2**14 * self.unit_roundoff if self.precision == "f4" else 1e-9

    def of_rank(self, rank: int) -> Brick:
        """The elements of a rank."""
        assert self.brick is not None
        return Brick(self.nx1, self.elements, self.brick, rank)

    # Exchanges.

    def brick_exchange(self) -> _core.BrickGatherScatter:
        """The gather-scatter of all points."""
        assert self.brick is not None
        return _core.BrickGatherScatter(self.elements, self.nx1, self.brick, [False] * 3, "add")

    @property
    def exchange_names(self) -> list[str]:
        """The gather-scatters of an iteration: that of all points, or of those along each axis in turn."""
        return ["exchange"] if self.sums == "plain" else [f"exchange-{axis}" for axis in "xyz"]

    def pattern(self, name: str) -> _core.Pattern:
        """A gather-scatter of all ranks, or a sum, as they are simulated."""
        if name == "sum":
            return self.sum_pattern()
        if name == "layers":
            return self._of_lists("preconditioner schwarz", self.layer_ids)
        if self.sums == "plain":
            return self.brick_exchange()
        axis = "xyz".index(name[-1])
        return self._of_lists("sums reproducible", lambda rank: self.ids_along(axis, rank))

    def _of_lists(self, what: str, ids: Callable[[int], Ids]) -> _core.Pattern:
        if self.points > _MAX_LISTED:
            raise InputError(
                f"{what}: the lists of {self.ranks} ranks have {self.points} points; up to {_MAX_LISTED} are simulated"
            )
        return _core.gather_scatter_of_ids([ids(rank) for rank in range(self.ranks)], "add")

    def layer_ids(self, rank: int) -> Ids:
        """Ids of a rank's layers of subdomains, 0 where there is nothing beyond a side; [place]."""
        return layer_ids(self.of_rank(rank)).ravel()

    def exchanged(self, name: str) -> Exchanged:
        """Return the gather-scatter or the sum by its name. Raises InputError."""
        made = self.named_exchange(name, self.sum_dtype if name == "sum" else self.precision)
        return replace(made, name=f"sum of {self.sum_pattern().count}") if name == "sum" else made

    def ids_along(self, axis: int, rank: int) -> Ids:
        """Ids of the points that two elements which follow each other along an axis share, 0 of the others; [place].

        Each has two copies, whose sum does not depend on which comes first: one axis after the other, all copies of a
        point get the same bits, on any ranks.
        """
        return _ids_along(self.of_rank(rank), axis).ravel()

    def shared_ids(self, rank: int) -> Ids:
        """Ids of the points that other ranks have, too, 0 of the others; [place]."""
        of = self.of_rank(rank)
        return np.where(of.shared(), of.ids(), 0).ravel()

    def sum_pattern(self) -> _core.AllReduce:
        """The sum over ranks of a number, or of two where they are pipelined; of all of their digits.

        Digits have no NaN: behind them is the number of sums that are not finite.
        """
        numbers = 2 if self.strategy == "pipelined" else 1
        return _core.AllReduce(self.ranks, numbers * DIGITS + 1 if self.sums == "reproducible" else numbers)

    @property
    def sum_dtype(self) -> str:
        """Element type of sums."""
        return "i8" if self.sums == "reproducible" else "f8"

    # The reference.

    def reference_step(self, whole: Array) -> Array:
        """The state an iteration later; one that has begun begins anew."""
        return self.reference(whole, 1)

    def reference(self, whole: Array, steps: int) -> Array:
        """Solution and residual [2][element][k][j][i] of all elements after some iterations, in NumPy alone."""
        x, r = whole.astype(np.float64)
        solver = _reference(self)
        if self.preconditioner == "none":
            return np.stack(solver.solve(x, r, steps, self.reduction))
        made = solver.jacobi() if self.preconditioner == "jacobi" else solver.schwarz(self.schwarz_shift)
        return np.stack(solver.solve(x, r, steps, self.reduction, made))


@lru_cache(maxsize=2)
def _reference(dwarf: NekboneRequest) -> ReferenceNekbone:
    whole = dwarf.of_rank(0).whole
    inside = whole.inside()
    if dwarf.mask == "nekbone":
        first = [int(dwarf.of_rank(rank).element_ids[0]) for rank in range(dwarf.ranks)]
        others = np.setdiff1d(np.arange(whole.count), first)
        inside[others] = True
    mask = inside.astype(np.float64)
    return ReferenceNekbone(whole, basis(dwarf.nx1), dwarf.deformation, mass=dwarf.mass, mask=mask)


def _ids_along(of: Brick, axis: int) -> Ids:
    """See `Nekbone.ids_along`: the number of the lower of two elements, and the place on its side."""
    n, strides = of.points, (1, of.all_elements[0], of.all_elements[0] * of.all_elements[1])
    z, y, x = np.unravel_index(of.element_ids, of.all_elements[::-1])
    at = (x, y, z)[axis]
    ids = np.zeros(of.shape, np.int64)
    moved = np.moveaxis(ids, 3 - axis, 1)
    face = 1 + np.arange(n * n).reshape(n, n)
    for side, lower, has in (
        (0, of.element_ids - strides[axis], at > 0),
        (n - 1, of.element_ids, at < of.all_elements[axis] - 1),
    ):
        moved[has, side] = lower[has][:, None, None] * n * n + face
    return ids
