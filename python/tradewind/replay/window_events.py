"""Events of windows of a rank: which messages their accesses are, and what the calls that synchronize them do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tradewind.trace.calls import CALLS, Form, Kind
from tradewind.trace.model import NONE, RankEvents

Epoch = int | tuple[int, int]
"""When a target begins to expect an access: with a collective call on the window, by number; or with a post for the
rank that accesses, by that rank and number."""
_FLUSHES_ONE = ("MPI_Win_unlock", "MPI_Win_flush", "MPI_Win_flush_local")
_FLUSHES_ALL = ("MPI_Win_unlock_all", "MPI_Win_flush_all", "MPI_Win_flush_local_all")


class Move(NamedTuple):
    """A message of an access, as its origin sees it."""

    target: int
    puts: bool
    """Whether it goes to the target; else it comes from there."""
    amount: int
    epoch: Epoch
    request: int | None = None
    """The request that the program waits for itself."""
    is_joined: bool = False
    """Whether an access of this target is open, which ends with it."""
    is_awaited: bool = False
    """Whether the target waits for it."""


class WindowEvent(NamedTuple):
    """An event of a window: what it does, in this order."""

    event: int
    operation: int
    window: int
    ends: tuple[int, ...] = ()
    """Targets whose accesses end."""
    moves: tuple[Move, ...] = ()
    confirms: bool = False
    """Whether the messages end in the call."""
    closes: tuple[Epoch, ...] = ()
    """Epochs of which the rank, as a target, waits for the messages."""
    waits_for: tuple[int, ...] = ()
    """Ranks that post, where this one starts; or that complete, where this one waits."""
    opens: tuple[Epoch, ...] = ()
    """Epochs whose messages the rank, as a target, expects from now on."""
    signals: tuple[int, ...] = ()
    """Ranks that start, where this one posts; or that wait, where this one completes."""
    is_of_start: bool = False
    """Whether these are between a post and a start; else between a complete and a wait."""
    is_whole: bool = True
    """Whether nothing of it is left out."""


@dataclass
class _Open:
    """Accesses of a target that a rank has not ended."""

    is_joined: bool = False
    """Whether there is a message that the end of the epoch waits for."""
    is_unconfirmed: bool = False
    """Whether something was put between locks since the last flush."""


@dataclass
class _Window:
    """The state of a window on a rank."""

    rank: int
    phase: int = -1
    """Collective calls on it so far, less one."""
    locked: set[int] = field(default_factory=set)
    """Targets; NONE stands for all."""
    started: tuple[int, ...] = ()
    """Targets of the epoch that a start has opened."""
    posted: tuple[Epoch, ...] = ()
    """Epochs that a post has opened."""
    starts: Counter[int] = field(default_factory=Counter)
    """By target."""
    posts: Counter[int] = field(default_factory=Counter)
    """By origin."""
    open: dict[int, _Open] = field(default_factory=dict)
    """By target."""

    def access(self, operation: Any, form: Form) -> Iterator[Move]:
        """Yield the messages of an access: those of bytes that are put, or of no bytes, and of those that are got."""
        target, written, read = (int(operation[name]) for name in ("peer", "bytes", "received"))
        if target in (NONE, self.rank):
            return
        access = self.open.setdefault(target, _Open())
        between_locks = not self.locked.isdisjoint((target, NONE))
        epoch: Epoch = (self.rank, self.starts[target]) if target in self.started else self.phase
        request = int(operation["request"]) if form is Form.NONBLOCKING else None
        joined = access.is_joined and request is None
        if written > 0 or read == 0:
            yield Move(target, True, written, epoch, request, joined, not between_locks)
            access.is_unconfirmed |= between_locks
            joined = True
        if read > 0:
            yield Move(target, False, read, epoch, request, joined)
        access.is_joined |= request is None

    def end(self, targets: tuple[int, ...]) -> tuple[int, ...]:
        """End the accesses of targets; return those that have messages for which the rank waits."""
        joined = tuple(each for each in targets if each in self.open and self.open[each].is_joined)
        for each in joined:
            self.open[each].is_joined = False
        return joined

    def confirm(self, targets: tuple[int, ...]) -> Iterator[Move]:
        """Yield requests, of no bytes, that follow what was put between locks."""
        for each in targets:
            if each in self.open and self.open[each].is_unconfirmed:
                self.open[each].is_unconfirmed = False
                yield Move(each, False, 0, self.phase)


_KINDS = np.array([call.kind in (Kind.ONE_SIDED, Kind.EPOCH, Kind.MAKE) for call in CALLS])


def window_events(events: RankEvents, windows: int, threaded: frozenset[int]) -> Iterator[WindowEvent]:
    """Yield the events of windows of a rank that are replayed, without what has an end on a rank of `threaded`."""
    if not windows or not len(events.operations) or events.rank in threaded:
        return
    for each in _all_events(events, windows):
        yield _without(each, threaded) if threaded else each


def _without(found: WindowEvent, ranks: frozenset[int]) -> WindowEvent:
    """Leave out what has its other end on one of the ranks."""

    def others(all_of_them: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(each for each in all_of_them if each not in ranks)

    def of_others(epochs: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
        return tuple(epoch for epoch in epochs if isinstance(epoch, int) or epoch[0] not in ranks)

    kept = found._replace(
        ends=others(found.ends),
        moves=tuple(move for move in found.moves if move.target not in ranks),
        closes=of_others(found.closes),
        waits_for=others(found.waits_for),
        opens=of_others(found.opens),
        signals=others(found.signals),
    )
    return kept._replace(is_whole=kept == found)


def _all_events(events: RankEvents, windows: int) -> Iterator[WindowEvent]:
    """Yield the events of windows of a rank, whatever its targets do."""
    states = [_Window(events.rank) for _ in range(windows)]
    taken = _KINDS[events.operations["call"]]
    for event in np.flatnonzero(taken[events.order]).tolist():
        number = int(events.order[event])
        operation, call = events.operations[number], events.call(number)
        makes = call.kind is Kind.MAKE
        if makes and not call.name.startswith("MPI_Win_"):
            continue
        window = int(operation["created" if makes else "window"])
        if not 0 <= window < windows or (states[window].phase < 0 and not makes):
            continue
        found, state = WindowEvent(event, number, window), states[window]
        if call.kind is Kind.ONE_SIDED:
            yield found._replace(moves=tuple(state.access(operation, call.form)))
        elif makes or call.name == "MPI_Win_fence":
            state.phase += 1
            ends = state.end(tuple(state.open))
            yield found._replace(ends=ends, closes=(state.phase - 1,), opens=(state.phase,))
        else:
            group = tuple(each for each in events.blocks_of(number).tolist() if each != events.rank)
            yield _synchronized(found, state, call.name, operation, group)


def _synchronized(found: WindowEvent, state: _Window, name: str, operation: Any, group: tuple[int, ...]) -> WindowEvent:
    """Return what a call does that opens, ends or flushes an epoch of some ranks."""
    target = int(operation["peer"])
    if name == "MPI_Win_start":
        state.started = group
        state.starts.update(group)
        return found._replace(waits_for=group, is_of_start=True)
    if name == "MPI_Win_complete":
        ended, state.started = state.started, ()
        return found._replace(ends=state.end(ended), signals=ended)
    if name == "MPI_Win_post":
        state.posts.update(group)
        state.posted = tuple((each, state.posts[each]) for each in group)
        return found._replace(opens=state.posted, signals=group, is_of_start=True)
    if name == "MPI_Win_wait" or (name == "MPI_Win_test" and operation["argument"] == 1):
        closed, state.posted = state.posted, ()
        return found._replace(closes=closed, waits_for=tuple(each[0] for each in closed if isinstance(each, tuple)))
    if name in ("MPI_Win_lock", "MPI_Win_lock_all"):
        state.locked.add(target)
    elif name in ("MPI_Win_unlock", "MPI_Win_unlock_all"):
        state.locked.discard(target)
    flushed = (target,) if name in _FLUSHES_ONE else tuple(state.open) if name in _FLUSHES_ALL else ()
    moves = () if "local" in name else tuple(state.confirm(flushed))
    return found._replace(ends=state.end(flushed), moves=moves, confirms=True)
