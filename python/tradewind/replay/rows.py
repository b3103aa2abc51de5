"""The rows of a rank that are replayed, from its events: what each call sends, receives and waits for.

A distinct operation becomes a few rows once; the events of a rank are then blocks of rows in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.trace.calls import CALLS, Form, Kind
from tradewind.trace.model import ANY, NONE, RankEvents

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPUTE, SEND, RECEIVE, WAIT, COLLECTIVE, START = range(6)
"""Kinds of rows, as program::RowKind counts them."""
SYNCHRONOUS, NONBLOCKING, PERSISTENT, JOINED, CANCELLED = 1, 2, 4, 8, 16
"""Flags of rows, as program::TraceRows has them."""
COMPUTING = 0
"""The label of computations; function i of MPI has the label i + 1."""
LABELS = ["computing", *(call.name for call in CALLS)]
COLUMNS: dict[str, Any] = {
    "kind": np.uint8,
    "flags": np.uint8,
    "collective": np.uint8,
    "label": np.uint16,
    "communicator": np.uint32,
    "peer": np.int32,
    "tag": np.int64,
    "amount": np.int64,
    "request": np.int64,
}
"""Columns of rows and their types."""
NEIGHBOR_TAG = -(1 << 40)
"""No program has this tag, nor has a collective call."""
OF_THE_CALL = -10
"""Request of what begins and ends in one call: no slot of a request."""
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
GIVEN = ("gather", "allgather", "alltoall", "reduce_scatter")
"""Those that depend on the bytes that a rank gives, not on the larger of what it gives and gets."""
SYNCHRONIZING = ("MPI_Comm_create_group", "MPI_Comm_create_from_group", "MPI_Intercomm_create", "MPI_Intercomm_merge")
"""Calls that make communicators, but not of all ranks of one that is there: they are not replayed."""
NO_ROWS = (Kind.PROBE, Kind.PARTITION, Kind.FREE, Kind.CANCEL, Kind.ENVIRONMENT, Kind.OTHER)
"""Kinds that move nothing, or whose messages stand with other calls."""


@dataclass
class Row:
    """One row; see `COLUMNS`."""

    kind: int
    label: int
    flags: int = 0
    collective: int = 0
    communicator: int = 0
    peer: int = NONE
    tag: int = 0
    amount: int = 0
    request: int = NONE


@dataclass
class Left:
    """Calls and bytes, by function, that a replay leaves out."""

    calls: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, calls: int, moved: int) -> None:
        """Add calls of a function."""
        self.calls[name] = self.calls.get(name, 0) + calls
        self.bytes[name] = self.bytes.get(name, 0) + moved


class _Operations:
    """Makes the rows of the distinct operations of a rank."""

    def __init__(self, events: RankEvents, inter: Callable[[int], bool]) -> None:
        self.events = events
        self.inter = inter
        self.left_out: list[int] = []
        """Operations that are not replayed."""

    def blocks(self) -> list[list[Row]]:
        """Return the rows of each operation, after that of the computing before it."""
        return [[Row(COMPUTE, COMPUTING), *self.rows(i)] for i in range(len(self.events.operations))]

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
            Kind.COLLECTIVE: lambda: self._collective(operation, label, number),
            Kind.NEIGHBOR: lambda: self._neighbors(operation, label, number),
            Kind.EPOCH: lambda: self._epoch(operation, label, number),
            Kind.MAKE: lambda: self._makes(operation, label, number),
        }
        if call.kind in NO_ROWS:
            return []
        if call.kind not in made:  # one-sided accesses
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
            yield Row(RECEIVE, label, flags, 0, place, source, source_tag, int(operation["received"]), request)
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
        kind = COLLECTIVES[call.base]
        given, obtained = int(operation["bytes"]), int(operation["received"])
        amount = given if kind in GIVEN else obtained if kind == "scatter" else max(given, obtained)
        yield self._whole(kind, operation, label, amount)

    def _whole(self, kind: str, operation: Any, label: int, amount: int, form: Form | None = None) -> Row:
        form = CALLS[label - 1].form if form is None else form
        flags = {Form.BLOCKING: 0, Form.NONBLOCKING: NONBLOCKING, Form.PERSISTENT: PERSISTENT}[form]
        number = _core.collective_calls.index(kind)
        place, root, request = (int(operation[name]) for name in ("communicator", "peer", "request"))
        return Row(COLLECTIVE, label, flags, number, place, root, 0, amount, request)

    def _neighbors(self, operation: Any, label: int, number: int) -> Iterator[Row]:
        call, place = CALLS[label - 1], int(operation["communicator"])
        if place not in self.events.neighbors or call.form is Form.PERSISTENT:
            self.left_out.append(number)
            return
        sources, destinations = self.events.neighbors[place]
        blocking = call.form is Form.BLOCKING
        request = OF_THE_CALL if blocking else int(operation["request"])
        blocks = self.events.blocks_of(number)
        each = int(operation["bytes"])
        if "allgather" not in call.base:
            each //= max(1, len(destinations))
        flags = NONBLOCKING
        for source in sources:
            if source != NONE:
                yield Row(RECEIVE, label, flags, 0, place, int(source), NEIGHBOR_TAG, 0, request)
                flags |= JOINED
        for i, destination in enumerate(destinations):
            if destination != NONE:
                amount = int(blocks[i]) if len(blocks) == len(destinations) else each
                yield Row(SEND, label, flags, 0, place, int(destination), NEIGHBOR_TAG, amount, request)
                flags |= JOINED
        if blocking:
            yield Row(WAIT, label, request=request)

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
            yield self._whole("barrier", operation, label, 0, Form.BLOCKING)


def gaps_ns(events: RankEvents) -> NDArray[np.int64]:
    """Return the computing before each event: since the latest end of a call before it, whatever its thread.

    Between two looks for something that is not there yet (tests and probes that return false) a rank waits, and
    computes nothing.
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
    return gaps


def rows_of(
    events: RankEvents, inter: Callable[[int], bool] = lambda _: False, left: Left | None = None, scale: float = 1.0
) -> Mapping[str, NDArray[Any]]:
    """Return the rows of a rank as columns; see `COLUMNS`. Computations take `scale` times their recorded time.

    `inter`: whether a communicator is an intercommunicator, whose collective calls are left out. What is left out is
    added to `left`.
    """
    operations = _Operations(events, inter)
    blocks = operations.blocks()
    if left is not None:
        repeats = np.bincount(events.order, minlength=len(blocks))
        for number in operations.left_out:
            operation = events.operations[number]
            moved = int(operation["bytes"]) + int(operation["received"])
            left.add(events.call(number).name, int(repeats[number]), int(repeats[number]) * moved)
    lengths = np.array([len(block) for block in blocks], np.int64)
    first = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    flat = [row for block in blocks for row in block]
    of_event = lengths[events.order]
    ends = np.cumsum(of_event)
    begins = ends - of_event
    index = np.arange(int(of_event.sum())) + np.repeat(first[events.order] - begins, of_event)
    columns = {
        each.name: np.array([getattr(row, each.name) for row in flat], COLUMNS[each.name])[index]
        for each in fields(Row)
    }
    columns["amount"][begins] = np.round(gaps_ns(events) * (1000.0 * scale)).astype(np.int64)
    return columns


def event_of_row(events: RankEvents, row: int, inter: Callable[[int], bool] = lambda _: False) -> int:
    """Return the number of the event, counted from the first of these, that a row was made of."""
    lengths = np.array([len(block) for block in _Operations(events, inter).blocks()], np.int64)
    return int(np.searchsorted(np.cumsum(lengths[events.order]), row, side="right"))
