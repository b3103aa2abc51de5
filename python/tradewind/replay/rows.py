"""The rows of a rank that are replayed, from its events: what each call sends, receives and waits for.

A distinct operation becomes a few rows once; the events of a rank are then blocks of rows in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.replay.one_sided import Accesses
from tradewind.replay.row import (
    ANY_SOURCE,
    ANY_TAG,
    BLOCK_TAG,
    BUFFERED,
    CANCELLED,
    COLLECTIVE,
    COLUMNS,
    COMPUTE,
    COMPUTING,
    FREED,
    JOINED,
    NEIGHBOR_TAG,
    NONBLOCKING,
    PERSISTENT,
    RECEIVE,
    SEND,
    START,
    SYNCHRONOUS,
    WAIT,
    Left,
    Row,
)
from tradewind.trace.calls import CALLS, NUMBERS, Form, Kind
from tradewind.trace.model import ANY, NONE, Communicator, RankEvents

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_S = 9_000_000
_MOST_PS = _MOST_S * 10**12
"""Computing of a rank, as its sum has to fit into 64 bits."""
OF_THE_CALL = -10
"""Request of what begins and ends in one call: no slot of a request; of thread t: t less."""
COLLECTIVES = {
    "Barrier": "barrier",
    "Bcast": "broadcast",
    "Gather": "gather",
    "Gatherv": "gather",
    "Scatter": "scatter",
    "Scatterv": "scatter",
    "Allgather": "allgather",
    "Allgatherv": "allgather",
    "Alltoall": "alltoall",
    "Alltoallv": "alltoall",
    "Alltoallw": "alltoall",
    "Reduce": "reduce",
    "Allreduce": "allreduce",
    "Reduce_scatter": "reduce_scatter",
    "Reduce_scatter_block": "reduce_scatter",
    "Scan": "scan",
    "Exscan": "scan",
}
"""The collective call of the core that replays each of MPI's."""
BY_BLOCKS = ("Gatherv", "Scatterv", "Alltoallv", "Alltoallw")
"""Those in which each pair of ranks has a message of its own size, as in MPICH."""
GIVEN = ("gather", "allgather", "alltoall", "reduce_scatter")
"""Those that depend on the bytes that a rank gives, not on the larger of what it gives and gets."""
SYNCHRONIZING = ("MPI_Comm_create_group", "MPI_Comm_create_from_group", "MPI_Intercomm_create", "MPI_Intercomm_merge")
"""Calls that make communicators, but not of all ranks of one that is there: they are not replayed."""
NO_ROWS = (Kind.PROBE, Kind.PARTITION, Kind.CANCEL, Kind.ENVIRONMENT, Kind.OTHER)
"""Kinds that move nothing, or whose messages stand with other calls."""
MOVING = (Kind.SEND, Kind.RECEIVE, Kind.SENDRECV, Kind.COLLECTIVE, Kind.NEIGHBOR)
"""Kinds whose messages belong to a communicator."""


