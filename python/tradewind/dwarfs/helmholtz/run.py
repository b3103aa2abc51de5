"""The dwarf helmholtz on MPI ranks: its vectors, plans and loops, out of which the strategies make a solver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import ConvergenceError, NotFiniteError
from tradewind.dwarfs.frame.diagnosis import diagnose, rounded
from tradewind.dwarfs.frame.gather import gather
from tradewind.dwarfs.frame.on_grid import GridRunning, points_of
from tradewind.dwarfs.frame.recorder import recorded
from tradewind.dwarfs.frame.step import COMPUTE, kernel
from tradewind.dwarfs.helmholtz.operator import blocked, columns, stencil
from tradewind.dwarfs.helmholtz.request import DIGITS, WHOLE

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.helmholtz.request import HelmholtzRequest
    from tradewind.mpi.library import Array

OPERATOR_VALUES, COLUMN_VALUES = 15 + 2, 3 + 2
"""Per point what operator and preconditioner must read and write: factors, a field, and what they compute."""
POINT_VALUES = OPERATOR_VALUES + COLUMN_VALUES
SUM = "sum"
_SHOWN = 3


@dataclass(frozen=True)
class Diagnosis:
    """Iterations of the last step; |b - A phi| / |b|; the mean over the volume of the air; extremes."""

    iterations: int
    residual: float
    mass: float
    minimum: float
    maximum: float


@dataclass(frozen=True)
class RankVector:
    """A rank's part of a vector: its own points, [z][y][x], of an array that may have a halo."""

    whole: Array
    own: Array


# The loops over points, of vectors by their names. Their costs per point: see docs/dwarfs/helmholtz.md.


def _more(minus: str | None, plus: str | None) -> int:
    return (minus is not None) + (plus is not None)


@kernel(29, OPERATOR_VALUES, part=f"{COMPUTE}-operator")
def apply_operator(run: HelmholtzRun, rows: slice, field: str, out: str) -> None:
    """Apply the operator to rows of a vector, whose halo is exchanged."""
    around = slice(rows.start, rows.stop + 2)
    _core.helmholtz(run.vector(field).whole[:, around], run.factors[:, rows], run.vector(out).own[:, rows], run.team)


@kernel(
    lambda _, right, out, minus, plus: 5 + _more(minus, plus),
    lambda _, right, out, minus, plus: COLUMN_VALUES + _more(minus, plus),
    part=f"{COMPUTE}-columns",
)
def solve_columns(run: HelmholtzRun, rows: slice, right: str, out: str, minus: str | None, plus: str | None) -> None:
    """Solve the tridiagonal systems of the columns of some rows."""
    assert run.columns is not None
    _core.solve_columns(
        run.vector(right).own[:, rows],
        run.columns[:, rows],
        run.vector(out).own[:, rows],
        run.team,
        *(None if each is None else run.vector(each).own[:, rows] for each in (minus, plus)),
    )


def _combine(run: HelmholtzRun, rows: slice, target: str, terms: Sequence[tuple[float, str]]) -> None:
    pairs = [(factor, run.vector(vector).own) for factor, vector in terms]
    _core.combine(run.vector(target).own, pairs, run.team)


combine_vectors = kernel(
    lambda _, target, terms: 2 * len(terms) - 1,
    lambda _, target, terms: 1 + len(terms),
    part=f"{COMPUTE}-vectors",
    once=True,
)(_combine)


@kernel(
    lambda _, right, out, minus, plus: _more(minus, plus),
    lambda _, right, out, minus, plus: 2 + _more(minus, plus),
    part=f"{COMPUTE}-vectors",
    once=True,
)
def without_columns(run: HelmholtzRun, rows: slice, right: str, out: str, minus: str | None, plus: str | None) -> None:
    """The identity in place of the preconditioner."""
    more = ((-1.0, minus), (1.0, plus))
    _combine(run, rows, out, [(1.0, right), *((factor, each) for factor, each in more if each is not None)])


@kernel(
    lambda _, pairs: 2 * len(pairs),
    lambda _, pairs: len({name for pair in pairs for name in pair}),
    part=f"{COMPUTE}-sums",
)
def multiply(run: HelmholtzRun, rows: slice, pairs: Sequence[tuple[str, str]]) -> None:
    """This rank's share of scalar products, in the array of the plan that reduces them."""
    arrays = [(run.vector(a).own, run.vector(b).own) for a, b in pairs]
    to = run.array_of(SUM, pairs)
    if run.dwarf.sums == "ordinary":
        to[...] = _core.products(arrays, run.team)
        return
    digits, wrong = _core.exact_products(arrays, run.team)
    to[:-1], to[-1] = np.array(digits, np.int64).reshape(-1), wrong


