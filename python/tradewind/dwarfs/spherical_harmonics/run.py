"""The dwarf spherical_harmonics on MPI ranks: its arrays, its exchanges as each strategy has them, and a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.collective import collective, proceed
from tradewind.base.errors import NotFiniteError
from tradewind.dwarfs.frame.output import NAMED, Output
from tradewind.dwarfs.frame.running import Exchanges, Running
from tradewind.dwarfs.frame.step import COMPUTE
from tradewind.dwarfs.spherical_harmonics.program import BACK, FFT, LEGENDRE, WAVES, Request
from tradewind.dwarfs.waves.linear_step import VARIABLES, LinearStep, initial
from tradewind.fieldserver.plan.geometry import Gaussian
from tradewind.spectral.distributed import DistributedTransform, reversed_pattern

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind import _core
    from tradewind.mpi.library import Array


@dataclass(frozen=True)
class Diagnosis:
    """Energy, which a step conserves; the mean geopotential of all levels; and the largest difference from the solution
    in closed form, as a fraction of the largest coefficient."""

    energy: float
    mean: float
    error: float


class SphericalHarmonicsRun(Running):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: Request, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.dwarf = dwarf
        self.distribution = dwarf.distribution()
        self._batches = dwarf.batches()
        self._calls: dict[str, Callable[[], None]] = {}
        self._next: Array = np.empty(0)
        self.transform = DistributedTransform.made_by(
            self.distribution,
            self.rank,
            self._exchange,
            self._array,
            tables=not dwarf.on_the_fly,
            threads=dwarf.threads,
            winds=dwarf.winds,
            radius=1.0,  # the waves have no dimensions
        )
        self._m, self._n = self.transform.own_columns()
        self._order = dwarf.level_order()
        self._waves = LinearStep(self._m, self._n, dwarf.levels, dwarf.step_s, self._order, dwarf.threads)
        self._initial = np.take(initial(self._m, self._n, dwarf.levels), _fields_of(self._order), axis=1)
        self._next[:] = self._initial
        proceed(comm)
        self._to_grid()

    # The arrays and exchanges of the transform, as the strategy has them.

    def _array(self, pattern: _core.Redistribution, dtype: str, name: str) -> Array:
        return self.array(pattern, name, dtype)

    def _exchange(
        self, name: str, back: bool, pattern: _core.Redistribution, source: Array, target: Array
    ) -> Callable[[], None]:
        if name == "columns" and back:  # the waves' step writes beside what it reads
            source = self._next = self._array(pattern, "c16", name).reshape(source.shape)
        way = name + BACK if back else name
        strategy = self.dwarf.strategy
        if strategy in ("variables", "levels"):
            views = self._variable_views if strategy == "variables" else self._level_views
            sources = views(way, source, whole=_has_all_levels(way, target=False))
            return self._in_turn(way, sources, views(way, target, whole=_has_all_levels(way, target=True)))
        if strategy == "passes":
            return self._in_passes(way, pattern, source, target)
        carried = self.plan(way, pattern, (source, target))
        if strategy == "barrier":
            return lambda: self._between_barriers(carried, source)
        return lambda: carried(source)

    def _between_barriers(self, carried: Exchanges, source: Array) -> None:
        self.timed(self.comm.Barrier, part="barrier")
        carried(source)
        self.timed(self.comm.Barrier, part="barrier")

    def _variable_views(self, way: str, array: Array, *, whole: bool) -> list[Array]:
        """The places of each variable in an array: fields are first in arrays of grid points, else last."""
        count = len(VARIABLES)
        first = way.startswith("rows")
        return [array[number::count] if first else array[:, number::count] for number in range(count)]

    def _level_views(self, way: str, array: Array, *, whole: bool) -> list[Array]:
        """The places of the levels of each message in an array, which has all levels or those of this rank."""
        first, found, begin = way.startswith("rows"), [], 0
        for _, batch in self._batches:
            end = begin + (batch.fields if whole else len(batch.levels_of(self.rank)) * batch.variables)
            found.append(array[begin:end] if first else array[:, begin:end])
            begin = end
        return found

    def _in_turn(self, way: str, sources: list[Array], targets: list[Array]) -> Callable[[], None]:
        """One message after another: what the strategy sends together."""
        name = way.removesuffix(BACK)
        made: dict[int, tuple[_core.Redistribution, list[tuple[Array, Array]]]] = {}
        for (_, batch), source, target in zip(self._batches, sources, targets, strict=True):
            pattern = batch.patterns()[name]
            pattern = reversed_pattern(pattern) if way.endswith(BACK) else pattern
            made.setdefault(id(batch), (pattern, []))[1].append((source, target))
        for pattern, pairs in made.values():
            self.plan(way, pattern, *pairs)
        carried = self._exchanges[way]

        def call() -> None:
            for each in sources:
                carried(each)

        return call

    def _in_passes(self, way: str, pattern: _core.Redistribution, source: Array, target: Array) -> Callable[[], None]:
        name = way.removesuffix(BACK)
        back = type(pattern)(pattern.to_layout, pattern.from_layout)
        dtype = "f8" if name == "rows" else "c16"
        sent = self._array(pattern, dtype, name).reshape(source.shape)
        received = self._array(back, dtype, name).reshape(target.shape)
        carried = self.plan(way, pattern, (sent, received))

        def copy(before: Array, after: Array) -> None:
            views = (self._variable_views(way, array, whole=False) for array in (before, after))
            for one, other in zip(*views, strict=True):
                np.copyto(other, one)

        def call() -> None:
            self.timed(copy, source, sent, part="passes")
            carried(sent)
            self.timed(copy, received, target, part="passes")

        return call

    # A step.

    def step(self) -> None:
        """Grid points to columns, a step of the waves, and back."""
        self._to_columns()
        self.timed(self._waves, self.transform.columns, self._next, part=f"{COMPUTE}-{WAVES}")
        self._to_grid()
        self.steps += 1

    def _to_columns(self) -> None:
        transform = self.transform
        transform.exchange("rows")
        self.timed(transform.transform_rows, part=f"{COMPUTE}-{FFT}")
        transform.exchange("wavenumbers")
        self.timed(transform.transform_wavenumbers, part=f"{COMPUTE}-{LEGENDRE}")
        if transform.is_split:
            transform.exchange("sums")
            self.timed(transform.add_sums, part=f"{COMPUTE}-{LEGENDRE}", once=True)
        transform.exchange("columns")

    def _to_grid(self) -> None:
        transform = self.transform
        transform.exchange("columns", back=True)
        if transform.is_split:
            self.timed(transform.spread_sums, part=f"{COMPUTE}-{LEGENDRE}", once=True)
            transform.exchange("sums", back=True)
        self.timed(transform.transform_wavenumbers_back, part=f"{COMPUTE}-{LEGENDRE}")
        transform.exchange("wavenumbers", back=True)
        self.timed(transform.transform_rows_back, part=f"{COMPUTE}-{FFT}")
        transform.exchange("rows", back=True)

    # The methods of each dwarf.

    def seconds(self) -> dict[str, float]:
        """Seconds by part; computing has three of them, and no rest."""
        found = super().seconds()
        del found[COMPUTE]
        return found

    @property
    def minimum_bytes(self) -> int:
        """Bytes of a memory copy of the rank's grid points, which amounts to one step."""
        return int(self.transform.points.nbytes)

    def diagnose(self) -> Diagnosis:
        """Energy, mean and error of the whole state. Collective. Raises NotFiniteError on all ranks."""
        from mpi4py import MPI

        proceed(self.comm)
        with self.uncounted():
            self._to_columns()
        columns = self.transform.columns
        solution = self._waves.solution(self._initial, self.steps)
        apart = float(np.abs(columns - solution).max(initial=0))
        if any(self.comm.allgather(bool(not np.isfinite(columns).all()))):
            raise NotFiniteError(f"the spectral coefficients are not finite after {self.steps} steps")
        largest = self.comm.allreduce(float(np.abs(solution).max(initial=0)), MPI.MAX)
        mean = columns[(self._m == 0) & (self._n == 0)][:, len(VARIABLES) - 1 :: len(VARIABLES)].real.sum()
        return Diagnosis(
            energy=self.comm.allreduce(self._waves.energy(columns, self._m)),
            mean=float(self.comm.allreduce(float(mean))) / self.dwarf.levels,
            error=self.comm.allreduce(apart, MPI.MAX) / largest,
        )

    def gathered(self) -> Array | None:
        """All fields on the grid, [field][point], on rank 0. Collective."""
        proceed(self.comm)
        parts = self.comm.gather(self.transform.points)
        if parts is None:
            return None
        found = np.empty((len(self.transform.points), sum(part.shape[1] for part in parts)))
        np.concatenate(parts, axis=1, out=found)
        found[_fields_of(self._order)] = found.copy()
        return found

    @collective
    def outputs(self) -> list[Output]:
        """The fields on the grid. Collective."""
        count = self.transform.points.shape[1]
        proceed(self.comm)
        first = self.comm.scan(count) - count
        own, grid = np.arange(first, first + count), Gaussian(tuple(self.distribution.truncation.grid.rows))
        return [
            Output(name, own, grid, partial(self._output, n), self.dwarf.levels, said=NAMED[name])
            for n, name in enumerate(VARIABLES)
        ]

    def _output(self, number: int) -> Array:
        """A variable, [level][point]; the transform may have its levels in another order."""
        found = np.empty((self.dwarf.levels, self.transform.points.shape[1]))
        found[self._order] = self.transform.points[number :: len(VARIABLES)]
        return found

    map_variable = "geopotential"

    @property
    def map_place(self) -> dict[str, Any]:
        """On the sphere, each row from longitude 0 on."""
        return {"on_sphere": True, "west": 0.5}

    def map(self) -> Array | None:
        """The geopotential of the middle level on rank 0, [latitude][longitude] from the south. Collective.

        Each row of the grid is drawn with as many points as the longest one has.
        """
        level = int(np.flatnonzero(self._order == self.dwarf.levels // 2)[0])
        field = level * len(VARIABLES) + len(VARIABLES) - 1
        own = np.ascontiguousarray(self.transform.points[field])
        proceed(self.comm)
        parts = self.comm.gather(own)
        if parts is None:
            return None
        whole, grid = np.concatenate(parts), self.distribution.truncation.grid
        width = int(grid.rows.max())
        drawn = [
            whole[first + np.arange(width) * length // width]
            for first, length in zip(grid.first, grid.rows, strict=False)
        ]
        return np.array(drawn[::-1])


def _fields_of(levels: Array) -> Array:
    """The fields, variables innermost, of some levels."""
    count = len(VARIABLES)
    return np.asarray((levels[:, None] * count + np.arange(count)).ravel())


def _has_all_levels(way: str, *, target: bool) -> bool:
    """Whether the source, or the target, of an exchange has all levels: grid points and columns have."""
    name = way.removesuffix(BACK)
    forth_target = target != way.endswith(BACK)
    return (name == "columns" and forth_target) or (name == "rows" and not forth_target)
