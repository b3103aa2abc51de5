"""A trace in memory: what each rank of an MPI program called, in which order and when.

A rank's events are few distinct *operations* (a call with all its arguments but the buffers), the order in which they
come, and their times: a loop of a thousand steps has the operations of one step. Ranks are those of MPI_COMM_WORLD
everywhere, never those of another communicator; NONE stands for no rank, tag or request, ANY for a wildcard.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.trace.calls import CALLS, Call
from tradewind.trace.sites import Site

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

NONE = -1
"""No rank (also MPI_PROC_NULL), tag, communicator, window, type, request or call site."""
ANY = -2
"""MPI_ANY_SOURCE or MPI_ANY_TAG."""
MAX_RANKS = 1 << 24
"""Ranks that a trace can have."""

OPERATION = np.dtype(
    [
        ("call", "<u2"),  # index into calls.CALLS
        ("thread", "<u2"),  # threads of the rank, in the order of their first calls
        ("communicator", "<i4"),  # index into Trace.communicators
        ("peer", "<i4"),  # destination, root or target
        ("tag", "<i4"),
        ("bytes", "<i8"),  # sent or written; of a collective operation: given to it
        ("source", "<i4"),
        ("source_tag", "<i4"),
        ("received", "<i8"),  # received or read; of a collective operation: obtained from it
        ("type", "<i4"),  # of what is sent, else of what is received: index into RankEvents.types
        ("source_type", "<i4"),  # of what is received by a call that does both
        ("request", "<i4"),  # slot of the request that it makes
        ("window", "<i4"),  # index into Trace.windows
        ("created", "<i4"),  # communicator or window that it makes
        ("argument", "<i4"),  # flag, partition, number of partitions, lock type: see calls.Kind
        ("site", "<i4"),  # where it is called: index into RankEvents.sites
        ("asked", "<i8", 2),  # begin and end in RankEvents.asked
        ("ended", "<i8", 2),  # begin and end in RankEvents.ended
        ("blocks", "<i8", 2),  # begin and end in RankEvents.blocks
    ]
)
"""Columns of an operation. A slot is the number of a request from the call that makes it to the one that ends it; then
the next request takes it, so that equal steps have equal operations. Persistent requests keep it until they are freed.
"""
ENDED = np.dtype([("request", "<i4"), ("source", "<i4"), ("tag", "<i4"), ("cancelled", "<i4"), ("bytes", "<i8")])
"""Columns of a request that ended: its slot and, where it was a receive, the status; else NONE, NONE, 0, 0."""
_OF_EVENTS = ("order", "begin_ns", "end_ns", "overtakers")
"""Columns of events."""
DATATYPE = np.dtype([("size", "<i8"), ("extent", "<i8"), ("derived", "?")])
"""Columns of a datatype, bytes."""


@dataclass(frozen=True)
class Communicator:
    """A communicator: the world ranks of its members, by their rank in it."""

    members: NDArray[np.int32]
    """NONE for ranks of other programs, as those that were spawned."""
    call: str = ""
    """The function that made it, as MPI_Cart_create; "": it was there from the beginning."""
    parent: int = NONE
    remote: NDArray[np.int32] | None = None
    """The other group of an intercommunicator."""
    dims: tuple[int, ...] = ()
    """Ranks in each direction of a Cartesian topology."""
    periodic: tuple[bool, ...] = ()

    @cached_property
    def is_whole(self) -> bool:
        """Whether all of its ranks are of this program."""
        return all(group is None or bool((group != NONE).all()) for group in (self.members, self.remote))


@dataclass(frozen=True)
class Window:
    """A window of one-sided communication."""

    communicator: int
    call: str = ""


@dataclass(eq=False)
class RankEvents:
    """The events of a rank in the order in which their calls returned: `operations[order[i]]` is event i."""

    rank: int
    operations: NDArray[Any]
    """Distinct operations, of dtype OPERATION."""
    order: NDArray[np.int32]
    """[event]: index into `operations`."""
    begin_ns: NDArray[np.int64]
    """[event]: begin of the call, nanoseconds from the beginning of the trace."""
    end_ns: NDArray[np.int64]
    """[event]: its end. The time from the end of a thread's call to the begin of its next is computation."""
    asked: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """Slots of the requests that starts, waits and tests were given; see `asked_of`."""
    ended: NDArray[Any] = field(default_factory=lambda: np.empty(0, ENDED))
    """Requests that ended in waits and tests, of dtype ENDED; see `ended_of`."""
    blocks: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Bytes given for each rank of the communicator, or each neighbor, where they differ; see `blocks_of`."""
    types: NDArray[Any] = field(default_factory=lambda: np.empty(0, DATATYPE))
    """Datatypes, of dtype DATATYPE."""
    neighbors: Mapping[int, tuple[NDArray[np.int32], NDArray[np.int32]]] = field(default_factory=dict)
    """World ranks from which and to which neighbor collectives go, by communicator."""
    sites: Sequence[Site] = ()
    """Where MPI is called."""
    overtakers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """[event]: events in front of it that came once its call had begun, of other threads; empty: not recorded."""
    first: int = 0
    """Number of the first event, where these are a part of the rank's events."""

    def __len__(self) -> int:
        return len(self.order)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of OPERATION, or `begin_ns`, `end_ns`, for each event."""
        if name in ("begin_ns", "end_ns"):
            return self.begin_ns if name == "begin_ns" else self.end_ns
        values: NDArray[Any] = self.operations[name][self.order]
        return values

    def call(self, operation: int) -> Call:
        """Return the MPI function of an operation."""
        return CALLS[int(self.operations["call"][operation])]

    def asked_of(self, operation: int) -> NDArray[np.int32]:
        """Return the slots of the requests that an operation was given, in the order of its argument."""
        return self.asked[slice(*self.operations["asked"][operation])]

    def ended_of(self, operation: int) -> NDArray[Any]:
        """Return the requests that ended in an operation, in the order of its result."""
        return self.ended[slice(*self.operations["ended"][operation])]

    def blocks_of(self, operation: int) -> NDArray[np.int64]:
        """Return the bytes that a Scatterv, Alltoallv, Alltoallw, Reduce_scatter or neighbor collective gives to each.

        Empty where the operation has no such list.
        """
        return self.blocks[slice(*self.operations["blocks"][operation])]

    def gaps_ns(self) -> NDArray[np.int64]:
        """Return, for each event, the time since the end of the previous call of its thread; 0 for the first."""
        gaps = np.zeros(len(self), np.int64)
        threads = self.column("thread")
        for thread in np.unique(threads):
            mine = np.flatnonzero(threads == thread)
            gaps[mine[1:]] = self.begin_ns[mine[1:]] - self.end_ns[mine[:-1]]
        return gaps

    def part(self, begin: int, end: int) -> RankEvents:
        """Return the events from `begin` to before `end`, counted from the first of these, with all operations."""
        sliced = {name: getattr(self, name)[begin:end] for name in _OF_EVENTS}
        return RankEvents(**{**self.__dict__, **sliced, "first": self.first + begin})

    def table(self) -> pd.DataFrame:
        """Return a table with a row per event: the function's name, the columns of OPERATION but lists, the times."""
        import pandas as pd

        names = [name for name in OPERATION.names or () if OPERATION[name].shape == () and name != "call"]
        functions = pd.Categorical.from_codes(self.column("call").astype(np.int64), [call.name for call in CALLS])
        columns = {name: self.column(name) for name in names}
        times = {"begin_ns": self.begin_ns, "end_ns": self.end_ns, "gap_ns": self.gaps_ns()}
        numbers = pd.RangeIndex(self.first, self.first + len(self))
        return pd.DataFrame({"call": functions, **columns, **times}, index=numbers)


