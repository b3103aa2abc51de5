"""Slots of requests for readers of other forms: the lowest that is free, as recorders number them."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush

from tradewind.trace.builder import Ended

Key = tuple[int, int, int]
"""Sender, receiver and tag of a request."""


class Slots:
    """Numbers of open requests: each takes the lowest that no other has."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._next = 0

    def take(self) -> int:
        """Return a free slot, which is not free from now on."""
        if self._free:
            return heappop(self._free)
        self._next += 1
        return self._next - 1

    def give_back(self, slot: int) -> None:
        """Free a slot."""
        heappush(self._free, slot)


class Open:
    """Open requests by sender, receiver and tag: a wait for these three ends the oldest of them."""

    def __init__(self) -> None:
        self._slots = Slots()
        self._by_key: dict[Key, deque[int]] = {}
        self._posted: dict[int, tuple[int, int, int]] = {}

    def post(self, key: Key, status: tuple[int, int, int]) -> int:
        """Open a request and return its slot; `status`: source, tag and bytes once it has ended."""
        slot = self._slots.take()
        self._by_key.setdefault(key, deque()).append(slot)
        self._posted[slot] = status
        return slot

    def end(self, key: Key) -> list[Ended]:
        """End the oldest request of a key and return it; an empty list where no request is open."""
        slots = self._by_key.get(key)
        return [self._end(slots.popleft())] if slots else []

    def end_all(self) -> list[Ended]:
        """End all requests and return them, in the order in which they were opened."""
        self._by_key.clear()
        return [self._end(slot) for slot in list(self._posted)]

    def _end(self, slot: int) -> Ended:
        self._slots.give_back(slot)
        return slot, *self._posted.pop(slot)