class _Operations:
    """Makes the rows of the distinct operations of a rank."""

    def __init__(self, events: RankEvents, communicators: Sequence[Communicator]) -> None:
        self.events = events
        self.communicators = communicators
        self.left_out: list[int] = []
        """Operations that are not replayed."""

    def blocks(self) -> list[list[Row]]:
        """Return the rows of each operation, after that of the computing before it."""
        return [[Row(COMPUTE, COMPUTING), *self.rows(i)] for i in range(len(self.events.operations))]

    def inter(self, place: int) -> bool:
        """Return whether a communicator is an intercommunicator, whose collective calls are left out."""
        return self.communicators[place].remote is not None

    def rows(self, number: int) -> list[Row]:
        """Return the rows of an operation."""
        operation, call = self.events.operations[number], self.events.call(number)
        label = int(operation["call"]) + 1
        made: dict[Kind, Callable[[], Iterator[Row]]] = {
            Kind.SEND: lambda: self._message(operation, label, SEND, number),
            Kind.RECEIVE: lambda: self._message(operation, label, RECEIVE, number),
            Kind.SENDRECV: lambda: self._both(operation, label, number),
            Kind.START: lambda: self._starts(number, label),
            Kind.WAIT: lambda: self._ends(number, label),
            Kind.TEST: lambda: self._ends(number, label),
            Kind.FREE: lambda: (Row(WAIT, label, FREED, request=int(slot)) for slot in self.events.asked_of(number)),
            Kind.COLLECTIVE: lambda: self._collective(operation, label, number),
            Kind.NEIGHBOR: lambda: self._neighbors(operation, label, number),
            Kind.EPOCH: lambda: self._epoch(operation, label, number),
            Kind.MAKE: lambda: self._makes(operation, label, number),
        }
        if call.kind in NO_ROWS:
            return []
        place = int(operation["communicator"])
        unseen = call.kind in MOVING and place < 0  # it was made in front of the recording
        with_others = place >= 0 and not self.communicators[place].is_whole  # whose calls are not recorded
        if unseen or with_others or call.kind not in made:  # one-sided accesses, which depend on what other ranks do
            self.left_out.append(number)
            return []
        return list(made[call.kind]())

    def _message(self, operation: Any, label: int, kind: int, number: int) -> Iterator[Row]:
        call = CALLS[label - 1]
        sends = kind == SEND
        peer, tag = (operation["peer"], operation["tag"]) if sends else self._source(operation, number)
        if peer == NONE:
            return
        flags = {Form.BLOCKING: 0, Form.NONBLOCKING: NONBLOCKING, Form.PERSISTENT: PERSISTENT}[call.form]
        if sends and call.base == "synchronous":
            flags |= SYNCHRONOUS
        if sends and call.base == "buffered":  # it ends at once, whatever the library buffers
            flags |= BUFFERED
        if not sends:
            flags |= _wildcards(operation)
        amount = int(operation["bytes" if sends else "received"])
        request = int(operation["request"])
        yield Row(kind, label, flags, 0, int(operation["communicator"]), int(peer), int(tag), amount, request)

    def _source(self, operation: Any, number: int) -> tuple[int, int]:
        """Return whose message a receive takes, and its tag; of one that ended in the call that of the status."""
        peer, tag = int(operation["source"]), int(operation["source_tag"])
        ended = self.events.ended_of(number)
        if len(ended) == 1 and ANY in (peer, tag):
            return int(ended["source"][0]), int(ended["tag"][0])
        return peer, tag

    def _both(self, operation: Any, label: int, number: int) -> Iterator[Row]:
        blocking = CALLS[label - 1].form is Form.BLOCKING
        request = OF_THE_CALL if blocking else int(operation["request"])
        source, source_tag = self._source(operation, number)
        place = int(operation["communicator"])
        flags = NONBLOCKING
        if source != NONE:
            wild = flags | _wildcards(operation)
            yield Row(RECEIVE, label, wild, 0, place, source, source_tag, int(operation["received"]), request)
            flags |= JOINED
        if operation["peer"] != NONE:
            peer, tag, amount = (int(operation[name]) for name in ("peer", "tag", "bytes"))
            yield Row(SEND, label, flags, 0, place, peer, tag, amount, request)
        if blocking:
            yield Row(WAIT, label, request=request)

    def _starts(self, number: int, label: int) -> Iterator[Row]:
        for slot in self.events.asked_of(number):
            yield Row(START, label, request=int(slot))

    def _ends(self, number: int, label: int) -> Iterator[Row]:
        for ended in self.events.ended_of(number):
            flags = CANCELLED if ended["cancelled"] else 0
            peer, tag = int(ended["source"]), int(ended["tag"])
            yield Row(WAIT, label, flags, peer=peer, tag=tag, request=int(ended["request"]))

    def _collective(self, operation: Any, label: int, number: int) -> Iterator[Row]:
        call = CALLS[label - 1]
        if self.inter(int(operation["communicator"])):
            self.left_out.append(number)
            return
        if call.base in BY_BLOCKS:
            yield from self._blocks(operation, label, number)
            return
        kind = COLLECTIVES[call.base]
        given, obtained = int(operation["bytes"]), int(operation["received"])
        if call.base == "Allgatherv":  # the mean of the blocks, which is the same on all ranks
            given = obtained // len(self.communicators[int(operation["communicator"])].members)
        amount = given if kind in GIVEN else obtained if kind == "scatter" else max(given, obtained)
        yield self._whole(kind, operation, label, amount)

    def _blocks(self, operation: Any, label: int, number: int) -> Iterator[Row]:
        """A message to each rank, or to or from the root, of its own size."""
        call, place, root = CALLS[label - 1], int(operation["communicator"]), int(operation["peer"])
        members = self.communicators[place].members.tolist()
        given = dict(zip(members, self.events.blocks_of(number).tolist(), strict=False))
        rank = self.events.rank
        if call.base == "Gatherv":
            given = {} if rank == root else {root: int(operation["bytes"])}
        if call.base in ("Alltoallv", "Alltoallw"):
            sources = members
        else:
            sources = members if (rank == root) == (call.base == "Gatherv") else []
            if call.base == "Scatterv" and rank != root:
                given, sources = {}, [root]
        yield from self._pairs(operation, label, sources, list(given.items()), BLOCK_TAG)

    def _pairs(
        self, operation: Any, label: int, sources: Sequence[int], given: Sequence[tuple[int, int]], tag: int
    ) -> Iterator[Row]:
        """Receives from ranks, and sends of bytes to ranks, all at once."""
        place = int(operation["communicator"])
        form = CALLS[label - 1].form
        request = OF_THE_CALL if form is Form.BLOCKING else int(operation["request"])
        own = self.events.rank if tag == BLOCK_TAG else NONE
        flags = PERSISTENT if form is Form.PERSISTENT else NONBLOCKING
        for source in sources:
            if source not in (NONE, own):
                yield Row(RECEIVE, label, flags, 0, place, int(source), tag, 0, request)
                flags |= JOINED
        for destination, amount in given:
            if destination not in (NONE, own):
                yield Row(SEND, label, flags, 0, place, int(destination), tag, amount, request)
                flags |= JOINED
        if form is Form.BLOCKING:
            yield Row(WAIT, label, request=request)

    def _whole(self, kind: str, operation: Any, label: int, amount: int, form: Form | None = None) -> Row:
        form = CALLS[label - 1].form if form is None else form
        flags = {Form.BLOCKING: 0, Form.NONBLOCKING: NONBLOCKING, Form.PERSISTENT: PERSISTENT}[form]
        number = _core.collective_calls.index(kind)
        place, root, request = (int(operation[name]) for name in ("communicator", "peer", "request"))
        return Row(COLLECTIVE, label, flags, number, place, root, 0, amount, request)

    def _neighbors(self, operation: Any, label: int, number: int) -> Iterator[Row]:
        call, place = CALLS[label - 1], int(operation["communicator"])
        if place not in self.events.neighbors:
            self.left_out.append(number)
            return
        sources, destinations = self.events.neighbors[place]
        blocks = self.events.blocks_of(number)
        each = int(operation["bytes"])
        if "allgather" not in call.base:
            each //= max(1, len(destinations))
        amounts = blocks.tolist() if len(blocks) == len(destinations) else [each] * len(destinations)
        given = list(zip(destinations.tolist(), amounts, strict=True))
        yield from self._pairs(operation, label, sources.tolist(), given, NEIGHBOR_TAG)

    def _epoch(self, operation: Any, label: int, number: int) -> Iterator[Row]:
        if CALLS[label - 1].name == "MPI_Win_fence" and operation["communicator"] >= 0:
            yield self._whole("barrier", operation, label, 0, Form.BLOCKING)
        else:
            self.left_out.append(number)

    def _makes(self, operation: Any, label: int, number: int) -> Iterator[Row]:
        """Making a communicator or a window waits for all its ranks."""
        name = CALLS[label - 1].name
        if name in SYNCHRONIZING or operation["communicator"] < 0 or self.inter(int(operation["communicator"])):
            self.left_out.append(number)
        else:
            form = Form.BLOCKING if operation["request"] == NONE else Form.NONBLOCKING
            yield self._whole("barrier", operation, label, 0, form)