class HelmholtzRun(GridRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    dwarf: HelmholtzRequest

    def __init__(self, dwarf: HelmholtzRequest, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self._halo = dwarf.halo()
        self.own = self._halo.widened(self.rank)
        recording = recorded(dwarf)
        self._vectors: dict[str, RankVector] = {}
        begin = perf_counter()
        box = self.layout.box(self.rank)
        factors = stencil(dwarf.air, box)
        self.factors = blocked(factors, precision=dwarf.precision)
        self.columns = None
        if dwarf.preconditioner == "columns":
            self.columns = blocked(columns(factors), rows_first=True, precision=dwarf.precision)
        self.setup_s = {"factors": perf_counter() - begin}
        self.x = self.vector("x", halo=True)
        self._b, self._before = self.vector("b"), self.vector("phi before")
        with_halo = dict.fromkeys([*recording.arrays["halo"], *([WHOLE] if dwarf.replace else [])])
        self.plan("halo", self._halo, *(self.vector(name, halo=True).whole for name in with_halo))
        self._sums: dict[int, Array] = {}
        for name, pairs in recording.arrays.items():
            if name != "halo":
                self._reduced(len(pairs[0]))
        self.field = self.x.whole
        self.solved = 0
        self.iterations, self.history = 0, [math.nan]
        self._b_squared = math.nan
        self._initial()

    def _reduced(self, count: int) -> Array:
        """Return the array of a reduction of some scalar products. Collective where it is the first."""
        from tradewind import mpi

        if count not in self._sums:
            name, dtype = f"{SUM} {count}", self.dwarf.sum_dtype
            pattern = self.dwarf.pattern(name)
            if self.dwarf.method(SUM).transport == "shared":
                array: Array = mpi.empty(pattern, self.comm, dtype).reshape(-1)
            else:
                array = np.empty(pattern.source_shape(self.rank), dtype).reshape(-1)
            array.fill(0)
            self._sums[count] = array
            self.plan(name, pattern, array)
        return self._sums[count]

    def _initial(self) -> None:
        """A wave at rest: a bell beside the hill."""
        nx, ny, nz = self.dwarf.grid
        z, y, x = self.indices()

        def bell(index: Array, points: int, middle: float, width: float) -> Array:
            far = [math.exp(-((((i + 0.5) / points - middle) / width) ** 2)) for i in index.reshape(-1).tolist()]
            return np.array(far).reshape(index.shape)

        self.x.own[...] = bell(x, nx, 0.3, 0.1) * bell(y, ny, 0.4, 0.1) * bell(z, nz, 0.4, 0.3)
        self._before.own[...] = self.x.own
        self.compute(combine_vectors, "b", self.dwarf.right_side)

    # The operations of strategies, on vectors by name.

    def vector(self, name: str, halo: bool = False) -> RankVector:
        """This rank's part of the vector of a name, full of NaN at first. `halo`: the operator is applied to it."""
        if name not in self._vectors:
            if halo:
                whole = self.array(self._halo)
                self._vectors[name] = RankVector(whole, whole[self.own])
            else:
                shape = tuple(part.stop - part.start for part in self.own)
                whole = np.full(shape, np.nan, self.dwarf.precision)
                self._vectors[name] = RankVector(whole, whole)
        return self._vectors[name]

    def array_of(self, exchange: str, of: Any) -> Array:
        """Return the array of an exchange: a vector with its halo, or the numbers of a sum."""
        return self.vector(of).whole if exchange == "halo" else self._reduced(len(of))

    def places(self, points: Any) -> list[slice]:
        """Return this rank's rows: a part, (number, number of parts), or all."""
        rows = self.factors.shape[1]
        number, count = (0, 1) if points == "own" else points
        return [slice(rows * number // count, rows * (number + 1) // count)]

    def values(self, name: str, of: Sequence[tuple[str, str]]) -> Sequence[float]:
        """The scalar products of a reduction that has ended. Raises NotFiniteError on all ranks."""
        array = self._reduced(len(of))
        if self.dwarf.sums == "ordinary":
            found: list[float] = array.tolist()
            finite = all(map(math.isfinite, found))
        else:
            finite = array[-1] == 0
            found = [rounded(digits) for digits in array[:-1].reshape(-1, DIGITS).tolist()] if finite else []
        if not finite:
            self._raise_not_finite(of)
        return found

    # Whether it has converged.

    def ended(self, iterations: int, numbers: Sequence[float]) -> bool:
        """Return whether the residual is small enough. Raises ConvergenceError after the last iteration."""
        if iterations == 0:
            self.history = []
        if not numbers:
            return False
        if len(numbers) == 2:
            self._b_squared = numbers[1]
        self.history.append(math.sqrt(numbers[0] / self._b_squared) if self._b_squared else numbers[0])
        if self.history[-1] <= self.dwarf.residual_bound:
            return True
        most = self.dwarf.most_iterations
        if iterations >= most:
            raise ConvergenceError(
                f"helmholtz, {self.dwarf.strategy}: no convergence to {self.dwarf.residual_bound:g} after {iterations} "
                f"iterations of step {self.steps + 1}; relative residuals {_brief(self.history)}"
            )
        return False

    def finish(self, *result: Any) -> None:
        """End a time step after some iterations; with squares of residual and right-hand side where `rtol` is 0."""
        iterations, squares = result
        if squares:
            self.history.append(math.sqrt(squares[0] / squares[1]) if squares[1] else squares[0])
        self.iterations = iterations
        self.solved += iterations
        super().finish()

    def _raise_not_finite(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Raise NotFiniteError on all ranks, with the place of the first value that is not finite.

        That of the field with which the step began goes before those that followed from it.
        """
        names = dict.fromkeys(["phi before", "b", *(name for pair in pairs for name in pair)])
        mine = next(((n, text) for n, name in enumerate(names) if (text := self._not_finite(name))), None)
        found = [each for each in self.comm.allgather(mine) if each is not None]
        first = min(found, key=lambda each: each[0], default=(0, "a scalar product is beyond the doubles"))
        many = sum(each[0] == first[0] for each in found)
        raise NotFiniteError(f"{first[1]}, in step {self.steps + 1} (ranks with such values: {many})")

    def _not_finite(self, name: str) -> str:
        """The first value of a vector on this rank that is not finite, in words; "" for none."""
        own = self._vectors[name].own
        places = np.argwhere(~np.isfinite(own))
        if not len(places):
            return ""
        z, y, x = (int(i) for i in places[0])
        x0, y0, _ = self.layout.box(self.rank)[0]
        return f"rank {self.rank}: the vector {name} is {own[z, y, x]} at [z][y][x] = {[z, y + y0, x + x0]}"

    # The methods of each dwarf.

    def advance(self, steps: int) -> None:
        """Take steps, which are timed."""
        self._steps_timed += steps
        super().advance(steps)

    def reset(self) -> None:
        """Begin to count seconds, exchanges and solved systems anew."""
        self.solved, self._steps_timed = 0, 0
        super().reset()

    _steps_timed = 0

    def seconds(self) -> dict[str, float]:
        """Seconds by part; computing has several of them, and reductions of any length count as one exchange."""
        found: dict[str, float] = {}
        for part, seconds in super().seconds().items():
            name = part if not part.startswith(SUM) else f"{SUM}-{part.partition('-')[2]}"
            found[name] = found.get(name, 0.0) + seconds
        del found[COMPUTE]
        return found

    @property
    def minimum_bytes(self) -> int:
        """Half of what operator and preconditioner must read and write, once per iteration."""
        point_bytes = POINT_VALUES * self.dwarf.element_bytes
        return points_of(self.own) * point_bytes // 2 * self.solved // max(self._steps_timed, 1)

    def diagnose(self) -> Diagnosis:  # type: ignore[override]
        """Diagnose the last solution. Collective. Raises NotFiniteError on all ranks."""
        (x, y, z), _ = self.layout.box(self.rank)
        first = (z, y, x)
        whole = diagnose(self.comm, self.field, self.own, first, self.team)
        _, along_y, along_x = self.indices()
        ground = self.dwarf.air.at(along_x, along_y, np.zeros((1, 1, 1)))
        weighted = self.x.own * ground.thickness
        apart = np.empty_like(self._b.own)
        with self.uncounted():
            self.exchange("halo", "x")
        _core.helmholtz(self.x.whole, self.factors, apart, self.team)
        apart = self._b.own - apart

        def of(array: Array) -> Any:
            return diagnose(self.comm, np.ascontiguousarray(array), (slice(None),) * 3, first, self.team)

        volume = of(np.broadcast_to(ground.thickness, weighted.shape)).sum
        b_squared = of(self._b.own).sum_of_squares
        return Diagnosis(
            iterations=self.iterations,
            residual=math.sqrt(of(apart).sum_of_squares / b_squared) if b_squared else 0.0,
            mass=of(weighted).sum / volume,
            minimum=whole.minimum,
            maximum=whole.maximum,
        )

    def gathered(self, levels: slice = slice(None)) -> Array | None:
        """The fields of the last step but one and of the last one, [field, z][y][x], on rank 0. Collective."""
        parts = np.concatenate([each.own[levels] for each in (self._before, self.x)])
        return gather(self.comm, self.layout, parts)

    map_variable = "x"

    def map(self) -> Array | None:
        """The middle level, on rank 0. Collective."""
        middle = self.dwarf.grid[2] // 2
        level = gather(self.comm, self.layout, self.x.own[middle : middle + 1])
        return None if level is None else np.asarray(level[0])


def _brief(history: Sequence[float]) -> str:
    """The first and last of many residuals."""
    if len(history) <= 2 * _SHOWN:
        return ", ".join(f"{each:.2e}" for each in history)
    ends = (", ".join(f"{each:.2e}" for each in part) for part in (history[:_SHOWN], history[-_SHOWN:]))
    return " ... ".join(ends)
