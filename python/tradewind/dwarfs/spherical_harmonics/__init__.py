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

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradewind.dwarfs.frame.recorder import recorded
from tradewind.dwarfs.spherical_harmonics.loads import WAVES
from tradewind.dwarfs.spherical_harmonics.request import SphericalHarmonicsRequest
from tradewind.dwarfs.spherical_harmonics.run import SphericalHarmonicsRun, step_waves, to_columns, to_grid
from tradewind.dwarfs.waves.linear_step import VARIABLES, reference_step
from tradewind.spectral.transform import SpectralTransform

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Step
    from tradewind.mpi.library import Array
    from tradewind.workload.program import ProgramWorkload


# The time loop. Each strategy takes a step.


def exchange(step: Step, steps: int) -> int:
    """Exchange all variables and levels together, packed in one pass."""
    return _take(step)


def levels(step: Step, steps: int) -> int:
    """Exchange some levels after others, `levels_per_message` of each rank at a time: more, smaller messages."""
    return _take(step)


def variables(step: Step, steps: int) -> int:
    """Exchange one variable after another: three times as many messages, a third as long."""
    return _take(step)


# Bad examples, to be measured beside the others.


def passes(step: Step, steps: int) -> int:
    """Pack in several passes over memory, as older codes do: by variable into arrays that are then packed, and back."""
    return _take(step)


def barrier(run: SphericalHarmonicsRun, steps: int) -> int:
    """Wait for all ranks before and after each exchange."""
    return _take(run)


def _take(step: Step) -> int:
    """From grid points to columns, a time step of the waves, and back."""
    to_columns(step)
    step.compute(step_waves, points=WAVES, label=WAVES)
    to_grid(step)
    step.finish()
    return 1


STRATEGIES: dict[str, Callable[..., int]] = {
    "exchange": exchange,
    "levels": levels,
    "variables": variables,
    "passes": passes,
    "barrier": barrier,
}
NOT_SIMULATED = ("barrier",)
"""Strategies that show what not to do; the simulator knows no barriers."""


@dataclass(frozen=True)
class SphericalHarmonics(SphericalHarmonicsRequest):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    kind: ClassVar[str] = "spherical_harmonics"
    strategies: ClassVar = STRATEGIES
    not_simulated: ClassVar = NOT_SIMULATED

    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> SphericalHarmonicsRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        return SphericalHarmonicsRun(self, comm, record)

    def program(self) -> ProgramWorkload:
        """The program of a step. Raises InputError for the strategies of `NOT_SIMULATED`."""
        return recorded(self).program(f"spherical harmonics, {self.strategy}")

    def reference_step(self, whole: Array) -> Array:
        """A step of all fields on the grid, [field][point], in one process, by dense equations in spectral space."""
        transform = _one_process(self.gaussian_grid, self.truncation)
        t, count = transform.truncation, len(VARIABLES)
        whole = whole.astype(np.float64)
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


@lru_cache(maxsize=1)
def _one_process(grid: str, degree: int) -> SpectralTransform:
    return SpectralTransform(grid, degree, radius=1.0)