def _wildcards(operation: Any) -> int:
    """Return the flags of what a receive takes from anywhere."""
    return ANY_SOURCE * int(operation["source"] == ANY) | ANY_TAG * int(operation["source_tag"] == ANY)


def gaps_ns(events: RankEvents) -> NDArray[np.int64]:
    """Return the computing before each event: since the latest end of a call before it, whatever its thread.

    Between two looks for something that is not there yet (tests and probes that return false, and tests of partitions,
    whose results are not recorded) a rank waits, and computes nothing.
    """
    if not len(events):
        return np.zeros(0, np.int64)
    busy = np.maximum.accumulate(events.end_ns)
    gaps = np.zeros(len(events), np.int64)
    gaps[1:] = np.maximum(0, events.begin_ns[1:] - busy[:-1])
    looks = np.array([CALLS[int(call)].kind in (Kind.TEST, Kind.PROBE) for call in events.operations["call"]], bool)
    found = events.operations["argument"] > 0
    look, vain = looks[events.order], (looks & ~found)[events.order]
    gaps[1:][vain[:-1] & look[1:]] = 0
    parrived = (events.operations["call"] == NUMBERS["MPI_Parrived"])[events.order]
    gaps[1:][parrived[:-1] & parrived[1:]] = 0
    return gaps


