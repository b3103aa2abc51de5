"""Columns that ranks fetch on demand in the first step of the semi-Lagrangian dwarf, and the halo of a fixed width.

Which columns are fetched depends on the wind. So the program takes the trajectories of the first step, by the loops
that ranks run, on the whole grid in this process, and lists the columns of each rank by the rule that ranks list them
by (`columns.wanted_columns`). In a uniform wind all that is known in closed form, for any number of ranks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.dwarfs.semi_lagrangian import uniform_demand
from tradewind.dwarfs.semi_lagrangian.columns import wanted_columns

if TYPE_CHECKING:
    from tradewind.dwarfs.semi_lagrangian.lattice import Surroundings
    from tradewind.dwarfs.semi_lagrangian.options import SemiLagrangianOptions
    from tradewind.dwarfs.semi_lagrangian.region import Region
    from tradewind.mpi.library import Array

Demanded = list[tuple[int, int, int, int]]
"""(owner, rank that needs them, columns, bytes of the list)"""


def halo(dwarf: SemiLagrangianOptions, fields: int) -> _core.Halo | _core.Fetch:
    """Return the exchange of a halo of the same width around each block, of some fields on all levels."""
    assert dwarf.width is not None
    if not dwarf.fetches:
        return _core.Halo(dwarf.layout_of(fields), dwarf.width, [True, True])
    lists, counts = [], []
    for rank in range(dwarf.ranks):
        around: Any = dwarf.part(rank)
        wanted = around.wanted(*around.halo(dwarf.width))
        lists.append(_behind(around, wanted))
        counts.append(around.columns + len(wanted))
    return _core.Fetch(counts, lists, True).with_levels((dwarf.grid[2] * fields, 1))


def _behind(around: Surroundings | Region, wanted: Any) -> tuple[Any, Any, Any, int]:
    """The list of a rank whose columns lie behind its block."""
    owner, index, _ = around.listed(wanted)
    return owner, index, around.columns + np.arange(len(wanted)), around.columns + len(wanted)


def fetched_columns(dwarf: SemiLagrangianOptions, number: int, fields: int) -> _core.Fetch:
    """Return one of the `fetches`, of some fields on all levels."""
    counts = np.maximum(dwarf.columns_of_ranks, 1).tolist()
    messages = [(owner, rank, columns) for owner, rank, columns, _ in fetches(dwarf)[number]]
    return _core.fetch_of_messages(counts, messages).with_levels((dwarf.grid[2] * fields, 1))


def sent_lists(dwarf: SemiLagrangianOptions, number: int) -> _core.Fetch:
    """Return the exchange of lists before one of the `fetches`: as many values as are as long as a list."""
    words = [(rank, owner, size // dwarf.element_bytes) for owner, rank, _, size in fetches(dwarf)[number]]
    longest = max((size for *_, size in words), default=1)
    return _core.fetch_of_messages([longest] * dwarf.ranks, words)


@lru_cache(maxsize=1)  # a program takes each of them
def fetches(dwarf: SemiLagrangianOptions) -> list[Demanded]:
    """Return the columns that ranks fetch in the first step: for the winds of each iteration, then for the tracers."""
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
    nz = dwarf.grid[2]
    levels = nz if dwarf.lift > 0 or dwarf.shear > 0 else 1
    wind, team = dwarf.flow_wind, _core.Team()
    around: Any = dwarf.all_columns()
    nx, ny = around.points
    block, (x, y) = around.core(levels), around.coordinates
    now = np.ascontiguousarray(dwarf.winds_at(wind, x, y, 0.0)[:, :levels])
    before = now if wind.steady else np.ascontiguousarray(dwarf.winds_at(wind, x, y, -dwarf.dt)[:, :levels])
    later = (now if wind.steady else 2 * now - before).reshape(-1, ny, nx)
    departures = np.full((3 if dwarf.lift > 0 else 2, levels, ny, nx), np.nan)
    more, half, scale = around.angles(), dwarf.dt / 2, 1 / dwarf.lattice.spacing_m
    low, high, _ = around.trace(block, now, half, scale, departures, team, **more)
    found = [departures.copy()]
    for _ in range(dwarf.iterations):
        first, shape = around.stencil_window(((low[0], low[1]), (high[0], high[1])), "linear")
        nothing = np.zeros(0, np.int64)
        window = around.window(first, shape, nothing, nothing)
        at: dict[str, Any] = {"extrapolated": later, "corner": first, "place": window.place}
        low, high, _ = around.trace(block, now, half, scale, departures, team, **more, **at)
        found.append(departures.copy())
    return found


def _demanded(dwarf: SemiLagrangianOptions, departures: Array, reach: str) -> Demanded:
    """List the columns that each rank needs of each other, by the rule of the ranks."""
    levels = departures.shape[1]
    lists, counts = [], []
    for rank in range(dwarf.ranks):
        around = dwarf.part(rank)
        mine = around.part(departures)
        block = around.core(levels)
        low, high = around.cells(block, mine)
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
