"""A rank's arrays of columns, and how the columns around its block come into them: as a halo, or fetched on demand.

Each is one array [field, z][row][column]. The compiled loops look columns up in a `Window`, whichever it is.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tradewind import _core
from tradewind.base.collective import CollectiveErrors
from tradewind.base.errors import InputError
from tradewind.dwarfs.semi_lagrangian.lattice import Surroundings, Window
from tradewind.dwarfs.semi_lagrangian.options import BEYOND, SemiLagrangianOptions

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.dwarfs.frame.running import Exchanges
    from tradewind.mpi.library import Array, Plan

    Cells = tuple[tuple[int, int], tuple[int, int]]

MARGIN = {"linear": (0, 1), "quasi-cubic": (1, 2), "cubic": (1, 2)}
"""Columns before and after the cell of a departure point that each stencil needs."""


class Run(Protocol):
    """The part of a run that its columns need, see `tradewind.dwarfs.frame.running.Running`."""

    comm: MPI.Intracomm
    rank: int
    steps: int
    around: Surroundings
    block: _core.ColumnBlock

    @property
    def dwarf(self) -> SemiLagrangianOptions:
        """Options of the dwarf."""

    @property
    def record(self) -> str:
        """Recording of its plans: "", "totals" or "events"."""

    def array(self, pattern: _core.Pattern, plan: str = "") -> Array:
        """Return an empty array for this rank's columns of a pattern."""

    def plan(self, name: str, pattern: _core.Pattern, *arrays: Array, **options: Any) -> Exchanges:
        """Return a plan for arrays, by the method that is chosen for its name."""

    def note(self, part: str, begin: float) -> None:
        """Add the time since `begin` to a part."""

    def collect(self, name: str, plan: Plan) -> None:
        """Keep the counts and events of a plan that is used no more."""


