"""A rank's arrays of columns, and how the columns around its block come into them: as a halo, or fetched on demand.

Each is one array [field, z][row][column]. The compiled loops look columns up in a `Window`, whichever it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tradewind import _core
from tradewind.base.collective import CollectiveErrors
from tradewind.base.errors import InputError
from tradewind.dwarfs.frame.exchanges import Exchanges
from tradewind.dwarfs.semi_lagrangian.lattice import BEYOND, MARGIN, Window
from tradewind.dwarfs.semi_lagrangian.options import SemiLagrangianOptions

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.device import Device
    from tradewind.dwarfs.semi_lagrangian.lattice import Surroundings
    from tradewind.dwarfs.semi_lagrangian.region import Region
    from tradewind.mpi.library import Array, Plan
    from tradewind.timeline.measured import Event

    Cells = tuple[tuple[int, int], tuple[int, int]]


class Run(Protocol):
    """The part of a run that its columns need, see `tradewind.dwarfs.frame.running.Running`."""

    comm: MPI.Intracomm
    rank: int
    steps: int
    around: Any
    """Its part of the grid: a `Surroundings`, or a `Region`."""
    block: _core.ColumnBlock
    departures: Array
    device: Device

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

    def add_exchanges(self, name: str, exchanges: Exchanges) -> None:
        """Count exchanges whose plans the run does not make."""


def wanted_columns(
    around: Surroundings | Region,
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
    first, shape = around.stencil_window(cells, reach)
    marks = np.zeros(shape, np.uint8)
    around.mark(block, departures, first, marks, reach, chunks, done)
    return first, marks, around.wanted(first, marks)


class _Columns:
    """Common part of the three. `fields`: the number of fields, each of which has all levels."""

    field: Array
    array: Array
    """The array that is exchanged: all of `field`, or its columns that are listed."""
    own: tuple[slice, slice, slice]
    window: Any
    """A `Window`, or a `RowWindow`."""

    def __init__(self, run: Run, name: str, fields: int) -> None:
        self.name, self.around = name, run.around
        self._run, self._levels = run, fields * run.dwarf.grid[2]

    def check(self, cells: Cells, reach: str) -> None:
        """Raise InputError where the stencils of departure points in these cells go beyond the columns."""
        before, after = MARGIN[reach]
        if not self.window.holds(*cells, before, after):
            raise self.beyond(cells)

    def beyond(self, cells: Cells) -> InputError:
        """Return the error of departure points whose stencils go beyond the columns."""
        way = self.around.way(cells, self._run.departures)
        return InputError(
            f"rank {self._run.rank}, step {self._run.steps + 1}: air comes from {way} points away, beyond a halo of "
            f"{self._run.dwarf.width} points; {way + BEYOND} would do, or the strategy on-demand"
        )

    def _rows(self, extra_columns: int) -> None:
        """Make the array of the block, row by row, and of other columns in further rows."""
        nx, ny = self.around.points
        shape = (self._levels, ny + math.ceil(extra_columns / nx), nx)
        self.field = self._empty(shape)
        self.own = (slice(0, self._levels), slice(0, ny), slice(0, nx))

    def _empty(self, shape: tuple[int, int, int]) -> Array:
        precision = self._run.dwarf.precision
        if not self._run.device.is_host:
            there: Array = self._run.device.full(shape, precision, np.nan)
            return there
        if self._run.dwarf.method(self.name).transport == "shared":
            from tradewind.mpi.arrays import shared_zeros

            array: Array = shared_zeros(shape, precision)
        else:
            array = np.empty(shape, precision)
        array.fill(np.nan)
        return array

    def _listed(self, columns: int) -> Array:
        """Return the block and some other columns as points of a fetch: [field, z][column]."""
        return self.field.reshape(self._levels, -1)[:, : self.around.columns + columns]


class PaddedHalo(_Columns):
    """A halo of the same width on all sides of the block, of a plane."""

    def __init__(self, run: Run, name: str, fields: int) -> None:
        super().__init__(run, name, fields)
        width = run.dwarf.width
        assert width is not None
        halo = _core.Halo(run.dwarf.layout_of(fields), width, [True, True])
        self.field = run.array(halo, name)
        self.own = halo.widened(run.rank)
        rows, columns = self.field.shape[1:]
        places = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
        self.window = Window((-width, -width), places, width * columns + width, columns)
        self.array = self.field
        run.plan(name, halo, self.array)


class Ring(_Columns):
    """A halo of the same width on all sides of a rank's columns, across the poles, too, which is listed once."""

    def __init__(self, run: Run, name: str, fields: int) -> None:
        from tradewind.mpi.points import CorePoints

        super().__init__(run, name, fields)
        width = run.dwarf.width
        assert width is not None
        first, marks = self.around.halo(width)
        wanted = self.around.wanted(first, marks)
        self._rows(len(wanted))
        owner, index, places = self.around.listed(wanted)
        self.window = self.around.window(first, marks.shape, wanted, places, marks)
        fetch = CorePoints(run.comm, self.around.columns).halo(owner=owner, index=index)
        self.array = self._listed(len(wanted))
        run.plan(name, fetch, self.array, axis=1)


