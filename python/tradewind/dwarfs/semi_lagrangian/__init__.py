"""Semi-Lagrangian advection of tracers, on a doubly periodic plane or on the latitude-longitude sphere.

    q(x, t + dt) = q(x_D, t)        x_D = x - dt/2 (V(x, t) + [2 V(t) - V(t - dt)](x_D))

Air that arrives at a grid point was at its departure point one step earlier (SETTLS: Hortal 2002,
doi:10.1002/qj.200212858314), where the tracers are interpolated. With a long step that point lies in the block of
another rank. How far away, only the wind says: the strategies below are the ways to have what is there. All give the
same bits.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
run = SemiLagrangian(ranks=2, grid=(64, 64, 8), strategy='on-demand').on(MPI.COMM_WORLD)
run.advance(16)
print(run.diagnose())"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, NotFiniteError, gathered
from tradewind.dwarfs.frame.norms import Norms, norms
from tradewind.dwarfs.frame.on_grid import GridRunning
from tradewind.dwarfs.frame.output import Output, of_tracers
from tradewind.dwarfs.semi_lagrangian.columns import Demand, PaddedHalo, Ring
from tradewind.dwarfs.semi_lagrangian.lattice import Surroundings
from tradewind.dwarfs.semi_lagrangian.options import SemiLagrangianOptions
from tradewind.dwarfs.semi_lagrangian.program import program
from tradewind.dwarfs.semi_lagrangian.reference import Reference
from tradewind.fieldserver.plan.geometry import Regular
from tradewind.method.method import default_algorithm

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.diagnosis import Slices
    from tradewind.dwarfs.semi_lagrangian.flows import Wind
    from tradewind.dwarfs.semi_lagrangian.lattice import Window
    from tradewind.mpi.library import Array, Plan
    from tradewind.workload.program import ProgramWorkload

Cells = tuple[tuple[int, int], tuple[int, int]]


# The time loop: winds, trajectories, and the interpolation of all tracers at their ends.


def wide(run: SemiLagrangianRun, steps: int) -> int:
    """Exchange a halo as wide as the air may come from, of the winds, then of the tracers."""
    run.extrapolate()
    run.winds.exchange()
    run.trajectories()
    run.tracers.exchange()
    run.interpolate()
    return 1


def overlap(run: SemiLagrangianRun, steps: int) -> int:
    """The same; the tracers travel while trajectories are computed."""
    run.tracers.start()
    run.extrapolate()
    run.winds.exchange()
    run.trajectories()
    run.tracers.wait()
    run.interpolate()
    return 1


def on_demand(run: SemiLagrangianRun, steps: int) -> int:
    """Find out where the air comes from, then fetch what is there: winds for each iteration, then the tracers."""
    run.extrapolate()
    run.trace_local()
    for done in range(run.dwarf.iterations):
        run.winds.fetch(run.departures, run.cells, "linear", run.chunks, done)
        run.trace_fetched(done)
    run.tracers.fetch(run.departures, run.cells, run.dwarf.stencil, run.chunks, run.dwarf.iterations)
    run.interpolate()
    return 1


STRATEGIES: dict[str, Callable[[SemiLagrangianRun, int], int]] = {
    "wide": wide,
    "overlap": overlap,
    "on-demand": on_demand,
}


@dataclass(frozen=True)
class SemiLagrangian(SemiLagrangianOptions):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    kind: ClassVar[str] = "semi_lagrangian"
    strategies: ClassVar = STRATEGIES

    def on(
        self, comm: MPI.Intracomm, initial: Array | None = None, *, wind: Wind | None = None, record: str = "totals"
    ) -> SemiLagrangianRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `initial`: values [tracer, z][y][x] of the whole grid in place of the tracers'; `wind`: another one than that of
        the flow. `record`: as of `tradewind.mpi.plan`. Raises InputError; PlanError.
        """
        return SemiLagrangianRun(self, comm, initial, wind or self.flow_wind, record)

    def program(self) -> ProgramWorkload:
        """The program of the first step. What is fetched on demand follows from that step's winds."""
        return program(self)

    def simulation_problems(self) -> list[str]:
        """Return what `program` raises, of algorithms that so many ranks cannot have, without listing columns."""
        if self.strategy != "on-demand" and not self.fetches:
            return super().simulation_problems()
        problems: list[str] = []
        nobody = _core.fetch_of_messages([1] * self.ranks, [])
        for name in self.plans:
            with gathered(problems):
                _core.make_schedule(nobody, self.method(name).algorithm or default_algorithm("fetch"))
        return problems

    def reference_step(self, whole: Array) -> Array:
        """The first step."""
        return self.reference(whole, 1)

    def reference(self, whole: Array, steps: int) -> Array:
        """The whole state some steps after the start, in NumPy alone."""
        reference = Reference(self)
        for number in range(steps):
            whole = reference.step(whole, number * self.dt)
        return whole


