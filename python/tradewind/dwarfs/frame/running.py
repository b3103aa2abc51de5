"""A dwarf on MPI ranks, one of which this process is: the bookkeeping that all dwarfs share.

A dwarf's own class makes its arrays and plans, and the places of its loops. Here the seconds, events,
messages and bytes of a run are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from tradewind import _core
from tradewind.base.collective import collective, proceed, require_mpi, send_error
from tradewind.base.errors import InputError
from tradewind.base.extents import whole_number
from tradewind.device import HOST, Copies, open_device
from tradewind.dwarfs.frame.exchanges import Exchanges
from tradewind.dwarfs.frame.step import COMPUTE

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.output import Output
    from tradewind.dwarfs.frame.step import Kernel
    from tradewind.method.method import Method
    from tradewind.mpi.library import Array, Plan
    from tradewind.timeline.measured import Event


class Request(Protocol):
    """The part of a request that a run needs, see `tradewind.dwarfs.frame.dwarf.Dwarf`."""

    @property
    def precision(self) -> str:
        """Element type of the fields."""

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""

    @property
    def device_name(self) -> str:
        """Name of the device where the fields lie."""

    @property
    def threads(self) -> int:
        """Threads per rank that compute."""

    @property
    def work(self) -> int:
        """Repetitions of each loop."""

    @property
    def strategy(self) -> str | None:
        """Name of the strategy."""

    @property
    def strategies(self) -> Mapping[str, Callable[[Any, int], int]]:
        """Functions of the strategies, by name: (step, round) -> steps taken."""

    @property
    def plans(self) -> Mapping[str, str]:
        """Names of the plans, and what they exchange."""

    def method(self, plan: str) -> Method:
        """Return algorithm, transport and packing of a plan, as far as they are chosen."""

    def plan_options(self, plan: str) -> dict[str, Any]:
        """Return the further options of a plan."""


_ONCE = range(1)
COLLECTIVE = {"advance", "diagnose", "gathered", "map", "reset"}
"""Methods of a run that all ranks call. Each begins with an agreement: it is no part of a step."""


def _rank_on_node(comm: MPI.Intracomm) -> int:
    """Return the number of this rank among those of its node. Collective."""
    from tradewind.mpi.library import MPI

    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    number: int = node.Get_rank()
    node.Free()
    return number


class Running(ABC):
    """A dwarf on MPI ranks: a `Step` whose exchanges and loops are real."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the methods of each dwarf's run that all ranks call collective."""
        super().__init_subclass__(**options)
        for name in COLLECTIVE & vars(cls).keys():
            setattr(cls, name, collective(vars(cls)[name]))

    def send_error(self, problem: str) -> None:
        """Send the other ranks the error that keeps this one from the method that they call; they raise PlanError."""
        require_mpi()
        send_error(self.comm, problem)

    def __init__(self, dwarf: Request, comm: MPI.Intracomm, record: str) -> None:
        self.comm, self.rank = comm, comm.Get_rank()
        self.team = _core.Team(dwarf.threads)
        on_host = dwarf.device_name == HOST.name
        self.device = HOST if on_host else open_device(dwarf.device_name, _rank_on_node(comm))
        """Where the fields lie and the loops run."""
        self.dwarf: Any = dwarf
        self._request, self.record = dwarf, record
        self.steps = 0
        """Time steps that have ended."""
        self._exchanges: dict[str, Exchanges] = {}
        self._open: dict[str, Array] = {}
        """By exchange the array that is under way."""
        self.setup_s: dict[str, float] = {}
        """Seconds of this rank by part of the set-up, where a dwarf times it: a figure of its own."""
        self._warm: list[Plan] = []
        self._repeats = range(dwarf.work)
        self._seconds = defaultdict[str, float](float, {COMPUTE: 0.0})
        self._events: list[Event] | None = [] if record == "events" else None
        self.copies = Copies()
        """Copies between host and device that this rank has made in time steps since `reset`."""

    # The parts of a dwarf.

    def array(self, pattern: _core.Pattern, plan: str = "", dtype: str | None = None) -> Array:
        """An array for an exchange, full of NaN: a diagnosis finds what has not been filled.

        `plan`: its name; the first of the dwarf unless given. `dtype`: the dwarf's precision unless given.
        """
        from tradewind import mpi

        precision = dtype or self._request.precision
        shared = self._request.method(plan or next(iter(self._request.plans))).transport == "shared"
        shape = pattern.source_shape(self.rank)
        if not self.device.is_host:
            there: Array = self.device.full(shape, precision, np.nan)
            return there
        # For the transport shared, in memory where other ranks can take messages from.
        array: Array = mpi.empty(pattern, self.comm, precision) if shared else np.empty(shape, precision)
        array.fill(np.nan)
        return array

    def plan(
        self,
        name: str,
        pattern: _core.Pattern,
        *arrays: Array | tuple[Array, Array],
        warm: bool = True,
        **options: Any,
    ) -> Exchanges:
        """One of the `plans` of the dwarf, for each of some arrays, or of pairs of source and target. Collective.

        Those of one name are one exchange: arrays of several patterns may be added one after another.

        `warm`: whether `reset` exchanges once, as the first time costs more. `options`: others of
        `tradewind.mpi.plan`.
        """
        from tradewind import mpi

        made = {}
        for each in arrays:
            pair = each if isinstance(each, tuple) else (each,)
            chosen = self._request.plan_options(name) | options
            made[id(pair[0])] = mpi.plan(pattern, self.comm, *pair, record=self.record, **chosen)
        if warm:
            self._warm += made.values()
        exchanges = self._exchanges.setdefault(name, Exchanges())
        exchanges.add(made)
        return exchanges

    def add_exchanges(self, name: str, exchanges: Exchanges) -> None:
        """Count one of the exchanges of the dwarf, whose plans something else makes."""
        self._exchanges[name] = exchanges

    def timed(self, loop: Callable[..., None], *arguments: Any, part: str = COMPUTE, once: bool = False) -> None:
        """Call a loop over points, `work` times, and add its seconds to `part`.

        `once`: of a loop that reads what it writes, or adds to it.
        """
        self._time(part, _ONCE if once else self._repeats, loop, *arguments)

    def _time(self, part: str, repeats: range, loop: Callable[..., None], *arguments: Any) -> None:
        begin = perf_counter()
        for _ in repeats:
            loop(*arguments)
        self.device.synchronize()
        end = perf_counter()
        self._seconds[part] += end - begin
        if self._events is not None:
            self._events.append((part, -1, -1, 0, begin, end))

    # The operations of strategies, see `Step`.

    def array_of(self, exchange: str, of: Any) -> Array:
        """The array that a strategy names: that of an attribute, unless a dwarf has others."""
        found: Array = getattr(self, of)
        return found

    def places(self, points: Any) -> Sequence[Any]:
        """The points of this rank by the name that a strategy gives them, as loops take them: one after another."""
        return [points]

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """Exchange an array."""
        array = self.array_of(name, of)
        self._exchanges[name](array)

    def start(self, name: str, of: Any = "field", label: str = "") -> None:
        """Start to exchange an array."""
        array = self.array_of(name, of)
        self._exchanges[name].start(array)
        self._open[name] = array

    def wait(self, name: str, label: str = "") -> None:
        """Wait until an exchange that was started has ended."""
        self._exchanges[name].wait(self._open.pop(name))

    def poke(self) -> None:
        """Let all exchanges that are open go on, as far as they can without waiting."""
        for name, array in self._open.items():
            self._exchanges[name].poke(array)

    def compute(self, kernel: Kernel, *arguments: Any, points: Any = "own", label: str = "") -> None:
        """Call a loop for the points of a kind, and add its time to its part."""
        loop, part = kernel.loop_on(self.device), kernel.part
        repeats = _ONCE if kernel.once else self._repeats
        for place in self.places(points):
            if part:
                self._time(part, repeats, loop, self, place, *arguments)
            else:
                loop(self, place, *arguments)

    def reduce(self, name: str, of: Any, label: str = "") -> Sequence[float]:
        """Combine numbers over all ranks, and return them."""
        self.exchange(name, of)
        return self.values(name, of)

    def values(self, name: str, of: Any) -> Sequence[float]:
        """Return the result of a reduction that has ended."""
        numbers: list[float] = self.array_of(name, of).tolist()
        return numbers

    def ended(self, iterations: int, numbers: Sequence[float]) -> bool:
        """Return whether a solver has converged; False for a dwarf without a solver."""
        return False

    def finish(self, *result: Any) -> None:
        """Count a step."""
        self.steps += 1

    # The methods of each dwarf.

    @property
    @abstractmethod
    def minimum_bytes(self) -> int:
        """Bytes of a memory copy on this rank that amounts to one step: each value read once and written once."""

    @abstractmethod
    def diagnose(self) -> Any:
        """The `diagnostics` of the whole state: an object with a number by each name. Collective.

        Raises NotFiniteError on all ranks.
        """

    @abstractmethod
    def gathered(self) -> Array | None:
        """The whole state on rank 0, as `Dwarf.reference_step` takes it. Collective."""

    def map(self) -> Array | None:
        """A field [y][x] to be drawn, on rank 0, of a dwarf that has one. Collective."""
        return None

    map_variable: ClassVar[str] = "x"
    """The variable that `map` shows: a name of `tradewind.dwarfs.frame.output.NAMED`."""

    @property
    def map_place(self) -> dict[str, Any]:
        """Where the points of `map` lie, as `tradewind.plot.field.Shown` takes it: by default on a plane."""
        return {}

    def outputs(self) -> list[Output]:
        """The fields that a run can write, see `dwarfs.frame.output`. Raises InputError for a dwarf without."""
        raise InputError(f"{type(self).__name__} has no field to write")

    # Steps of a run, and its records.

    @collective
    def advance(self, steps: int) -> None:
        """Take time steps. Collective."""
        steps = whole_number("steps", steps)
        proceed(self.comm, f"{steps} steps")
        assert self._request.strategy is not None
        strategy = self._request.strategies[self._request.strategy]
        before = replace(self.device.copies)
        while steps > 0:
            steps -= strategy(self, steps)
        self.copies += self.device.copies - before

    @collective
    def reset(self) -> None:
        """Begin to count seconds and exchanges. Collective: before, each plan exchanges once, which costs more."""
        proceed(self.comm)
        for plan in self._warm:
            plan()
        for exchanges in self._exchanges.values():
            exchanges.clear()
        self._seconds = defaultdict[str, float](float, {COMPUTE: 0.0})
        self.copies = Copies()
        if self._events is not None:
            self._events.clear()

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave loops and exchanges inside, such as those of a diagnosis, out of seconds, events and numbers."""
        seconds, events = self._seconds.copy(), len(self._events or ())
        with ExitStack() as entered:
            for exchanges in self._exchanges.values():
                entered.enter_context(exchanges.uncounted())
            yield
        self._seconds = seconds
        if self._events is not None:
            del self._events[events:]

    def events(self) -> list[Event]:
        """Events of this rank since `reset`; none unless it records "events"."""
        if self._events is None:
            return []
        return [*self._events, *(event for each in self._exchanges.values() for event in each.events())]

    def seconds(self) -> dict[str, float]:
        """Seconds of this rank since `reset` by part of the time loop: computing, and what plans do.

        Of a dwarf with several exchanges the parts of a plan follow its name: ``halo-wait``.
        """
        found = self._seconds.copy()
        for name, exchanges in self._exchanges.items():
            before = f"{name}-" if len(self._exchanges) > 1 else ""
            for part, seconds in exchanges.seconds().items():
                found[before + part] += seconds
        return dict(found)

    @property
    def plans(self) -> dict[str, Plan]:
        """Plan of each exchange, by name, as far as they are made."""
        return {name: plans[0] for name, exchanges in self._exchanges.items() if (plans := exchanges.plans)}

    @property
    def exchanges(self) -> int:
        """Exchanges since `reset`."""
        return sum(exchanges.calls for exchanges in self._exchanges.values())

    @property
    def messages(self) -> int:
        """Messages that this rank has sent since `reset`."""
        return sum(exchanges.messages for exchanges in self._exchanges.values())

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank has sent since `reset`."""
        return sum(exchanges.bytes_sent for exchanges in self._exchanges.values())

    @property
    def pokes(self) -> int:
        """Pokes of this rank since `reset`."""
        return sum(exchanges.pokes for exchanges in self._exchanges.values())
