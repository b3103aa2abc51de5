"""The dwarf bifourier on MPI ranks: its arrays, its exchanges and the parts of a step."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.collective import proceed
from tradewind.base.errors import NotFiniteError
from tradewind.dwarfs.frame.gather import gather
from tradewind.dwarfs.frame.output import Output, of_blocks
from tradewind.dwarfs.frame.step import COMPUTE, kernel
from tradewind.dwarfs.waves.limited_area import BACK, Diagnosis, LimitedArea, LimitedAreaRun

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.bifourier.spectral_waves import SpectralWaves
    from tradewind.dwarfs.frame.step import Step
    from tradewind.mpi.library import Array
    from tradewind.spectral.bifourier import EllipticTruncation

VARIABLES = ("u", "v", "phi")
LINES, WAVENUMBERS, COLUMNS = "lines", "wavenumbers", "columns"
"""Exchanges: from points to lines along x, to lines along y, to columns."""
FFT_X, FFT_Y, WAVES = "fft-x", "fft-y", "waves"
"""Parts of a step that compute."""
WAVE_FLOPS = 60.0
"""Flops of the waves' step for each complex coefficient of a level, beside those of the vertical modes."""
_even = _core.Parts.even


class SpectralArea(LimitedArea):
    """The part of a request that a run needs, see `tradewind.dwarfs.bifourier.Bifourier`."""

    def truncated(self) -> EllipticTruncation:
        """The coefficients that are kept."""
        raise NotImplementedError

    def row_cuts(self) -> Any:
        """Return the cuts of the numbers n of columns."""
        raise NotImplementedError

    def initial(self, y: Array, x: Array) -> Array:
        """The fields [variable, level][y][x] at points whose indices NumPy broadcasts."""
        raise NotImplementedError

    def spectral_waves(self, m: Any, n: Any) -> SpectralWaves:
        """The step of the coefficients (m, n)."""
        raise NotImplementedError


# The loops, and their costs per point or number that a rank has of a batch.


def _flops_x(dwarf: LimitedArea, batch: int) -> float:
    return 2.5 * math.log2(dwarf.grid[0])


def _flops_y(dwarf: LimitedArea, batch: int) -> float:
    return 5.0 * math.log2(dwarf.grid[1])


@kernel(_flops_x, 2, part=f"{COMPUTE}-{FFT_X}")
def transform_x(run: BifourierRun, points: str, batch: int) -> None:
    """Transform the lines of a batch along x to wavenumbers."""
    run.transform.to_waves(run.lines[batch], run.waves[batch], 1.0 / run.dwarf.grid[0], run.team)


@kernel(_flops_y, 8, part=f"{COMPUTE}-{FFT_Y}")
def transform_y(run: BifourierRun, points: str, batch: int) -> None:
    """Transform the wavenumbers of a batch along y to coefficients."""
    factor = 1.0 / run.dwarf.grid[1]
    run.transform.to_ellipse(run.across[batch], run.limits, run.ellipse[batch], factor, run.team)


@kernel(lambda dwarf: WAVE_FLOPS / 3 + 8.0 * dwarf.grid[2], 8, part=f"{COMPUTE}-{WAVES}")
def step_waves(run: BifourierRun, points: str) -> None:
    """The coefficients a time step later."""
    run.step(run.columns, run.stepped, run.team)


@kernel(_flops_y, 8, part=f"{COMPUTE}-{FFT_Y}")
def transform_y_back(run: BifourierRun, points: str, batch: int) -> None:
    """Transform the coefficients of a batch back to wavenumbers along y."""
    run.transform.from_ellipse(run.ellipse[batch], run.limits, run.across[batch], run.team)


@kernel(_flops_x, 2, part=f"{COMPUTE}-{FFT_X}")
def transform_x_back(run: BifourierRun, points: str, batch: int) -> None:
    """Transform the wavenumbers of a batch back to lines along x."""
    run.transform.to_lines(run.waves[batch], run.lines[batch], 1.0, run.team)


def to_columns(step: Step, batch: int) -> None:
    """From lines along x to columns."""
    step.compute(transform_x, batch, points=LINES, label=f"{FFT_X} of {batch}")
    step.exchange(WAVENUMBERS, batch, f"{WAVENUMBERS} {batch}")
    step.compute(transform_y, batch, points=WAVENUMBERS, label=f"{FFT_Y} of {batch}")
    step.exchange(COLUMNS, batch, f"{COLUMNS} {batch}")


def to_points(step: Step, batch: int) -> None:
    """From columns to points."""
    step.exchange(COLUMNS + BACK, batch, f"{COLUMNS}{BACK} {batch}")
    step.compute(transform_y_back, batch, points=WAVENUMBERS, label=f"{FFT_Y}{BACK} of {batch}")
    step.exchange(WAVENUMBERS + BACK, batch, f"{WAVENUMBERS}{BACK} {batch}")
    step.compute(transform_x_back, batch, points=LINES, label=f"{FFT_X}{BACK} of {batch}")
    step.exchange(LINES + BACK, batch, f"{LINES}{BACK} {batch}")


