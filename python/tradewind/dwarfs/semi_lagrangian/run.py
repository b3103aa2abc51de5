"""The semi-Lagrangian dwarf on MPI ranks: its columns, its loops and their costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, NotFiniteError
from tradewind.dwarfs.frame.diagnosis import diagnose
from tradewind.dwarfs.frame.gather import gather, gather_points
from tradewind.dwarfs.frame.norms import Norms, check_finite, norms
from tradewind.dwarfs.frame.on_grid import points_of
from tradewind.dwarfs.frame.output import Output, of_tracers
from tradewind.dwarfs.frame.running import Running
from tradewind.dwarfs.frame.step import COMPUTE, Kernel, kernel
from tradewind.dwarfs.semi_lagrangian.columns import Demand, PaddedHalo, Ring
from tradewind.dwarfs.semi_lagrangian.on_device import OnDevice
from tradewind.dwarfs.semi_lagrangian.options import LISTS, SemiLagrangianOptions
from tradewind.fieldserver.plan.geometry import Gaussian, Geometry, Regular
from tradewind.layout.dual_meshes import map_of

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.diagnosis import Slices
    from tradewind.dwarfs.semi_lagrangian.flows import Wind
    from tradewind.mpi.library import Array

    Cells = tuple[tuple[int, int], tuple[int, int]]

NEW_WINDS = "new winds"
"""All points where the winds of a step are others than those of the step before; else none."""


# The loops over points, and their costs per point of a rank.

FLOPS = {("quasi-cubic", False): 27, ("cubic", False): 35, ("quasi-cubic", True): 79, ("cubic", True): 147}
"""Per value, by stencil and whether the wind lifts; weights are shared by the tracers."""
WEIGHT_FLOPS, ROW_WEIGHT_FLOPS = 34, 25
"""Per point and direction, of weights and cells; on rows of different lengths also for each of four rows."""
TRACE_FLOPS = {"plane": 38, "sphere": 190, "octahedral": 215}
"""Per point and iteration."""
LIST_FLOPS = 22
"""Per point, to find the cell of its stencil, and whether that lies in the block."""
AT_ONCE, APART, LISTING, SHARED = 2.0, 1.5, 0.75, 0.4
"""Times of a point beside that of one tracer's interpolation, as measured on two cores: a first guess and two
iterations at once; one of them alone; finding the columns; what all tracers share."""


@kernel(None, part=f"{COMPUTE}-winds", anywhere=True)
def extrapolate(run: SemiLagrangianRun, points: str) -> None:
    """Extrapolate the winds to the end of the step."""
    run.extrapolate()


def _passes(passes: Callable[[SemiLagrangianOptions], int], *, at_once: bool) -> Callable[..., Kernel]:
    """Some passes over trajectories, a first guess or an iteration each.

    `at_once` they are in the cache: winds and departure points are read and written once.
    """

    def values(dwarf: SemiLagrangianOptions, *_: object) -> int:
        return (1 if at_once else passes(dwarf)) * 2 * (dwarf.components + dwarf.directions)

    def weight(dwarf: SemiLagrangianOptions, *_: object) -> float:
        return (AT_ONCE / 3 if at_once else APART) * passes(dwarf)

    def flops(dwarf: SemiLagrangianOptions, *_: object) -> int:
        return passes(dwarf) * TRACE_FLOPS[dwarf.geometry]

    return kernel(flops, values, weight=weight, part=f"{COMPUTE}-trajectories", anywhere=True)


@_passes(lambda dwarf: 1 + dwarf.iterations, at_once=True)
def trace_all(run: SemiLagrangianRun, points: str) -> None:
    """Compute departure points: the first guess and all iterations at once, a third of the time in memory."""
    run.trajectories()


@_passes(lambda dwarf: 1, at_once=False)
def trace_local(run: SemiLagrangianRun, points: str) -> None:
    """Guess departure points, and iterate as long as the winds are on this rank."""
    run.begin_trajectories()


@_passes(lambda dwarf: 1, at_once=False)
def trace_fetched(run: SemiLagrangianRun, points: str, done: int) -> None:
    """Continue with the points that waited for winds after `done` iterations."""
    run.winds.check(run.cells, "linear")
    run.go_on(done)


@kernel(LIST_FLOPS, 2, weight=LISTING, part=f"{COMPUTE}-listing")
def list_columns(run: SemiLagrangianRun, points: str, name: str, reach: str, done: int) -> None:
    """List the columns that the stencils of departure points with `done` iterations need."""
    run.columns[name].find(run.departures, run.cells, reach, run.chunks, done)


def _interpolation_flops(dwarf: SemiLagrangianOptions) -> int:
    lifts = dwarf.lift > 0
    limited = (17 if lifts else 9) if dwarf.limiter else 0
    rows = 0 if dwarf.in_blocks else 4 * ROW_WEIGHT_FLOPS
    return dwarf.tracers * (FLOPS[dwarf.stencil, lifts] + limited) + dwarf.directions * WEIGHT_FLOPS + rows


@kernel(
    _interpolation_flops,
    lambda dwarf: 2 * dwarf.tracers + dwarf.directions,
    weight=lambda dwarf: dwarf.tracers + SHARED,
    part=f"{COMPUTE}-interpolation",
    anywhere=True,
)
def interpolate(run: SemiLagrangianRun, points: str) -> None:
    """Replace the tracers by what was at the departure points."""
    run.interpolate()


class SemiLagrangianRun(Running):
    """The dwarf on MPI ranks, one of which this process is."""

    dwarf: SemiLagrangianOptions
    cells: Cells
    """First and last cell (x, y) of departure points; on demand of those that wait for the next fetch."""
    map_variable = "q"

    @property
    def map_place(self) -> dict[str, Any]:
        """On the plane, or on the sphere, with a column at longitude 0 where all rows have one."""
        if not self.dwarf.in_blocks:
            return {"on_sphere": True}
        return {"on_sphere": True, "west": 0.5} if self.dwarf.lattice.sphere else {}

    def __init__(
        self, dwarf: SemiLagrangianOptions, comm: MPI.Intracomm, initial: Array | None, wind: Wind, record: str
    ) -> None:
        super().__init__(dwarf, comm, record)
        self.wind = wind
        self.around: Any = dwarf.part(self.rank)
        self.block = self.around.core(dwarf.grid[2])
        coordinates: tuple[Any, Any] = self.around.coordinates
        self.x, self.y = coordinates
        self._angles = self.around.angles()
        kind = Demand if dwarf.strategy == "on-demand" else Ring if dwarf.fetches else PaddedHalo
        self.tracers: Any = kind(self, "tracers", dwarf.tracers)
        self.winds: Any = kind(self, "winds", dwarf.components)
        self.columns: dict[str, Any] = {"tracers": self.tracers, "winds": self.winds}
        nx, ny = self.around.points
        self.departures = self.device.full((dwarf.directions, dwarf.grid[2], ny, nx), np.float64, np.nan)
        self.cells = ((0, 0), (0, 0))
        self.chunks = _core.DepartureChunks(self.block) if kind is Demand and dwarf.in_blocks else None
        self.on_device = None if self.device.is_host else OnDevice(self)
        """Block and windows as kernels of a device read them; None on the host."""
        self._blow()
        if initial is None:
            first = dwarf.exact(wind, self.x, self.y, 0.0)
            shares = 1 + np.arange(dwarf.tracers) / dwarf.tracers
            self.device.put(self.field, self.own, (shares[:, None, None, None] * first).reshape(-1, ny, nx))
        else:
            self.device.put(self.field, self.own, self.around.part(initial))

    @property
    def field(self) -> Array:
        """[tracer, z][row][column]"""
        field: Array = self.tracers.field
        return field

    @property
    def own(self) -> Slices:
        """Slices of the rank's own columns in its arrays."""
        own: Slices = self.tracers.own
        return own

    @property
    def minimum_bytes(self) -> int:
        """Bytes of a memory copy of the rank's points, which amounts to one step."""
        return points_of(self.own) * self.dwarf.element_bytes

    # The operations of strategies, see `Step`.

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """Exchange columns; or send the lists of those that are fetched, and make a plan."""
        if name in self.columns:
            super().exchange(name)
        else:
            self.timed(self.columns[name.removesuffix(LISTS)].send_lists, part=name)

    def array_of(self, exchange: str, of: Any) -> Array:
        """Return the array of columns that an exchange brings."""
        array: Array = self.columns[exchange].array
        return array

    def places(self, points: Any) -> Sequence[Any]:
        """Return the one place of a loop, which takes all points of the rank; none where nothing is new."""
        return (points,) if points != NEW_WINDS or self._fresh else ()

    def finish(self, *result: Any) -> None:
        """End a step: the winds are those of the next one."""
        super().finish()
        if not self.wind.steady:
            self._blow()

    # The winds.

    def _blow(self) -> None:
        """The winds of now and a step before."""
        now = self.steps * self.dwarf.dt
        self._now = self.dwarf.winds_at(self.wind, self.x, self.y, now)
        if self.wind.steady:
            self._before = self._now
        else:
            self._before = self.dwarf.winds_at(self.wind, self.x, self.y, now - self.dwarf.dt)
        self._placed = self.device.to_device(self._now)
        """The winds of now where the loops run."""
        self._fresh = True

    def extrapolate(self) -> None:
        """Extrapolate the winds to the end of the step; steady ones only once."""
        extrapolated = self._now if self.wind.steady else 2 * self._now - self._before
        self.device.put(self.winds.field, self.winds.own, extrapolated.reshape(-1, *extrapolated.shape[2:]))
        self._fresh = False

    # The loops over points.

    def trajectories(self) -> None:
        """Compute departure points where all winds are there. Raises InputError where they are not."""
        try:
            self.trace(self.winds, guess=True, iterations=self.dwarf.iterations)
        except InputError:  # one by one they show where the air comes from
            self.trace(None)
            for _ in range(self.dwarf.iterations):
                self.winds.check(self.cells, "linear")
                self.trace(self.winds)

    def begin_trajectories(self) -> None:
        """Guess departure points; in blocks also iterate as long as the winds are on this rank."""
        if self.chunks is None:
            self.trace(None)
        else:
            more = {"guess": True, "iterations": self.dwarf.iterations, "chunks": self.chunks}
            self.trace(self.winds, self.winds.local, **more)
            self.take_cells(0)

    def go_on(self, done: int) -> None:
        """Iterate once more, in blocks with the points alone that have `done` iterations."""
        if self.chunks is None:
            self.trace(self.winds)
        else:
            self.trace(self.winds, iterations=self.dwarf.iterations, chunks=self.chunks, done=done)
            self.take_cells(done + 1)

    def trace(self, winds: Any, window: Any = None, **how: Any) -> None:
        """Guess departure points by the wind of the arrival points, or iterate with winds in a window.

        Raises InputError where the window does not have them.
        """
        more: dict[str, Any] = how | self._angles
        if winds is not None:
            window = window or winds.window
            more |= {"extrapolated": winds.field, "corner": window.first, "place": window.place}
        half, scale = self.dwarf.dt / 2, 1 / self.dwarf.lattice.spacing_m
        what = self.block, self._now, half, scale, self.departures, self.team
        try:
            if self.on_device is None:
                low, high, lost = self.around.trace(*what, **more)
            else:
                guess = winds is None or bool(how.get("guess"))
                iterations = 0 if winds is None else how.get("iterations", 1)
                low, high, lost = self.on_device.trace(self._placed, self.winds, guess, iterations)
        except InputError:
            raise self.winds.beyond(self.cells) from None
        self.cells = ((low[0], low[1]), (high[0], high[1]))
        if lost >= 0:
            finite = np.isfinite(self.device.to_host(self.departures))
            self._raise_not_finite("departure point", np.asarray(finite.all(axis=0)), lost)

    def take_cells(self, done: int) -> None:
        """Take the cells of the points that have `done` iterations."""
        assert self.chunks is not None
        low, high = self.chunks.cells(done)
        self.cells = ((low[0], low[1]), (high[0], high[1]))

    def interpolate(self) -> None:
        """Replace the tracers by what was at the departure points. Raises InputError for columns that are not there."""
        dwarf, tracers = self.dwarf, self.tracers
        tracers.check(self.cells, dwarf.stencil)
        how = dwarf.tracers, dwarf.stencil == "cubic", dwarf.limiter, self.team
        try:
            if self.on_device is None:
                lost = self.around.interpolate(self.block, tracers.field, self.departures, tracers.window, *how)
            else:
                lost = self.on_device.interpolate(tracers, *how[:-1])
        except InputError:
            raise tracers.beyond(self.cells) from None
        if lost >= 0:
            self._raise_not_finite("field", np.isfinite(self.own_values()), lost)

    # The state, whole and as files and pictures have it.

    def own_values(self) -> Array:
        """Return the tracers of the rank's own columns in the host's memory."""
        return self.device.to_host(self.field)[self.own]

    def gathered(self, levels: slice = slice(None)) -> Array | None:
        """Some levels of the whole field, [tracer, z][y][x] or [tracer, z][0][column], on rank 0. Collective."""
        if self.dwarf.in_blocks:
            return gather(self.comm, self.dwarf.layout_of(1), self.own_values()[levels])
        found = gather_points(self.comm, self.around.ids, self.own_values()[levels].T)
        return None if found is None else np.ascontiguousarray(found.T)

    def map(self) -> Array | None:
        """The middle level of the first tracer as a map, on rank 0. Collective."""
        middle = self.dwarf.grid[2] // 2
        level = self.gathered(slice(middle, middle + 1))
        if level is None:
            return None
        return np.asarray(level[0]) if self.dwarf.in_blocks else map_of(f"O{self.around.lattice.half}", level[0, 0])

    def outputs(self) -> list[Output]:
        """Its tracers; those of a plane are drawn as a box around the equator."""
        dwarf, (nx, ny, nz) = self.dwarf, self.dwarf.grid
        levels: tuple[int, ...] = (dwarf.tracers, nz, *self.around.points[::-1])
        where: Any = dwarf.layout_of(1) if dwarf.in_blocks else self.around.ids
        grid: Geometry = Regular.box(nx, ny)
        if not dwarf.in_blocks:
            grid, levels = Gaussian.octahedral(self.around.lattice.half), (dwarf.tracers, nz, self.around.columns)
        elif dwarf.lattice.sphere:
            grid = Regular(nx, ny, 0.0, 90 / ny - 90, 360 / nx, 180 / ny)
        return of_tracers(where, grid, dwarf.tracers, nz, lambda q: self.own_values().reshape(levels)[q])

    def _raise_not_finite(self, what: str, finite: Array, place: int) -> None:
        level, index = divmod(place, self.around.columns)
        nz = self.dwarf.grid[2]
        of = f" of tracer {level // nz}" if what == "field" else ""
        raise NotFiniteError(
            f"rank {self.rank}, step {self.steps + 1}: the {what}{of} is no number at "
            f"{self.around.place_of(index).format(level % nz)} of the grid "
            f"(points of this rank: {int((~finite).sum())})"
        )

    # The state, and how good it is.

    def exact(self) -> Array:
        """The exact solution of the first tracer [z][y][x] at own points, now."""
        return self.dwarf.exact(self.wind, self.x, self.y, self.steps * self.dwarf.dt)

    def diagnose(self) -> Norms:
        """Mass, extremes and errors of the first tracer, the same bits on any ranks. Collective.

        Raises NotFiniteError on all ranks, for any tracer.
        """
        field = self.device.to_host(self.field)
        if self.dwarf.in_blocks:
            x, y = self.around.first
            diagnose(self.comm, field, self.own, (0, y, x), self.team)
        else:
            check_finite(self.comm, field[self.own][:, 0].T, self.around.ids)
        nz = self.dwarf.grid[2]
        z, y, x = self.own
        values = field[z.start or 0 : (z.start or 0) + nz, y, x].reshape(nz, -1).T
        solution = self.exact().reshape(nz, -1).T
        return norms(self.comm, values, solution, self.around.areas(), self.around.ids, self.team)
