"""The spherical-harmonics transform of a spectral model, forth and back in each time step.

A step brings grid points to spectral space, where linear waves take a semi-implicit step in full columns (see
`tradewind.dwarfs.linear_step`), and back. Two stages compute, FFT along rows and Legendre transforms by wavenumber;
before, between and after them all data change their owners, see `tradewind.spectral.distribution`:

    points -> rows, FFT -> wavenumbers, Legendre -> columns, waves -> wavenumbers, Legendre -> rows, FFT -> points

Source: the dwarf of ESCAPE (deliverable D3.4, 2018), with the distribution of ecTrans. The result does not depend on
the number of ranks, but for rounding.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.spherical_harmonics import SphericalHarmonics
run = SphericalHarmonics(ranks=2, truncation=79, levels=4).on(MPI.COMM_WORLD)
run.advance(16)
print(run.diagnose())"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, NotFiniteError
from tradewind.base.extents import MAX_EXTENT
from tradewind.dwarfs.dwarf import Dwarf, method_option
from tradewind.dwarfs.linear_step import VARIABLES, LinearStep, initial, reference_step
from tradewind.dwarfs.running import COMPUTE, Exchanges, Running
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, NATIVE, Method, default_algorithm
from tradewind.spectral.balance import DEALS
from tradewind.spectral.distributed import EXCHANGES, DistributedTransform
from tradewind.spectral.distribution import Distribution
from tradewind.spectral.transform import SpectralTransform
from tradewind.spectral.truncation import Truncation
from tradewind.workload.options import option
from tradewind.workload.program import Compute, Exchanged, Program, Whole

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.mpi.library import Array

BACK = "-back"
"""End of the name of an exchange that brings data back."""
FFT, LEGENDRE, WAVES = "fft", "legendre", "waves"
"""Parts of a step that compute."""
MAX_TRUNCATION = 16383
WAVE_FLOPS = 40.0
"""Flops of the waves' step for each complex coefficient, beside those of the vertical modes, 8 L for L levels."""


# The time loop. Each strategy takes a step, and says how an exchange is made.


def exchange(run: SphericalHarmonicsRun, steps: int) -> int:
    """Exchange all variables and levels together, packed in one pass."""
    run.step()
    return 1


def variables(run: SphericalHarmonicsRun, steps: int) -> int:
    """Exchange one variable after another: three times as many messages, a third as long."""
    run.step()
    return 1


# Bad examples, to be measured beside the others.


def passes(run: SphericalHarmonicsRun, steps: int) -> int:
    """Pack in several passes over memory, as older codes do: by variable into arrays that are then packed, and back."""
    run.step()
    return 1


def barrier(run: SphericalHarmonicsRun, steps: int) -> int:
    """Wait for all ranks before and after each exchange."""
    run.step()
    return 1


STRATEGIES: dict[str, Callable[[SphericalHarmonicsRun, int], int]] = {
    "exchange": exchange,
    "variables": variables,
    "passes": passes,
    "barrier": barrier,
}
NOT_SIMULATED = ("barrier",)
"""Strategies that show what not to do; the simulator knows no barriers."""


@lru_cache(maxsize=4)
def _truncation(grid: str, degree: int) -> Truncation:
    return Truncation(grid, degree)


@lru_cache(maxsize=16)  # studies and programs ask often, and wavenumbers are packed each time
def _distribution(
    grid: str, degree: int, ranks: int, levels: int, variables: int, level_sets: int | None, dealt: str
) -> Distribution:
    truncation = _truncation(grid, degree)
    return Distribution(truncation, ranks, levels=levels, variables=variables, level_sets=level_sets, dealt=dealt)