class Demand(_Columns):
    """Columns that are found and fetched anew each time."""

    local: Window
    """On a plane or a latitude-longitude sphere: the window of the columns of this rank alone, as far around its block
    as air comes from."""

    def __init__(self, run: Run, name: str, fields: int) -> None:
        from tradewind.mpi.points import CorePoints

        super().__init__(run, name, fields)
        way = math.ceil(min(run.dwarf.passed, run.dwarf.lattice.nx)) + BEYOND + 1
        self._rows(self.around.room(way))
        self._points = CorePoints(run.comm, self.around.columns)
        if run.dwarf.in_blocks:
            nothing = np.zeros(0, np.int64)
            self.local = self.around.window(*self.around.around(way), nothing, nothing)
        self._exchanges = FetchesOnDemand()
        run.add_exchanges(name, self._exchanges)

    def find(self, departures: Array, cells: Cells, reach: str, chunks: _core.DepartureChunks, done: int) -> None:
        """List the columns that the stencils of departure points with `done` iterations need, and make room for them.

        An error is sent to the ranks that wait for the lists.
        """
        run = self._run
        with CollectiveErrors(self._points.send_error):
            first, marks, wanted = wanted_columns(self.around, run.block, departures, cells, reach, chunks, done)
            self._owner, self._index, places = self.around.listed(wanted)
            room = self.field.shape[1] * self.field.shape[2] - self.around.columns
            if len(wanted) > room:
                before, own = self.field, self.own
                self._rows(len(wanted) + len(wanted) // 4)
                self.field[self.own] = before[own]
            self.window = self.around.window(first, marks.shape, wanted, places, marks)

    def send_lists(self) -> None:
        """Send the lists to the owners of the columns, and plan to fetch these. Collective.

        All fields of a column travel in one message.
        """
        from tradewind import mpi

        run = self._run
        fetch = self._points.halo(owner=self._owner, index=self._index)
        self.array = self._listed(len(self._owner))
        options = run.dwarf.plan_options(self.name)
        plan = mpi.plan(fetch, run.comm, self.array, axis=1, record=run.record, **options)
        self._exchanges.renew(plan, [size for _, size in fetch.requests(run.rank)])


class FetchesOnDemand(Exchanges):
    """Exchanges by a new plan each time, before which lists are sent; these count as messages, too."""

    def __init__(self) -> None:
        super().__init__()
        self._former_s = Counter[str]()
        self._former_events: list[Event] = []

    def renew(self, plan: Plan, lists: Sequence[int]) -> None:
        """Take another plan; `lists`: bytes of each list that was sent for it."""
        self._former_s.update(super()._seconds_of_plans())
        self._former_events += super()._events_of_plans()
        self._plans = {0: plan}
        self.counts.update(messages=len(lists), bytes=sum(lists))

    def __call__(self, array: Array) -> None:
        """Exchange by the plan. Collective."""
        plan = self._plans[0]
        plan()
        self.counts.update(calls=1, messages=plan.messages, bytes=plan.bytes_sent)

    def clear(self) -> None:
        """Forget seconds, events and numbers of exchanges."""
        super().clear()
        self._former_s.clear()
        self._former_events.clear()

    @property
    def calls(self) -> int:
        """Exchanges since `Running.reset`."""
        return self.counts["calls"]

    @property
    def messages(self) -> int:
        """Messages that this rank has sent since `Running.reset`, lists among them."""
        return self.counts["messages"]

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank has sent since `Running.reset`, those of lists among them."""
        return self.counts["bytes"]

    def _seconds_of_plans(self) -> Counter[str]:
        found = super()._seconds_of_plans()
        found.update(self._former_s)
        return found

    def _events_of_plans(self) -> list[Event]:
        return [*self._former_events, *super()._events_of_plans()]