def stencil_window(cells: Cells, reach: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """First cell (x, y), and rows and columns, of the stencils of all cells."""
    (low_x, low_y), (high_x, high_y) = cells
    before, after = MARGIN[reach]
    width, height = high_x - low_x + 1 + before + after, high_y - low_y + 1 + before + after
    return (low_x - before, low_y - before), (height, width)


def wanted_columns(
    around: Surroundings,
    block: _core.ColumnBlock,
    departures: Array,
    cells: Cells,
    reach: str,
    chunks: _core.DepartureChunks | None = None,
    done: int = 0,
) -> tuple[tuple[int, int], NDArray[np.uint8], NDArray[np.int64]]:
    """First cell and marked cells of the window of some departure points, and the columns of others that they need.

    This is the rule by which columns are fetched on demand. With `chunks` only points are taken that have `done` so
    many iterations, which lie in `cells`; the others need no columns of other ranks.
    """
    first, shape = stencil_window(cells, reach)
    marks = np.zeros(shape, np.uint8)
    _core.mark_stencils(block, departures, first, marks, reach, chunks, done)
    return first, marks, around.wanted(first, marks)


class _Columns:
    """Common part of the three. `fields`: so many of all levels."""

    field: Array
    own: tuple[slice, slice, slice]
    window: Window
    own_first: int
    own_pitch: int

    def __init__(self, run: Run, name: str, fields: int) -> None:
        self.name, self.around = name, run.around
        self._run, self._levels = run, fields * run.dwarf.grid[2]

    def check(self, cells: Cells, reach: str) -> None:
        """Raise InputError where the stencils of departure points in these cells go beyond the columns."""
        before, after = MARGIN[reach]
        if self.window.holds(*cells, before, after):
            return
        (low_x, low_y), (high_x, high_y) = cells
        nx, ny = self.around.points
        way = max(-low_x, -low_y, high_x - (nx - 1), high_y - (ny - 1))
        raise InputError(
            f"rank {self._run.rank}, step {self._run.steps + 1}: air comes from {way} points away, beyond a halo of "
            f"{self._run.dwarf.width} points; {way + BEYOND} would do, or the strategy on-demand"
        )

    def _rows(self, extra_columns: int) -> None:
        """Make the array of the block, row by row, and of so many other columns in further rows."""
        nx, ny = self.around.points
        shape = (self._levels, ny + math.ceil(extra_columns / nx), nx)
        self.field = self._empty(shape)
        self.own = (slice(0, self._levels), slice(0, ny), slice(0, nx))
        self.own_first, self.own_pitch = 0, nx

    def _empty(self, shape: tuple[int, int, int]) -> Array:
        precision = self._run.dwarf.precision
        if self._run.dwarf.method(self.name).transport == "shared":
            from tradewind.mpi.arrays import shared_zeros

            array: Array = shared_zeros(shape, precision)
        else:
            array = np.empty(shape, precision)
        array.fill(np.nan)
        return array

    def _listed(self, columns: int) -> Array:
        """The block and so many other columns as points of a fetch: [field, z][column]."""
        return self.field.reshape(self._levels, -1)[:, : self.around.columns + columns]


class _Standing(_Columns):
    """Columns that come by one plan, step after step."""

    _array: Array

    def _bind(self, pattern: _core.Pattern, array: Array, **options: Any) -> None:
        self._array = array
        self._exchanges = self._run.plan(self.name, pattern, array, **options)

    def exchange(self) -> None:
        """Bring the columns. Collective."""
        self._exchanges(self._array)

    def start(self) -> None:
        self._exchanges.start(self._array)

    def wait(self) -> None:
        self._exchanges.wait(self._array)

    @property
    def plan(self) -> Plan:
        return self._exchanges.plans[0]

    @property
    def calls(self) -> int:
        return self._exchanges.calls

    @property
    def messages(self) -> int:
        return self.calls * self.plan.messages

    @property
    def bytes_sent(self) -> int:
        return self.calls * self.plan.bytes_sent

    def reset(self) -> None:
        """Nothing: a run resets its plans."""


class PaddedHalo(_Standing):
    """A halo of the same width on all sides of the block, of a plane."""

    def __init__(self, run: Run, name: str, fields: int) -> None:
        super().__init__(run, name, fields)
        width = run.dwarf.width
        assert width is not None
        halo = _core.Halo(run.dwarf.layout_of(fields), width, [True, True])
        self.field = run.array(halo, name)
        self.own = halo.widened(run.rank)
        rows, columns = self.field.shape[1:]
        self.window = Window((-width, -width), np.arange(rows * columns, dtype=np.int32).reshape(rows, columns))
        self.own_first, self.own_pitch = width * columns + width, columns
        self._bind(halo, self.field)


class Ring(_Standing):
    """A halo of the same width on all sides of the block, across the poles, too: its columns are listed once."""

    def __init__(self, run: Run, name: str, fields: int) -> None:
        from tradewind.mpi.points import CorePoints

        super().__init__(run, name, fields)
        width = run.dwarf.width
        assert width is not None
        nx, ny = self.around.points
        first, shape = (-width, -width), (ny + 2 * width, nx + 2 * width)
        wanted = self.around.wanted(first, np.ones(shape, np.uint8))
        self._rows(len(wanted))
        owner, index, places = self.around.listed(wanted)
        self.window = self.around.window(first, shape, wanted, places)
        fetch = CorePoints(run.comm, self.around.columns).halo(owner=owner, index=index)
        self._bind(fetch, self._listed(len(wanted)), axis=1)


class Demand(_Columns):
    """Columns that are found and fetched anew each time."""

    local: Window
    """The window of the columns of this rank alone, as far around its block as air comes from."""

    def __init__(self, run: Run, name: str, fields: int) -> None:
        from tradewind.mpi.points import CorePoints

        super().__init__(run, name, fields)
        nx, ny = self.around.points
        way = math.ceil(min(run.dwarf.passed, run.dwarf.grid[0])) + BEYOND + 1
        self._rows(min(way * (nx + ny + way), math.prod(run.dwarf.grid[:2])))
        self._points = CorePoints(run.comm, self.around.columns)
        nothing = np.zeros(0, np.int64)
        self.local = self.around.window((-way, -way), (ny + 2 * way, nx + 2 * way), nothing, nothing)
        self.plan: Plan | None = None
        self.reset()

    def reset(self) -> None:
        """Begin to count."""
        self.calls = self.messages = self.bytes_sent = 0

    def fetch(self, departures: Array, cells: Cells, reach: str, chunks: _core.DepartureChunks, done: int) -> None:
        """Bring the columns that the stencils of departure points with `done` iterations need. Collective.

        The lists go to the owners of the columns, who send these of all fields in one message.
        """
        begin = perf_counter()
        with CollectiveErrors(self._points.send_error):
            self._make_room(departures, cells, reach, chunks, done)
        self._plan()
        self._run.note(f"{self.name}-lists", begin)
        assert self.plan is not None
        self.plan()
        self.calls += 1
        self.messages += self.plan.messages
        self.bytes_sent += self.plan.bytes_sent
        self._run.collect(self.name, self.plan)

    def _make_room(self, departures: Array, cells: Cells, reach: str, chunks: _core.DepartureChunks, done: int) -> None:
        run = self._run
        first, marks, wanted = wanted_columns(self.around, run.block, departures, cells, reach, chunks, done)
        self._owner, self._index, places = self.around.listed(wanted)
        room = self.field.shape[1] * self.field.shape[2] - self.around.columns
        if len(wanted) > room:
            before, own = self.field, self.own
            self._rows(len(wanted) + len(wanted) // 4)
            self.field[self.own] = before[own]
        self.window = self.around.window(first, marks.shape, wanted, places, marks)

    def _plan(self) -> None:
        from tradewind import mpi

        run = self._run
        fetch = self._points.halo(owner=self._owner, index=self._index)
        for _, size in fetch.requests(run.rank):
            self.messages += 1
            self.bytes_sent += size
        options = run.dwarf.plan_options(self.name)
        self.plan = mpi.plan(fetch, run.comm, self._listed(len(self._owner)), axis=1, record=run.record, **options)
