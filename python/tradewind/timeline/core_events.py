"""Trace events that a simulation has kept of the ranks that are shown, and the rows that all programs have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tradewind import _core
from tradewind.timeline.model import Row, TraceEvent, Track

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS: tuple[str, ...] = tuple(_core.trace_event_kinds)
PS_PER_NS = 1000


@dataclass(frozen=True)
class CoreEvent:
    """A trace event of a rank, as the core records it; times in ps, stages numbered through all steps."""

    rank: int
    stage: int
    begin: int
    end: int
    kind: str
    peer: int | None
    nic: int
    bytes: int

    @property
    def is_sent(self) -> bool:
        """Whether a message leaves its sender here, by a NIC or by memory."""
        return self.kind in ("send", "copy")

    def trace_event(self, name: str, stage: int) -> TraceEvent:
        """Return it as an event of a time line: `stage` is its number within the step of that name."""
        begin, end = self.begin // PS_PER_NS, self.end // PS_PER_NS
        return TraceEvent(self.kind, name, begin, end, stage, self.peer, self.bytes or None)


class StageLookup(Protocol):
    """Steps or exchanges of a program, found by stage."""

    def name(self, stage: int) -> str:
        """Return the name of the step or exchange."""

    def within(self, stage: int) -> int:
        """Return the number of the stage within it."""


class Arrows:
    """Numbers of the arrows that begin at what was sent, and end at what has arrived."""

    def __init__(self, core_events: list[CoreEvent]) -> None:
        arrivals = {(event.peer, event.rank, event.stage): event for event in core_events if event.kind == "arrival"}
        self.starts: dict[CoreEvent, tuple[int, ...]] = {}
        self.ends: dict[CoreEvent, tuple[int, ...]] = {}
        for event in core_events:
            arrival = (
                arrivals.get((event.rank, event.peer, event.stage))
                if event.is_sent and event.peer is not None
                else None
            )
            if arrival is not None:
                number = (len(self.starts) + 1,)
                self.starts[event] = number
                self.ends[arrival] = self.ends.get(arrival, ()) + number


def by_rank(core_events: NDArray[np.int64]) -> Iterator[tuple[int, list[CoreEvent], Arrows]]:
    """Yield each rank of ``SimulationResult.trace_events`` with its events, in order of time, and the arrows of all."""
    every = [
        CoreEvent(rank, stage, begin, end, _KINDS[kind], None if peer < 0 else peer, nic, size)
        for rank, stage, begin, end, kind, peer, nic, size in core_events.tolist()
    ]
    arrows = Arrows(every)
    for rank, events in groupby(every, key=lambda event: event.rank):
        yield rank, list(events), arrows


@dataclass
class RankEvents(ABC):
    """The events of one rank, in order of time."""

    rank: int
    core_events: list[CoreEvent]
    places: StageLookup
    arrows: Arrows

    def track(self) -> Track:
        """Return the rows of the rank: its own, then a row per NIC, copies by memory, arrivals."""
        sends = [event for event in self.core_events if event.kind == "send"]
        nics = sorted({event.nic for event in sends})
        rows = self.rows()
        for nic in nics:
            events = [self._message(event, "to") for event in sends if event.nic == nic]
            rows.append(Row("NIC" if nics == [0] else f"NIC {nic}", events))
        for name, kind, word in (("memory", "copy", "to"), ("arrivals", "arrival", "from")):
            rows.append(Row(name, [self._message(event, word) for event in self.core_events if event.kind == kind]))
        return Track(self.rank, [row for row in rows if row.events])

    @abstractmethod
    def rows(self) -> list[Row]:
        """Return the rows above those of the messages."""

    def _message(self, event: CoreEvent, word: str) -> TraceEvent:
        name = f"{word} {'others' if event.peer is None else event.peer}"
        drawn = event.trace_event(name, self.places.within(event.stage))
        starts, ends = self.arrows.starts.get(event, ()), self.arrows.ends.get(event, ())
        return replace(drawn, more={"step": self.places.name(event.stage)}, starts=starts, ends=ends)
