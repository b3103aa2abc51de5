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
from collections.abc import Callable, Iterator
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
from tradewind.dwarfs.frame.step import COMPUTE
from tradewind.dwarfs.waves.limited_area import BACK, Diagnosis, LimitedArea, LimitedAreaRun
from tradewind.dwarfs.waves.plane_waves import StandingWaves, differences, mode_speeds
from tradewind.layout.names import blocks
from tradewind.spectral.threads import split_work
from tradewind.workload.on_grid import layout_imbalance, misfits
from tradewind.workload.options import option
from tradewind.workload.program import Compute, Exchanged, ProgramWorkload, Start, Wait, WholeExchange

if TYPE_CHECKING:
    from mpi4py import MPI

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


# The time loop. Each strategy takes a step.


def exchange(run: HirlamRun, steps: int) -> int:
    """Redistribute all levels together."""
    return batches(run, steps)


def batches(run: HirlamRun, steps: int) -> int:
    """Redistribute and solve one batch of levels after another: more messages, shorter ones."""
    run.swap_winds()
    run.explicit()
    for batch in range(run.batches):
        run.redistribute("fft", batch)
        run.solve(batch)
    run.implicit()
    return 1


def overlap(run: HirlamRun, steps: int) -> int:
    """As batches; the next batch of levels travels to its lines while this one is solved."""
    run.swap_winds()
    run.explicit()
    run.start("fft", 0)
    for batch in range(run.batches):
        run.wait("fft")
        if batch + 1 < run.batches:
            run.start("fft", batch + 1)
        run.solve(batch)
    run.implicit()
    return 1


def barrier(run: HirlamRun, steps: int) -> int:
    """Wait for all ranks before each redistribution: a bad example, to be measured beside the others."""
    return batches(run, steps)


