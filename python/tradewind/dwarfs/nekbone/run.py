"""The dwarf nekbone on MPI ranks: vectors, plans, sums over ranks, and the loops over points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.collective import collective, proceed
from tradewind.base.errors import ConvergenceError, InputError, NotFiniteError
from tradewind.dwarfs.frame.diagnosis import rounded
from tradewind.dwarfs.frame.output import Output
from tradewind.dwarfs.frame.running import Running
from tradewind.dwarfs.frame.step import COMPUTE, Kernel, kernel
from tradewind.dwarfs.nekbone.plane import drawn_plane, plane_output
from tradewind.dwarfs.nekbone.reference import SHIFT, right_hand_side, source_of_wave, wave
from tradewind.dwarfs.nekbone.request import DIGITS, NekboneRequest
from tradewind.dwarfs.nekbone.spectral_elements import Brick, Ids, Values, basis, groups_by_id

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.dwarfs.frame.step import Step
    from tradewind.mpi.library import Array


@dataclass(frozen=True)
class Diagnosis:
    """Progress of the solver, by sums over all ranks."""

    residual: float
    """The norm of the residual that the iteration carries along; each point counts once."""
    true_residual: float
    """The norm of b - A x, computed anew."""
    gap: float
    """The norm of their difference."""
    largest: float
    """The largest absolute value of the solution."""
    iterations: int


OPERATORS = {"f4": _core.SingleElementOperator, "f8": _core.ElementOperator}
SQUARES, ENERGY, PRODUCT = ("r", "r"), ("p", "A p"), ("A r", "r")
"""Vectors whose scalar products are summed over all ranks."""


# The loops over points, by elements. Flops of an iteration beside those of the operator are as Nekbone counts them.


def _operator(values: int) -> Callable[[Callable[..., None]], Kernel]:
    """The operator, of which each point reads and writes some values beside factors and mass."""

    def moved(dwarf: NekboneRequest, *_: object) -> float:
        return values + (6 if dwarf.factors == "stored" else 0) + (1 if dwarf.mass else 0)

    return kernel(lambda dwarf, *_: 12 * dwarf.nx1 + 15, moved)


@_operator(4)
def apply_to_direction(run: NekboneRun, which: NDArray[np.int32]) -> None:
    """The new direction p, and w = A p in some elements, not summed over elements yet."""
    run.operator.apply_to_direction(which, run.beta, run.r, run.p, run.w, run.energies, run.team)
    for _ in range(run.dwarf.work - 1):
        run.operator.apply(which, run.p, run.w, run.team)


@_operator(2)
def apply_ahead(run: NekboneRun, which: NDArray[np.int32]) -> None:
    """A (A r) of pipelined conjugate gradients, not summed over elements yet, where the other strategies have A p."""
    for _ in range(run.dwarf.work):
        run.operator.apply(which, run.vectors["w"], run.w, run.team)


@_operator(2)
def multiply(run: NekboneRun, which: NDArray[np.int32], vector: str) -> None:
    """A times a vector, not summed over elements yet."""
    run.operator.apply(which, run.vectors[vector], run.w, run.team)


@kernel(None)
def complete(run: NekboneRun, which: NDArray[np.int32], vector: str) -> None:
    """A times a vector, when it has been summed over elements."""
    run.operator.complete(run.vectors[vector], run.w, run.team)


@kernel(None)
def weigh(run: NekboneRun, which: NDArray[np.int32]) -> None:
    """For Nekbone's mask, p A p of the complete product: its copies of a point differ."""
    run.operator.complete(run.p, run.w, run.team)
    run.elements.dot(run.w, run.p, run.energies, run.team)


def _bytes_of_sums(dwarf: NekboneRequest) -> float:
    """Bytes that a copy of memory reads and writes while a copy of a shared point is summed: 47 by lists, 8 by strides,
    as measured, see docs/dwarfs/nekbone.md."""
    return 47.0 if dwarf.own == "lists" else 8.0


@kernel(1, lambda dwarf: _bytes_of_sums(dwarf) / dwarf.element_bytes, part=f"{COMPUTE}-sums", once=True)
def sum_own(run: NekboneRun, lists: Any) -> None:
    """Sum the values that elements of this rank alone share."""
    if lists is not None:
        _core.sum_by_lists(lists[0], lists[1], run.w, run.team)
    else:
        run.core_brick.sum_shared(run.w, run.team)


@kernel(19, 6, once=True)
def update(run: NekboneRun, which: NDArray[np.int32], energy: float) -> None:
    """The next solution and residual; `energy`: p A p."""
    alpha = run.before / energy if energy else 0.0
    operator = run.without_shift if run.dwarf.mask == "nekbone" else run.operator
    operator.update(alpha, run.p, run.w, run.x, run.r, run.squares, run.team)


