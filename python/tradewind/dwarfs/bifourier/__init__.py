"""The bi-Fourier transform of a spectral limited area, forth and back in each time step, as of ALADIN and AROME.

A step brings grid points to spectral space, where gravity waves take a semi-implicit step in full columns, and back.
The stages (a) to (d) of Zheng & Marguinaud 2018, Fig. 3, on CX x CY ranks, here forth and back:

    (a) xy    blocks of grid points        | lines
    (b) zy    lines along x: FFT           | wavenumbers
    (c) zx    lines along y: FFT           | columns
    (d) yx    full columns of coefficients of the ellipse: step of the waves

What the elliptic truncation does not keep is not sent on. Layers of shallow water rest upon each other: of each layer

    d u / dt = - d phi / dx      d v / dt = - d phi / dy      d phi / dt = - sum over layers of G (d u / dx + d v / dy)

Without an extension zone the area is periodic by itself, and standing waves are what it begins with; with one, a slope
and a hill, made periodic by Boyd's blend.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.bifourier import Bifourier
run = Bifourier(ranks=2, grid=(64, 48, 8)).on(MPI.COMM_WORLD)
run.advance(16)
print(run.diagnose())"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT, largest_product
from tradewind.base.names import unknown
from tradewind.dwarfs.bifourier.run import (
    COLUMNS,
    LINES,
    VARIABLES,
    WAVE_FLOPS,
    WAVENUMBERS,
    WAVES,
    BifourierRun,
    SpectralArea,
    step_waves,
    to_columns,
    to_points,
)
from tradewind.dwarfs.bifourier.spectral_waves import SpectralWaves
from tradewind.dwarfs.frame.dwarf import copied, method_option
from tradewind.dwarfs.waves.limited_area import BACK, forth_in_batches
from tradewind.dwarfs.waves.linear_step import coupling
from tradewind.dwarfs.waves.plane_waves import SYMBOLS, StandingWaves
from tradewind.dwarfs.waves.plane_waves import WAVES as INITIAL
from tradewind.layout.closed import cuts
from tradewind.layout.names import blocks
from tradewind.spectral.bifourier import EllipticTruncation
from tradewind.spectral.extension import boyd_weights, smallest_extension
from tradewind.workload.on_grid import layout_imbalance, misfits
from tradewind.workload.options import option
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Call, Step
    from tradewind.mpi.library import Array

_even, _cut = _core.Parts.even, _core.Parts.cut
_TOGETHER = 1024
"""Coefficients of the reference whose dense equations are in memory at a time."""


# The time loop. Each strategy takes a step.


def exchange(step: Step, steps: int) -> int:
    """Exchange all variables and levels together."""
    return _in_batches(step)


def batches(step: Step, steps: int) -> int:
    """Exchange one batch of fields after another, by default one variable: more messages, shorter ones."""
    return _in_batches(step)


def _in_batches(step: Step, *, ahead: bool = False) -> int:
    forth_in_batches(step, LINES, to_columns, ahead=ahead)
    step.compute(step_waves, points=COLUMNS, label=WAVES)
    for batch in range(step.dwarf.batches or 1):
        to_points(step, batch)
    step.finish()
    return 1


def overlap(step: Step, steps: int) -> int:
    """As batches; the next batch of fields travels to its lines while this one is transformed."""
    return _in_batches(step, ahead=True)


def barrier(run: BifourierRun, steps: int) -> int:
    """Wait for all ranks before each exchange: a bad example, to be measured beside the others."""
    return _in_batches(run)


STRATEGIES: dict[str, Callable[[Any, int], int]] = {
    "exchange": exchange,
    "batches": batches,
    "overlap": overlap,
    "barrier": barrier,
}


@dataclass(frozen=True)
class Bifourier(SpectralArea):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    truncation: tuple[int, int] | None = option(
        "Largest wavenumbers MxN of the ellipse.",
        None,
        minimum=1,
        maximum=MAX_EXTENT,
        shown="quadratic: three points per shortest wave",
        label="elliptic truncation",
    )
    extension: int | None = option(
        "Points of the extension zone along x and y; 0: none, the area is periodic by itself.",
        None,
        minimum=0,
        maximum=MAX_EXTENT,
        shown="two of the shortest waves",
        label="extension zone",
    )
    symbols: str = option(
        f"Wavenumbers as seen by {' or '.join(SYMBOLS)}.",
        "derivatives",
        known=lambda: SYMBOLS,
        label="how derivatives are taken",
    )
    wavenumbers_method: str | None = method_option(WAVENUMBERS, "transpose")
    columns_method: str | None = method_option(COLUMNS, "transpose")

    kind: ClassVar[str] = "bifourier"
    strategies: ClassVar = STRATEGIES
    plans: ClassVar = {LINES: "transpose", WAVENUMBERS: "transpose", COLUMNS: "transpose"}
    default_batches: ClassVar[int] = len(VARIABLES)

    @property
    def fields(self) -> int:
        """Number of two-dimensional fields: variables times levels."""
        return len(VARIABLES) * self.grid[2]

    def _area_problems(self) -> list[str]:
        if self.symbols not in SYMBOLS:
            return [unknown("symbols", self.symbols, SYMBOLS)]
        try:
            kept = EllipticTruncation(self.grid[:2], self.truncation)
        except InputError as error:
            return list(error.problems)
        self._choose(truncation=(kept.m_largest, kept.n_largest))
        pairs = zip(self.grid[:2], (kept.m_largest, kept.n_largest), strict=True)
        needed = max(smallest_extension(*pair) for pair in pairs)
        maximum = min(self.grid[:2]) // 2
        if self.extension is None:
            self._choose(extension=needed if needed <= maximum and self.symbols == "derivatives" else 0)
        assert self.extension is not None
        if self.extension and not needed <= self.extension <= maximum:
            allowed = f"{needed}..{maximum} are allowed" if needed <= maximum else f"the grid has {maximum} or fewer"
            return [
                f"extension {self.extension}: two of the shortest waves, {needed} points, are needed to fill it "
                f"smoothly, and up to half of the area: {allowed}, or 0 for an area that is periodic by itself"
            ]
        return []

    # Who owns what, and what moves.

    def truncated(self) -> EllipticTruncation:
        """The wavenumbers that are kept."""
        return EllipticTruncation(self.grid[:2], self.truncation)

    def _misfits(self, split: tuple[int, int]) -> list[str]:
        assert self.truncation is not None
        (nx, ny, fields), (m, n) = self.batch_grid, self.truncation
        found = misfits((nx, ny, fields), split, ["xy", "zy"]) + [
            each.replace("points along x", "wavenumbers along x")
            for each in misfits((m + 1, ny, fields), split, ["zx"])
            if "along x" in each
        ]
        if split[0] > 2 * n + 1:
            found.append(f"split {split[0]}x{split[1]}: {split[0]} ranks do not divide {2 * n + 1} wavenumbers along y")
        return [each.replace("levels", "fields") for each in found]

    def _largest(self) -> tuple[int, tuple[int, int], str]:
        assert self.truncation is not None
        (nx, ny, fields), (m, n) = self.batch_grid, self.truncation
        maximum = min(nx, fields, 2 * n + 1), min(ny, m + 1)
        bounds = f"CX up to {maximum[0]} fields, points or wavenumbers, CY up to {maximum[1]} lines or wavenumbers"
        return *largest_product(self.ranks, maximum), bounds

    def patterns(self) -> dict[str, _core.Transpose | _core.Redistribution]:
        """Return the redistributions of a batch by name, forth and back."""
        assert self.split is not None
        assert self.truncation is not None
        (nx, ny, fields), m_largest = self.batch_grid, self.truncation[0]
        points, waves = _core.Grid(nx, ny, fields), _core.Grid(m_largest + 1, ny, fields)
        pairs: dict[str, tuple[Any, Any]] = {
            LINES: (blocks(points, self.split, "xy"), blocks(points, self.split, "zy")),
            WAVENUMBERS: (blocks(waves, self.split, "zy"), blocks(waves, self.split, "zx")),
            COLUMNS: self._ellipses(fields),
        }
        made = {}
        for name, (before, after) in pairs.items():
            kind = _core.Redistribution if name == COLUMNS else _core.Transpose
            made[name], made[name + BACK] = kind(before, after), kind(after, before)
        return made

    def _ellipses(self, fields: int) -> tuple[_core.Product, _core.Product]:
        """Coefficients of the ellipse, of each m its n: by fields, and by n with all fields."""
        assert self.split is not None
        kept, (cx, cy) = self.truncated(), self.split
        rows, lines = 2 * kept.n_largest + 1, kept.m_largest + 1
        grid = _core.Grid(fields, rows, lines)
        along_m = _even(lines, cy)

        def product(parts: list[_core.Parts], coordinates: tuple[int, int, int], name: str) -> _core.Product:
            made = _core.Product(grid, parts, coordinates, 0, self.ranks, name)
            return made.in_lines(kept.n_largest - kept.limits, kept.n_largest + kept.limits + 1)

        by_fields = product([_even(fields, cx), _even(rows, 1), along_m], (0, -1, 1), WAVENUMBERS)
        by_rows = product([_even(fields, 1), _cut(self.row_cuts()), along_m], (-1, 0, 1), COLUMNS)
        return by_fields, by_rows

    def row_cuts(self) -> Any:
        """Return the cuts of n = -N..N into CX parts of one or more, with coefficients as equal as whole n allow."""
        assert self.split is not None
        kept, parts = self.truncated(), self.split[0]
        n = np.arange(-kept.n_largest, kept.n_largest + 1)
        found = cuts((kept.limits[:, None] >= np.abs(n)).sum(0), parts)
        found = np.maximum.accumulate(np.maximum(found, np.arange(parts + 1)))
        return np.minimum(found, len(n) - parts + np.arange(parts + 1))

    # Traits of every dwarf.

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        m, n = self.truncation or (0, 0)
        return f"{super().name}, truncation {m}x{n}, extension {self.extension}"

    def imbalance(self) -> float:
        """Return the load imbalance: the maximum points, or coefficients, of a rank over the mean."""
        assert self.split is not None
        assert self.truncation is not None
        nx, ny, fields = self.batch_grid
        of_waves = layout_imbalance((self.truncation[0] + 1, ny, fields), self.split, "zx")
        return max(of_waves, *(layout_imbalance((nx, ny, fields), self.split, each) for each in ("xy", "zy")))

    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> BifourierRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        return BifourierRun(self, comm, record)

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """See the base class: on the points, or numbers, that each rank has of a batch, or of all."""
        (call,) = calls  # each has its label
        nx, ny, levels = self.grid
        flops, moved = call.cost(self)
        pattern = self.patterns()[call.points]
        times = call.times(self) * ((self.batches or 1) if call.points == COLUMNS else 1)
        points = [times * float(np.prod(pattern.target_shape(rank))) for rank in range(self.ranks)]
        each = self.point_s * flops / (5 * math.log2(nx) + 5 * math.log2(ny) + WAVE_FLOPS / 6 + 4 * levels)
        done = 0.0 if each else flops
        return Compute(label, 0.0, done, copied(moved), None, during, 1, each, points, kernel=call.name(self))

    def initial(self, y: Array, x: Array) -> Array:
        """The fields [variable, level][y][x] at points whose indices NumPy broadcasts."""
        return self._standing(y, x) if not self.extension else self._sloping(y, x)

    def waves(self) -> StandingWaves:
        """The waves that an area without an extension zone begins with, of each vertical mode."""
        assert self.truncation is not None
        m_max, n_max = (largest // 2 for largest in self.truncation)
        kept = tuple((m, n) for m, n in INITIAL if abs(m) <= m_max and abs(n) <= n_max)
        staggered = self.symbols == "differences"
        return StandingWaves(self.grid[:2], self.s, SYMBOLS[self.symbols], staggered, kept)

    def _standing(self, y: Array, x: Array) -> Array:
        levels, waves = self.grid[2], self.waves()
        speeds, modes = np.linalg.eigh(coupling(levels))
        by_mode = [waves.at(0, levels - 1 - k, speed2, y, x) for k, speed2 in enumerate(speeds.tolist())]
        stacked = np.stack([np.stack(each, -1) for each in by_mode], -2)  # [y][x][mode][variable]
        return np.ascontiguousarray(np.moveaxis(np.matmul(modes, stacked), (3, 2), (0, 1))).reshape(
            -1, *stacked.shape[:2]
        )

    def _sloping(self, y: Array, x: Array) -> Array:
        """A slope, a hill and a shear, which end at the area's boundaries, blended in the zone."""
        nx, ny, levels = self.grid
        cols, rows = self._blended(x, 0), self._blended(y, 1)
        found = np.zeros((3, levels, *np.broadcast_shapes(y.shape, x.shape)))
        for x_before, x_weight in cols:
            for y_before, y_weight in rows:
                east, north = (x - x_before) / nx, (y - y_before) / ny
                weight = x_weight * y_weight
                hill = np.exp(-40 * ((east - 0.4) ** 2 + (north - 0.45) ** 2))
                for level in range(levels):
                    tilt = 0.3 * math.cos(level)
                    found[0, level] += weight * 0.2 * north
                    found[1, level] += weight * 0.1 * east
                    found[2, level] += weight * (hill + tilt * east + 0.2 * north)
        return found.reshape(-1, *found.shape[2:])

    def _blended(self, index: Array, axis: int) -> list[tuple[int, Array]]:
        """Return the shift of each of the two fields, and its weight at each index."""
        points, zone = self.grid[axis], self.extension or 0
        going_on = np.concatenate([np.ones(points - zone), boyd_weights(zone)])[index]
        return [(0, going_on), (points, 1 - going_on)]

    def spectral_waves(self, m: Any, n: Any) -> SpectralWaves:
        """The step of the coefficients (m, n)."""
        return SpectralWaves(self.grid[:2], m, n, self.grid[2], self.s, self.symbols)

    def reference_step(self, whole: Array) -> Array:
        """A step of all fields, [field][y][x], in one process."""
        return self.reference(whole, 1)

    def reference(self, whole: Array, steps: int) -> Array:
        """All fields some steps later, in one process: each coefficient by dense equations of its levels.

        Without winds, which follow from it, the trapezoidal rule is an equation of q = phi + phi' alone, with k2 the
        sum of the squared slopes:  (1 + s^2 k2 G) q = 2 (phi + s G div w),  then  w' = w - s slope q.
        """
        nx, ny, levels = self.grid
        kept = self.truncated()
        m, n = kept.m, kept.n
        slopes = [1j * SYMBOLS[self.symbols](points, number) for points, number in ((nx, m), (ny, n))]
        if self.symbols == "differences":
            slopes = [np.exp(2j * np.pi * number / points) - 1 for points, number in ((nx, m), (ny, n))]
        slope = np.stack(slopes, 1)[:, :, None]  # [coefficient][direction][level]
        columns = np.fft.fft2(np.asarray(whole, float), axes=(1, 2))[:, n % ny, m].T.reshape(len(m), 3, levels)
        for first in range(0, len(m), _TOGETHER):
            some = slice(first, first + _TOGETHER)
            columns[some] = self._dense_steps(columns[some], slope[some], steps)
        after = np.zeros((3 * levels, ny, nx), complex)
        found = columns.reshape(len(m), -1).T
        after[:, -n % ny, -m] = np.conj(found)
        after[:, n % ny, m] = found  # of m = 0 both are there
        return np.ascontiguousarray(np.fft.ifft2(after, axes=(1, 2)).real)

    def _dense_steps(self, columns: Array, slope: Array, steps: int) -> Array:
        """Some steps of coefficients [coefficient][variable][level] with these slopes [coefficient][direction][1]."""
        levels, lifting = self.grid[2], coupling(self.grid[2])
        winds, phi = columns[:, :2], columns[:, 2]
        inverse = np.linalg.inv(np.eye(levels) + self.s**2 * (np.abs(slope) ** 2).sum(1)[:, :, None] * lifting)
        for _ in range(steps):
            right = 2 * (phi + self.s * (np.conj(slope) * winds).sum(1) @ lifting)
            q = np.matmul(inverse, right.view(float).reshape(len(right), levels, 2)).view(complex)[:, :, 0]
            winds, phi = winds - self.s * slope * q[:, None], q - phi
        return np.concatenate([winds, phi[:, None]], 1)
