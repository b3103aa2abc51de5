"""The semi-implicit step of HIRLAM: blocks -> lines along x, FFT -> lines along y, tridiagonal systems -> and back.

Gravity waves on a doubly periodic C grid (see `dwarfs.waves.plane_waves`), of each vertical mode by itself. The
trapezoidal rule makes one equation of three, for the geopotential of the next step, with differences for derivatives:

    (1 - s^2 g lap) phi' = phi - s g (div w + div w*)        w* = w - s grad phi        then w' = w* - s grad phi'

w* and the right-hand side are an explicit step in grid points, and need their neighbours: halos are swapped, of winds
before it and of phi' after. The equation is solved by an FFT along x, after which each wavenumber and mode has a
tridiagonal system along y. Source: Boerhout 2004, "Parallelization of HIRLAM", with its layouts 2D, FFT and TRI:

    within rows    xy -> zy -> zx     nx^2 ny pairs of ranks        between all    xy -> z -> x     (nx ny)^2 pairs

A line is computed by one rank, whichever, so the result has the same bits on any number of ranks.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.hirlam import Hirlam
run = Hirlam(ranks=2, grid=(64, 48, 8)).on(MPI.COMM_WORLD)
run.advance(16)
print(run.diagnose())"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.collective import proceed
from tradewind.base.extents import largest_product
from tradewind.base.names import unknown
from tradewind.dwarfs.frame.diagnosis import Diagnosis as Sums
from tradewind.dwarfs.frame.diagnosis import diagnose
from tradewind.dwarfs.frame.dwarf import copied, method_option
from tradewind.dwarfs.frame.gather import gather
from tradewind.dwarfs.frame.output import Output, of_blocks
from tradewind.dwarfs.frame.step import COMPUTE, kernel
from tradewind.dwarfs.waves.limited_area import BACK, Diagnosis, LimitedArea, LimitedAreaRun, forth_in_batches
from tradewind.dwarfs.waves.plane_waves import StandingWaves, differences, mode_speeds
from tradewind.layout.names import blocks
from tradewind.workload.on_grid import layout_imbalance, misfits
from tradewind.workload.options import option
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Call, Step
    from tradewind.dwarfs.waves.limited_area import Pattern
    from tradewind.mpi.library import Array

VARIABLES = ("u", "v", "phi")
U, V, PHI = range(3)
PATHS = {"rows": ("xy", "zy", "zx"), "all": ("xy", "z", "x")}
"""The layouts 2D, FFT and TRI, of grid points or of wavenumbers, modes being levels."""
STENCILS, FFT, TRIDIAGONAL = "stencils", "fft", "tridiagonal"
"""Parts of a step that compute."""
STENCIL_FLOPS, TRIDIAGONAL_FLOPS = 25.0, 22.0
"""Per point; per complex unknown: two recurrences, each of them twice, and a product."""


# The loops, with their costs per point, or per complex unknown.


@kernel(STENCIL_FLOPS / 2, 4, part=f"{COMPUTE}-{STENCILS}")
def right_side(run: HirlamRun, points: str) -> None:
    """The right-hand side of the equation for phi'."""
    levels, s = run.dwarf.batch_grid[2], run.dwarf.s
    for batch, right in enumerate(run.points):
        some = slice(batch * levels, (batch + 1) * levels)
        u, v, phi = (field[some] for field in run.fields)
        _core.wave_right_side(u, v, phi, run.speeds[some], s, right, run.team)


@kernel(lambda dwarf, batch: 2.5 * math.log2(max(dwarf.grid[0], 2)), 2, part=f"{COMPUTE}-{FFT}")
def transform(run: HirlamRun, points: str, batch: int) -> None:
    """Transform the lines of a batch along x to wavenumbers."""
    run.transform.to_waves(run.lines[batch], run.waves[batch], 1.0, run.team)


@kernel(TRIDIAGONAL_FLOPS, 4, part=f"{COMPUTE}-{TRIDIAGONAL}")
def solve_tridiagonal(run: HirlamRun, points: str, batch: int) -> None:
    """Solve a cyclic tridiagonal system along y for each wavenumber of a batch."""
    _core.solve_cyclic(run.columns[batch], run.solved[batch], *run.factors[batch], run.team)


@kernel(lambda dwarf, batch: 2.5 * math.log2(max(dwarf.grid[0], 2)), 2, part=f"{COMPUTE}-{FFT}")
def transform_back(run: HirlamRun, points: str, batch: int) -> None:
    """Transform the wavenumbers of a batch back to lines along x."""
    run.transform.to_lines(run.waves[batch], run.lines[batch], 1.0 / run.dwarf.grid[0], run.team)