@dataclass(frozen=True)
class _Sequence:
    """The rows of a rank: blocks, which of them come one after another, and the event of each."""

    blocks: list[list[Row]]
    order: NDArray[np.int32]
    events: NDArray[np.int64]
    beginning: int
    """Blocks that begin with a computation; they are the first."""
    accessing: NDArray[np.int64]
    """Events that access or synchronize windows, and are replayed as a whole."""


def _sequence(events: RankEvents, operations: _Operations, accesses: Accesses | None) -> _Sequence:
    """Return the rows of the events; where a rank has several threads, calls begin and end one by one.

    A call of one thread may go on while those of others come and go, also such as it needs to end. They end in the
    order of the events, and begin between the same ends as they did; those between two ends in the order of their
    times.
    """
    blocks, number = operations.blocks(), np.arange(len(events))
    threads = events.operations["thread"]
    accessing = np.zeros(0, np.int64)
    if not threads.any():
        order = events.order.astype(np.int32)
        if accesses is not None:
            of_windows = accesses.blocks_of(events, blocks)
            accessing = of_windows.events[of_windows.is_whole]
            order[of_windows.events] = of_windows.chosen + len(blocks)
            blocks = blocks + of_windows.blocks
        return _Sequence(blocks, order, number, len(blocks), accessing)
    halves = [_halves(block, OF_THE_CALL - int(thread)) for block, thread in zip(blocks, threads, strict=True)]
    order = np.concatenate([events.order, events.order + np.int32(len(blocks))])
    both = np.concatenate([number, number])
    is_end = order >= len(blocks)
    times = np.concatenate([events.begin_ns, np.zeros_like(events.end_ns)])
    by_time = np.lexsort((both, times, is_end, np.concatenate([_ended_before(events), number])))
    return _Sequence(
        [begin for begin, _ in halves] + [end for _, end in halves],
        order[by_time],
        both[by_time].astype(np.int64),
        len(blocks),
        accessing,
    )


_ROUNDING_BITS = 8
"""Times of a file are within 1 / 2 ** 8 of themselves."""


def _ended_before(events: RankEvents) -> NDArray[np.int64]:
    """Return how many events ended before the call of each began, or may have begun.

    Where that was not recorded, a call that takes a slot for its request begins when it ends, as the slot may have been
    that of another request until then, and others as early as the rounding of times allows: to begin a call keeps no
    rank waiting, but where it comes too late, its own rank may wait for what another one does behind it.
    """
    number, threads = np.arange(len(events)), events.column("thread")
    if len(events.overtakers):
        before = number - events.overtakers
    else:
        durations = events.end_ns - events.begin_ns
        latest_ends = np.maximum.accumulate(events.end_ns + (durations >> _ROUNDING_BITS))
        gaps = events.gaps_ns()
        first = np.unique(threads, return_index=True)[1]
        gaps[first] = events.begin_ns[first]  # as the file has it for a thread's first call
        earliest = events.begin_ns - (gaps >> _ROUNDING_BITS)
        before = np.minimum(number, np.searchsorted(latest_ends, earliest, "right"))
        makes_request = events.operations["request"][events.order] != NONE
        before[makes_request] = number[makes_request]
    for thread in np.unique(threads):
        mine = np.flatnonzero(threads == thread)
        before[mine[1:]] = np.maximum(before[mine[1:]], mine[:-1] + 1)
    return before