@kernel(27, 13, once=True)
def update_pipelined(run: NekboneRun, which: NDArray[np.int32], squares: float, product: float) -> None:
    """The next solution and residual, and what follows from them without an operator."""
    beta = squares / run.before if run.steps and run.before else 0.0
    energy = product - beta * squares / run.alpha if beta else product
    run.alpha = squares / energy if energy else 1.0
    alpha = run.alpha if energy else 0.0
    vectors = tuple(run.vectors[name] for name in "xrwpsz")
    run.operator.update_pipelined(alpha, beta, run.w, vectors, run.pairs, run.team)
    run.before = squares


# Operations that take no time: numbers of this rank, and the vectors of a replacement.


@kernel(None, part="")
def turn(run: NekboneRun, which: NDArray[np.int32], squares: float) -> None:
    """Take the share that the direction before has in the new one."""
    run.beta = squares / run.before if run.steps and run.before else 0.0
    run.before = squares


@kernel(None, part="")
def keep(run: NekboneRun, which: NDArray[np.int32], product: str) -> None:
    """Replace r by b - A x, or another vector by A times that from which it follows."""
    if product == "r":
        np.subtract(run.b, run.w, out=run.r)
    else:
        run.vectors[product][:] = run.w


@kernel(None, part="")
def pair(run: NekboneRun, which: NDArray[np.int32]) -> None:
    """The numbers of this rank's elements of which `start` begins to compute the sums."""
    for name, parts in zip("rw", run.pairs, strict=True):
        run.elements.dot(run.vectors[name], run.r, parts, run.team)


def sum_over_elements(step: Step, before: str = "") -> None:
    """Sum the values of w that elements share, over all ranks."""
    step.compute(sum_own, points="shared", label=f"{before}own sums")
    for name in step.dwarf.exchange_names:
        step.exchange(name, label=f"{before}{name}")


def multiply_whole(step: Step, vector: str, before: str = "") -> None:
    """Compute w = A times a vector, summed over elements."""
    step.compute(multiply, vector, points="all", label=f"{before}operator")
    sum_over_elements(step, before)
    step.compute(complete, vector, points="all")


def gather_scatter(step: Step) -> None:
    """The same for w = A p, whose p A p may depend on it."""
    sum_over_elements(step)
    if step.dwarf.mask == "nekbone":
        step.compute(weigh, points="all")


