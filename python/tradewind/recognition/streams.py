"""The messages of a trace by communicator: what each rank sends, in its order.

Communicators that all ranks make together, such as those of the rows of a grid of ranks, are one *stream*: its messages
are those of all of them. A collective call without messages of its own, such as MPI_Allreduce, is one entry of each
rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.replay import rows as replayed
from tradewind.replay.row import COLLECTIVE as COLLECTIVE_ROW
from tradewind.replay.row import JOINED, NONBLOCKING, PERSISTENT, RECEIVE, SEND, START, WAIT, Left
from tradewind.trace.calls import CALLS, Kind
from tradewind.trace.model import NONE, Communicator, RankEvents, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLLECTIVE = -2
"""The peer of a collective call is this number less the number of its kind in `_core.collective_calls`."""
SHIFT = 1 << 44
"""Codes of messages have their size below this, and their peer above."""


def code_of(peer: int, size: int) -> int:
    """Return one number for a message to a rank, or for a collective call."""
    return peer * SHIFT + size


def collective_peer(name: str) -> int:
    """Return the peer that stands for a collective call, such as allreduce."""
    return COLLECTIVE - _core.collective_calls.index(name)


@dataclass(eq=False)
class Sent:
    """Messages of one rank in a stream, in its order.

    Of several to one rank that are posted together the first to each rank come first, then the second, so that two
    exchanges that are posted at once come one after the other.
    """

    peers: NDArray[np.int64]
    """World rank, or the number of a collective call, see `collective_peer`."""
    sizes: NDArray[np.int64]
    """Bytes."""
    events: NDArray[np.int64]
    """The event that sends."""
    phases: NDArray[np.int64]
    """Messages with one number are posted before anything is awaited."""
    labels: NDArray[np.int64]
    """Number of the MPI function, an index into trace.calls.CALLS."""
    ends: NDArray[np.int64]
    """The event in which it is awaited; that which sends where this waits itself."""
    codes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.codes = (self.peers * SHIFT + self.sizes).tolist()

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(eq=False)
class Stream:
    """The messages of all ranks in communicators that were made together."""

    name: str
    """How its communicators were made, as MPI_Cart_create."""
    sent: list[Sent]
    """[rank]"""
    groups: list[NDArray[np.int32]]
    """World ranks of each of its communicators."""
    dims: tuple[int, ...] = ()
    """Ranks in each direction of a Cartesian topology, the last one fastest."""

    def __len__(self) -> int:
        return sum(len(each) for each in self.sent)

    @property
    def is_of_all(self) -> bool:
        """Whether each rank is in one of its communicators."""
        return sum(len(group) for group in self.groups) == len(self.sent)


def streams_of(trace: Trace, left: Left | None = None) -> list[Stream]:
    """Return the streams of a trace, those with the most messages first; a stream has one message or more.

    What is no message of a stream, such as one-sided accesses, is added to `left`.
    """
    families = _families(trace)
    by_family: dict[int, list[Sent]] = {}
    for rank in range(trace.size):
        events = trace.events(rank)
        for family, sent in _sent(events, trace.communicators, families, left):
            by_family.setdefault(family, [_nothing() for _ in range(trace.size)])[rank] = sent
    found = []
    for family, all_sent in by_family.items():
        members = [number for number, other in enumerate(families) if other == family]
        first = trace.communicators[members[0]]
        groups = [trace.communicators[number].members for number in members]
        found.append(Stream(first.call or "MPI_COMM_WORLD", all_sent, groups, _dims(trace.communicators, members[0])))
    return sorted((each for each in found if len(each)), key=len, reverse=True)


def _nothing() -> Sent:
    empty = np.empty(0, np.int64)
    return Sent(empty, empty, empty, empty, empty, empty)


def _dims(communicators: Sequence[Communicator], number: int) -> tuple[int, ...]:
    """Return the Cartesian topology of a communicator, or of the one that it was made of, if that has its members."""
    here = communicators[number]
    while not here.dims and here.parent >= 0 and np.array_equal(communicators[here.parent].members, here.members):
        here = communicators[here.parent]
    return here.dims


def _families(trace: Trace) -> list[int]:
    """Return a number for each communicator; those that ranks made as the same call of one parent have the same."""
    makes = np.array([call.kind is Kind.MAKE for call in CALLS])
    families = list(range(len(trace.communicators)))
    numbers: dict[Any, int] = {}
    for rank in trace.ranks:
        events = trace.events(rank)
        seen: Counter[Any] = Counter()
        making = events.operations[events.order[makes[events.operations["call"]][events.order]]]
        for operation in making:
            parent, call, created = int(operation["communicator"]), int(operation["call"]), int(operation["created"])
            if parent < 0 or operation["window"] >= 0 or CALLS[call].name.startswith("MPI_Win"):
                continue
            key = (families[parent], call)
            seen[key] += 1
            if created >= 0:
                families[created] = numbers.setdefault((*key, seen[key]), created)
    return families


def _sent(
    events: RankEvents, communicators: Sequence[Communicator], families: Sequence[int], left: Left | None
) -> Iterator[tuple[int, Sent]]:
    """Yield what a rank sends by family of communicators."""
    rows = replayed.rows_of(events, communicators, left)
    numbers = replayed.events_of_rows(events, communicators)
    place, peers, sizes, index, labels = _columns(rows, communicators, events.rank)
    if not len(place):
        return
    blocking = rows["flags"] & (NONBLOCKING | PERSISTENT) == 0
    ends = (rows["kind"] == WAIT) | (np.isin(rows["kind"], (RECEIVE, COLLECTIVE_ROW)) & blocking)
    phases = (2 * np.cumsum(ends) - ends)[index]  # a blocking collective call is a phase of its own
    awaited = numbers[_awaited(rows, index)]
    of_family = np.array(families)[place]
    for family in np.unique(of_family):
        mine = np.flatnonzero(of_family == family)
        mine = mine[_in_layers(phases[mine], peers[mine])]
        yield (
            int(family),
            Sent(peers[mine], sizes[mine], numbers[index[mine]], phases[mine], labels[mine], awaited[mine]),
        )


def _awaited(rows: Mapping[str, NDArray[Any]], index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row that waits for each row that sends; the row itself without a request, or if none waits."""
    requests, waits = rows["request"], np.flatnonzero(rows["kind"] == WAIT)
    found = index.copy()
    for request in np.unique(requests[index]):
        of_request = waits[requests[waits] == request]
        if request == NONE or not len(of_request):
            continue
        mine = np.flatnonzero(requests[index] == request)
        at = np.searchsorted(of_request, index[mine])
        some = at < len(of_request)
        found[mine[some]] = of_request[at[some]]
    return found


