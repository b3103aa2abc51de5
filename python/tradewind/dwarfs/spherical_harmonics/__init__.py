"""The spherical-harmonics transform of a spectral model, forth and back in each time step.

A step brings grid points to spectral space, where linear waves take a semi-implicit step in full columns (see
`dwarfs.waves.linear_step`), and back. Two stages compute, FFT along rows and Legendre transforms by wavenumber;
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
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT
from tradewind.dwarfs.frame.dwarf import Dwarf, method_option
from tradewind.dwarfs.spherical_harmonics.program import BACK, program
from tradewind.dwarfs.spherical_harmonics.run import SphericalHarmonicsRun
from tradewind.dwarfs.waves.linear_step import VARIABLES, reference_step
from tradewind.method.method import NATIVE, Method, default_algorithm
from tradewind.spectral.distributed import EXCHANGES, reversed_pattern
from tradewind.spectral.distribution import Distribution
from tradewind.spectral.pieces import SPLIT, WAYS_TO_DEAL, Pieces, pieces_of
from tradewind.spectral.transform import SpectralTransform
from tradewind.spectral.truncation import Truncation
from tradewind.workload.options import option

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.mpi.library import Array
    from tradewind.workload.program import ProgramWorkload

MAX_TRUNCATION = 16383
LATER = ("sums_method", "winds", "levels_per_message")
"""Options that earlier versions did not have: stored cases are found without them."""


# The time loop. Each strategy takes a step, and says how an exchange is made.


def exchange(run: SphericalHarmonicsRun, steps: int) -> int:
    """Exchange all variables and levels together, packed in one pass."""
    run.step()
    return 1


def levels(run: SphericalHarmonicsRun, steps: int) -> int:
    """Exchange some levels after others, `levels_per_message` of each rank at a time: more, smaller messages."""
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
    "levels": levels,
    "variables": variables,
    "passes": passes,
    "barrier": barrier,
}
NOT_SIMULATED = ("barrier",)
"""Strategies that show what not to do; the simulator knows no barriers."""


@lru_cache(maxsize=4)
def _truncation(grid: str, degree: int) -> Truncation:
    return Truncation(grid, degree)


@lru_cache(maxsize=64)  # studies and programs ask often, and wavenumbers are packed each time
def _pieces(truncation: Truncation, dealt: str, sets: int) -> Pieces:
    # By the object: pieces are of one truncation, and `_truncation` makes another where it has forgotten it.
    return pieces_of(truncation, dealt, sets)


@lru_cache(maxsize=64)
def _distribution(
    grid: str,
    degree: int,
    ranks: int,
    levels_of_sets: int | tuple[int, ...],
    variables: int,
    level_sets: int | None,
    dealt: str,
) -> Distribution:
    truncation = _truncation(grid, degree)
    known = level_sets and ranks % level_sets == 0 and ranks // level_sets <= len(truncation.grid.rows)
    pieces = _pieces(truncation, dealt, ranks // level_sets) if level_sets and known else dealt
    return Distribution(
        truncation, ranks, levels=levels_of_sets, variables=variables, level_sets=level_sets, dealt=pieces
    )


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
        f"How wavenumbers are dealt to the W sets: {', '.join(WAYS_TO_DEAL)}.",
        "packed",
        known=lambda: WAYS_TO_DEAL,
        label="how wavenumbers are dealt",
    )
    step_s: float = option("Seconds of model time in a step, like 600s.", 600.0, unit="s", label="time step of a model")
    on_the_fly: bool = option(
        "Compute the Legendre functions in each step instead of keeping them.", False, label="Legendre on the fly"
    )
    wavenumbers_method: str | None = method_option("wavenumbers", "transpose")
    columns_method: str | None = method_option("columns", "transpose")
    sums_method: str | None = method_option("sums", "transpose")
    winds: bool = option("On the grid there are winds in place of vorticity and divergence.", False, label="winds")
    levels_per_message: int | None = option(
        "Levels of a rank in each message.",
        None,
        minimum=1,
        maximum=MAX_EXTENT,
        shown="all, or 1 with the strategy levels",
        label="levels per message",
    )

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
        if self.levels_per_message is not None and self.strategy != "levels":
            problems.append(f"levels per message {self.levels_per_message}: the strategy levels has them; leave it out")
        if self.sums_method is not None and self.dealt != SPLIT:
            problems.append(f"sums method {self.sums_method}: there are sums where wavenumbers are dealt {SPLIT}")
        if not 0 < self.levels <= MAX_EXTENT:  # said already; the core takes no such number
            return problems
        try:
            distribution = self.distribution()
            self._choose(level_sets=distribution.level_sets)
            for name, pattern in distribution.patterns().items():
                problems += self.transport_problems(name, self.schedules_of(name, pattern))
        except InputError as error:
            problems += error.problems
        return problems

    def schedules_of(self, name: str, pattern: _core.Redistribution) -> dict[str, _core.Schedule]:
        """The schedules of an exchange, forth and back. Raises InputError for an algorithm that it cannot have."""
        method = self.method(name)
        algorithm = method.algorithm or default_algorithm("transpose")
        if algorithm == NATIVE:
            algorithm = "burst"
        back = reversed_pattern(pattern)
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
        return self._distribution(self.levels, variables)

    def _distribution(self, levels: int | tuple[int, ...], variables: int) -> Distribution:
        assert self.gaussian_grid is not None
        grid, degree, sets = self.gaussian_grid, self.truncation, self.level_sets
        return _distribution(grid, degree, self.ranks, levels, variables, sets, self.dealt)

    def batches(self) -> list[tuple[str, Distribution]]:
        """The fields that are sent together, in this order: a name, and who owns what of them."""
        if self.strategy == "variables":
            return [(variable, self.distribution(1)) for variable in VARIABLES]
        if self.strategy != "levels":
            return [("", self.distribution())]
        found = []
        for number, levels in enumerate(self._levels_at_a_time()):
            found.append((f"levels {number + 1}", self._distribution(levels, len(VARIABLES))))
        return found

    def _levels_at_a_time(self) -> list[tuple[int, ...]]:
        """The number of levels of each set in each message."""
        levels, size = np.diff(self.distribution().level_cuts), self.levels_per_message or 1
        return [tuple(np.clip(levels - begin, 0, size).tolist()) for begin in range(0, int(levels.max()), size)]

    def level_order(self) -> NDArray[np.int64]:
        """The levels of grid points and columns as they lie in memory: what is sent together lies together."""
        if self.strategy != "levels":
            return np.arange(self.levels)
        first, found = self.distribution().level_cuts[:-1].copy(), [np.empty(0, np.int64)]
        for counts in self._levels_at_a_time():
            found += [np.arange(begin, begin + count) for begin, count in zip(first, counts, strict=True)]
            first += counts
        return np.concatenate(found)

    def legendre_flops(self) -> NDArray[np.float64]:
        """Flops of the Legendre transforms of each rank, one way; winds have a degree more."""
        distribution = self.distribution()
        if not self.winds:
            return distribution.loads()["legendre_flops"]
        top = distribution.truncation.top + 2
        by_set = [sum(4.0 * (top - p.m) * (p.end - p.begin) for p in own) for own in distribution.pieces.by_set]
        places = map(distribution.set_of, range(self.ranks))
        fields = np.diff(distribution.level_cuts) * distribution.variables
        return np.array([by_set[w] * fields[v] for w, v in places])

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{super().name}, T{self.truncation} on {self.gaussian_grid}, {self.levels} levels"

    @property
    def points(self) -> int:
        """Number of grid points on all levels."""
        return self.truncated().grid.points * self.levels

    @property
    def tolerance(self) -> float:
        """Sums over ranks are none, but a step of `reference_step` adds in another order."""
        return 1e-12

    def imbalance(self) -> float:
        """Return the load imbalance: the maximum flops of a rank in Legendre transforms over the mean."""
        return self.distribution().imbalances()["legendre_flops"]

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that a study keeps of a simulation, with the memory of a rank in bytes."""
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

    def program(self) -> ProgramWorkload:
        """The program of a step. Raises InputError for the strategies of `NOT_SIMULATED`."""
        if self.strategy in NOT_SIMULATED:
            raise InputError(f"strategy {self.strategy}: the simulator does not know what it adds; simulate exchange")
        return program(self)

    def reference_step(self, whole: Array) -> Array:
        """A step of all fields on the grid, [field][point], in one process, by dense equations in spectral space."""
        transform = _one_process(self.gaussian_grid, self.truncation)
        t, count = transform.truncation, len(VARIABLES)
        degrees = t.degrees_of(t.wavenumbers)
        m = np.repeat(t.wavenumbers, degrees)
        n = np.arange(t.coefficients) - np.repeat(t.start[:-1], degrees) + m
        spectral = transform.to_spectral(whole)
        if self.winds:
            wind = transform.vorticity_divergence(whole[::count], whole[1::count])
            spectral[:, ::count], spectral[:, 1::count] = wind
        spectral = reference_step(spectral, n, m, self.levels, self.step_s)
        grid = np.asarray(transform.to_grid(spectral))
        if self.winds:
            grid[::count], grid[1::count] = transform.wind(spectral[:, ::count], spectral[:, 1::count])
        return grid

    def as_dict(self) -> dict[str, Any]:
        """Plain values. Options that earlier versions did not have are left out where they change nothing."""
        found = super().as_dict()
        return {name: value for name, value in found.items() if name not in LATER or value}


@lru_cache(maxsize=1)
def _one_process(grid: str, degree: int) -> SpectralTransform:
    return SpectralTransform(grid, degree, radius=1.0)