class SemiLagrangianRun(GridRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    dwarf: SemiLagrangian
    cells: Cells
    """First and last cell (x, y) of departure points; on demand of those that wait for the next fetch."""
    map_variable = "q"

    @property
    def map_place(self) -> dict[str, Any]:
        """On the plane, or on the sphere with a column at longitude 0."""
        return {"on_sphere": True, "west": 0.5} if self.dwarf.lattice.sphere else {}

    def __init__(
        self, dwarf: SemiLagrangian, comm: MPI.Intracomm, initial: Array | None, wind: Wind, record: str
    ) -> None:
        super().__init__(dwarf, comm, record)
        self.wind = wind
        self.layout = dwarf.layout_of(dwarf.tracers)
        self.around = Surroundings(dwarf.lattice, self.layout, self.rank)
        self.block = self.around.core(dwarf.grid[2])
        (x0, y0), (x1, y1) = self.around.box
        self.x, self.y = np.arange(x0, x1), np.arange(y0, y1)[:, None]
        kind = Demand if dwarf.strategy == "on-demand" else Ring if dwarf.fetches else PaddedHalo
        self.tracers: Any = kind(self, "tracers", dwarf.tracers)
        self.winds: Any = kind(self, "winds", dwarf.components)
        nx, ny = self.around.points
        self.departures = np.full((3 if dwarf.lift > 0 else 2, dwarf.grid[2], ny, nx), np.nan)
        self.chunks = _core.DepartureChunks(self.block) if kind is Demand else None
        self._blow()
        if initial is None:
            first = dwarf.exact(wind, self.x, self.y, 0.0)
            shares = 1 + np.arange(dwarf.tracers) / dwarf.tracers
            self.field[self.own] = (shares[:, None, None, None] * first).reshape(-1, ny, nx)
        else:
            self.field[self.own] = initial[:, y0:y1, x0:x1]

    @property
    def field(self) -> Array:  # type: ignore[override]
        """[tracer, z][row][column]"""
        field: Array = self.tracers.field
        return field

    @property
    def own(self) -> Slices:  # type: ignore[override]
        """Slices of the rank's own columns in its arrays."""
        own: Slices = self.tracers.own
        return own

    # The winds.

    def _blow(self) -> None:
        """The winds of now and a step before."""
        now = self.steps * self.dwarf.dt
        self._now = self.dwarf.winds_at(self.wind, self.x, self.y, now)
        if self.wind.steady:
            self._before = self._now
        else:
            self._before = self.dwarf.winds_at(self.wind, self.x, self.y, now - self.dwarf.dt)
        self._fresh = True

    def extrapolate(self) -> None:
        """Extrapolate the winds to the end of the step; steady ones only once."""
        if self._fresh:
            self.timed(self._extrapolate, part="compute-winds")
            self._fresh = False

    def _extrapolate(self) -> None:
        extrapolated = self._now if self.wind.steady else 2 * self._now - self._before
        self.winds.field[self.winds.own] = extrapolated.reshape(-1, *extrapolated.shape[2:])

    # The loops over points.

    def guess(self) -> None:
        """Departure points by the wind of the arrival points."""
        self._trace(None)

    def trace(self) -> None:
        """The next iteration of the departure points."""
        self.winds.check(self.cells, "linear")
        self._trace(self.winds)

    def trace_local(self) -> None:
        """Guess departure points, and iterate as long as the winds are on this rank."""
        self._trace(self.winds, self.winds.local, guess=True, iterations=self.dwarf.iterations, chunks=self.chunks)
        self._cells_of(0)

    def trace_fetched(self, done: int) -> None:
        """Continue with the points that waited for winds after `done` iterations."""
        self.winds.check(self.cells, "linear")
        self._trace(self.winds, iterations=self.dwarf.iterations, chunks=self.chunks, done=done)
        self._cells_of(done + 1)

    def _cells_of(self, done: int) -> None:
        assert self.chunks is not None
        low, high = self.chunks.cells(done)
        self.cells = ((low[0], low[1]), (high[0], high[1]))

    def trajectories(self) -> None:
        """The first guess and all iterations at once, where all winds are there: a third of the time in memory."""
        try:
            self._trace(self.winds, guess=True, iterations=self.dwarf.iterations)
        except InputError:  # one by one they say where the air comes from
            self.guess()
            for _ in range(self.dwarf.iterations):
                self.trace()

    def _trace(self, winds: Any, window: Window | None = None, **how: Any) -> None:
        dwarf, lattice = self.dwarf, self.dwarf.lattice
        more: dict[str, Any] = how
        if winds is not None:
            window = window or winds.window
            more |= {"extrapolated": winds.field, "corner": window.first, "place": window.place}
        if lattice.sphere:
            longitudes, latitudes = lattice.longitudes(self.x), lattice.latitudes(self.y[:, 0])
            more |= {"grid": (lattice.nx, lattice.ny), "cos_x": np.cos(longitudes), "sin_x": np.sin(longitudes)}
            more |= {"cos_y": np.cos(latitudes), "sin_y": np.sin(latitudes)}

        def loop() -> None:
            low, high, self._lost = _core.trace_departures(
                self.block,
                self._now,
                dwarf.dt / 2,
                1 / lattice.spacing_m,
                self.departures,
                self.team,
                **more,
            )
            self.cells = ((low[0], low[1]), (high[0], high[1]))

        self.timed(loop, part="compute-trajectories")
        if self._lost >= 0:
            self._raise_not_finite("departure point", np.isfinite(self.departures).all(axis=0), self._lost)

    def interpolate(self) -> None:
        """Replace the tracers by what was at the departure points, and go on to the next step."""
        dwarf, tracers = self.dwarf, self.tracers
        tracers.check(self.cells, dwarf.stencil)
        full, limiter = dwarf.stencil == "cubic", dwarf.limiter

        def loop() -> None:
            self._lost = _core.interpolate_tracers(
                self.block,
                tracers.field,
                self.departures,
                tracers.window.first,
                tracers.window.place,
                tracers.own_first,
                tracers.own_pitch,
                dwarf.tracers,
                full,
                limiter,
                self.team,
            )

        self.timed(loop, part="compute-interpolation")
        self.steps += 1
        if self._lost >= 0:
            self._raise_not_finite("field", np.isfinite(self.field[self.own]), self._lost)
        if not self.wind.steady:
            self._blow()

    def outputs(self) -> list[Output]:
        """Its tracers; those of a plane are drawn as a box around the equator."""
        dwarf, (nx, ny, nz) = self.dwarf, self.dwarf.grid
        box = Regular(nx, ny, 0.0, 90 / ny - 90, 360 / nx, 180 / ny) if dwarf.lattice.sphere else Regular.box(nx, ny)
        levels = (dwarf.tracers, nz, *self.around.points[::-1])
        return of_tracers(dwarf.layout_of(1), box, dwarf.tracers, lambda q: self.field[self.own].reshape(levels)[q])

    def _raise_not_finite(self, what: str, finite: Array, place: int) -> None:
        _, ny, nx = finite.shape
        index = (place // (nx * ny), place // nx % ny + int(self.y[0, 0]), place % nx + int(self.x[0]))
        nz = self.dwarf.grid[2]
        of = f" of tracer {index[0] // nz}" if what == "field" else ""
        raise NotFiniteError(
            f"rank {self.rank}, step {self.steps}: the {what}{of} is no number at [z][y][x] = "
            f"{[index[0] % nz, *index[1:]]} of the grid (points of this rank: {int((~finite).sum())})"
        )

    # The state, and how good it is.

    def exact(self) -> Array:
        """The exact solution of the first tracer [z][y][x] at own points, now."""
        return self.dwarf.exact(self.wind, self.x, self.y, self.steps * self.dwarf.dt)

    def diagnose(self) -> Norms:  # type: ignore[override]
        """Mass, extremes and errors of the first tracer, the same bits on any ranks. Collective.

        Raises NotFiniteError on all ranks, for any tracer.
        """
        super().diagnose()
        nz = self.dwarf.grid[2]
        z, y, x = self.own
        values = self.field[z.start or 0 : (z.start or 0) + nz, y, x].reshape(nz, -1).T
        solution = self.exact().reshape(nz, -1).T
        area = np.broadcast_to(self.dwarf.lattice.area(self.y), (len(self.y), len(self.x))).ravel()
        ids = (self.x + self.dwarf.lattice.nx * self.y).ravel()
        return norms(self.comm, values, solution, area, ids, self.team)

    # Messages, and the time that they take.

    @property
    def record(self) -> str:
        """As of `tradewind.mpi.plan`."""
        return self._record

    def note(self, part: str, begin: float) -> None:
        """Count the seconds since `begin` as those of a part of the time loop."""
        end = perf_counter()
        self._seconds[part] += end - begin
        if self._events is not None:
            self._events.append((part, -1, -1, 0, begin, end))

    def collect(self, name: str, plan: Plan) -> None:
        """Count the seconds of a plan that is used once."""
        for part, seconds in plan.seconds.items():
            self._seconds[f"{name}-{part}"] += seconds
        if self._events is not None:
            self._events += plan.events

    @property
    def _around(self) -> tuple[Any, Any]:
        return self.tracers, self.winds

    @property
    def plans(self) -> dict[str, Any]:
        """Plans of all exchanges by name, as far as they are made."""
        return {each.name: each.plan for each in self._around}

    @property
    def exchanges(self) -> int:
        """Number of exchanges so far."""
        return sum(each.calls for each in self._around)

    @property
    def messages(self) -> int:
        """Messages that this rank has sent since `reset`, those with lists of columns among them."""
        return sum(each.messages for each in self._around)

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank has sent so far."""
        return sum(each.bytes_sent for each in self._around)

    def reset(self) -> None:
        """Begin to count seconds, exchanges and bytes anew."""
        super().reset()
        for each in self._around:
            each.reset()
