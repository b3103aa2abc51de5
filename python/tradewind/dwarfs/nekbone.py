"""Nekbone: conjugate gradients on spectral elements, the skeleton of Nek5000.

    A u = f,  A = -div grad + 0.1,  u = 0 on the boundary of a brick

An element is a deformed cube with nx1 Gauss-Lobatto-Legendre points in each direction, between which values are a
polynomial of degree nx1 - 1. A is computed in each element alone; then the values of a point that several elements
share are summed, which is the gather-scatter. In an iteration there is one of these, and three sums over all ranks of
one number (of pipelined conjugate gradients one sum, of two numbers, that is hidden behind the operator). The
strategies below are how these are done; the loops over points are in `src/kernel/element_operator.cpp` and
`conjugate_gradients.cpp`.

Source: Nekbone of Argonne National Laboratory; Ivanov et al. 2015, Evaluating new communication models in the Nek5000
code for exascale, EASC 2015.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.nekbone import Nekbone
run = Nekbone(ranks=2, elements=(4, 4, 4), strategy='overlap').on(MPI.COMM_WORLD)
run.advance(100)
print(run.diagnose())"
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import ConvergenceError, InputError, NotFiniteError
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.dwarfs.diagnosis import rounded
from tradewind.dwarfs.dwarf import Dwarf, method_option
from tradewind.dwarfs.nekbone_program import program
from tradewind.dwarfs.nekbone_reference import (
    SHIFT,
    SIDES,
    ReferenceNekbone,
    right_hand_side,
    source_of_wave,
    wave,
)
from tradewind.dwarfs.running import Running
from tradewind.dwarfs.spectral_elements import Brick, Ids, Values, basis, groups_by_id
from tradewind.method.method import NATIVE, Method, default_algorithm
from tradewind.workload.options import option, problems_of
from tradewind.workload.patterns.gather_scatter import cubic

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.dwarfs.running import Exchanges
    from tradewind.mpi.library import Array
    from tradewind.workload.program import Program

FACTORS = ("recomputed", "stored")
SUMS = ("plain", "reproducible")
MASKS = ("full", "nekbone")
OWN = ("lists", "strides")
DIGITS = 68
"""Digits of an exact sum, see `src/kernel/exact_sum.hpp`."""
MIN_POINTS, MAX_POINTS = 2, 32
"""Numbers of points that compiled loops take, see `src/kernel/elements.hpp`."""
_MAX_DEFORMATION = 1.0


# The time loop: an iteration each. The first three differ in their method alone, see METHODS.


def classic(run: NekboneRun, steps: int) -> int:
    """Apply the operator, then sum over elements, then go on."""
    squares = run.total(run.squares)
    run.turn(squares)
    run.apply(run.all_elements)
    run.gather_scatter()
    run.descend(run.total(run.energies))
    run.measure()
    return run.left(steps)


def overlap(run: NekboneRun, steps: int) -> int:
    """Apply the operator where others wait for it, send, and apply it elsewhere meanwhile."""
    squares = run.total(run.squares)
    run.turn(squares)
    run.apply(run.rim)
    run.start()
    run.apply(run.interior)
    run.sum_interior()
    run.wait()
    run.descend(run.total(run.energies))
    run.measure()
    return run.left(steps)


def pipelined(run: NekboneRun, steps: int) -> int:
    """Start the one sum of an iteration, and hide it behind operator and gather-scatter."""
    run.start_totals()
    run.apply_ahead()
    run.gather_scatter()
    run.descend_pipelined(*run.wait_totals())
    return run.left(steps)


STRATEGIES: dict[str, Callable[[NekboneRun, int], int]] = {
    "pairwise": classic,
    "cartesian-blocking": classic,
    "cartesian": classic,
    "overlap": overlap,
    "pipelined": pipelined,
}
METHODS = {
    "pairwise": Method("pairwise", "isend-irecv"),
    "cartesian-blocking": Method("cartesian", "sendrecv"),
    "cartesian": Method("cartesian", "isend-irecv"),
    "overlap": Method("pairwise", "put-notify"),
    "pipelined": Method("cartesian", "isend-irecv"),
}
"""Method of the gather-scatter where the request names none: pairwise is that of Nek5000, blocking its new kernel."""


@dataclass(frozen=True)
class Nekbone(Dwarf):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

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
    sum_method: str | None = method_option("sum", "allreduce")

    kind: ClassVar[str] = "nekbone"
    strategies: ClassVar = STRATEGIES
    plans: ClassVar = {"exchange": "gather-scatter", "sum": "allreduce"}
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
        self._choose(brick=cubic(self.ranks), **vars(METHODS[self.strategy or "pairwise"]) if self._is_open else {})
        self._choose(own="lists" if self.strategy == "pairwise" else "strides")
        assert self.brick is not None
        if math.prod(self.brick) != self.ranks:
            problems.append(f"brick {extents_text(self.brick)}: {self.ranks} ranks are asked for")
        if self.precision != "f8":
            problems.append(f"precision {self.precision}: the solver has f8 alone")
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
        if not problems and not problems_of(self):
            problems += self._exchange_problems()
        return problems

    @property
    def in_parts(self) -> bool:
        """Whether points that other ranks have are summed apart from those that no other rank has."""
        return self.strategy in ("pairwise", "overlap") and self.sums == "plain" and self.algorithm != "cartesian"

    @property
    def _is_open(self) -> bool:
        return self.algorithm is None and self.transport is None and self.packing is None

    def _exchange_problems(self) -> list[str]:
        found = []
        for name, schedules in (("exchange", self.exchange_schedules()), ("sum", {"sum": self.sum_schedule()})):
            found += self.transport_problems(name, schedules)
        return found

    @property
    def name(self) -> str:
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
        """Only sums are in another order, but a solver goes on from their rounding."""
        return 1e-9

    def of_rank(self, rank: int) -> Brick:
        """The elements of a rank."""
        assert self.brick is not None
        return Brick(self.nx1, self.elements, self.brick, rank)

    # Exchanges.

    def brick_exchange(self) -> _core.BrickGatherScatter:
        """The gather-scatter of all points."""
        assert self.brick is not None
        return _core.BrickGatherScatter(self.elements, self.nx1, self.brick, [False] * 3, "add")

    def exchange_schedules(self) -> dict[str, _core.Schedule]:
        """The gather-scatters of an iteration, by name of their plan. Of all ranks, so that they can be simulated."""
        algorithm = self.algorithm
        if algorithm is None or algorithm == NATIVE:
            algorithm = default_algorithm("gather-scatter")
        if self.sums == "plain":
            return {"exchange": _core.make_schedule(self.brick_exchange(), algorithm)}
        return {
            f"exchange-{axis}": _core.make_schedule(
                _core.gather_scatter_of_ids([self.ids_along(number, r) for r in range(self.ranks)], "add"), algorithm
            )
            for number, axis in enumerate("xyz")
        }

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
        """The sum over ranks of a number, or of two where they are pipelined; of all of their digits."""
        numbers = 2 if self.strategy == "pipelined" else 1
        return _core.AllReduce(self.ranks, numbers * (DIGITS if self.sums == "reproducible" else 1))

    def sum_schedule(self) -> _core.Schedule:
        algorithm = self.method("sum").algorithm
        if algorithm is None or algorithm == NATIVE:
            algorithm = default_algorithm("allreduce")
        return _core.make_schedule(self.sum_pattern(), algorithm)

    def program(self) -> Program:
        """The program of an iteration."""
        return program(self)

    def on(
        self, comm: MPI.Intracomm, initial: Callable[[Brick], Values] | None = None, *, record: str = "totals"
    ) -> NekboneRun:
        """The dwarf before its first iteration, on as many ranks as it was made for. Collective.

        `initial`: the right-hand side [element][k][j][i] of a rank's elements in place of `side`. `record`: as of
        `tradewind.mpi.plan`. Raises InputError; PlanError.
        """
        return NekboneRun(self, comm, initial, record)

    # The reference.

    def reference_step(self, whole: Array) -> Array:
        """The state an iteration later; one that has begun begins anew."""
        return self.reference(whole, 1)

    def reference(self, whole: Array, steps: int) -> Array:
        """Solution and residual [2][element][k][j][i] of all elements after some iterations, in NumPy alone."""
        solver = _reference(self)
        return np.stack(solver.solve(whole[0], whole[1], steps, self.reduction))


@lru_cache(maxsize=2)
def _reference(dwarf: Nekbone) -> ReferenceNekbone:
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


@dataclass(frozen=True)
class Diagnosis:
    """How far the solver has come, by sums over all ranks."""

    residual: float
    """The norm of the residual that the iteration carries along; each point counts once."""
    true_residual: float
    """That of b - A x, computed anew."""
    gap: float
    """The norm of their difference."""
    largest: float
    """The largest absolute value of the solution."""
    iterations: int


class NekboneRun(Running):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(
        self, dwarf: Nekbone, comm: MPI.Intracomm, initial: Callable[[Brick], Values] | None, record: str
    ) -> None:
        super().__init__(dwarf, comm, record)
        self._repeats = range(1)  # a loop that works in place must not be repeated; see `apply`
        self.dwarf, self.steps = dwarf, 0
        self._in_parts = dwarf.in_parts
        self._completes = dwarf.mask == "nekbone"
        self.brick, self.basis = dwarf.of_rank(self.rank), basis(dwarf.nx1)
        self.elements = self.brick.core_elements(self.basis, dwarf.deformation)
        self.operator, self._without_shift = self._operators()
        self.all_elements = np.arange(self.brick.count, dtype=np.int32)
        self.rim = self.brick.rim()
        self.interior = np.setdiff1d(self.all_elements, self.rim).astype(np.int32)
        self._make_vectors()
        self._make_plans()
        self.b = self._side() if initial is None else np.ascontiguousarray(initial(self.brick), np.float64)
        self._begin()

    def _operators(self) -> tuple[_core.ElementOperator, _core.ElementOperator]:
        dwarf, shape = self.dwarf, self.brick.shape
        factors = mass = None
        if dwarf.factors == "stored":
            factors = np.empty((shape[0], 6, *shape[1:]))
            self.elements.factors(factors, self.team)
        if dwarf.mass:
            mass = np.empty(shape)
            self.elements.mass(mass, self.team)
        self.mass = mass
        first = dwarf.mask == "nekbone"
        return (
            _core.ElementOperator(self.elements, SHIFT, factors, mass, first),
            _core.ElementOperator(self.elements, 0.0, factors, None, first),
        )

    def _make_vectors(self) -> None:
        shape, count = self.brick.shape, self.brick.count
        self.x, self.r, self.p = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        shared = self.dwarf.transport == "shared"
        if shared:
            from tradewind.mpi.arrays import shared_zeros

            self.w = shared_zeros(shape, "f8")
        else:
            self.w = np.zeros(shape)
        if self.dwarf.strategy == "pipelined":
            self._w, self._s, self._z = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.squares, self.energies = np.zeros(count), np.zeros(count)
        self._pairs = np.zeros((2, count))  # of pipelined conjugate gradients: r r and w r
        self.before = self._alpha = 1.0
        self._beta = 0.0

    # Plans: those of the gather-scatter work on w, [place].

    def _make_plans(self) -> None:
        dwarf = self.dwarf
        self._flat = self.w.reshape(-1)
        if dwarf.sums == "reproducible":
            self._views = [self.w.reshape(-1) for _ in range(3)]
            self._swaps: list[Exchanges] = [
                self.plan(f"exchange-{axis}", self._listed(dwarf.ids_along(number, self.rank)), view)
                for number, (axis, view) in enumerate(zip("xyz", self._views, strict=True))
            ]
        elif self._in_parts:
            self._views = [self._flat]
            self._swaps = [self.plan("exchange", self._listed(dwarf.shared_ids(self.rank)), self._flat)]
        else:
            self._views = [self._flat]
            self._swaps = [self.plan("exchange", dwarf.brick_exchange(), self._flat)]
        pattern = dwarf.sum_pattern()
        self._total = np.zeros(pattern.count, "i8" if dwarf.sums == "reproducible" else "f8")
        self._sum = self.plan("sum", pattern, self._total)
        self._core_brick = self.brick.core_brick()
        self._lists = None
        if dwarf.own == "lists":
            self._lists = groups_by_id(np.where(self.brick.shared(), 0, self.brick.ids()))

    def _listed(self, ids: Ids) -> _core.Pattern:
        from tradewind.mpi.points import shared_ids

        return shared_ids(self.comm, ids, "add")

    def gather_scatter(self) -> None:
        """Sum the values of w that elements share, over all ranks."""
        self._sum_over_elements()
        self._weigh()

    def _sum_over_elements(self) -> None:
        if self._in_parts:
            self._swaps[0].start(self._views[0])
            self.sum_interior()
            self._swaps[0].wait(self._views[0])
            return
        for swap, view in zip(self._swaps, self._views, strict=True):
            swap(view)

    def start(self) -> None:
        """Begin to sum the values that ranks share; reproducible sums wait for all of them."""
        if self._in_parts:
            self._swaps[0].start(self._views[0])

    def sum_interior(self) -> None:
        """Sum the values that elements of this rank alone share."""
        if not self._in_parts:
            return
        if self._lists is None:
            self.timed(self._core_brick.sum_shared, self.w, self.team, part="compute-sums")
        else:
            self.timed(_core.sum_by_lists, *self._lists, self.w, self.team, part="compute-sums")

    def wait(self) -> None:
        """End what `start` began."""
        if self._in_parts:
            self._swaps[0].wait(self._views[0])
            self._weigh()
        else:
            self.gather_scatter()

    def _weigh(self) -> None:
        """For Nekbone's mask, p A p of the complete product: its copies of a point differ."""
        if self._completes:
            self.timed(self.operator.complete, self.p, self.w, self.team)
            self.timed(self.elements.dot, self.w, self.p, self.energies, self.team)

    # Sums over ranks.

    def _put(self, number: int, parts: Values) -> None:
        """The sum of the parts of this rank's elements, to be summed over all ranks."""
        if self.dwarf.sums == "plain":
            self._total[number] = parts.sum()
            return
        exact = _core.diagnose(parts[None, None], (slice(None),) * 3, self.team)
        self._total[number * DIGITS : (number + 1) * DIGITS] = exact.sum

    def _take(self, number: int) -> float:
        if self.dwarf.sums == "plain":
            return float(self._total[number])
        return rounded(self._total[number * DIGITS : (number + 1) * DIGITS].tolist())

    def total(self, parts: Values) -> float:
        """The sum over all elements of all ranks of their parts, [element]. Collective."""
        self._put(0, parts)
        self._sum(self._total)
        return self._take(0)

    def start_totals(self) -> None:
        """Begin to sum r r and w r over all ranks."""
        for number in range(2):
            self._put(number, self._pairs[number])
        self._sum.start(self._total)

    def wait_totals(self) -> tuple[float, float]:
        """r r and w r."""
        self._sum.wait(self._total)
        return self._take(0), self._take(1)

    # The loops over points.

    def turn(self, squares: float) -> None:
        """Take the share that the direction before has in the new one."""
        self._beta = squares / self.before if self.steps and self.before else 0.0
        self.before = squares

    def apply(self, which: NDArray[np.int32]) -> None:
        """The new direction p, and w = A p in some elements, not summed over elements yet."""
        arrays = self.r, self.p, self.w, self.energies
        self.timed(self.operator.apply_to_direction, which, self._beta, *arrays, self.team)
        for _ in range(self.dwarf.work - 1):
            self.timed(self.operator.apply, which, self.p, self.w, self.team)

    def descend(self, energy: float) -> None:
        """The next solution and residual; `energy`: p A p."""
        alpha = self.before / energy if energy else 0.0
        operator = self._without_shift if self._completes else self.operator
        self.timed(operator.update, alpha, self.p, self.w, self.x, self.r, self.squares, self.team)

    def measure(self) -> None:
        """Sum r r over all ranks, as Nekbone does once more in the next iteration."""
        self._residual_squares = self.total(self.squares)
        self.steps += 1

    def apply_ahead(self) -> None:
        """A w of pipelined conjugate gradients, not summed over elements yet, where the other strategies have A p."""
        for _ in range(self.dwarf.work):
            self.timed(self.operator.apply, self.all_elements, self._w, self.w, self.team)

    def descend_pipelined(self, squares: float, product: float) -> None:
        """The next solution and residual, and what follows from them without an operator."""
        beta = squares / self.before if self.steps and self.before else 0.0
        energy = product - beta * squares / self._alpha if beta else product
        self._alpha = squares / energy if energy else 1.0
        alpha = self._alpha if energy else 0.0
        vectors = (self.x, self.r, self._w, self.p, self._s, self._z)
        self.timed(self.operator.update_pipelined, alpha, beta, self.w, vectors, self._pairs, self.team)
        self.before = self._residual_squares = squares
        self.steps += 1

    def left(self, steps: int) -> int:
        """Say how far an iteration has come: to the end where the residual is small enough."""
        return steps if self.converged else 1

    @property
    def converged(self) -> bool:
        """Whether the residual is as small as it was asked for, as far as iterations know."""
        reduction = self.dwarf.reduction
        return reduction > 0 and self._residual_squares <= reduction**2 * self._first_squares

    # The beginning.

    def _side(self) -> Values:
        """The right-hand side: of a wave by the mass matrix, of Nekbone the means of what its elements have."""
        dwarf = self.dwarf
        if dwarf.side == "wave":
            assert self.mass is not None
            places = self.brick.coordinates(self.basis, dwarf.deformation)
            self.w[:] = self.mass * source_of_wave(places, self.brick.whole)
            self.gather_scatter()
            return self.w.copy()
        self.w[:] = right_hand_side(dwarf.side, self.brick)
        self.gather_scatter()
        return np.asarray(self.w * self.brick.shares())

    def _begin(self) -> None:
        self.elements.set_boundary(self.b, self.team)
        self.r[:] = self.b
        self.elements.dot(self.r, self.r, self.squares, self.team)
        self._first_squares = self._residual_squares = self.total(self.squares)
        if self.dwarf.strategy == "pipelined":
            self._product(self.r)
            self._w[:] = self.w
            self._pairs[0] = self.squares
            self.elements.dot(self._w, self.r, self._pairs[1], self.team)
        self._uncounted()

    def _product(self, u: Values) -> None:
        """W = A u, summed over elements."""
        self.operator.apply(self.all_elements, u, self.w, self.team)
        self._sum_over_elements()
        self.operator.complete(u, self.w, self.team)

    def _uncounted(self) -> None:
        for exchanges in self._exchanges.values():
            exchanges.calls = 0

    # The methods of each dwarf.

    @property
    def minimum_bytes(self) -> int:
        """See the base class: solution, residual and direction are read and written once."""
        return 3 * self.x.nbytes

    def diagnose(self) -> Diagnosis:
        """How far the solver has come. Collective.

        Raises NotFiniteError, and ConvergenceError where it was asked for a residual that it has not reached.
        """
        from tradewind.mpi.library import MPI

        self._check_finite()
        calls = {name: each.calls for name, each in self._exchanges.items()}
        self._product(self.x)
        true = self.b - self.w
        norms = []
        for field in (self.r, true, true - self.r):
            parts = np.zeros(self.brick.count)
            self.elements.dot(np.ascontiguousarray(field), np.ascontiguousarray(field), parts, self.team)
            norms.append(math.sqrt(self._whole_sum(parts)))
        for name, each in self._exchanges.items():
            each.calls = calls[name]
        largest: float = self.comm.allreduce(float(np.abs(self.x).max()), MPI.MAX)
        found = Diagnosis(*norms, largest, self.steps)
        self._check_converged(found)
        return found

    def _whole_sum(self, parts: Values) -> float:
        """A sum over all ranks, with the same bits on any of them, by no plan."""
        exact = _core.diagnose(parts[None, None], (slice(None),) * 3, self.team)
        digits = np.array(exact.sum, np.int64)
        from tradewind.mpi.library import MPI

        self.comm.Allreduce(MPI.IN_PLACE, digits, MPI.SUM)
        return rounded(digits.tolist())

    def _check_finite(self) -> None:
        problem = None
        for name, field in (("solution", self.x), ("residual", self.r)):
            places = np.argwhere(~np.isfinite(field))
            if len(places) and problem is None:
                place = [int(i) for i in places[0]]
                problem = (
                    f"rank {self.rank}: the {name} is {field[tuple(place)]} at [element][k][j][i] = {place} after "
                    f"{self.steps} iterations"
                )
        problems = [text for text in self.comm.allgather(problem) if text is not None]
        if problems:
            raise NotFiniteError(f"{problems[0]} (ranks with such values: {len(problems)})")

    def _check_converged(self, found: Diagnosis) -> None:
        reduction, first = self.dwarf.reduction, math.sqrt(self._first_squares)
        if reduction and self.steps and not found.residual <= reduction * first:
            raise ConvergenceError(
                f"after {self.steps} iterations the residual is {found.residual:.4g}, {found.residual / first:.4g} of "
                f"the first one, {first:.4g}; {reduction:g} is asked for: take more steps, or ask for less"
            )

    def error(self) -> float:
        """The largest error against the solution of the side "wave", whose largest value is 1. Collective."""
        from tradewind.mpi.library import MPI

        if self.dwarf.side != "wave":
            raise InputError(f"side {self.dwarf.side}: its solution is not known; that of wave is")
        places = self.brick.coordinates(self.basis, self.dwarf.deformation)
        apart = float(np.abs(self.x - wave(places, self.brick.whole)).max())
        return float(self.comm.allreduce(apart, MPI.MAX))

    def gathered(self) -> Array | None:
        """Solution and residual [2][element][k][j][i] of all elements, on rank 0. Collective."""
        parts = self.comm.gather((self.brick.element_ids, np.stack([self.x, self.r])))
        if parts is None:
            return None
        whole = np.empty((2, self.brick.count * self.dwarf.ranks, *self.brick.shape[1:]))
        for ids, values in parts:
            whole[:, ids] = values
        return whole

    def map(self) -> Array | None:
        """The solution on the plane of points in the middle of the brick, [y][x], on rank 0. Collective.

        Points of an element lie closer to each other near its sides; they are drawn at equal distances.
        """
        x, y, z = self.brick.indices()
        nx, ny, nz = (count * (self.brick.points - 1) + 1 for count in self.brick.all_elements)
        element, level = np.nonzero(z == nz // 2)
        parts = self.comm.gather((x[element], y[element], self.x[element, level]))
        if parts is None:
            return None
        drawn = np.zeros((ny, nx))
        for columns, rows, values in parts:
            drawn[rows[:, :, None], columns[:, None, :]] = values
        return drawn