def _in_layers(phases: NDArray[np.int64], peers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order in which of each phase the first messages to each peer come first, then the second ones."""
    number = np.arange(len(phases))
    by_peer = np.lexsort((number, peers, phases))
    new = np.ones(len(phases), bool)
    new[1:] = (np.diff(phases[by_peer]) != 0) | (np.diff(peers[by_peer]) != 0)
    begins = np.maximum.accumulate(np.where(new, number, 0))
    layers = np.empty(len(phases), np.int64)
    layers[by_peer] = number - begins
    return np.lexsort((number, layers, phases))


def _columns(
    rows: Mapping[str, NDArray[Any]], communicators: Sequence[Communicator], rank: int
) -> tuple[NDArray[np.int64], ...]:
    """Return communicator, peer, size, row and function of all that a rank sends."""
    kinds, flags = rows["kind"], rows["flags"]
    lasting = (flags & PERSISTENT) != 0
    at_once = np.flatnonzero((kinds == SEND) & ~lasting)
    of_calls = np.array([call.kind is Kind.COLLECTIVE for call in CALLS])[np.maximum(rows["label"].astype(int) - 1, 0)]
    collective = np.flatnonzero((kinds == COLLECTIVE_ROW) & ~lasting & of_calls)
    starts, started = _started(rows, lasting)
    alltoall = _core.collective_calls.index("alltoall")
    whole = rows["collective"][collective] == alltoall
    made, pairs = _pairs(rows, communicators, collective[whole], rank)
    collective = collective[~whole]
    index = np.concatenate([at_once, collective, starts, made])
    source = np.concatenate([at_once, collective, started, made])
    peers, sizes = rows["peer"][source].astype(np.int64), rows["amount"][source].astype(np.int64)
    is_collective = kinds[source] == COLLECTIVE_ROW
    peers[is_collective] = COLLECTIVE - rows["collective"][source][is_collective].astype(np.int64)
    if len(made):
        peers[-len(made) :], sizes[-len(made) :] = pairs
    order = np.argsort(index, kind="stable")
    place, labels = rows["communicator"][source].astype(np.int64), rows["label"][index].astype(np.int64) - 1
    return place[order], peers[order], sizes[order], index[order], labels[order]


def _started(
    rows: Mapping[str, NDArray[Any]], lasting: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of persistent sends and collective calls, and the rows that made these requests."""
    kinds, requests = rows["kind"], rows["request"]
    starts = np.flatnonzero(kinds == START)
    made = np.flatnonzero(lasting)
    if not len(starts) or not len(made):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    found, sources = [], []
    for slot in np.unique(requests[starts]):
        of_slot, starting = made[requests[made] == slot], starts[requests[starts] == slot]
        at = np.searchsorted(of_slot, starting) - 1
        known = at >= 0
        for begin, row in zip(starting[known], of_slot[at[known]], strict=True):
            first = row
            while first > 0 and rows["flags"][first] & JOINED:
                first -= 1
            for each in range(first, row + 1):  # of a neighbor collective a row for each message
                if kinds[each] in (SEND, COLLECTIVE_ROW):
                    found.append(begin)
                    sources.append(each)
    return np.array(found, np.int64), np.array(sources, np.int64)


def _pairs(
    rows: Mapping[str, NDArray[Any]], communicators: Sequence[Communicator], calls: NDArray[np.int64], rank: int
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the messages of MPI_Alltoall: its row for each, the peers, and the sizes."""
    index, peers, sizes = [], [], []
    for row in calls.tolist():
        members = communicators[int(rows["communicator"][row])].members
        others = members[members != rank]
        index += [row] * len(others)
        peers += others.tolist()
        sizes += [int(rows["amount"][row]) // len(members)] * len(others)
    return np.array(index, np.int64), (np.array(peers, np.int64), np.array(sizes, np.int64))