@kernel(None, part="")
def unpack(run: HirlamRun, points: str) -> None:
    """Phi' of all batches, as the geopotential of the next step."""
    levels = run.dwarf.batch_grid[2]
    for batch, solved in enumerate(run.points):
        _core.place_levels(solved, run.next[PHI][batch * levels : (batch + 1) * levels], run.team)


@kernel(STENCIL_FLOPS / 2, 4, part=f"{COMPUTE}-{STENCILS}")
def winds(run: HirlamRun, points: str) -> None:
    """The winds of the next step, from phi' and its halo."""
    u, v, phi = run.fields
    u_after, v_after, after = run.next
    _core.wave_winds(u, v, phi, after, run.dwarf.s, u_after, v_after, run.team)


# The time loop. Each strategy takes a step.


def exchange(step: Step, steps: int) -> int:
    """Redistribute all levels together."""
    return _in_batches(step)


def batches(step: Step, steps: int) -> int:
    """Redistribute and solve one batch of levels after another: more messages, shorter ones."""
    return _in_batches(step)


def _in_batches(step: Step, *, ahead: bool = False) -> int:
    step.exchange("halo", "u", "halo u")
    step.exchange("halo", "v", "halo v")
    step.compute(right_side, label=STENCILS)
    forth_in_batches(step, "fft", _solve, ahead=ahead)
    step.compute(unpack)
    step.exchange("halo", "phi", "halo phi")
    step.compute(winds, label=f"{STENCILS}{BACK}")
    step.finish()
    return 1


def _solve(step: Step, batch: int) -> None:
    """The equation for phi', from lines along x to points."""
    step.compute(transform, batch, points="fft", label=f"{FFT} of {batch}")
    step.exchange("tri", batch, f"tri {batch}")
    step.compute(solve_tridiagonal, batch, points="tri", label=f"{TRIDIAGONAL} of {batch}")
    step.exchange("tri" + BACK, batch, f"tri{BACK} {batch}")
    step.compute(transform_back, batch, points="fft", label=f"{FFT}{BACK} of {batch}")
    step.exchange("fft" + BACK, batch, f"fft{BACK} {batch}")


def overlap(step: Step, steps: int) -> int:
    """As batches; the next batch of levels travels to its lines while this one is solved."""
    return _in_batches(step, ahead=True)


def barrier(run: HirlamRun, steps: int) -> int:
    """Wait for all ranks before each redistribution: a bad example, to be measured beside the others."""
    return _in_batches(run)


STRATEGIES: dict[str, Callable[[Any, int], int]] = {
    "exchange": exchange,
    "batches": batches,
    "overlap": overlap,
    "barrier": barrier,
}