STRATEGIES: dict[str, Callable[[HirlamRun, int], int]] = {
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

    def _area_problems(self) -> list[str]:
        return [] if self.between in PATHS else [unknown("between", self.between, PATHS)]

    def _misfits(self, split: tuple[int, int]) -> list[str]:
        """Why a split fits the grid, or the wavenumbers, in none of the layouts."""
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
        """By name the redistributions of a batch, forth and back."""
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

    @property
    def tolerance(self) -> float:
        """The bits do not depend on ranks, but those of `reference_step`, a two-dimensional FFT, are others."""
        return 1e-12

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

    def program(self) -> ProgramWorkload:
        """The program of a step. Raises InputError for the strategies of `NOT_SIMULATED`."""
        exchanges = self.named_exchanges()
        halo = exchanges["halo"]
        steps: list[Any] = [
            WholeExchange(halo, "halo u"),
            WholeExchange(halo, "halo v"),
            self._computed(STENCILS, self.layout, 0.5),
        ]
        if self.strategy == "overlap":
            steps.append(Start(exchanges["fft"], "start 0"))
        batches = self.batches or 1
        for batch in range(batches):
            if self.strategy != "overlap":
                steps.append(WholeExchange(exchanges["fft"], f"fft {batch}"))
            else:
                steps.append(Wait(exchanges["fft"], f"wait {batch}"))
                if batch + 1 < batches:
                    steps.append(Start(exchanges["fft"], f"start {batch + 1}"))
            steps += self._solution(exchanges, batch)
        last = self._computed(f"{STENCILS}{BACK}", self.layout, 0.5)
        return ProgramWorkload(*steps, WholeExchange(halo, "halo phi"), last, name=f"hirlam, {self.strategy}")

    def _solution(self, exchanges: dict[str, Exchanged], batch: int) -> list[Any]:
        """The steps of a batch whose lines are there."""
        lines, columns = self.patterns()["fft"].to_layout, self.patterns()["tri"].to_layout
        return [
            self._computed(f"{FFT} of {batch}", lines, 1.0),
            WholeExchange(exchanges["tri"], f"tri {batch}"),
            self._computed(f"{TRIDIAGONAL} of {batch}", columns, 1.0),
            WholeExchange(exchanges["tri" + BACK], f"tri{BACK} {batch}"),
            self._computed(f"{FFT}{BACK} of {batch}", lines, 1.0),
            WholeExchange(exchanges["fft" + BACK], f"fft{BACK} {batch}"),
        ]

    def _computed(self, name: str, layout: _core.Layout, share: float) -> Compute:
        """A computation of all points, or unknowns, of a layout, or a share of it."""
        part = name.split()[0].removesuffix(BACK)
        flops = {
            STENCILS: STENCIL_FLOPS,
            FFT: 2.5 * math.log2(max(self.grid[0], 2)),
            TRIDIAGONAL: TRIDIAGONAL_FLOPS,
        }[part]
        moved = {STENCILS: 64.0, FFT: 16.0, TRIDIAGONAL: 32.0}[part]
        share *= self.work
        point_s = share * self.point_s * flops / (STENCIL_FLOPS + TRIDIAGONAL_FLOPS / 2 + 5 * math.log2(self.grid[0]))
        done, kernel = 0.0 if point_s else share * flops, f"{self.kind}-{part}"
        return Compute(name, 0.0, done, copied(share * moved), layout, point_s=point_s, kernel=kernel)

    def waves(self) -> StandingWaves:
        """The waves to begin with, and the solution."""
        return StandingWaves(self.grid[:2], self.s, differences, staggered=True)

    def reference_step(self, whole: Array) -> Array:
        """A step of u, v and phi, [field, mode][y][x], in one process, by an FFT in both directions."""
        nx, ny, nz = self.grid
        u, v, phi = whole.reshape(3, nz, ny, nx)
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
        self._speed2 = mode_speeds(dwarf.grid[2])
        halo = dwarf.halo()
        self.own = halo.widened(self.rank)
        # u, v and phi; a step reads these and writes the others.
        self.fields, self._next = ([self.array(halo, "halo") for _ in VARIABLES] for _ in range(2))
        self._swap = self.plan("halo", halo, *self.fields, *self._next)
        self._begin()
        self._redistributions()

    def _begin(self) -> None:
        for fields, mode in self._solution():
            for field, values in zip(self.fields, fields, strict=True):
                field[self.own][mode] = values
        proceed(self.comm)
        self._swap(self.fields[PHI])

    def _solution(self) -> Iterator[tuple[tuple[Array, Array, Array], int]]:
        """The fields of this rank's points in closed form, of one mode after another."""
        waves = self.dwarf.waves()
        _, y, x = self.indices()
        for mode, speed2 in enumerate(self._speed2.tolist()):
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
        speeds = [self._speed2[first + z0 : first + z1] for first in range(0, self.dwarf.grid[2], levels)]
        self._factors = [factors(wavenumbers, self.dwarf.s**2 * speed2) for speed2 in speeds]

    # Parts of a step.

    def swap_winds(self) -> None:
        """Exchange the halos of both winds."""
        self._swap(self.fields[U])
        self._swap(self.fields[V])

    def explicit(self) -> None:
        """The right-hand side of the equation for phi'."""
        self.timed(self._right_side, part=f"{COMPUTE}-{STENCILS}")

    def implicit(self) -> None:
        """The winds of the next step, from phi' and its halo; all fields are then those of the next step."""
        levels = self.dwarf.batch_grid[2]
        for batch, solved in enumerate(self.points):
            self._next[PHI][self.own][batch * levels : (batch + 1) * levels] = solved
        self._swap(self._next[PHI])
        self.timed(self._winds, part=f"{COMPUTE}-{STENCILS}")
        self.fields, self._next = self._next, self.fields
        self.steps += 1

    def solve(self, batch: int) -> None:
        """The equation for phi', from lines along x to points."""
        lines = self.lines[batch], self.waves[batch]
        self.timed(self.to_waves, *lines, part=f"{COMPUTE}-{FFT}")
        self.redistribute("tri", batch)
        fields = self.columns[batch], self.solved[batch]
        self.timed(_core.solve_cyclic, *fields, *self._factors[batch], self.team, part=f"{COMPUTE}-{TRIDIAGONAL}")
        self.redistribute("tri" + BACK, batch)
        self.timed(self.to_lines, *lines, part=f"{COMPUTE}-{FFT}")
        self.redistribute("fft" + BACK, batch)

    # Its loops, level by level, so that what they read twice is in a cache the second time; threads share out levels.

    def _right_side(self) -> None:
        split_work(self.dwarf.threads, self.dwarf.grid[2], self._right_side_of)

    def _right_side_of(self, modes: range) -> None:
        s, levels = self.dwarf.s, self.dwarf.batch_grid[2]
        for mode in modes:
            u, v, phi = (field[mode] for field in self.fields)
            middle = phi[1:-1, 1:-1]
            winds = (u[1:-1, 1:-1] - u[1:-1, :-2]) + (v[1:-1, 1:-1] - v[:-2, 1:-1])
            around = (phi[1:-1, :-2] + phi[1:-1, 2:]) + (phi[:-2, 1:-1] + phi[2:, 1:-1])
            lap = around - 4 * middle
            batch, level = divmod(mode, levels)
            speed2 = float(self._speed2[mode])
            np.subtract(middle, s * speed2 * (2 * winds - s * lap), out=self.points[batch][level])

    def _winds(self) -> None:
        split_work(self.dwarf.threads, self.dwarf.grid[2], self._winds_of)

    def _winds_of(self, modes: range) -> None:
        s = self.dwarf.s
        for mode in modes:
            both = self.fields[PHI][mode] + self._next[PHI][mode]
            middle = both[1:-1, 1:-1]
            for number, after in ((U, both[1:-1, 2:]), (V, both[2:, 1:-1])):
                wind = self.fields[number][mode, 1:-1, 1:-1]
                np.subtract(wind, s * (after - middle), out=self._next[number][mode, 1:-1, 1:-1])

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
        potential = of(phi / np.sqrt(self._speed2)[:, None, None]).sum_of_squares
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
