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
from tradewind.dwarfs.nekbone.coarse import CoarseGrid
from tradewind.dwarfs.nekbone.loops import (
    ENERGY,
    PRODUCT,
    SCALED,
    SQUARES,
    gather_scatter,
    multiply_whole,
    pair,
    sum_over_elements,
)
from tradewind.dwarfs.nekbone.options import DIGITS
from tradewind.dwarfs.nekbone.plane import drawn_plane, plane_output
from tradewind.dwarfs.nekbone.preconditioner import make_preconditioner
from tradewind.dwarfs.nekbone.reference import SHIFT, right_hand_side, source_of_wave, wave
from tradewind.dwarfs.nekbone.request import NekboneRequest
from tradewind.dwarfs.nekbone.schwarz import SIDES, layer_ids
from tradewind.dwarfs.nekbone.spectral_elements import Brick, Ids, Part, Values, basis, groups_by_id

if TYPE_CHECKING:
    from mpi4py import MPI

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


class NekboneRun(Running):
    """The dwarf on MPI ranks, one of which this process is."""

    dwarf: NekboneRequest
    scale: Any
    """Factors of the preconditioner [element][k][j][i]: the inverse diagonal, or weights of subdomains."""
    subdomains: Any
    """Subdomains of the Schwarz method, as compiled loops take them."""
    coarse: CoarseGrid

    def __init__(
        self, dwarf: NekboneRequest, comm: MPI.Intracomm, initial: Callable[[Part], Values] | None, record: str
    ) -> None:
        super().__init__(dwarf, comm, record)
        self._repeats = range(1)  # a loop that works in place must not be repeated; see `apply_to_direction`
        self.brick, self.basis = dwarf.of_rank(self.rank), basis(dwarf.nx1)
        self.elements = self.brick.core_elements(self.basis, dwarf.deformation)
        self.operator, self.without_shift = self._operators()
        everything, rim = np.arange(self.brick.count, dtype=np.int32), self.brick.rim()
        interior = np.setdiff1d(everything, rim).astype(np.int32)
        self._places: dict[str, list[Any]] = {"own": [everything], "all": [everything], "rim": [rim]}
        self._places |= {"interior": [interior], "shared": self._own_sums(), "coarse": [None]}
        self._make_vectors()
        self._make_plans()
        make_preconditioner(self)
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
        self.w = self._exchanged_zeros("exchange", self.brick.shape)
        self.z = self.r if self.dwarf.preconditioner == "none" else self._exchanged_zeros("exchange", self.brick.shape)
        if self.dwarf.preconditioner == "schwarz":
            self.layers = self._exchanged_zeros("layers", (self.brick.count, SIDES, self.brick.points**2))
        self.vectors = {"x": self.x, "r": self.r, "p": self.p}
        if self.dwarf.strategy == "pipelined":  # w = A r, s = A p and z = A s
            self.vectors |= {name: self._zeros() for name in "wsz"}
        self.pairs = np.zeros((2, count))
        self.squares, self.energies = self.pairs[0], np.zeros(count)
        # r z is summed before r r is computed anew.
        self._parts = {SQUARES: self.squares, SCALED: self.squares, ENERGY: self.energies, PRODUCT: self.pairs[1]}
        self.before = self.alpha = 1.0
        self.beta = 0.0

    def _zeros(self) -> Any:
        return np.zeros(self.brick.shape, self.dwarf.precision)

    def _exchanged_zeros(self, plan: str, shape: tuple[int, ...]) -> Any:
        """Values of which others may take messages, for the transport shared."""
        if self.dwarf.method(plan).transport != "shared":
            return np.zeros(shape, self.dwarf.precision)
        from tradewind.mpi.arrays import shared_zeros

        return shared_zeros(shape, self.dwarf.precision)

    # Plans: those of the gather-scatter work on w, and on z of a preconditioner that sums over elements; [place].

    def _make_plans(self) -> None:
        dwarf = self.dwarf
        flat = self.w.reshape(-1)  # plans know arrays by their identity
        self._arrays = {"w": flat, "field": flat, "z": self.z.reshape(-1)}
        summed = ["w", "z"] if dwarf.preconditioner == "schwarz" else ["w"]
        for number, name in enumerate(dwarf.exchange_names):
            if dwarf.sums == "reproducible":
                pattern = self._listed(dwarf.ids_along(number, self.rank))
            else:
                pattern = self._listed(dwarf.shared_ids(self.rank)) if dwarf.in_parts else dwarf.brick_exchange()
            self.plan(name, pattern, *(self._arrays[each] for each in summed))
        if dwarf.preconditioner == "schwarz":
            self._arrays["layers"] = self.layers.reshape(-1)
            self.plan("layers", self._listed(layer_ids(self.brick).ravel()), self._arrays["layers"])
        total = dwarf.sum_pattern()
        self._total = np.zeros(total.count, dwarf.sum_dtype)
        self.plan("sum", total, self._total)

    def add_sum(self, name: str, array: Array) -> None:
        """Make the plan of a sum of an array over all ranks. Collective."""
        self._arrays[name] = array
        self.plan(name, self.dwarf.pattern(name), array)

    def _own_sums(self) -> list[Any]:
        """Return the copies of points on this rank: lists, or None for strides; nothing where the plan sums them."""
        if not self.dwarf.in_parts:
            return []
        if isinstance(self.brick, Brick) and self.dwarf.own != "lists":
            self.core_brick = self.brick.core_brick()
            return [None]
        return [groups_by_id(np.where(self.brick.shared(), 0, self.brick.ids()))]

    def _listed(self, ids: Ids) -> _core.Pattern:
        from tradewind.mpi.points import shared_ids

        return shared_ids(self.comm, ids, "add")

    # The operations of strategies, see `Step`.

    def array_of(self, exchange: str, of: Any) -> Array:
        """Return the array of an exchange: that of a sum, or a vector by its name."""
        return self._total if exchange == "sum" else self._arrays[of]

    def places(self, points: Any) -> Sequence[Any]:
        """Return the elements of this rank of a kind, such as "own" or "inner"."""
        return self._places[points]

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """See the base class; a sum is that of pairs of vectors."""
        self._put(name, of)
        super().exchange(name, of)

    def start(self, name: str, of: Any = "field", label: str = "") -> None:
        """Put numbers into the array of a sum, and start the exchange."""
        self._put(name, of)
        super().start(name, of)

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

    def sum_copies(self, vector: str) -> None:
        """Sum the values of w or z that elements share, in no step. Collective."""
        with self.uncounted():
            sum_over_elements(self, vector=vector)

    # Sums over ranks.

    def _put(self, name: str, pairs: Any) -> None:
        """The sums of the parts of this rank's elements, to be summed over all ranks."""
        if name != "sum":
            return
        total = self._total
        for number, each in enumerate(pairs):
            parts = self._parts[each]
            if self.dwarf.sums == "plain":
                total[number] = parts.sum()
                continue
            exact = _core.diagnose(parts[None, None], (slice(None),) * 3, self.team)
            total[number * DIGITS : (number + 1) * DIGITS] = exact.sum
            wrong = int(exact.not_finite is not None)
            total[-1] = wrong if number == 0 else total[-1] + wrong

    def _take(self, number: int) -> float:
        """A sum over all ranks. Raises NotFiniteError on all ranks."""
        total = self._total
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
            return np.array(self.w)
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
        return 3 * int(self.x.nbytes)

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
        whole = np.empty((2, *self.brick.whole.shape), self.dwarf.precision)
        for ids, values in parts:
            whole[:, ids] = values
        return whole

    def map(self) -> Array | None:
        """The solution on the plane of points in the middle of the brick, [y][x], on rank 0. Collective."""
        return drawn_plane(self.comm, self.brick, self.x)

    def outputs(self) -> list[Output]:
        """The solution on the plane of points in the middle of the brick, see `map`."""
        return [plane_output(self.brick, self.x)]
