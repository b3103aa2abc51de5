"""The dwarf spherical_harmonics on MPI ranks: its loops and their costs, its arrays, and the parts of a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.collective import collective, proceed
from tradewind.base.errors import NotFiniteError
from tradewind.dwarfs.frame.output import NAMED, Output
from tradewind.dwarfs.frame.running import Running
from tradewind.dwarfs.frame.step import COMPUTE, kernel
from tradewind.dwarfs.spherical_harmonics.loads import (
    ADD,
    BACK,
    FFT,
    GATHER,
    LEGENDRE,
    SCATTER,
    SPREAD,
    WAVES,
    WINDS,
    wave_flops,
)
from tradewind.dwarfs.spherical_harmonics.request import SphericalHarmonicsRequest
from tradewind.dwarfs.waves.linear_step import VARIABLES, LinearStep, initial
from tradewind.fieldserver.plan.geometry import Gaussian
from tradewind.spectral.distributed import DistributedTransform, reversed_pattern
from tradewind.spectral.winds import WIND_VARIABLES

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind import _core
    from tradewind.dwarfs.frame.step import Step
    from tradewind.mpi.library import Array

WIND_COPIES = 40
"""Memory copies of vorticity and divergence that take as long as to make winds of them, or the way back, by the many
passes of NumPy in `spectral.operators` (38 and 44 were measured at TCo639 with 8 levels)."""


# The loops, and their costs per flop of a transform, per coefficient, or per byte of a copy, see `loads.Loads`.


def _row_values(dwarf: SphericalHarmonicsRequest) -> float:
    """All values are read and written once in a transform of rows."""
    return float(2 * dwarf.points * len(VARIABLES) / float(dwarf.loads.fft.sum()))


def _per_byte(dwarf: SphericalHarmonicsRequest) -> float:
    """Return the values of a byte."""
    return 1 / dwarf.element_bytes


@kernel(1, _row_values, part=f"{COMPUTE}-{FFT}", anywhere=True)
def transform_rows(run: SphericalHarmonicsRun, points: str) -> None:
    """Transform rows of grid points to Fourier coefficients."""
    run.transform.transform_rows()


@kernel(1, part=f"{COMPUTE}-{LEGENDRE}", anywhere=True)
def transform_wavenumbers(run: SphericalHarmonicsRun, points: str) -> None:
    """Transform wavenumbers to spectral coefficients."""
    run.transform.transform_wavenumbers()


@kernel(lambda dwarf: wave_flops(dwarf.levels), part=f"{COMPUTE}-{WAVES}", anywhere=True)
def step_waves(run: SphericalHarmonicsRun, points: str) -> None:
    """Compute the coefficients a time step later."""
    run.advance_waves()


@kernel(1, part=f"{COMPUTE}-{LEGENDRE}", anywhere=True)
def transform_wavenumbers_back(run: SphericalHarmonicsRun, points: str) -> None:
    """Transform spectral coefficients back to wavenumbers."""
    run.transform.transform_wavenumbers_back()


@kernel(1, _row_values, part=f"{COMPUTE}-{FFT}", anywhere=True)
def transform_rows_back(run: SphericalHarmonicsRun, points: str) -> None:
    """Transform Fourier coefficients back to rows of grid points."""
    run.transform.transform_rows_back()


@kernel(0, 4 * WIND_VARIABLES * WIND_COPIES, part="", once=True, anywhere=True)
def make_winds(run: SphericalHarmonicsRun, points: str) -> None:
    """Make winds of vorticity and divergence, or the other way round: in a run, transforms of wavenumbers do."""


@kernel(0, _per_byte, part=f"{COMPUTE}-{LEGENDRE}", once=True, anywhere=True)
def add_sums(run: SphericalHarmonicsRun, points: tuple[str, str]) -> None:
    """Add the partial sums of other ranks."""
    run.transform.add_sums()


@kernel(0, _per_byte, part=f"{COMPUTE}-{LEGENDRE}", once=True, anywhere=True)
def spread_sums(run: SphericalHarmonicsRun, points: tuple[str, str]) -> None:
    """Copy the degrees that other ranks need for their partial sums."""
    run.transform.spread_sums()


@kernel(0, _per_byte, part="passes", once=True, anywhere=True)
def copy_by_variable(run: SphericalHarmonicsRun, points: tuple[str, str]) -> None:
    """Copy the source or the target of an exchange, one variable after another."""
    run.copy(*points)


# The parts of a step.


def redistribute(step: Step, way: str) -> None:
    """Exchange all fields, one batch after another; between passes over memory where the strategy has them."""
    if step.dwarf.strategy == "passes":
        step.compute(copy_by_variable, points=(way, GATHER), label=f"{way} {GATHER}")
        step.exchange(way, 0)
        step.compute(copy_by_variable, points=(way, SCATTER), label=f"{way} {SCATTER}")
        return
    for number, name in enumerate(step.dwarf.batch_names):
        step.exchange(way, number, name and f"{way} {name}")


def to_columns(step: Step) -> None:
    """From grid points to full columns of spectral coefficients."""
    redistribute(step, "rows")
    step.compute(transform_rows, points=FFT, label=FFT)
    redistribute(step, "wavenumbers")
    step.compute(transform_wavenumbers, points=LEGENDRE, label=LEGENDRE)
    if step.dwarf.winds:
        step.compute(make_winds, points=WINDS, label=WINDS)
    if step.dwarf.is_split:
        redistribute(step, "sums")
        step.compute(add_sums, points=("sums", ADD), label=f"sums {ADD}")
    redistribute(step, "columns")


def to_grid(step: Step) -> None:
    """From full columns of spectral coefficients to grid points."""
    redistribute(step, "columns" + BACK)
    if step.dwarf.is_split:
        step.compute(spread_sums, points=("sums" + BACK, SPREAD), label=f"sums{BACK} {SPREAD}")
        redistribute(step, "sums" + BACK)
    if step.dwarf.winds:
        step.compute(make_winds, points=WINDS, label=WINDS + BACK)
    step.compute(transform_wavenumbers_back, points=LEGENDRE, label=LEGENDRE + BACK)
    redistribute(step, "wavenumbers" + BACK)
    step.compute(transform_rows_back, points=FFT, label=FFT + BACK)
    redistribute(step, "rows" + BACK)


@dataclass(frozen=True)
class Diagnosis:
    """Energy, which a step conserves; the mean geopotential of all levels; and the largest difference from the solution
    in closed form, as a fraction of the largest coefficient."""

    energy: float
    mean: float
    error: float


class SphericalHarmonicsRun(Running):
    """The dwarf on MPI ranks, one of which this process is."""

    dwarf: SphericalHarmonicsRequest

    def __init__(self, dwarf: SphericalHarmonicsRequest, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.distribution = dwarf.distribution()
        self._barriers = dwarf.strategy == "barrier"
        self._sources: dict[str, list[Array]] = {}
        self._copies: dict[tuple[str, str], tuple[Array, Array]] = {}
        module = self.device.array_module
        self._next: Array = np.empty(0)
        self.transform = DistributedTransform.made_by(
            self.distribution,
            self.rank,
            self._connect,
            self._array,
            tables=not dwarf.on_the_fly,
            threads=dwarf.threads,
            winds=dwarf.winds,
            radius=1.0,  # the waves have no dimensions
            precision=dwarf.precision,
            module=module,
        )
        self._m, self._n = self.transform.own_columns()
        self._order = dwarf.level_order()
        waves = self._m, self._n, dwarf.levels, dwarf.step_s, self._order, dwarf.threads
        self._waves = LinearStep(*waves)
        self._step = self._waves if module is None else LinearStep(*waves, module)
        self._initial = np.take(initial(self._m, self._n, dwarf.levels), _fields_of(self._order), axis=1)
        self.device.update(self._next, self._initial)
        proceed(comm)
        to_grid(self)

    # The arrays and plans of the transform, as the strategy has them.

    def _array(self, pattern: _core.Redistribution, dtype: str, name: str) -> Array:
        return self.array(pattern, name, dtype)

    def _connect(
        self, name: str, back: bool, pattern: _core.Redistribution, source: Array, target: Array
    ) -> Callable[[], None]:
        if name == "columns" and back:  # the waves' step writes beside what it reads
            source = self._next = self._array(pattern, self.dwarf.types.complex, name).reshape(source.shape)
        way = name + BACK if back else name
        strategy = self.dwarf.strategy
        if strategy in ("variables", "levels"):
            views = self._variable_views if strategy == "variables" else self._level_views
            sources = views(way, source, whole=_has_all_levels(way, target=False))
            self._plan_batches(way, sources, views(way, target, whole=_has_all_levels(way, target=True)))
        else:
            if strategy == "passes":
                source, target = self._copied(way, pattern, source, target)
            self._sources[way] = [source]
            self.plan(way, pattern, (source, target))
        return partial(redistribute, self, way)

    def _variable_views(self, way: str, array: Array, *, whole: bool) -> list[Array]:
        """The places of each variable in an array: fields are first in arrays of grid points, else last."""
        count = len(VARIABLES)
        first = way.startswith("rows")
        return [array[number::count] if first else array[:, number::count] for number in range(count)]

    def _level_views(self, way: str, array: Array, *, whole: bool) -> list[Array]:
        """The places of the levels of each message in an array, which has all levels or those of this rank."""
        first, found, begin = way.startswith("rows"), [], 0
        for _, batch in self.dwarf.batches:
            end = begin + (batch.fields if whole else len(batch.levels_of(self.rank)) * batch.variables)
            found.append(array[begin:end] if first else array[:, begin:end])
            begin = end
        return found

    def _plan_batches(self, way: str, sources: list[Array], targets: list[Array]) -> None:
        """Make the plans of an exchange, one for each batch: what the strategy sends together."""
        name = way.removesuffix(BACK)
        made: dict[int, tuple[_core.Redistribution, list[tuple[Array, Array]]]] = {}
        for (_, batch), source, target in zip(self.dwarf.batches, sources, targets, strict=True):
            pattern = batch.patterns()[name]
            pattern = reversed_pattern(pattern) if way.endswith(BACK) else pattern
            made.setdefault(id(batch), (pattern, []))[1].append((source, target))
        for pattern, pairs in made.values():
            self.plan(way, pattern, *pairs)
        self._sources[way] = sources

    def _copied(self, way: str, pattern: _core.Redistribution, source: Array, target: Array) -> tuple[Array, Array]:
        """Make arrays into which the source is copied before an exchange, and from which the target is afterwards."""
        name, back = way.removesuffix(BACK), type(pattern)(pattern.to_layout, pattern.from_layout)
        sent = self._array(pattern, self.dwarf.dtype_of(way), name).reshape(source.shape)
        received = self._array(back, self.dwarf.dtype_of(way), name).reshape(target.shape)
        self._copies |= {(way, GATHER): (source, sent), (way, SCATTER): (received, target)}
        return sent, received

    # The operations of strategies, see `Step`.

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """Exchange a batch, between barriers where these are timed."""
        if self._barriers:
            self.timed(self.comm.Barrier, part="barrier")
        super().exchange(name, of)
        if self._barriers:
            self.timed(self.comm.Barrier, part="barrier")

    def array_of(self, exchange: str, of: Any) -> Array:
        """Return the array that an exchange of a batch sends from."""
        source: Array = self._sources[exchange][of]
        return source

    def advance_waves(self) -> None:
        """Compute the coefficients a time step later."""
        self._step(self.transform.columns, self._next)

    def copy(self, way: str, kind: str) -> None:
        """Copy the source or the target of an exchange by variable."""
        before, after = (self._variable_views(way, array, whole=False) for array in self._copies[way, kind])
        for one, other in zip(before, after, strict=True):
            other[...] = one

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
            to_columns(self)
        columns = self.device.to_host(self.transform.columns)
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
        points = self.device.to_host(self.transform.points)
        parts = self.comm.gather(points)
        if parts is None:
            return None
        found = np.empty((len(points), sum(part.shape[1] for part in parts)), points.dtype)
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
            Output(name, own, grid, partial(self._output, n), self.dwarf.levels, attributes=NAMED[name])
            for n, name in enumerate(VARIABLES)
        ]

    def _output(self, number: int) -> Array:
        """A variable, [level][point]; the transform may have its levels in another order."""
        points = self.device.to_host(self.transform.points)
        found = np.empty((self.dwarf.levels, points.shape[1]), points.dtype)
        found[self._order] = points[number :: len(VARIABLES)]
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
        own = np.ascontiguousarray(self.device.to_host(self.transform.points)[field])
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
    """Return whether the source, or the target, of an exchange has all levels: grid points and columns have."""
    name = way.removesuffix(BACK)
    forth_target = target != way.endswith(BACK)
    return (name == "columns" and forth_target) or (name == "rows" and not forth_target)
