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
from tradewind.dwarfs.frame.running import COMPUTE
from tradewind.dwarfs.helmholtz.operator import blocked, columns, stencil
from tradewind.dwarfs.helmholtz.program import DIGITS, SUM, recorded, sum_length

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.running import Exchanges
    from tradewind.dwarfs.helmholtz.request import HelmholtzRequest
    from tradewind.mpi.library import Array

ITERATION_BYTES = 8 * (15 + 1 + 1 + 3 + 1 + 1)
"""Per point what operator and preconditioner must read and write: factors, a field each, and what they compute."""
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

    name: str
    whole: Array
    own: Array


class HelmholtzRun(GridRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: HelmholtzRequest, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.dwarf, self._halo = dwarf, dwarf.halo()
        self.own = self._halo.widened(self.rank)
        recording = recorded(dwarf)
        self._vectors: dict[str, RankVector] = {}
        begin = perf_counter()
        box = self.layout.box(self.rank)
        factors = stencil(dwarf.air, box)
        self._factors = blocked(factors)
        self._columns = blocked(columns(factors), rows_first=True) if dwarf.preconditioner == "columns" else None
        self.setup_s = {"factors": perf_counter() - begin}
        self.x = self.vector("x", halo=True)
        self._b, self._before = self.vector("b"), self.vector("phi before")
        halos = [self.vector(name, halo=True).whole for name in recording.with_halo]
        self._swap = self.plan("halo", self._halo, *halos)
        self._sums: dict[int, tuple[Exchanges, Array]] = {}
        self._open: list[tuple[RankVector, RankVector]] = []
        for count in recording.counts:
            self._planned(count)
        self.field = self.x.whole
        self.step, self.solved = 0, 0
        self.iterations, self.history = 0, [math.nan]
        self._b_squared = math.nan
        self._initial()

    def _planned(self, count: int) -> tuple[Exchanges, Array]:
        """The plan of a reduction of so many scalar products, and its array. Collective where it is the first."""
        from tradewind import mpi

        if count not in self._sums:
            dtype = "f8" if self.dwarf.sums == "ordinary" else "i8"
            length = sum_length(self.dwarf, count)
            pattern = _core.AllReduce(self.dwarf.ranks, length)
            shared = self.dwarf.method(SUM).transport == "shared"
            array = mpi.empty(pattern, self.comm, dtype).reshape(-1) if shared else np.empty(length, dtype)
            array.fill(0)
            self._sums[count] = self.plan(f"{SUM} {count}", pattern, array), array
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
        self._right_side()

    # Operations of the strategies.

    def vector(self, name: str, halo: bool = False) -> RankVector:
        """This rank's part of the vector of a name, full of NaN at first. `halo`: the operator is applied to it."""
        if name not in self._vectors:
            if halo:
                whole = self.array(self._halo)
                self._vectors[name] = RankVector(name, whole, whole[self.own])
            else:
                shape = tuple(part.stop - part.start for part in self.own)
                whole = np.full(shape, np.nan)
                self._vectors[name] = RankVector(name, whole, whole)
        return self._vectors[name]

    def begin(self, r: RankVector) -> None:
        """Compute b = sigma (2 phi - phi before), and r = b - A phi; phi is the first guess."""
        self._right_side()
        self.combine(self._before, (1.0, self.x))
        self.residual(r)
        self.history = []

    def residual(self, r: RankVector) -> None:
        """Compute r = b - A phi."""
        self.operate(self.x, r)
        self.combine(r, (1.0, self._b), (-1.0, r))

    def _right_side(self) -> None:
        sigma = self.dwarf.sigma
        self.combine(self._b, (2 * sigma, self.x), (-sigma, self._before))

    def precondition(
        self,
        right: RankVector,
        out: RankVector,
        *,
        minus: RankVector | None = None,
        plus: RankVector | None = None,
        pokes: int = 0,
    ) -> None:
        if self._columns is None:
            self.combine(out, (1.0, right), *([(-1.0, minus)] if minus else []), *([(1.0, plus)] if plus else []))
            self._poke(pokes)
            return
        for number, rows in enumerate(self._parts(pokes + 1)):
            self._poke(number > 0)
            self.timed(
                _core.solve_columns,
                right.own[:, rows],
                self._columns[:, rows],
                out.own[:, rows],
                self.team,
                *(None if each is None else each.own[:, rows] for each in (minus, plus)),
                part=f"{COMPUTE}-columns",
            )

    def operate(self, field: RankVector, out: RankVector, *, pokes: int = 0) -> None:
        self._swap(field.whole)
        for number, rows in enumerate(self._parts(pokes + 1)):
            self._poke(number > 0)
            around = slice(rows.start, rows.stop + 2)
            self.timed(
                _core.helmholtz,
                field.whole[:, around],
                self._factors[:, rows],
                out.own[:, rows],
                self.team,
                part=f"{COMPUTE}-operator",
            )

    def _parts(self, count: int) -> list[slice]:
        """This rank's rows in so many parts."""
        rows = self._factors.shape[1]
        return [slice(rows * part // count, rows * (part + 1) // count) for part in range(count)]

    def combine(self, target: RankVector, *terms: tuple[float, RankVector]) -> None:
        pairs = [(factor, vector.own) for factor, vector in terms]
        self.timed(_core.combine, target.own, pairs, self.team, part=f"{COMPUTE}-vectors", once=True)

    def sums(self, *pairs: tuple[RankVector, RankVector]) -> list[float]:
        if not pairs:
            return []
        plan, array = self._multiply(pairs)
        plan(array)
        return self._found()

    def start_sums(self, *pairs: tuple[RankVector, RankVector]) -> None:
        plan, array = self._multiply(pairs)
        plan.start(array)

    def wait_sums(self) -> list[float]:
        plan, array = self._planned(len(self._open))
        plan.wait(array)
        return self._found()

    def _poke(self, times: int) -> None:
        """Let the reduction that is open go on."""
        if self._open:
            plan, array = self._planned(len(self._open))
            for _ in range(times):
                plan.poke(array)

    def _multiply(self, pairs: Sequence[tuple[RankVector, RankVector]]) -> tuple[Exchanges, Array]:
        """Compute this rank's share of scalar products, in the array of the plan that reduces them."""
        self._open = list(pairs)
        plan, array = self._planned(len(pairs))
        self.timed(self._products, [(a.own, b.own) for a, b in pairs], array, part=f"{COMPUTE}-sums")
        return plan, array

    def _products(self, arrays: list[tuple[Array, Array]], to: Array) -> None:
        if self.dwarf.sums == "ordinary":
            to[...] = _core.products(arrays, self.team)
            return
        digits, wrong = _core.exact_products(arrays, self.team)
        to[:-1], to[-1] = np.array(digits, np.int64).reshape(-1), wrong

    def _found(self) -> list[float]:
        """The sums of the reduction that has ended."""
        open_, self._open = self._open, []
        _, array = self._planned(len(open_))
        if self.dwarf.sums == "ordinary":
            found: list[float] = array.tolist()
            finite = all(map(math.isfinite, found))
        else:
            finite = array[-1] == 0
            found = [rounded(digits) for digits in array[:-1].reshape(-1, DIGITS).tolist()] if finite else []
        if not finite:
            self._tell_not_finite(open_)
        return found

    # Whether it has converged.

    def norms(self, r: RankVector, first: bool) -> list[tuple[RankVector, RankVector]]:
        if self.dwarf.rtol == 0:
            return []
        return [(r, r), (self._b, self._b)] if first else [(r, r)]

    def ended(self, iterations: int, norms: Sequence[float]) -> bool:
        if not norms:
            return False
        if len(norms) == 2:
            self._b_squared = norms[1]
        self.history.append(math.sqrt(norms[0] / self._b_squared) if self._b_squared else norms[0])
        if self.history[-1] <= self.dwarf.rtol:
            return True
        most = self.dwarf.most_iterations
        if iterations >= most:
            raise ConvergenceError(
                f"helmholtz, {self.dwarf.strategy}: no convergence to {self.dwarf.rtol:g} after {iterations} "
                f"iterations of step {self.step + 1}; relative residuals {_brief(self.history)}"
            )
        return False

    def finish(self, iterations: int, r: RankVector) -> None:
        if self.dwarf.rtol == 0:
            squares = self.sums((r, r), (self._b, self._b))
            self.history.append(math.sqrt(squares[0] / squares[1]) if squares[1] else squares[0])
        self.iterations = iterations
        self.solved += iterations
        self.step += 1

    def _tell_not_finite(self, pairs: Sequence[tuple[RankVector, RankVector]]) -> None:
        """Raise NotFiniteError on all ranks, with the place of the first value that is not finite.

        That of the field with which the step began goes before those that followed from it.
        """
        names = dict.fromkeys(["phi before", "b", *(each.name for pair in pairs for each in pair)])
        mine = next(((n, text) for n, name in enumerate(names) if (text := self._not_finite(name))), None)
        found = [each for each in self.comm.allgather(mine) if each is not None]
        first = min(found, key=lambda each: each[0], default=(0, "a scalar product is beyond the doubles"))
        many = sum(each[0] == first[0] for each in found)
        raise NotFiniteError(f"{first[1]}, in step {self.step + 1} (ranks with such values: {many})")

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
        self._steps_timed += steps
        super().advance(steps)

    def reset(self) -> None:
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
        return points_of(self.own) * ITERATION_BYTES // 2 * self.solved // max(self._steps_timed, 1)

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
            self._swap(self.x.whole)
        _core.helmholtz(self.x.whole, self._factors, apart, self.team)
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
