"""Operations of GOAL that are carried out one after another, as calls of MPI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tradewind.trace.builder import RankBuilder
from tradewind.trace.model import NONE
from tradewind.trace.requests import Slots


class Calls:
    """Makes the calls of a rank, in order."""

    def __init__(self, rank: int) -> None:
        self._builder = RankBuilder(rank).call("MPI_Init")
        self._slots = Slots()
        self._open: dict[int, tuple[int, int, int, int]] = {}
        self._known: dict[Any, int] = {}
        self._gap = 0

    def compute(self, time_ns: int) -> None:
        """Compute in front of the next call."""
        self._gap += time_ns

    def message(
        self, number: int, sends: bool, peer: int, tag: int, amount: int, status: tuple[int, int, int] | None = None
    ) -> None:
        """Begin the message of an operation. `status`: source, tag and bytes of what a receive takes, if known."""
        slot = self._slots.take()
        self._open[number] = (slot, NONE, NONE, 0) if sends else (slot, *(status or (peer, tag, amount)))
        key = (sends, peer, tag, amount, slot)
        if key not in self._known:
            self._known[key] = (
                self._builder.operation("MPI_Isend", peer=peer, tag=tag, bytes=amount, request=slot)
                if sends
                else self._builder.operation("MPI_Irecv", source=peer, source_tag=tag, received=amount, request=slot)
            )
        self._add(self._known[key])

    def wait(self, numbers: Iterable[int]) -> list[int]:
        """Wait for the messages of operations; return those that had not been waited for."""
        waited = [number for number in dict.fromkeys(numbers) if number in self._open]
        ended = tuple(self._open.pop(number) for number in waited)
        if not ended:
            return waited
        if ended not in self._known:
            slots = [slot for slot, *_ in ended]
            self._known[ended] = self._builder.operation("MPI_Waitall", asked=slots, ended=ended)
        for slot, *_ in ended:
            self._slots.give_back(slot)
        self._add(self._known[ended])
        return waited

    def finish(self) -> RankBuilder:
        """Wait for the other messages, and return all calls."""
        self.wait(list(self._open))
        self._builder.call("MPI_Finalize", gap_ns=self._gap)
        return self._builder

    def _add(self, operation: int) -> None:
        self._builder.event(operation, self._gap)
        self._gap = 0
