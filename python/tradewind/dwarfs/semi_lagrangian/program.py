"""The time step of the semi-Lagrangian dwarf as the simulator takes it.

Which columns are fetched on demand depends on the wind. So the program takes the trajectories of the first step, by the
loops that ranks run, on the whole grid in this process, and lists the columns of each rank by the rule that ranks list
them by (`columns.wanted_columns`). In a uniform wind all that is known in closed form, for any number of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.dwarfs.frame.dwarf import copied
from tradewind.dwarfs.semi_lagrangian import uniform_demand
from tradewind.dwarfs.semi_lagrangian.columns import stencil_window, wanted_columns
from tradewind.dwarfs.semi_lagrangian.lattice import Surroundings
from tradewind.method.method import default_algorithm
from tradewind.workload.program import Compute, Exchanged, ProgramWorkload

if TYPE_CHECKING:
    from tradewind.dwarfs.semi_lagrangian.options import SemiLagrangianOptions
    from tradewind.mpi.library import Array

FLOPS = {("quasi-cubic", False): 27, ("cubic", False): 35, ("quasi-cubic", True): 79, ("cubic", True): 147}
"""Per value, by stencil and whether the wind lifts; weights are shared by the tracers."""
WEIGHT_FLOPS = 34
"""Per point and direction, of weights and cells."""
TRACE_FLOPS = {"plane": 38, "sphere": 190}
"""Per point and iteration."""
LIST_FLOPS = 22
"""Per point, to find the cell of its stencil, and whether that lies in the block."""
AT_ONCE, APART, LISTING, SHARED = 2.0, 1.5, 0.75, 0.4
"""Times of a point beside that of one tracer's interpolation, as measured on two cores: a first guess and two
iterations at once; one of them alone; finding the columns; what all tracers share."""
Demanded = list[tuple[int, int, int, int]]
"""(owner, rank that wants, columns, bytes of the list)"""


@dataclass(frozen=True)
class Fetched:
    """A fetch of all ranks, and the lists that they send before."""

    values: _core.Schedule
    lists: _core.Schedule


def program(dwarf: SemiLagrangianOptions) -> ProgramWorkload:
    """The program of the first step of a dwarf."""
    if dwarf.strategy == "on-demand":
        return _on_demand(dwarf)
    winds, tracers = (_halo(dwarf, name, fields) for name, fields in _fields(dwarf).items())
    trajectories, interpolation = _trajectories(dwarf, 1 + dwarf.iterations, at_once=True), _interpolation(dwarf)
    name = f"semi_lagrangian, {dwarf.strategy}"
    if dwarf.strategy == "overlap":
        swap = Exchanged("tracers", tracers, dtype=dwarf.precision)
        wind = Exchanged("winds", winds, dtype=dwarf.precision)
        steps = swap.start(), wind, trajectories, swap.wait(), interpolation
        return ProgramWorkload(*steps, dtype=dwarf.precision, name=name)
    return ProgramWorkload(winds, trajectories, tracers, interpolation, dtype=dwarf.precision, name=name)


def tracers_schedule(dwarf: SemiLagrangianOptions) -> _core.Schedule:
    """Return the exchange of the tracers in the first step: a halo, or what is fetched on demand."""
    if dwarf.strategy == "on-demand":
        return _both(dwarf, "tracers", dwarf.tracers, fetches(dwarf)[-1]).values
    return _halo(dwarf, "tracers", dwarf.tracers)


def _fields(dwarf: SemiLagrangianOptions) -> dict[str, int]:
    return {"winds": dwarf.components, "tracers": dwarf.tracers}


def _schedule(dwarf: SemiLagrangianOptions, name: str, pattern: _core.Pattern) -> _core.Schedule:
    return _core.make_schedule(pattern, dwarf.method(name).algorithm or default_algorithm(pattern.name))


def _halo(dwarf: SemiLagrangianOptions, name: str, fields: int) -> _core.Schedule:
    assert dwarf.width is not None
    layout = dwarf.layout_of(fields)
    if not dwarf.fetches:
        return _schedule(dwarf, name, _core.Halo(layout, dwarf.width, [True, True]))
    lists, counts = [], []
    for rank in range(dwarf.ranks):
        around = Surroundings(dwarf.lattice, layout, rank)
        nx, ny = around.points
        shape = (ny + 2 * dwarf.width, nx + 2 * dwarf.width)
        wanted = around.wanted((-dwarf.width, -dwarf.width), np.ones(shape, np.uint8))
        lists.append(_behind(around, wanted))
        counts.append(around.columns + len(wanted))
    return _schedule(dwarf, name, _core.Fetch(counts, lists, True).with_levels((dwarf.grid[2] * fields, 1)))


def _behind(around: Surroundings, wanted: Any) -> tuple[Any, Any, Any, int]:
    """The list of a rank whose columns lie behind its block."""
    owner, index, _ = around.listed(wanted)
    return owner, index, around.columns + np.arange(len(wanted)), around.columns + len(wanted)


# On demand.


def _on_demand(dwarf: SemiLagrangianOptions) -> ProgramWorkload:
    fields = _fields(dwarf)
    fetched = fetches(dwarf)
    steps: list[Any] = [_trajectories(dwarf, 1, "first guess")]
    for number, demanded in enumerate(fetched, 1):
        last = number == len(fetched)
        name = "tracers" if last else "winds"
        both = _both(dwarf, name, fields[name], demanded)
        step = _interpolation(dwarf) if last else _trajectories(dwarf, 1, f"iteration {number}")
        steps += [_listing(dwarf, f"lists {number}"), both.lists, both.values, step]
    return ProgramWorkload(*steps, dtype=dwarf.precision, name="semi_lagrangian, on-demand")


def _both(dwarf: SemiLagrangianOptions, name: str, fields: int, demanded: Demanded) -> Fetched:
    counts = [max(columns, 1) for columns in _columns(dwarf)]
    values = _core.fetch_of_messages(counts, [(owner, rank, columns) for owner, rank, columns, _ in demanded])
    words = [(rank, owner, size // dwarf.element_bytes) for owner, rank, _, size in demanded]
    longest = max((size for *_, size in words), default=1)
    lists = _core.fetch_of_messages([longest] * dwarf.ranks, words)
    levels = (dwarf.grid[2] * fields, 1)
    return Fetched(_schedule(dwarf, name, values.with_levels(levels)), _core.make_schedule(lists, "direct"))


def _columns(dwarf: SemiLagrangianOptions) -> list[int]:
    layout = dwarf.layout_of(1)
    x, y = uniform_demand.widths(layout)
    return [i * j for j in y for i in x]


def fetches(dwarf: SemiLagrangianOptions) -> list[Demanded]:
    """Who fetches how many columns of whom in the first step: for the winds of each iteration, then for the tracers."""
    reaches = ["linear"] * dwarf.iterations + [dwarf.stencil]
    if dwarf.flow == "uniform" and dwarf.lift == 0 and dwarf.shear == 0:
        shift = _uniform_shift(dwarf)
        linear, last = (
            uniform_demand.demanded(dwarf.layout_of(1), shift, reach) for reach in ("linear", dwarf.stencil)
        )
        return [linear] * dwarf.iterations + [last]
    return [_demanded(dwarf, at, reach) for at, reach in zip(_first_departures(dwarf), reaches, strict=True)]


def _uniform_shift(dwarf: SemiLagrangianOptions) -> tuple[int, int]:
    """Cells (x, y) from a point to that of its departure point, by the loop of the ranks."""
    block = _core.ColumnBlock((0, 0), (1, 1), 1, 0)
    departures = np.zeros((2, 1, 1, 1))
    wind = dwarf.winds_at(dwarf.flow_wind, np.arange(1), np.arange(1)[:, None], 0.0)[:, :1]
    half, scale = dwarf.dt / 2, 1 / dwarf.lattice.spacing_m
    (x, y), *_ = _core.trace_departures(block, np.ascontiguousarray(wind), half, scale, departures, _core.Team())
    return int(x), int(y)


def _first_departures(dwarf: SemiLagrangianOptions) -> list[Array]:
    """Departure points of the whole grid [x, y(, z)][z][y][x]: the first guess, then those of each iteration.

    Of levels that have the same wind one is taken.
    """
    nx, ny, nz = dwarf.grid
    levels = nz if dwarf.lift > 0 or dwarf.shear > 0 else 1
    lattice, wind, team = dwarf.lattice, dwarf.flow_wind, _core.Team()
    around = Surroundings(lattice, _core.Blocks(_core.Grid(nx, ny, levels), (1, 1)), 0)
    block = around.core(levels)
    x, y = np.arange(nx), np.arange(ny)[:, None]
    now = np.ascontiguousarray(dwarf.winds_at(wind, x, y, 0.0)[:, :levels])
    before = now if wind.steady else np.ascontiguousarray(dwarf.winds_at(wind, x, y, -dwarf.dt)[:, :levels])
    later = (now if wind.steady else 2 * now - before).reshape(-1, ny, nx)
    departures = np.full((3 if dwarf.lift > 0 else 2, levels, ny, nx), np.nan)
    more: dict[str, Any] = {}
    if lattice.sphere:
        longitudes, latitudes = lattice.longitudes(x), lattice.latitudes(y[:, 0])
        more = {"grid": (nx, ny), "cos_x": np.cos(longitudes), "sin_x": np.sin(longitudes)}
        more |= {"cos_y": np.cos(latitudes), "sin_y": np.sin(latitudes)}
    half, scale = dwarf.dt / 2, 1 / lattice.spacing_m
    low, high, _ = _core.trace_departures(block, now, half, scale, departures, team, **more)
    found = [departures.copy()]
    for _ in range(dwarf.iterations):
        first, shape = stencil_window(((low[0], low[1]), (high[0], high[1])), "linear")
        nothing = np.zeros(0, np.int64)
        window = around.window(first, shape, nothing, nothing)
        at: dict[str, Any] = {"extrapolated": later, "corner": first, "place": window.place}
        low, high, _ = _core.trace_departures(block, now, half, scale, departures, team, **more, **at)
        found.append(departures.copy())
    return found


def _demanded(dwarf: SemiLagrangianOptions, departures: Array, reach: str) -> Demanded:
    """List who wants how much of whom, by the rule of the ranks."""
    layout = dwarf.layout_of(1)
    levels = departures.shape[1]
    lists, counts = [], []
    for rank in range(dwarf.ranks):
        around = Surroundings(dwarf.lattice, layout, rank)
        (x0, y0), (x1, y1) = around.box
        mine = np.ascontiguousarray(departures[:, :, y0:y1, x0:x1])
        block = around.core(levels)
        low, high = _core.departure_cells(block, mine)
        cells = ((int(low[0]), int(low[1])), (int(high[0]), int(high[1])))
        *_, wanted = wanted_columns(around, block, mine, cells, reach)
        lists.append(_behind(around, wanted))
        counts.append(around.columns + len(wanted))
    fetch = _core.Fetch(counts, lists, True)
    found = []
    for rank, (owner, *_) in enumerate(lists):
        numbers = dict(zip(*np.unique(owner, return_counts=True), strict=True))
        found += [(who, rank, int(numbers[who]), size) for who, size in fetch.requests(rank)]
    return found


# Computing.


def _trajectories(
    dwarf: SemiLagrangianOptions, iterations: int, name: str = "trajectories", *, at_once: bool = False
) -> Compute:
    """Some iterations, `at_once` in the cache: then winds and departure points are read and written once."""
    values = 2 * dwarf.components + 2 * (3 if dwarf.lift > 0 else 2)
    passes, times = (1, AT_ONCE / 3 * iterations) if at_once else (iterations, APART * iterations)
    return _compute(dwarf, name, iterations * TRACE_FLOPS[dwarf.geometry], passes * values, times)


def _listing(dwarf: SemiLagrangianOptions, name: str) -> Compute:
    """Finding the columns that departure points need."""
    return _compute(dwarf, name, LIST_FLOPS, 2, LISTING, "listing")


def _interpolation(dwarf: SemiLagrangianOptions) -> Compute:
    directions = 3 if dwarf.lift > 0 else 2
    limited = (17 if dwarf.lift > 0 else 9) if dwarf.limiter else 0
    each = FLOPS[dwarf.stencil, dwarf.lift > 0] + limited
    flops = dwarf.tracers * each + directions * WEIGHT_FLOPS
    name, values = "interpolation", 2 * dwarf.tracers + directions
    return _compute(dwarf, name, flops, values, dwarf.tracers + SHARED, name)


def _compute(
    dwarf: SemiLagrangianOptions, name: str, flops: float, values: float, times: float, part: str = "trajectories"
) -> Compute:
    """Computing of all points of each rank; with a time of a point and tracer it takes so many `times` that."""
    seconds = dwarf.point_s * times
    layout = dwarf.layout_of(1)
    moved = copied(values * dwarf.element_bytes)
    done, kernel = 0.0 if dwarf.point_s else flops, f"{dwarf.kind}-{part}"
    return Compute(name, flops=done, bytes=moved, layout=layout, point_s=seconds, kernel=kernel)
