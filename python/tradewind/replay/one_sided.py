"""One-sided accesses as messages between the ranks that replay them.

A put is a message that its target expects from the last collective call on the window on (its making, or a fence); the
target waits for it in the next fence. A get is a synchronous send that the target has prepared since then: the request
to receive it is that of the get, and the message is the reply. The end of an epoch between locks, and a flush, wait for
what the rank accesses, and where it has put, for the reply to a request behind its data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tradewind.replay.row import (
    COMPUTE,
    COMPUTING,
    FREED,
    JOINED,
    NONBLOCKING,
    RECEIVE,
    SEND,
    SYNCHRONOUS,
    WAIT,
    Row,
)
from tradewind.trace.calls import CALLS, Form, Kind
from tradewind.trace.model import NONE, RankEvents, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

PUT_TAG, GET_TAG = -(1 << 42), -(1 << 43)
"""Less the number of the window: tags that no program has."""
_ACCESSES = -(1 << 44)
"""Less a number for each window and target: requests of accesses."""
_AWAITED, _LEFT = -(1 << 45), -(1 << 46)
"""Less the number of the window: requests of what a target waits for in the next fence, and of what it does not."""
_SYNCHRONIZED = ("MPI_Win_start", "MPI_Win_complete", "MPI_Win_post", "MPI_Win_wait", "MPI_Win_test")
"""Calls of epochs that are not replayed, nor what is accessed in them."""
_ENDS_ONE = ("MPI_Win_unlock", "MPI_Win_flush", "MPI_Win_flush_local")
_ENDS_ALL = ("MPI_Win_unlock_all", "MPI_Win_flush_all", "MPI_Win_flush_local_all")


class _Move(NamedTuple):
    """A message of an access, as its origin sees it."""

    target: int
    puts: bool
    """Whether it goes to the target; else it comes from there."""
    amount: int
    request: int | None = None
    """The request that the program waits for itself."""
    is_joined: bool = False
    """Whether an access of this target is open, which ends with it."""
    is_awaited: bool = False
    """Whether the target waits for it."""


class _Expected(NamedTuple):
    """A message of an access, as its target sees it."""

    origin: int
    puts: bool
    amount: int
    is_awaited: bool


@dataclass
class _Open:
    """What a rank has accessed of a target, and has not ended."""

    is_joined: bool = False
    """Whether there is a message that the end of the epoch waits for."""
    is_unconfirmed: bool = False
    """Whether something was put between locks since the last flush."""


@dataclass
class _Window:
    """The state of a window on a rank."""

    phase: int = -1
    """Collective calls on it so far, less one."""
    locked: set[int] = field(default_factory=set)
    """Targets; NONE stands for all."""
    is_started: bool = False
    """Whether an epoch is open that is not replayed."""
    open: dict[int, _Open] = field(default_factory=dict)
    """By target."""


class _Walked(NamedTuple):
    """An event of a window: its messages, and what else it does."""

    event: int
    operation: int
    number: int
    """Of the window."""
    phase: int
    moves: tuple[_Move, ...] = ()
    ends: tuple[int, ...] = ()
    """Targets whose accesses end, in front of the messages."""
    confirms: bool = False
    """Whether the messages end in the call."""
    is_collective: bool = False


class Accesses:
    """The accesses of all ranks of a trace by target, window and phase."""

    def __init__(self, trace: Trace) -> None:
        self._communicators = [window.communicator for window in trace.windows]
        self._size = trace.size
        self._expected: dict[tuple[int, int, int], list[_Expected]] = defaultdict(list)
        if trace.windows:
            for rank in trace.ranks:
                for walked in _walk(trace.events(rank), len(trace.windows)):
                    for move in walked.moves:
                        expected = _Expected(rank, move.puts, move.amount, move.is_awaited)
                        self._expected[move.target, walked.number, walked.phase].append(expected)

    def blocks_of(
        self, events: RankEvents, plain: list[list[Row]]
    ) -> tuple[list[list[Row]], NDArray[np.int64], NDArray[np.int64]]:
        """Return rows for the events of a rank that access or synchronize windows, in front of those of `plain`.

        Returned are distinct blocks of rows, the events, and the block of each.
        """
        blocks: dict[tuple[Row, ...], int] = {}
        numbers, chosen = [], []
        for walked in _walk(events, len(self._communicators)):
            rows = (*self._rows(events, walked), *plain[walked.operation][1:])
            numbers.append(walked.event)
            chosen.append(blocks.setdefault(rows, len(blocks)))
        whole = [[Row(COMPUTE, COMPUTING), *rows] for rows in blocks]
        return whole, np.array(numbers, np.int64), np.array(chosen, np.int64)

    def _rows(self, events: RankEvents, walked: _Walked) -> Iterator[Row]:
        label, window = int(events.operations["call"][walked.operation]) + 1, walked.number
        place = self._communicators[window]
        for target in walked.ends:
            yield Row(WAIT, label, request=self._request(window, target))
        for move in walked.moves:
            kind, tag = (SEND, PUT_TAG) if move.puts else (RECEIVE, GET_TAG)
            flags = NONBLOCKING | (JOINED if move.is_joined else 0)
            request = self._request(window, move.target) if move.request is None else move.request
            yield Row(kind, label, flags, 0, place, move.target, tag - window, move.amount, request)
        for move in walked.moves if walked.confirms else ():
            yield Row(WAIT, label, request=self._request(window, move.target))
        if walked.is_collective:
            before, after = (self._expected.get((events.rank, window, walked.phase + change), ()) for change in (0, 1))
            if any(expected.is_awaited for expected in before):
                yield Row(WAIT, label, request=_AWAITED - window)
            yield from self._expect(window, after, label)

    def _request(self, window: int, target: int) -> int:
        return _ACCESSES - (window * self._size + target)

    def _expect(self, window: int, messages: Iterable[_Expected], label: int) -> Iterator[Row]:
        """Receive what other ranks will put, and send what they will get."""
        place, opened = self._communicators[window], set()
        for expected in messages:
            request = (_AWAITED if expected.is_awaited else _LEFT) - window
            kind, tag, synchronous = (RECEIVE, PUT_TAG, 0) if expected.puts else (SEND, GET_TAG, SYNCHRONOUS)
            flags = NONBLOCKING | synchronous | (JOINED if request in opened else 0)
            yield Row(kind, label, flags, 0, place, expected.origin, tag - window, expected.amount, request)
            opened.add(request)
        if _LEFT - window in opened:
            yield Row(WAIT, label, FREED, request=_LEFT - window)


_KINDS = np.array([call.kind in (Kind.ONE_SIDED, Kind.EPOCH, Kind.MAKE) for call in CALLS])


def _walk(events: RankEvents, windows: int) -> Iterator[_Walked]:
    """Yield the events of a rank that are replayed by windows; none where it has several threads."""
    if not windows or not len(events.operations) or events.operations["thread"].any():
        return
    states = [_Window() for _ in range(windows)]
    taking = _KINDS[events.operations["call"]]
    for event in np.flatnonzero(taking[events.order]).tolist():
        number = int(events.order[event])
        operation, call = events.operations[number], events.call(number)
        makes = call.kind is Kind.MAKE
        if makes and not call.name.startswith("MPI_Win_"):
            continue
        window = int(operation["created" if makes else "window"])
        if not 0 <= window < windows:
            continue
        state = states[window]
        found = _Walked(event, number, window, state.phase)
        if call.kind is Kind.ONE_SIDED:
            if state.is_started or state.phase < 0:
                continue
            found = found._replace(moves=tuple(_accessed(state, events.rank, operation, call.form)))
        elif call.name in _SYNCHRONIZED:
            if call.name in ("MPI_Win_start", "MPI_Win_complete"):
                state.is_started = call.name == "MPI_Win_start"
            continue
        elif makes or call.name == "MPI_Win_fence":
            state.phase += 1
            found = found._replace(is_collective=True, ends=tuple(_joined(state.open)))
            state.open.clear()
        else:
            ends, moves = _ended(state, call.name, int(operation["peer"]))
            found = found._replace(ends=ends, moves=moves, confirms=True)
        yield found


def _accessed(state: _Window, rank: int, operation: Any, form: Form) -> Iterator[_Move]:
    """Yield the messages of an access: what is put, or nothing at all, and what is got."""
    target, written, read = (int(operation[name]) for name in ("peer", "bytes", "received"))
    if target in (NONE, rank):
        return
    access = state.open.setdefault(target, _Open())
    between_locks = not state.locked.isdisjoint((target, NONE))
    request = int(operation["request"]) if form is Form.NONBLOCKING else None
    joined = access.is_joined if request is None else False
    if written > 0 or read == 0:
        yield _Move(target, True, written, request, joined, not between_locks)
        access.is_unconfirmed |= between_locks
        joined = True
    if read > 0:
        yield _Move(target, False, read, request, joined)
    access.is_joined |= request is None


def _ended(state: _Window, name: str, target: int) -> tuple[tuple[int, ...], tuple[_Move, ...]]:
    """Return the targets whose accesses end in a lock, unlock or flush, and requests to confirm what was put."""
    if name in ("MPI_Win_lock", "MPI_Win_lock_all"):
        state.locked.add(target)
        return (), ()
    if name in ("MPI_Win_unlock", "MPI_Win_unlock_all"):
        state.locked.discard(target)
    if name not in (*_ENDS_ONE, *_ENDS_ALL):
        return (), ()
    targets = {each: access for each, access in state.open.items() if name in _ENDS_ALL or each == target}
    ends, moves = tuple(_joined(targets)), []
    for each, access in targets.items():
        access.is_joined = False
        if access.is_unconfirmed and "local" not in name:
            access.is_unconfirmed = False
            moves.append(_Move(each, False, 0))
    return ends, tuple(moves)


def _joined(accesses: Mapping[int, _Open]) -> Iterator[int]:
    return (target for target, access in accesses.items() if access.is_joined)


_KNOWN: WeakKeyDictionary[Trace, Accesses] = WeakKeyDictionary()


def accesses_of(trace: Trace) -> Accesses:
    """Return the accesses of a trace, which are looked for once."""
    if trace not in _KNOWN:
        _KNOWN[trace] = Accesses(trace)
    return _KNOWN[trace]