@dataclass(frozen=True)
class SphericalHarmonics(Dwarf):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    truncation: int = option(
        "Largest degree T.", minimum=1, maximum=MAX_TRUNCATION, offered="79", by_name=True, label="truncation"
    )
    gaussian_grid: str | None = option(
        "Gaussian grid like O80 or F80.", None, shown="octahedral, with the cubic truncation", label="Gaussian grid"
    )
    levels: int = option("Levels.", 8, minimum=1, maximum=MAX_EXTENT, label="levels")
    level_sets: int | None = option(
        "Sets V of levels: ranks = W x V.",
        None,
        minimum=1,
        maximum=MAX_EXTENT,
        shown="as ecTrans chooses",
        label="level sets",
    )
    dealt: str = option(
        f"How wavenumbers are dealt to the W sets: {' or '.join(DEALS)}.",
        "packed",
        known=lambda: DEALS,
        label="how wavenumbers are dealt",
    )
    step_s: float = option("Seconds of model time in a step, like 600s.", 600.0, unit="s", label="time step of a model")
    on_the_fly: bool = option(
        "Compute the Legendre functions in each step instead of keeping them.", False, label="Legendre on the fly"
    )
    wavenumbers_method: str | None = method_option("wavenumbers", "transpose")
    columns_method: str | None = method_option("columns", "transpose")

    kind: ClassVar[str] = "spherical_harmonics"
    strategies: ClassVar = STRATEGIES
    not_simulated: ClassVar = NOT_SIMULATED
    plans: ClassVar = {name: "transpose" for name in EXCHANGES}
    diagnostics: ClassVar = {"energy": "energy", "mean": "mean geopotential", "error": "error against the solution"}
    has_map: ClassVar[bool] = True

    def _problems(self) -> list[str]:
        self._choose(gaussian_grid=f"O{self.truncation + 1}")
        problems = []
        if self.precision != "f8":
            problems.append(f"precision {self.precision}: the transform has f8 alone")
        if not 0 < self.step_s < float("inf"):
            problems.append(f"step {self.step_s} s: more than 0 is allowed")
        try:
            distribution = self.distribution()
            self._choose(level_sets=distribution.level_sets)
            for name in EXCHANGES:
                problems += self._method_problems(name, distribution)
        except InputError as error:
            problems += error.problems
        return problems

    def _method_problems(self, name: str, distribution: Distribution) -> list[str]:
        schedules = {name: schedule for name, schedule in self._schedules(name, distribution).items() if schedule}
        return self.transport_problems(name, schedules)

    def _schedules(self, name: str, distribution: Distribution) -> dict[str, _core.Schedule]:
        """The schedules of an exchange, forth and back. Raises InputError for an algorithm that it cannot have."""
        method = self.method(name)
        algorithm = method.algorithm or default_algorithm("transpose")
        if algorithm == NATIVE:
            algorithm = "burst"
        pattern: _core.Redistribution = getattr(distribution, f"to_{name}")()
        back = type(pattern)(pattern.to_layout, pattern.from_layout)
        return {name: _core.make_schedule(pattern, algorithm), name + BACK: _core.make_schedule(back, algorithm)}

    def method(self, plan: str) -> Method:
        """The method of an exchange, which is that of the way back, too."""
        return super().method(plan.removesuffix(BACK))

    def truncated(self) -> Truncation:
        """Grid and truncation."""
        assert self.gaussian_grid is not None
        return _truncation(self.gaussian_grid, self.truncation)

    def distribution(self, variables: int = len(VARIABLES)) -> Distribution:
        """Who owns what."""
        assert self.gaussian_grid is not None
        grid, degree, sets = self.gaussian_grid, self.truncation, self.level_sets
        return _distribution(grid, degree, self.ranks, self.levels, variables, sets, self.dealt)

    @property
    def name(self) -> str:
        return f"{super().name}, T{self.truncation} on {self.gaussian_grid}, {self.levels} levels"

    @property
    def points(self) -> int:
        return self.truncated().grid.points * self.levels

    @property
    def tolerance(self) -> float:
        """Sums over ranks are none, but a step of `reference_step` adds in another order."""
        return 1e-12

    def imbalance(self) -> float:
        return self.distribution().imbalances()["legendre_flops"]

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().derived(result), "memory_bytes": self.memory_bytes()}

    def memory_bytes(self) -> int:
        """Bytes of all ranks' arrays, one in each layout, and of their tables of Legendre functions.

        Buffers of messages, and what a process has anyhow, come on top.
        """
        distribution = self.distribution()
        tables = 0 if self.on_the_fly else sum(distribution.table_bytes(rank) for rank in range(self.ranks))
        return tables + sum(distribution.array_bytes(rank) for rank in range(self.ranks))

    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> SphericalHarmonicsRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        return SphericalHarmonicsRun(self, comm, record)

    def program(self) -> Program:
        """The program of a step. Raises InputError for the strategies of `NOT_SIMULATED`."""
        if self.strategy in NOT_SIMULATED:
            raise InputError(f"strategy {self.strategy}: the simulator does not know what it adds; simulate exchange")
        distribution, loads = self.distribution(), self.distribution().loads()
        sent = self.distribution(1) if self.strategy == "variables" else distribution
        exchanges = {}
        for name in EXCHANGES:
            method = self.method(name)
            dtype = "f8" if name == "rows" else "c16"
            for way, schedule in self._schedules(name, sent).items():
                exchanges[way] = Exchanged(
                    way,
                    schedule,
                    1,
                    dtype,
                    transport=method.transport or DEFAULT_TRANSPORT,
                    packing=method.packing or DEFAULT_PACKING,
                )
        total = {
            FFT: loads["fft_flops"],
            LEGENDRE: loads["legendre_flops"],
            WAVES: loads["columns"] * (WAVE_FLOPS + 8 * self.levels) / len(VARIABLES),
        }
        flops = {name: 2 * float(load.sum()) for name, load in total.items()}
        slower = self.point_s * self.points / (sum(flops.values()) - flops[WAVES] / 2)

        def computation(name: str, label: str) -> Compute:
            points = (self.work * total[name]).tolist()
            bytes_per_flop = 16 * self.points * len(VARIABLES) / (flops[FFT] / 2) if name == FFT else 0.0
            return Compute(label, 0.0, 0.0 if slower else 1.0, bytes_per_flop, points=points, point_s=slower)

        def whole(way: str) -> list[Any]:
            if self.strategy == "variables":
                return [Whole(exchanges[way], f"{way} {variable}") for variable in VARIABLES]
            if self.strategy != "passes":
                return [exchanges[way]]
            before, after = (
                Compute(f"{way} {end}", bytes=1.0, points=self._copied(way, end)) for end in ("gather", "scatter")
            )
            return [before, exchanges[way], after]

        return Program(
            *whole("rows"),
            computation(FFT, FFT),
            *whole("wavenumbers"),
            computation(LEGENDRE, LEGENDRE),
            *whole("columns"),
            computation(WAVES, WAVES),
            *whole("columns" + BACK),
            computation(LEGENDRE, LEGENDRE + BACK),
            *whole("wavenumbers" + BACK),
            computation(FFT, FFT + BACK),
            *whole("rows" + BACK),
            name=f"spherical harmonics, {self.strategy}",
        )

    def _copied(self, way: str, end: str) -> list[float]:
        """The bytes that the further passes of an exchange read and write on each rank: of its source or its target."""
        distribution = self.distribution()
        name = way.removesuffix(BACK)
        pattern: _core.Redistribution = getattr(distribution, f"to_{name}")()
        source = (end == "gather") != way.endswith(BACK)
        shape = pattern.source_shape if source else pattern.target_shape
        size = 8 if name == "rows" else 16
        return [2.0 * size * float(np.prod(shape(rank))) for rank in range(self.ranks)]

    def reference_step(self, whole: Array) -> Array:
        """A step of all fields on the grid, [field][point], in one process, by dense equations in spectral space."""
        transform = _one_process(self.gaussian_grid, self.truncation)
        t = transform.truncation
        degrees = t.degrees_of(t.wavenumbers)
        m = np.repeat(t.wavenumbers, degrees)
        n = np.arange(t.coefficients) - np.repeat(t.start[:-1], degrees) + m
        spectral = transform.to_spectral(whole)
        return np.asarray(transform.to_grid(reference_step(spectral, n, m, self.levels, self.step_s)))