@dataclass(frozen=True)
class RankInfo:
    """Where a rank ran, how its recording ended, and the calls of it that are only counted."""

    host: str = ""
    library: str = ""
    """The first line of MPI_Get_library_version."""
    abi: str = ""
    """mpich, mpi5 or openmpi."""
    thread_level: str = "single"
    """single, funneled, serialized or multiple."""
    ending: str = "finalized"
    """finalized; exited (without MPI_Finalize); aborted (MPI_Abort); killed, or full (disk): the last events are
    missing."""
    counted: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """Calls that are no events: how often, and seconds in them, by name."""
    events: int = 0

    @property
    def is_to_the_end(self) -> bool:
        """Whether its calls are there to the end of the program."""
        return self.ending in ("finalized", "exited")


@dataclass(eq=False)
class Trace:
    """A recorded run of an MPI program. `events` reads the events of a rank when they are first asked for."""

    size: int
    """Ranks of MPI_COMM_WORLD."""
    infos: Mapping[int, RankInfo]
    """By rank; ranks that left no file are missing."""
    communicators: Sequence[Communicator]
    """The first is MPI_COMM_WORLD; a rank has its own MPI_COMM_SELF."""
    load: Callable[[int, int], Iterator[RankEvents]]
    """Yields the events of a rank in parts of at most the given number of events."""
    windows: Sequence[Window] = ()
    command: Sequence[str] = ()
    """The recorded command line."""
    started: str = ""
    """Date and time of the beginning, ISO 8601, UTC."""
    problems: Sequence[str] = ()
    """One sentence for each thing that is missing: a rank, the last events of a rank, the end of the file."""

    EVENTS_PER_PART = 1 << 20

    @property
    def ranks(self) -> list[int]:
        """The ranks of which there are events, ascending."""
        return sorted(self.infos)

    @property
    def cut_ranks(self) -> frozenset[int]:
        """The ranks whose recording ends before the program does: last calls are missing, or were never made."""
        return frozenset(rank for rank, info in self.infos.items() if not info.is_to_the_end)

    def parts(self, rank: int, events: int = EVENTS_PER_PART) -> Iterator[RankEvents]:
        """Yield the events of a rank in parts of at most `events` events, for traces larger than the memory.

        Raises InputError for a rank that the trace does not have.
        """
        if rank not in self.infos:
            raise InputError(f"rank {rank}: the trace has {len(self.infos)} of {self.size} ranks, and not this one")
        yield from self.load(rank, events)

    def events(self, rank: int) -> RankEvents:
        """Return all events of a rank. Raises InputError for a rank that the trace does not have."""
        if rank not in self._read:
            self._read[rank] = _joined(list(self.parts(rank)))
        return self._read[rank]

    @cached_property
    def _read(self) -> dict[int, RankEvents]:
        return {}

    def table(self, rank: int) -> pd.DataFrame:
        """Return `RankEvents.table` of a rank."""
        return self.events(rank).table()

    def __len__(self) -> int:
        return sum(info.events for info in self.infos.values())


def missing_ranks(size: int, there: Collection[int]) -> Iterator[str]:
    """Yield a sentence about the ranks below `size` that are not there, if any is missing."""
    if missing := size - len(there):
        first = islice((rank for rank in range(size) if rank not in there), 10)
        yield f"{missing} of {size} ranks are missing: {', '.join(map(str, first))}{', ...' if missing > 10 else ''}"


def _joined(parts: Sequence[RankEvents]) -> RankEvents:
    """Return parts of one rank as one; the last has all operations."""
    last = parts[-1]
    if len(parts) == 1:
        return last
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _OF_EVENTS}
    return RankEvents(**{**last.__dict__, **whole, "first": parts[0].first})