class NekboneRun(Running):
    """The dwarf on MPI ranks, one of which this process is."""

    dwarf: NekboneRequest

    def __init__(
        self, dwarf: NekboneRequest, comm: MPI.Intracomm, initial: Callable[[Brick], Values] | None, record: str
    ) -> None:
        super().__init__(dwarf, comm, record)
        self._repeats = range(1)  # a loop that works in place must not be repeated; see `apply_to_direction`
        self.brick, self.basis = dwarf.of_rank(self.rank), basis(dwarf.nx1)
        self.elements = self.brick.core_elements(self.basis, dwarf.deformation)
        self.operator, self.without_shift = self._operators()
        everything, rim = np.arange(self.brick.count, dtype=np.int32), self.brick.rim()
        interior = np.setdiff1d(everything, rim).astype(np.int32)
        self._places: dict[str, list[Any]] = {"own": [everything], "all": [everything], "rim": [rim]}
        self._places |= {"interior": [interior], "shared": self._own_sums()}
        self._make_vectors()
        self._make_plans()
        proceed(comm, "the right-hand side of the dwarf" if initial is None else "a right-hand side of its own")
        side = self._side() if initial is None else initial(self.brick)
        self.b = np.ascontiguousarray(side, dwarf.precision)
        proceed(comm)
        self._begin()

    def _operators(self) -> tuple[Any, Any]:
        dwarf, shape = self.dwarf, self.brick.shape
        factors = mass = None
        if dwarf.factors == "stored":
            factors = np.empty((shape[0], 6, *shape[1:]), dwarf.precision)
            self.elements.factors(factors, self.team)
        if dwarf.mass:
            mass = np.empty(shape, dwarf.precision)
            self.elements.mass(mass, self.team)
        self.mass = mass
        first = dwarf.mask == "nekbone"
        kind = OPERATORS[dwarf.precision]
        return (
            kind(self.elements, SHIFT, factors, mass, first),
            kind(self.elements, 0.0, factors, None, first),
        )

    def _make_vectors(self) -> None:
        count = self.brick.count
        self.x, self.r, self.p = self._zeros(), self._zeros(), self._zeros()
        self.w = self._exchanged_zeros()
        self.vectors = {"x": self.x, "r": self.r, "p": self.p}
        if self.dwarf.strategy == "pipelined":  # w = A r, s = A p and z = A s
            self.vectors |= {name: self._zeros() for name in "wsz"}
        self.pairs = np.zeros((2, count))
        self.squares, self.energies = self.pairs[0], np.zeros(count)
        self._parts = {SQUARES: self.squares, ENERGY: self.energies, PRODUCT: self.pairs[1]}
        self.before = self.alpha = 1.0
        self.beta = 0.0

    def _zeros(self) -> Any:
        return np.zeros(self.brick.shape, self.dwarf.precision)

    def _exchanged_zeros(self) -> Any:
        """Values of which others may take messages, for the transport shared."""
        if self.dwarf.transport != "shared":
            return self._zeros()
        from tradewind.mpi.arrays import shared_zeros

        return shared_zeros(self.brick.shape, self.dwarf.precision)

    # Plans: those of the gather-scatter work on w, [place].

    def _make_plans(self) -> None:
        dwarf = self.dwarf
        self._arrays = {name: self.w.reshape(-1) for name in dwarf.exchange_names}
        for number, (name, array) in enumerate(self._arrays.items()):
            if dwarf.sums == "reproducible":
                pattern = self._listed(dwarf.ids_along(number, self.rank))
            else:
                pattern = self._listed(dwarf.shared_ids(self.rank)) if dwarf.in_parts else dwarf.brick_exchange()
            self.plan(name, pattern, array)
        total = dwarf.sum_pattern()
        self._arrays["sum"] = np.zeros(total.count, dwarf.sum_dtype)
        self.plan("sum", total, self._arrays["sum"])

    def _own_sums(self) -> list[Any]:
        """Return the copies of points on this rank: lists, or None for strides; nothing where the plan sums them."""
        if not self.dwarf.in_parts:
            return []
        self.core_brick = self.brick.core_brick()
        if self.dwarf.own != "lists":
            return [None]
        return [groups_by_id(np.where(self.brick.shared(), 0, self.brick.ids()))]

    def _listed(self, ids: Ids) -> _core.Pattern:
        from tradewind.mpi.points import shared_ids

        return shared_ids(self.comm, ids, "add")

    # The operations of strategies, see `Step`.

    def array_of(self, exchange: str, of: Any) -> Array:
        """Return the array of an exchange."""
        return self._arrays[exchange]

    def places(self, points: Any) -> Sequence[Any]:
        """Return the elements of this rank of a kind, such as "own" or "inner"."""
        return self._places[points]

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """See the base class; a sum is that of pairs of vectors."""
        self._put(name, of)
        super().exchange(name)

    def start(self, name: str, of: Any = "field", label: str = "") -> None:
        """Put numbers into the array of a sum, and start the exchange."""
        self._put(name, of)
        super().start(name)

    def values(self, name: str, of: Sequence[tuple[str, str]]) -> list[float]:
        """The sums over all elements of all ranks. Raises NotFiniteError."""
        return [self._take(number) for number in range(len(of))]

    def ended(self, iterations: int, numbers: Sequence[float]) -> bool:
        """Return whether the residual of the iteration is small enough."""
        reduction = self.dwarf.reduction
        return reduction > 0 and self._residual_squares <= reduction**2 * self._first_squares

    def finish(self, *result: Any) -> None:
        """End an iteration; with the square of the residual."""
        (self._residual_squares,) = result
        super().finish()

    # Sums over ranks.

    def _put(self, name: str, pairs: Any) -> None:
        """The sums of the parts of this rank's elements, to be summed over all ranks."""
        if name != "sum":
            return
        total = self._arrays[name]
        for number, pair in enumerate(pairs):
            parts = self._parts[pair]
            if self.dwarf.sums == "plain":
                total[number] = parts.sum()
                continue
            exact = _core.diagnose(parts[None, None], (slice(None),) * 3, self.team)
            total[number * DIGITS : (number + 1) * DIGITS] = exact.sum
            wrong = int(exact.not_finite is not None)
            total[-1] = wrong if number == 0 else total[-1] + wrong

    def _take(self, number: int) -> float:
        """A sum over all ranks. Raises NotFiniteError on all ranks."""
        total = self._arrays["sum"]
        if self.dwarf.sums == "plain":
            found = float(total[number])
        elif total[-1]:
            found = math.nan
        else:
            found = rounded(total[number * DIGITS : (number + 1) * DIGITS].tolist())
        if not math.isfinite(found):
            self._check_finite()
            raise NotFiniteError(f"a sum over all points is {found} after {self.steps} iterations")
        return found

    # The beginning.

    def _side(self) -> Values:
        """The right-hand side: of a wave by the mass matrix, of Nekbone the means of what its elements have."""
        dwarf = self.dwarf
        if dwarf.side == "wave":
            assert self.mass is not None
            places = self.brick.coordinates(self.basis, dwarf.deformation)
            self.w[:] = self.mass * source_of_wave(places, self.brick.whole)
            gather_scatter(self)
            return self.w.copy()
        self.w[:] = right_hand_side(dwarf.side, self.brick)
        gather_scatter(self)
        return np.asarray(self.w * self.brick.shares())

    def _begin(self) -> None:
        self.elements.set_boundary(self.b, self.team)
        self._check_finite()
        self.r[:] = self.b
        self.elements.dot(self.r, self.r, self.squares, self.team)
        (self._first_squares,) = (self._residual_squares,) = self.reduce("sum", [SQUARES])
        if self.dwarf.strategy == "pipelined":
            multiply_whole(self, "r")
            self.vectors["w"][:] = self.w
            self.compute(pair)
        for exchanges in self._exchanges.values():
            exchanges.counts.clear()

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

        proceed(self.comm)
        self._check_finite()
        with self.uncounted():
            multiply_whole(self, "x")
        true = self.b - self.w
        norms = []
        for field in (self.r, true, true - self.r):
            parts = np.zeros(self.brick.count)
            self.elements.dot(np.ascontiguousarray(field), np.ascontiguousarray(field), parts, self.team)
            norms.append(math.sqrt(self._whole_sum(parts)))
        largest: float = self.comm.allreduce(float(np.abs(self.x).max()), MPI.MAX)
        residual, true_residual, gap = norms
        found = Diagnosis(residual, true_residual, gap, largest, self.steps)
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
        """Raise NotFiniteError on all ranks where a value is not finite: of the vector from which others follow."""
        vectors = (("right-hand side", self.b), ("solution", self.x), ("residual", self.r), ("direction", self.p))
        mine = None
        for number, (name, field) in enumerate(vectors):
            places = np.argwhere(~np.isfinite(field))
            if len(places):
                place = [int(i) for i in places[0]]
                text = f"rank {self.rank}: the {name} is {field[tuple(place)]} at [element][k][j][i] = {place}"
                mine = number, text
                break
        found = [each for each in self.comm.allgather(mine) if each is not None]
        if found:
            first = min(found, key=lambda each: each[0])
            many = sum(each[0] == first[0] for each in found)
            raise NotFiniteError(f"{first[1]} after {self.steps} iterations (ranks with such values: {many})")

    def _check_converged(self, found: Diagnosis) -> None:
        reduction, first = self.dwarf.reduction, math.sqrt(self._first_squares)
        if reduction and self.steps and not found.residual <= reduction * first:
            raise ConvergenceError(
                f"after {self.steps} iterations the residual is {found.residual:.4g}, {found.residual / first:.4g} of "
                f"the first one, {first:.4g}; {reduction:g} is asked for: take more steps, or ask for less"
            )

    @collective
    def error(self) -> float:
        """The largest error against the solution of the side "wave", whose largest value is 1. Collective."""
        from tradewind.mpi.library import MPI

        if self.dwarf.side != "wave":
            raise InputError(f"side {self.dwarf.side}: its solution is not known, only that of wave")
        places = self.brick.coordinates(self.basis, self.dwarf.deformation)
        apart = float(np.abs(self.x - wave(places, self.brick.whole)).max())
        proceed(self.comm)
        return float(self.comm.allreduce(apart, MPI.MAX))

    def gathered(self) -> Array | None:
        """Solution and residual [2][element][k][j][i] of all elements, on rank 0. Collective."""
        own = np.stack([self.x, self.r])
        proceed(self.comm)
        parts = self.comm.gather((self.brick.element_ids, own))
        if parts is None:
            return None
        whole = np.empty((2, self.brick.count * self.dwarf.ranks, *self.brick.shape[1:]), self.dwarf.precision)
        for ids, values in parts:
            whole[:, ids] = values
        return whole

    def map(self) -> Array | None:
        """The solution on the plane of points in the middle of the brick, [y][x], on rank 0. Collective."""
        return drawn_plane(self.comm, self.brick, self.x)

    def outputs(self) -> list[Output]:
        """The solution on the plane of points in the middle of the brick, see `map`."""
        return [plane_output(self.brick, self.x)]