@lru_cache(maxsize=1)
def _one_process(grid: str, degree: int) -> SpectralTransform:
    return SpectralTransform(grid, degree)


@dataclass(frozen=True)
class Diagnosis:
    """Energy, which a step conserves; the mean geopotential of all levels; and the largest difference from the solution
    in closed form, as a fraction of the largest coefficient."""

    energy: float
    mean: float
    error: float


class SphericalHarmonicsRun(Running):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: SphericalHarmonics, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.dwarf, self.steps = dwarf, 0
        self.distribution = dwarf.distribution()
        self._single = dwarf.distribution(1)
        self._calls: dict[str, Callable[[], None]] = {}
        self._next: Array = np.empty(0)
        self.transform = DistributedTransform.made_by(
            self.distribution,
            self.rank,
            self._exchange,
            self._array,
            tables=not dwarf.on_the_fly,
            threads=dwarf.threads,
        )
        self._m, self._n = self.transform.own_columns()
        self._waves = LinearStep(self._m, self._n, dwarf.levels, dwarf.step_s)
        self._initial = initial(self._m, self._n, dwarf.levels)
        self._next[:] = self._initial
        self._to_grid()

    # The arrays and exchanges of the transform, as the strategy has them.

    def _array(self, pattern: _core.Redistribution, dtype: str, name: str) -> Array:
        from tradewind import mpi

        shared = self.dwarf.method(name).transport == "shared"
        shape = pattern.source_shape(self.rank)
        array: Array = mpi.empty(pattern, self.comm, dtype) if shared else np.empty(shape, dtype)
        array.fill(np.nan)
        return array

    def _exchange(
        self, name: str, back: bool, pattern: _core.Redistribution, source: Array, target: Array
    ) -> Callable[[], None]:
        if name == "columns" and back:  # the waves' step writes beside what it reads
            source = self._next = self._array(pattern, "c16", name).reshape(source.shape)
        way = name + BACK if back else name
        strategy = self.dwarf.strategy
        if strategy == "variables":
            return self._by_variable(way, pattern, source, target)
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

    def _views(self, way: str, array: Array) -> list[Array]:
        """The places of each variable in an array: fields are first in arrays of grid points, else last."""
        first = way.startswith("rows")
        count = len(VARIABLES)
        return [array[number::count] if first else array[:, number::count] for number in range(count)]

    def _by_variable(self, way: str, pattern: _core.Redistribution, source: Array, target: Array) -> Callable[[], None]:
        single: _core.Redistribution = getattr(self._single, f"to_{way.removesuffix(BACK)}")()
        if way.endswith(BACK):
            single = type(single)(single.to_layout, single.from_layout)
        sources, targets = self._views(way, source), self._views(way, target)
        carried = self.plan(way, single, *zip(sources, targets, strict=True))

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
            for one, other in zip(self._views(way, before), self._views(way, after), strict=True):
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
        transform.exchange("columns")

    def _to_grid(self) -> None:
        transform = self.transform
        transform.exchange("columns", back=True)
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
        return int(self.transform.points.nbytes)

    def diagnose(self) -> Diagnosis:
        """Energy, mean and error of the whole state. Collective. Raises NotFiniteError on all ranks."""
        from mpi4py import MPI

        calls = {name: each.calls for name, each in self._exchanges.items()}
        self._to_columns()
        for name, each in self._exchanges.items():
            each.calls = calls[name]
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
        parts = self.comm.gather(self.transform.points)
        return None if parts is None else np.concatenate(parts, axis=1)

    def map(self) -> Array | None:
        """The geopotential of the middle level on rank 0, [latitude][longitude] from the south. Collective.

        Each row of the grid is drawn with as many points as the longest one has.
        """
        field = self.dwarf.levels // 2 * len(VARIABLES) + len(VARIABLES) - 1
        parts = self.comm.gather(np.ascontiguousarray(self.transform.points[field]))
        if parts is None:
            return None
        whole, grid = np.concatenate(parts), self.distribution.truncation.grid
        width = int(grid.rows.max())
        drawn = [
            whole[first + np.arange(width) * length // width]
            for first, length in zip(grid.first, grid.rows, strict=False)
        ]
        return np.array(drawn[::-1])
