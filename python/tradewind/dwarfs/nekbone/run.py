"""The dwarf nekbone on MPI ranks: vectors, plans, sums over ranks, and the loops over points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.collective import collective, go_on
from tradewind.base.errors import ConvergenceError, InputError, NotFiniteError
from tradewind.dwarfs.frame.diagnosis import rounded
from tradewind.dwarfs.frame.output import NAMED, Output
from tradewind.dwarfs.frame.running import Running
from tradewind.dwarfs.nekbone.reference import SHIFT, right_hand_side, source_of_wave, wave
from tradewind.dwarfs.nekbone.request import DIGITS, NekboneRequest
from tradewind.dwarfs.nekbone.spectral_elements import Brick, Ids, Values, basis, groups_by_id
from tradewind.fieldserver.plan.geometry import Regular

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.dwarfs.frame.running import Exchanges
    from tradewind.mpi.library import Array


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
        self, dwarf: NekboneRequest, comm: MPI.Intracomm, initial: Callable[[Brick], Values] | None, record: str
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
        go_on(comm, "the right-hand side of the dwarf" if initial is None else "a right-hand side of its own")
        self.b = self._side() if initial is None else np.ascontiguousarray(initial(self.brick), np.float64)
        go_on(comm)
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
        wrong = int(exact.not_finite is not None)
        self._total[-1] = wrong if number == 0 else self._total[-1] + wrong

    def _take(self, number: int) -> float:
        """A sum over all ranks. Raises NotFiniteError on all ranks."""
        if self.dwarf.sums == "plain":
            found = float(self._total[number])
        elif self._total[-1]:
            found = math.nan
        else:
            found = rounded(self._total[number * DIGITS : (number + 1) * DIGITS].tolist())
        if not math.isfinite(found):
            self._check_finite()
            raise NotFiniteError(f"a sum over all points is {found} after {self.steps} iterations")
        return found

    def total(self, parts: Values) -> float:
        """The sum over all elements of all ranks of their parts, [element]. Collective. Raises NotFiniteError."""
        self._put(0, parts)
        self._sum(self._total)
        return self._take(0)

    def start_totals(self) -> None:
        """Begin to sum r r and w r over all ranks."""
        for number in range(2):
            self._put(number, self._pairs[number])
        self._sum.start(self._total)

    def wait_totals(self) -> tuple[float, float]:
        """r r and w r. Raises NotFiniteError."""
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

    def replace(self) -> None:
        """Compute r = b - A x, w = A r, s = A p and z = A s anew, whose recurrences have gathered rounding errors.

        Residual replacement: Cools, Yetkin, Agullo, Giraud & Vanroose 2018, doi:10.1137/17M1117872, who do so where an
        estimate of the errors says so.
        """
        self._multiply(self.x)
        np.subtract(self.b, self.w, out=self.r)
        for field, product in ((self.r, self._w), (self.p, self._s), (self._s, self._z)):
            self._multiply(field)
            product[:] = self.w
        self._pair()

    def _multiply(self, u: Values) -> None:
        """W = A u, summed over elements, as a part of an iteration."""
        self.timed(self.operator.apply, self.all_elements, u, self.w, self.team)
        self._sum_over_elements()
        self.timed(self.operator.complete, u, self.w, self.team)

    def _pair(self) -> None:
        """The numbers of which `start_totals` begins to compute the sums."""
        for field, parts in zip((self.r, self._w), self._pairs, strict=True):
            self.elements.dot(field, self.r, parts, self.team)

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
        self._check_finite()
        self.r[:] = self.b
        self.elements.dot(self.r, self.r, self.squares, self.team)
        self._first_squares = self._residual_squares = self.total(self.squares)
        if self.dwarf.strategy == "pipelined":
            self._product(self.r)
            self._w[:] = self.w
            self._pair()
        self._uncounted()

    def _product(self, u: Values) -> None:
        """W = A u, summed over elements."""
        self.operator.apply(self.all_elements, u, self.w, self.team)
        self._sum_over_elements()
        self.operator.complete(u, self.w, self.team)

    def _uncounted(self) -> None:
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

        go_on(self.comm)
        self._check_finite()
        with self.uncounted():
            self._product(self.x)
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
            raise InputError(f"side {self.dwarf.side}: its solution is not known; that of wave is")
        places = self.brick.coordinates(self.basis, self.dwarf.deformation)
        apart = float(np.abs(self.x - wave(places, self.brick.whole)).max())
        go_on(self.comm)
        return float(self.comm.allreduce(apart, MPI.MAX))

    def gathered(self) -> Array | None:
        """Solution and residual [2][element][k][j][i] of all elements, on rank 0. Collective."""
        own = np.stack([self.x, self.r])
        go_on(self.comm)
        parts = self.comm.gather((self.brick.element_ids, own))
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
        own = x[element], y[element], self.x[element, level]
        go_on(self.comm)
        parts = self.comm.gather(own)
        if parts is None:
            return None
        drawn = np.zeros((ny, nx))
        for columns, rows, values in parts:
            drawn[rows[:, :, None], columns[:, None, :]] = values
        return drawn

    def outputs(self) -> list[Output]:
        """The solution on the plane of points in the middle of the brick, see `map`; of all copies that of one rank."""
        x, y, z = self.brick.indices()
        nx, ny, nz = (count * (self.brick.points - 1) + 1 for count in self.brick.all_elements)
        shape = self.brick.shape
        column, row, level = x[:, None, None, :], y[:, None, :, None], z[:, :, None, None]
        mine = level == nz // 2
        for at, part in zip((column, row, level), self.brick.bounds, strict=True):
            first = part.start * (self.brick.points - 1)
            mine = mine & ((at > first) | (first == 0))  # a lower rank has it, too
        places = np.flatnonzero(np.broadcast_to(mine, shape))
        ids, which = np.unique(np.broadcast_to(row * nx + column, shape).ravel()[places], return_index=True)
        places = places[which]
        return [Output("x", ids, Regular.box(nx, ny), lambda: self.x.ravel()[places][None], said=NAMED["x"])]
