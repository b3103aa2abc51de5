"""The request for the dwarf nekbone: its checks, exchanges and reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text
from tradewind.dwarfs.nekbone.options import DIGITS, SINGLE_REPLACE, NekboneOptions
from tradewind.dwarfs.nekbone.reference import SHIFT, ReferenceNekbone
from tradewind.dwarfs.nekbone.schwarz import layer_ids, unknowns
from tradewind.dwarfs.nekbone.spectral_elements import SIDE, Ids, Part, basis
from tradewind.method.method import Method
from tradewind.workload.options import problems_of
from tradewind.workload.patterns.gather_scatter import cubic

if TYPE_CHECKING:
    from tradewind.mpi.library import Array
    from tradewind.workload.program import Exchanged

_MAX_LISTED = 20_000_000
METHODS = {
    "pairwise": Method("pairwise", "isend-irecv"),
    "cartesian-blocking": Method("cartesian", "sendrecv"),
    "cartesian": Method("cartesian", "isend-irecv"),
    "overlap": Method("pairwise", "put-notify"),
    "pipelined": Method("cartesian", "isend-irecv"),
}
"""Method of the gather-scatter where the request names none: pairwise is that of Nek5000, blocking its new kernel."""
LISTED_METHODS = {"pipelined": Method("pairwise", "isend-irecv")}
"""The same of lists of elements, where it is another one."""


@dataclass(frozen=True)
class NekboneRequest(NekboneOptions):
    """A request for the dwarf nekbone, but for how it runs and is simulated."""

    def _problems(self) -> list[str]:
        problems = []
        if self.strategy not in METHODS:
            return []
        method = LISTED_METHODS.get(self.strategy, METHODS[self.strategy]) if self.listed else METHODS[self.strategy]
        self._choose(brick=cubic(self.ranks), **vars(method) if self._is_open else {})
        lists = self.listed or (self.strategy == "pairwise" and self.in_parts)
        self._choose(own="lists" if lists else "strides")
        self._choose(replace=SINGLE_REPLACE if (self.strategy, self.precision) == ("pipelined", "f4") else 0)
        assert self.brick is not None
        if math.prod(self.brick) != self.ranks:
            problems.append(f"brick {extents_text(self.brick)}: {self.ranks} ranks are asked for")
        else:
            problems += self._part_problems(self.brick)
        if self.side == "wave" and not self.mass:
            problems.append("side wave: its solution is known with --mass alone")
        if self.sums == "reproducible" and self.algorithm == "cartesian":
            object.__setattr__(self, "algorithm", "pairwise")  # sums are by direction then, whatever the algorithm
        if self.strategy == "overlap" and self.algorithm == "cartesian":
            problems.append("algorithm cartesian: the strategy overlap exchanges lists of points; pairwise is allowed")
        if self.own == "lists" and not (self.in_parts or self.listed):
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
        problems, name = [], f"preconditioner {self.preconditioner}"
        if self.coarse:
            problems += self._coarse_problems(name)
        if self.preconditioner == "none":
            return problems
        if self.strategy == "pipelined":
            problems.append(f"{name}: strategy pipelined has none; classic conjugate gradients, as of cartesian, are")
        if self.mask == "nekbone":
            problems.append(f"{name}: with mask nekbone the operator is not symmetric; full is allowed")
        if self.preconditioner == "schwarz" and self.nx1 < 3:
            problems.append(f"{name}: elements of {self.nx1} points have no inner layer; nx1 of 3 or more is allowed")
        return problems

    def _coarse_problems(self, name: str) -> list[str]:
        problems = []
        if self.preconditioner != "schwarz":
            problems.append(f"coarse: {name} has no coarse grid; preconditioner schwarz is allowed")
        if min(self.all_elements) < 2:
            text = extents_text(self.all_elements)
            problems.append(f"coarse: no corner of {text} elements lies inside; 2x2x2 or more are allowed")
        if self.sums == "reproducible":
            problems.append("coarse: its sum over ranks is plain; sums plain is allowed")
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
        has_parts = self.listed or self.strategy in ("pairwise", "overlap")
        return has_parts and self.sums == "plain" and self.algorithm != "cartesian"

    @property
    def _is_open(self) -> bool:
        return self.algorithm is None and self.transport is None and self.packing is None

    def _exchange_problems(self) -> list[str]:
        """Return problems of transports: they depend on the algorithm, not on the points."""
        found = []
        if self.transport is not None:
            found += self.transport_problems("exchange", {"exchange": self.schedule("exchange", self.brick_exchange())})
        if self.preconditioner == "schwarz" and self.layers_method is not None:
            found += self.transport_problems("layers", {"layers": self.schedule("layers", self.brick_exchange())})
        if self.coarse:
            found += self.transport_problems("coarse", {"coarse": self.schedule("coarse", self.pattern("coarse"))})
        return found + self.transport_problems("sum", {"sum": self.schedule("sum", self.sum_pattern())})

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        part = self.whole or self.elements
        return f"{super().name} {extents_text(part)} of {self.nx1}" + (f", {self.partition}" if self.listed else "")

    def method(self, plan: str) -> Method:
        """The method of a plan; reproducible sums have a plan for each direction."""
        return super().method(plan.partition("-")[0])

    @property
    def points(self) -> int:
        """Points of all elements, those that several share as often as they do: as Nekbone counts."""
        return math.prod(self.all_elements) * self.nx1**3

    @property
    def flops(self) -> int:
        """Flops of an iteration per point as Nekbone counts them: 154 for nx1 = 10."""
        return 12 * self.nx1 + 34

    def printed(self, iterations: int, seconds: float) -> str:
        """Return the lines that Nekbone prints after a number of iterations in some seconds, in its formats.

        `nelt` and what follows are of a rank, of lists of the fullest one; flops are counted as there, whatever is
        computed. Its "Setup Flop" are those of the operator.
        """
        elements, points = self.fullest.count, self.fullest.count * self.nx1**3
        operator, solver = ((12 * self.nx1 + 19) * points * iterations, 15 * points * iterations)
        rate = (operator + solver) / seconds / 1e6
        return (
            f"nelt = {elements:7d}, np = {self.ranks:9d}, nx1 = {self.nx1:7d}, "
            f"elements ={math.prod(self.all_elements):10d}\n"
            f"Tot MFlops = {_fortran(rate * self.ranks)}, MFlops      = {_fortran(rate)}\n"
            f"Setup Flop = {_fortran(operator)}, Solver Flop = {_fortran(solver)}\n"
            f"Solve Time = {_fortran(seconds)}"
        )

    @property
    def tolerance(self) -> float:
        """Only sums are in another order, but a solver goes on from their rounding.

        The reference has double precision. Before it has converged, a solver multiplies rounding errors: 2^14 of them
        are allowed in single precision; in double precision there is room for more.
        """
        return 2**14 * self.unit_roundoff if self.precision == "f4" else 1e-9

    # Exchanges.

    def brick_exchange(self) -> _core.BrickGatherScatter:
        """The gather-scatter of all points of bricks."""
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
        if name == "coarse":
            return _core.AllReduce(self.ranks, unknowns(self.all_elements))
        if name == "layers":
            return self._of_lists("preconditioner schwarz", lambda part: layer_ids(part, elsewhere=True))
        if self.sums == "plain":
            return self._of_lists("lists of elements", _shared_ids) if self.listed else self.brick_exchange()
        axis = "xyz".index(name[-1])
        return self._of_lists("sums reproducible", lambda part: _ids_along(part, axis))

    def _of_lists(self, what: str, ids: Callable[[Part], Ids]) -> _core.Pattern:
        lists, count = [], 0
        for rank in range(self.ranks):
            own = ids(self.of_rank(rank)).ravel()
            lists.append(own[own > 0])
            count += len(lists[-1])
            if count > _MAX_LISTED:
                raise InputError(
                    f"{what}: the lists of {self.ranks} ranks have more than {_MAX_LISTED} points, the most that are "
                    "simulated"
                )
        return _core.gather_scatter_of_ids(lists, "add")

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
        return _shared_ids(self.of_rank(rank)).ravel()

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
        made = (
            solver.jacobi()
            if self.preconditioner == "jacobi"
            else solver.schwarz(self.schwarz_shift, coarse=self.coarse)
        )
        return np.stack(solver.solve(x, r, steps, self.reduction, made))


def _fortran(value: float) -> str:
    """A number as 1pe12.4 writes it."""
    return f"{value:12.4E}"


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


def _shared_ids(of: Part) -> Ids:
    return np.where(of.shared(), of.ids(), 0)


def _ids_along(of: Part, axis: int) -> Ids:
    """See `Nekbone.ids_along`: the number of the lower of two elements, and the place on its side."""
    n, strides = of.points, (1, of.all_elements[0], of.all_elements[0] * of.all_elements[1])
    at = of.places[axis]
    ids = np.zeros(of.shape, np.int64)
    moved = np.moveaxis(ids, 3 - axis, 1)
    face = 1 + np.arange(n * n).reshape(n, n)
    for side, lower, has in (
        (0, of.element_ids - strides[axis], at > 0),
        (n - 1, of.element_ids, at < of.all_elements[axis] - 1),
    ):
        moved[has, side] = lower[has][:, None, None] * n * n + face
    return ids
