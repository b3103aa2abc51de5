"""A walk through the operations of all ranks on a network that takes no time: when each begins, and what it receives.

Sends end when they begin. A processor of a rank computes one thing after another. Of operations that may begin at one
time, those of lower ranks come first, and of a rank those further up in its file.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Protocol

from tradewind.trace.model import ANY

if TYPE_CHECKING:
    from collections.abc import Iterator

CALC, SEND, RECEIVE = range(3)
_END, _BEGIN = range(2)
"""At one time operations end before others begin."""


class Walkable(Protocol):
    """The operations of a rank, by number."""

    kinds: array[int]
    amounts: array[int]
    """Bytes, or ns."""
    peers: array[int]
    tags: array[int]
    processors: array[int]
    ended: dict[int, list[int]]
    """Operations that have to have ended before another begins."""
    begun: dict[int, list[int]]
    """Operations that have to have begun before."""


@dataclass
class WalkedRank:
    """The operations of a rank in the order in which they begin."""

    order: list[int] = field(default_factory=list)
    begin_ns: list[int] = field(default_factory=list)
    """When each of `order` begins."""
    matched: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Source, tag and bytes of the message that a receive takes."""
    stuck: int = 0
    """Operations that never begin, and so are missing in `order`."""


class BusyTime:
    """The time in which a rank computes on any processor; computations are added in the order in which they begin."""

    def __init__(self) -> None:
        self._before = 0
        self._begin = self._end = 0

    def add(self, begin_ns: int, time_ns: int) -> None:
        """Add a computation."""
        if begin_ns > self._end:
            self._before += self._end - self._begin
            self._begin = self._end = begin_ns
        self._end = max(self._end, begin_ns + time_ns)

    def until(self, time_ns: int) -> int:
        """Return the time up to a moment at which no later computation has begun."""
        return self._before + min(self._end, time_ns) - self._begin

    def total(self) -> int:
        """Return the time of all computations."""
        return self._before + self._end - self._begin


def walk(ranks: Mapping[int, Walkable]) -> dict[int, WalkedRank]:
    """Return when the operations of all ranks begin."""
    return _Walk(ranks).go()


class _Matching:
    """Sends and receives of a rank that have no other end yet; the earliest that fits takes a message."""

    def __init__(self) -> None:
        self._order = count()
        self._sends: dict[tuple[int, int], deque[tuple[int, int]]] = {}
        self._receives: dict[tuple[int, int], deque[tuple[int, int]]] = {}

    def send(self, source: int, tag: int, size: int) -> int | None:
        """Return the receive that takes a message; None: it waits for one."""
        wild = ((source, tag), (source, ANY), (ANY, tag), (ANY, ANY))
        found = self._earliest(self._receives, (key for key in wild if key in self._receives))
        if found is None:
            self._sends.setdefault((source, tag), deque()).append((next(self._order), size))
            return None
        return found[1]

    def receive(self, number: int, source: int, tag: int) -> tuple[int, int, int] | None:
        """Return source, tag and bytes of the message that a receive takes; None: it waits for one."""
        keys: Sequence[tuple[int, int]] = [(source, tag)] if (source, tag) in self._sends else []
        if ANY in (source, tag):
            keys = [key for key in self._sends if source in (ANY, key[0]) and tag in (ANY, key[1])]
        found = self._earliest(self._sends, iter(keys))
        if found is None:
            self._receives.setdefault((source, tag), deque()).append((next(self._order), number))
            return None
        return (*found[0], found[1])

    @staticmethod
    def _earliest(
        waiting: dict[tuple[int, int], deque[tuple[int, int]]], keys: Iterator[tuple[int, int]]
    ) -> tuple[tuple[int, int], int] | None:
        key = min(keys, key=lambda each: waiting[each][0], default=None)
        if key is None:
            return None
        _, found = waiting[key].popleft()
        if not waiting[key]:
            del waiting[key]
        return key, found


class _Walk:
    def __init__(self, ranks: Mapping[int, Walkable]) -> None:
        self._ranks = ranks
        self._walked = {rank: WalkedRank() for rank in ranks}
        self._matching = {rank: _Matching() for rank in ranks}
        self._free: dict[tuple[int, int], int] = {}
        """When each processor of a rank is free."""
        self._missing: dict[int, array[int]] = {}
        """[rank][operation]: how many others have to begin or end first."""
        self._later: dict[int, tuple[dict[int, list[int]], dict[int, list[int]]]] = {}
        """[rank][end or begin][operation]: those that wait for it."""
        self._events: list[tuple[int, int, int, int]] = []
        for rank, operations in ranks.items():
            missing, later = array("i", bytes(4 * len(operations.kinds))), ({}, {})  # type: ignore[var-annotated]
            for heads_of, tails_of in zip((operations.ended, operations.begun), later, strict=True):
                for last, heads in heads_of.items():
                    missing[last] += len(heads)
                    for first in heads:
                        tails_of.setdefault(first, []).append(last)
            self._missing[rank], self._later[rank] = missing, later
            for number, left in enumerate(missing):
                if not left:
                    heappush(self._events, (0, _BEGIN, rank, number))

    def go(self) -> dict[int, WalkedRank]:
        """Walk until nothing can begin any more."""
        while self._events:
            time_ns, what, rank, number = heappop(self._events)
            if what == _END:
                self._release(time_ns, _END, rank, number)
            else:
                self._begin(time_ns, rank, number)
        for rank, walked in self._walked.items():
            walked.stuck = len(self._ranks[rank].kinds) - len(walked.order)
        return self._walked

    def _begin(self, time_ns: int, rank: int, number: int) -> None:
        operations = self._ranks[rank]
        kind = operations.kinds[number]
        if kind == CALC:
            place = rank, operations.processors[number]
            free_ns = self._free.get(place, 0)
            if free_ns > time_ns:
                heappush(self._events, (free_ns, _BEGIN, rank, number))
                return
            self._free[place] = time_ns + operations.amounts[number]
        self._walked[rank].order.append(number)
        self._walked[rank].begin_ns.append(time_ns)
        self._release(time_ns, _BEGIN, rank, number)
        if kind == CALC:
            heappush(self._events, (self._free[place], _END, rank, number))
        elif kind == SEND:
            self._send(time_ns, rank, number)
        else:
            found = self._matching[rank].receive(number, operations.peers[number], operations.tags[number])
            if found is not None:
                self._receive(time_ns, rank, number, found)

    def _send(self, time_ns: int, rank: int, number: int) -> None:
        operations = self._ranks[rank]
        to, tag, size = operations.peers[number], operations.tags[number], operations.amounts[number]
        heappush(self._events, (time_ns, _END, rank, number))
        if to in self._matching and (receive := self._matching[to].send(rank, tag, size)) is not None:
            self._receive(time_ns, to, receive, (rank, tag, size))

    def _receive(self, time_ns: int, rank: int, number: int, message: tuple[int, int, int]) -> None:
        self._walked[rank].matched[number] = message
        heappush(self._events, (time_ns, _END, rank, number))

    def _release(self, time_ns: int, what: int, rank: int, number: int) -> None:
        missing = self._missing[rank]
        for last in self._later[rank][what].get(number, ()):
            missing[last] -= 1
            if missing[last] == 0:
                heappush(self._events, (time_ns, _BEGIN, rank, last))