@dataclass(frozen=True)
class Hirlam(LimitedArea):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    between: str = option(
        "Between which ranks lines are redistributed: within rows and columns, or all.",
        "rows",
        known=lambda: PATHS,
        label="redistributed between",
    )
    tri_method: str | None = method_option("tri", "transpose")
    halo_method: str | None = method_option("halo", "halo")

    kind: ClassVar[str] = "hirlam"
    strategies: ClassVar = STRATEGIES
    plans: ClassVar = {"fft": "transpose", "tri": "transpose", "halo": "halo"}
    layouts: ClassVar = PATHS["rows"]

    def _area_problems(self) -> list[str]:
        return [] if self.between in PATHS else [unknown("between", self.between, PATHS)]

    def _misfits(self, split: tuple[int, int]) -> list[str]:
        """Return why a split fits the grid, or the wavenumbers, in none of the layouts."""
        (nx, ny, nz), (two_d, lines, columns) = self.batch_grid, PATHS[self.between]
        found = misfits((self.wavenumbers, ny, nz), split, [lines, columns])
        return misfits((nx, ny, nz), split, [two_d, lines]) + [
            each.replace("points along x", "wavenumbers") for each in found if "along x" in each
        ]

    def _largest(self) -> tuple[int, tuple[int, int], str]:
        nx, ny, nz = self.batch_grid
        if self.between == "rows":
            maximum = min(nx, nz), min(ny, self.wavenumbers)
            bounds = f"CX up to {maximum[0]} levels or points, CY up to {maximum[1]} lines"
            return *largest_product(self.ranks, maximum), bounds
        cap = min(nz, self.wavenumbers, self.ranks)
        return *largest_product(cap, (nx, ny)), f"up to {cap} ranks, as each has a level and a wavenumber"

    # Who owns what, and what moves.

    @property
    def wavenumbers(self) -> int:
        """Wavenumbers along x, 0 to nx / 2."""
        return self.grid[0] // 2 + 1

    def patterns(self) -> dict[str, Pattern]:
        """Return the redistributions of a batch by name, forth and back."""
        assert self.split is not None
        (nx, ny, nz), (two_d, lines, columns) = self.batch_grid, PATHS[self.between]
        points, waves = _core.Grid(nx, ny, nz), _core.Grid(self.wavenumbers, ny, nz)
        pairs = {
            "fft": (blocks(points, self.split, two_d), blocks(points, self.split, lines)),
            "tri": (blocks(waves, self.split, lines), blocks(waves, self.split, columns)),
        }
        forth: dict[str, Pattern] = {name: _core.Transpose(*pair) for name, pair in pairs.items()}
        return forth | {name + BACK: _core.Transpose(*reversed(pair)) for name, pair in pairs.items()}

    # Traits of every dwarf.

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{super().name}, between {self.between}"

    def imbalance(self) -> float:
        """Return the load imbalance: the maximum points, or wavenumbers, of a rank over the mean."""
        assert self.split is not None
        nx, ny, nz = self.batch_grid
        two_d, lines, columns = PATHS[self.between]
        of_waves = layout_imbalance((self.wavenumbers, ny, nz), self.split, columns)
        return max(of_waves, *(layout_imbalance((nx, ny, nz), self.split, each) for each in (two_d, lines)))

    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> HirlamRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        return HirlamRun(self, comm, record)

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """See the base class: of all points, or unknowns, of a layout."""
        (call,) = calls  # each has its label
        flops, moved = call.cost(self)
        layout: _core.Layout = self.layout if call.points == "own" else self.patterns()[call.points].to_layout
        share = call.times(self)
        each = share * self.point_s * flops / (STENCIL_FLOPS + TRIDIAGONAL_FLOPS / 2 + 5 * math.log2(self.grid[0]))
        done, name = 0.0 if each else share * flops, call.name(self)
        return Compute(label, 0.0, done, copied(share * moved), layout, during, point_s=each, kernel=name)

    def waves(self) -> StandingWaves:
        """The waves to begin with, and the solution."""
        return StandingWaves(self.grid[:2], self.s, differences, staggered=True)

    def reference_step(self, whole: Array) -> Array:
        """A step of u, v and phi, [field, mode][y][x], in one process, by an FFT in both directions."""
        nx, ny, nz = self.grid
        u, v, phi = np.asarray(whole, float).reshape(3, nz, ny, nx)
        s, speed2 = self.s, mode_speeds(nz)[:, None, None]
        x, y = differences(nx, np.arange(nx // 2 + 1)), differences(ny, np.arange(ny))
        helmholtz = 1 + s * s * speed2 * (x[None, None, :] ** 2 + y[None, :, None] ** 2)

        def slid(w: Array, other: Array, f: Array) -> tuple[Array, Array]:
            return w - s * (np.roll(f, -1, 2) - f), other - s * (np.roll(f, -1, 1) - f)

        def divergence(w: Array, other: Array) -> Array:
            return np.asarray(w - np.roll(w, 1, 2) + other - np.roll(other, 1, 1))

        u_half, v_half = slid(u, v, phi)
        right = phi - s * speed2 * (divergence(u, v) + divergence(u_half, v_half))
        after = np.fft.irfft2(np.fft.rfft2(right) / helmholtz, s=(ny, nx))
        return np.concatenate([*slid(u_half, v_half, after), after])


class HirlamRun(LimitedAreaRun):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: Hirlam, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.dwarf = dwarf
        self.speeds = mode_speeds(dwarf.grid[2])
        halo = dwarf.halo()
        self.own = halo.widened(self.rank)
        # u, v and phi; a step reads these and writes the others.
        self.fields, self.next = ([self.array(halo, "halo") for _ in VARIABLES] for _ in range(2))
        self.plan("halo", halo, *self.fields, *self.next)
        self._begin()
        self._redistributions()

    def _begin(self) -> None:
        for fields, mode in self._solution():
            for field, values in zip(self.fields, fields, strict=True):
                field[self.own][mode] = values
        proceed(self.comm)
        self._exchanges["halo"](self.fields[PHI])

    def _solution(self) -> Iterator[tuple[tuple[Array, Array, Array], int]]:
        """The fields of this rank's points in closed form, of one mode after another."""
        waves = self.dwarf.waves()
        _, y, x = self.indices()
        for mode, speed2 in enumerate(self.speeds.tolist()):
            yield waves.at(self.steps, mode, speed2, y[0], x[0]), mode

    def _redistributions(self) -> None:
        """The arrays of each batch in 2D, FFT and TRI, and the plans between them."""
        patterns = self.dwarf.patterns()
        self.points, self.lines = (self.arrays(patterns[way], way) for way in ("fft", "fft" + BACK))
        self.waves, self.columns, self.solved = (
            self.arrays(patterns[way], way) for way in ("tri", "tri" + BACK, "tri" + BACK)
        )
        self.connect("fft", patterns["fft"], self.points, self.lines)
        self.connect("tri", patterns["tri"], self.waves, self.columns)
        self.connect("tri" + BACK, patterns["tri" + BACK], self.solved, self.waves)
        self.connect("fft" + BACK, patterns["fft" + BACK], self.lines, self.points)
        layout = patterns["tri"].to_layout
        assert isinstance(layout, _core.Blocks)
        (x0, _, z0), (x1, _, z1) = layout.box(self.rank)
        wavenumbers, levels = differences(self.dwarf.grid[0], np.arange(x0, x1)), self.dwarf.batch_grid[2]
        speeds = [self.speeds[first + z0 : first + z1] for first in range(0, self.dwarf.grid[2], levels)]
        self.factors = [factors(wavenumbers, self.dwarf.s**2 * speed2) for speed2 in speeds]

    def array_of(self, exchange: str, of: Any) -> Array:
        """The array of a batch; or a field that the next exchange of halos is about."""
        if exchange != "halo":
            return super().array_of(exchange, of)
        return self.next[PHI] if of == "phi" else self.fields[VARIABLES.index(of)]

    def finish(self, *result: Any) -> None:
        """Make the fields of the next step the present ones."""
        super().finish()
        self.fields, self.next = self.next, self.fields

    # The methods of each dwarf.

    @property
    def field(self) -> Array:  # type: ignore[override]
        """The geopotential."""
        return self.fields[PHI]

    @property
    def minimum_bytes(self) -> int:
        """Bytes of a memory copy of the rank's grid points of all variables, which amounts to one step."""
        return len(VARIABLES) * super().minimum_bytes

    def diagnose(self) -> Diagnosis:  # type: ignore[override]
        """Energy, mean and error of the whole state, the same bits on any ranks. Collective.

        Raises NotFiniteError on all ranks.
        """
        from mpi4py import MPI

        apart = 0.0
        for fields, mode in self._solution():
            for field, values in zip(self.fields, fields, strict=True):
                apart = max(apart, float(np.abs(field[self.own][mode] - values).max()))
        (x, y, z), _ = self.layout.box(self.rank)

        def of(field: Array) -> Sums:
            return diagnose(self.comm, np.ascontiguousarray(field), (slice(None),) * 3, (z, y, x), self.team)

        u, v, phi = (field[self.own] for field in self.fields)
        potential = of(phi / np.sqrt(self.speeds)[:, None, None]).sum_of_squares
        return Diagnosis(
            energy=(of(u).sum_of_squares + of(v).sum_of_squares + potential) / 2,
            mean=of(phi).sum / self.dwarf.points,
            error=self.comm.allreduce(apart, MPI.MAX),
        )

    def gathered(self, levels: slice = slice(None)) -> Array | None:
        """u, v and phi, [field, mode][y][x], on rank 0. Collective."""
        return gather(self.comm, self.layout, np.concatenate([field[self.own][levels] for field in self.fields]))

    def outputs(self) -> list[Output]:
        """u, v and phi."""
        return of_blocks(self.layout, {name: partial(self._output, n) for n, name in enumerate(VARIABLES)})

    def _output(self, number: int) -> Array:
        return np.asarray(self.fields[number][self.own])

    map_variable = "phi"

    def map(self) -> Array | None:
        """The geopotential of the fastest mode, on rank 0. Collective."""
        level = gather(self.comm, self.layout, self.fields[PHI][self.own][:1])
        return None if level is None else np.asarray(level[0])


def factors(wavenumbers: Array, a: Array) -> tuple[Array, Array]:
    """Return ratio and gain, [mode][wavenumber], of `solve_cyclic` for (1 + a k^2) X - a (X[y-1] - 2 X[y] + X[y+1]).

    `wavenumbers`: k of each; `a`: of each mode, 0 or more.
    """
    a = a[:, None]
    half = (1 + a * (wavenumbers**2 + 2)) / 2
    root = np.sqrt((1 + a * wavenumbers**2) * (half + a) / 2)  # of half^2 - a^2, without the difference of equals
    gain = 1 / (half + root)
    return np.ascontiguousarray(a * gain), np.ascontiguousarray(gain)
