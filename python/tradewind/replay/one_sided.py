"""One-sided accesses as messages between the ranks that replay them.

A put is a message that its target expects from the last collective call on the window on (its making, or a fence), or
from the post for its origin on; the target waits for it in the next fence, or its wait. A get is a synchronous send
that the target has prepared since then: the request to receive it is that of the get, and the message is the reply. The
end of an epoch between locks, and a flush, wait for what the rank accesses, and where it has put, for the reply to a
request behind its data. A post and a complete are messages without bytes, for a start and a wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tradewind.replay.row import (
    BUFFERED,
    COMPLETE_TAG,
    COMPUTE,
    COMPUTING,
    FENCED_GET_TAG,
    FENCED_PUT_TAG,
    FREED,
    JOINED,
    NONBLOCKING,
    POSTED_GET_TAG,
    POSTED_PUT_TAG,
    RECEIVE,
    SEND,
    START_TAG,
    SYNCHRONOUS,
    WAIT,
    Row,
)
from tradewind.replay.window_events import Epoch, WindowEvent, window_events
from tradewind.trace.model import RankEvents, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FENCED_TAGS, _POSTED_TAGS = (FENCED_PUT_TAG, FENCED_GET_TAG), (POSTED_PUT_TAG, POSTED_GET_TAG)
"""Less the number of the window: tags of puts and of gets that are expected since a collective call, and since a post.
Targets expect them in another order than that of the accesses."""
_ACCESSES = -(1 << 48)
"""Less a number for each window and target: requests of accesses."""
_FENCED, _POSTED, _LEFT, _SIGNALS = (-(1 << bit) for bit in range(49, 53))
"""Less the number of the window: requests of what a target waits for in the next fence, of what it waits for at the end
of what it has posted, of what it does not wait for, and of what a start or wait receives."""


class _Expected(NamedTuple):
    """A message of an access, as its target sees it."""

    origin: int
    puts: bool
    amount: int
    is_awaited: bool


class AccessBlocks(NamedTuple):
    """Rows for the events of a rank that access or synchronize windows."""

    blocks: list[list[Row]]
    """Distinct ones."""
    events: NDArray[np.int64]
    chosen: NDArray[np.int64]
    """The block of each event."""
    is_whole: NDArray[np.bool_]
    """Whether nothing of an event is left out."""


class Accesses:
    """The accesses of all ranks of a trace by target, window and epoch.

    Calls of several threads of a rank overlap, so no order says what it expects when: all that has an end on such a
    rank is left out. So are windows of which some ranks are of other programs.
    """

    def __init__(self, trace: Trace) -> None:
        self._communicators = [window.communicator for window in trace.windows]
        self._is_whole = [trace.communicators[number].is_whole for number in self._communicators]
        self._size = trace.size
        self._threaded: frozenset[int] = frozenset()
        self.first_reply: tuple[int, str] | None = None
        """A rank, and its function, that waits for a reply of a target; None where none does."""
        self._expected: dict[tuple[int, int, Epoch], list[_Expected]] = defaultdict(list)
        if trace.windows:
            threads = {rank: trace.events(rank).operations["thread"] for rank in trace.ranks}
            self._threaded = frozenset(rank for rank, all_of_them in threads.items() if all_of_them.any())
            for rank in trace.ranks:
                events = trace.events(rank)
                for each in self._events(events):
                    for move in each.moves:
                        expected = _Expected(rank, move.puts, move.amount, move.is_awaited)
                        self._expected[move.target, each.window, move.epoch].append(expected)
                        if not move.puts and self.first_reply is None:
                            self.first_reply = rank, events.call(each.operation).name

    def _events(self, events: RankEvents) -> Iterator[WindowEvent]:
        """Yield the events of windows whose ranks are all recorded."""
        found = window_events(events, len(self._communicators), self._threaded)
        return (each for each in found if self._is_whole[each.window])

    def blocks_of(self, events: RankEvents, plain: list[list[Row]]) -> AccessBlocks:
        """Return rows for the events of a rank that access or synchronize windows, in front of those of `plain`."""
        blocks: dict[tuple[Row, ...], int] = {}
        numbers, chosen, is_whole = [], [], []
        for each in self._events(events):
            rows = (*self._rows(events, each), *plain[each.operation][1:])
            numbers.append(each.event)
            chosen.append(blocks.setdefault(rows, len(blocks)))
            is_whole.append(each.is_whole)
        timed = [[Row(COMPUTE, COMPUTING), *rows] for rows in blocks]
        return AccessBlocks(timed, np.array(numbers, np.int64), np.array(chosen, np.int64), np.array(is_whole, bool))

    def _rows(self, events: RankEvents, each: WindowEvent) -> Iterator[Row]:
        label, window = int(events.operations["call"][each.operation]) + 1, each.window
        yield from self._moves(each, label)
        for epoch in each.closes:
            if any(expected.is_awaited for expected in self._expected.get((events.rank, window, epoch), ())):
                yield Row(WAIT, label, request=_awaited(epoch) - window)
        place, tag = self._communicators[window], (START_TAG if each.is_of_start else COMPLETE_TAG) - window
        for number, rank in enumerate(each.waits_for):
            flags = NONBLOCKING | (JOINED if number else 0)
            yield Row(RECEIVE, label, flags, 0, place, rank, tag, 0, _SIGNALS - window)
        if each.waits_for:
            yield Row(WAIT, label, request=_SIGNALS - window)
        yield from self._expect(events.rank, each, label)
        for rank in each.signals:
            yield Row(SEND, label, BUFFERED, 0, place, rank, tag)

    def _moves(self, each: WindowEvent, label: int) -> Iterator[Row]:
        """End accesses, and send and receive what others are."""
        window = each.window
        for target in each.ends:
            yield Row(WAIT, label, request=self._request(window, target))
        for move in each.moves:
            kind, tag = SEND if move.puts else RECEIVE, _tag(move.epoch, move.puts)
            flags = NONBLOCKING | (JOINED if move.is_joined else 0)
            request = self._request(window, move.target) if move.request is None else move.request
            place = self._communicators[window]
            yield Row(kind, label, flags, 0, place, move.target, tag - window, move.amount, request)
        for move in each.moves if each.confirms else ():
            yield Row(WAIT, label, request=self._request(window, move.target))

    def _request(self, window: int, target: int) -> int:
        return _ACCESSES - (window * self._size + target)

    def _expect(self, rank: int, each: WindowEvent, label: int) -> Iterator[Row]:
        """Receive what other ranks will put, and send what they will get."""
        window, opened = each.window, set()
        for epoch in each.opens:
            for expected in self._expected.get((rank, window, epoch), ()):
                request = (_awaited(epoch) if expected.is_awaited else _LEFT) - window
                kind, synchronous = (RECEIVE, 0) if expected.puts else (SEND, SYNCHRONOUS)
                tag = _tag(epoch, expected.puts)
                flags = NONBLOCKING | synchronous | (JOINED if request in opened else 0)
                place = self._communicators[window]
                yield Row(kind, label, flags, 0, place, expected.origin, tag - window, expected.amount, request)
                opened.add(request)
        if _LEFT - window in opened:
            yield Row(WAIT, label, FREED, request=_LEFT - window)


def _tag(epoch: Epoch, puts: bool) -> int:
    return (_FENCED_TAGS if isinstance(epoch, int) else _POSTED_TAGS)[0 if puts else 1]


def _awaited(epoch: Epoch) -> int:
    return _FENCED if isinstance(epoch, int) else _POSTED


_KNOWN: WeakKeyDictionary[Trace, Accesses] = WeakKeyDictionary()


def accesses_of(trace: Trace) -> Accesses:
    """Return the accesses of a trace, which are looked for once."""
    if trace not in _KNOWN:
        _KNOWN[trace] = Accesses(trace)
    return _KNOWN[trace]