class BifourierRun(LimitedAreaRun):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: SpectralArea, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.dwarf = dwarf
        patterns = dwarf.patterns()
        # Arrays of each batch: points, lines along x and what is kept of them, the same along y, columns.
        self.points, self.lines = (self.arrays(patterns[way], way) for way in (LINES, LINES + BACK))
        self.waves, self.across = (self.arrays(patterns[way], way) for way in (WAVENUMBERS, WAVENUMBERS + BACK))
        self.ellipse, self.columns = (self.arrays(patterns[way], way) for way in (COLUMNS, COLUMNS + BACK))
        self.stepped = self.arrays(patterns[COLUMNS + BACK], COLUMNS + BACK)
        self.connect(LINES, patterns[LINES], self.points, self.lines)
        self.connect(WAVENUMBERS, patterns[WAVENUMBERS], self.waves, self.across)
        self.connect(COLUMNS, patterns[COLUMNS], self.ellipse, self.columns)
        self.connect(COLUMNS + BACK, patterns[COLUMNS + BACK], self.stepped, self.ellipse)
        self.connect(WAVENUMBERS + BACK, patterns[WAVENUMBERS + BACK], self.across, self.waves)
        self.connect(LINES + BACK, patterns[LINES + BACK], self.lines, self.points)
        self._wavenumbers()
        self._begin()

    def _wavenumbers(self) -> None:
        """The limits N(m) of this rank's lines, and m and n of its columns."""
        assert self.dwarf.split is not None
        kept, rows = self.dwarf.truncated(), self.dwarf.row_cuts()
        column, part = divmod(self.rank, self.dwarf.split[0])
        ((first, last),) = _even(kept.m_largest + 1, self.dwarf.split[1]).runs(column)
        self.limits = kept.limits[first:last].tolist()
        low, high = (int(cut) - kept.n_largest for cut in rows[part : part + 2])
        mine = (kept.m >= first) & (kept.m < last) & (kept.n >= low) & (kept.n < high)
        self.m, self.n = kept.m[mine], kept.n[mine]
        self.step = self.dwarf.spectral_waves(self.m, self.n)

    def _begin(self) -> None:
        """The initial fields, without what the ellipse does not keep."""
        _, y, x = self.indices()
        fields = self.dwarf.initial(y[0], x[0])
        levels = self.dwarf.batch_grid[2]
        for batch, points in enumerate(self.points):
            points[...] = fields[batch * levels : (batch + 1) * levels]
        proceed(self.comm)
        self._initial = self._transformed()
        for stepped, columns in zip(self.stepped, self.columns, strict=True):
            stepped[...] = columns
        for batch in range(self.batches):
            to_points(self, batch)

    def _transformed(self) -> Array:
        """The coefficients of the present fields, complex128 [m, n][field]. Collective."""
        for batch in range(self.batches):
            self.exchange(LINES, batch)
            to_columns(self, batch)
        return np.concatenate([columns[:, 0] for columns in self.columns], axis=1, dtype=complex)

    # The methods of each dwarf.

    @property
    def minimum_bytes(self) -> int:
        """Bytes of a memory copy of the rank's grid points, which amounts to one step."""
        return sum(points.nbytes for points in self.points)

    def diagnose(self) -> Diagnosis:  # type: ignore[override]
        """Energy, mean and error of the whole state. Collective. Raises NotFiniteError on all ranks."""
        from mpi4py import MPI

        proceed(self.comm)
        with self.uncounted():
            columns = self._transformed()
        if any(self.comm.allgather(bool(not np.isfinite(columns).all()))):
            raise NotFiniteError(f"the spectral coefficients are not finite after {self.steps} steps")
        solution = self.step.solution(self._initial, self.steps)
        largest = self.comm.allreduce(float(np.abs(solution).max(initial=0)), MPI.MAX)
        apart = self.comm.allreduce(float(np.abs(columns - solution).max(initial=0)), MPI.MAX)
        levels = self.dwarf.grid[2]
        mean = float(columns[(self.m == 0) & (self.n == 0)][:, 2 * levels :].real.sum())
        return Diagnosis(
            energy=self.comm.allreduce(self.step.energy(columns)),
            mean=self.comm.allreduce(mean) / levels,
            error=apart / largest,
        )

    def gathered(self, levels: slice = slice(None)) -> Array | None:
        """u, v and phi, [field, level][y][x], on rank 0. Collective."""
        return gather(self.comm, self.layout, np.concatenate(self.points)[levels])

    def outputs(self) -> list[Output]:
        """u, v and phi."""
        return of_blocks(self.layout, {name: partial(self._output, n) for n, name in enumerate(VARIABLES)})

    def _output(self, number: int) -> Array:
        levels = self.dwarf.grid[2]
        return np.concatenate(self.points)[number * levels : (number + 1) * levels]

    map_variable = "geopotential"

    def map(self) -> Array | None:
        """The geopotential of the first level, on rank 0. Collective."""
        first = 2 * self.dwarf.grid[2]
        level = self.gathered(slice(first, first + 1))
        return None if level is None else np.asarray(level[0])