def _halves(block: list[Row], own: int) -> tuple[list[Row], list[Row]]:
    """Return the rows with which a call begins and those with which it ends; `own`: the request of blocking calls."""
    begin, end = [], []
    for row in block:
        if row.request == OF_THE_CALL:
            row = replace(row, request=own)
        if row.kind == WAIT:
            end.append(row)
        elif row.kind in (SEND, RECEIVE, COLLECTIVE) and not row.flags & (NONBLOCKING | PERSISTENT | BUFFERED):
            begin.append(replace(row, flags=row.flags | NONBLOCKING, request=own))
            end.append(Row(WAIT, row.label, request=own))
        else:
            begin.append(row)
    return begin, end


def blocks_of(
    events: RankEvents,
    communicators: Sequence[Communicator],
    left: Left | None = None,
    scale: float = 1.0,
    accesses: Accesses | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the rows of a rank as the core takes them: distinct ones in blocks, and the blocks in their order.

    `COLUMNS` of the rows of all blocks; `begins`: the first row of each block, and the end of the last one; `order`:
    of the blocks; `computing`: picoseconds of the computation with which each one in the order begins, if it does.
    Computations take `scale` times their recorded time. `accesses`: one-sided accesses of all ranks; None: they are
    left out. What is left out is added to `left`. Raises InputError for more computing than can be replayed.
    """
    operations = _Operations(events, communicators)
    sequence = _sequence(events, operations, accesses)
    if left is not None:
        repeats = np.bincount(events.order, minlength=len(events.operations))
        repeats -= np.bincount(events.order[sequence.accessing], minlength=len(events.operations))
        for number in operations.left_out:
            operation = events.operations[number]
            moved = int(operation["bytes"]) + int(operation["received"])
            if repeats[number]:
                left.add(events.call(number).name, int(repeats[number]), int(repeats[number]) * moved)
    flat = [row for block in sequence.blocks for row in block]
    columns = {
        each.name: np.array([getattr(row, each.name) for row in flat], COLUMNS[each.name]) for each in fields(Row)
    }
    computing = np.round(gaps_ns(events) * (1000.0 * scale))
    if computing.sum() > _MOST_PS:
        raise InputError(f"rank {events.rank} computes for {computing.sum() / 1e12:.3g} s: {_MOST_S} s can be replayed")
    of_places = computing.astype(np.int64)[sequence.events]
    return {
        **columns,
        "begins": np.cumsum([0, *map(len, sequence.blocks)], dtype=np.int64),
        "order": np.ascontiguousarray(sequence.order, np.int32),
        "computing": np.where(sequence.order < sequence.beginning, of_places, 0),
    }


def rows_of(
    events: RankEvents, communicators: Sequence[Communicator], left: Left | None = None
) -> Mapping[str, NDArray[Any]]:
    """Return all rows of a rank, one after another, as columns; see `COLUMNS`. What is left out is added to `left`."""
    blocks = blocks_of(events, communicators, left)
    begins, order = blocks["begins"], blocks["order"]
    lengths = np.diff(begins)[order]
    places = np.cumsum(lengths) - lengths
    index = np.arange(int(lengths.sum())) + np.repeat(begins[order] - places, lengths)
    columns = {name: blocks[name][index] for name in COLUMNS}
    begun = np.flatnonzero(lengths)
    computes = begun[columns["kind"][places[begun]] == COMPUTE]
    columns["amount"][places[computes]] = blocks["computing"][computes]
    return columns


def events_of_rows(
    events: RankEvents, communicators: Sequence[Communicator], accesses: Accesses | None = None
) -> NDArray[np.int64]:
    """Return, for each row of a rank, the number of the event, counted from the first of these, that it was made of."""
    sequence = _sequence(events, _Operations(events, communicators), accesses)
    lengths = np.array([len(block) for block in sequence.blocks], np.int64)
    return np.repeat(sequence.events, lengths[sequence.order])
