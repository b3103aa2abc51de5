"""The time line of a simulation whose steps start exchanges and wait for them, or whose groups have steps of their own.

Several exchanges may be open at once, so each has a row of its own below the CPU's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.timeline.core_events import PS_PER_NS, CoreEvent, RankEvents, by_rank
from tradewind.timeline.model import Row, TimeLine, TraceEvent

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CALLS = ("start", "wait", "poke")


def time_line_of_order(
    core_events: NDArray[np.int64], order: _core.Order, exchanges: Sequence[str], steps: Sequence[str], title: str
) -> TimeLine:
    """Return the time line of ``SimulationResult.trace_events`` of a program with an order.

    `exchanges`, `steps`: their names, in the order of the program's. Each rank has one row for its CPU (computations,
    and calls that start, await or poke; in these post, match and wait), one for a thread that brings exchanges on
    where there is one, one per exchange with its stages, and the rows of messages (see `tradewind.timeline.simulated`).
    A gap between two stages of an exchange is time in which the next one is not posted yet.
    """
    places = _Instances(order, exchanges)
    ranks = [_Rank(rank, events, places, arrows) for rank, events, arrows in by_rank(core_events)]
    return TimeLine(title, [rank.named(steps).track() for rank in ranks])


class _Instances:
    """The exchanges of a program, found by stage."""

    def __init__(self, order: _core.Order, names: Sequence[str]) -> None:
        self._order, self._names = order, names

    def instance(self, stage: int) -> tuple[int, int]:
        """Return the number of the exchange, and the first stage of this time that it takes place."""
        exchange, first, _ = self._order.at(stage)
        return exchange, first

    def name(self, stage: int) -> str:
        return self._names[self.instance(stage)[0]]

    def within(self, stage: int) -> int:
        return stage - self.instance(stage)[1]


class _Rank(RankEvents):
    """The events of one rank, in order of time."""

    places: _Instances
    steps: Sequence[str] = ()

    def named(self, steps: Sequence[str]) -> _Rank:
        """Take the names of the steps."""
        self.steps = steps
        return self

    def rows(self) -> list[Row]:
        thread = [self._handled(event) for event in self._busy if event.nic == 1]
        return [Row("CPU", self._cpu()), Row("thread", thread), *self._exchanges()]

    @cached_property
    def _busy(self) -> list[CoreEvent]:
        """Events of the CPU, or of the thread, that deal with messages."""
        return [event for event in self.core_events if event.kind in ("post", "match", "compute")]

    def _handled(self, event: CoreEvent) -> TraceEvent:
        drawn = event.trace_event(event.kind, self.places.within(event.stage))
        return replace(drawn, more={"exchange": self.places.name(event.stage)})

    def _cpu(self) -> list[TraceEvent]:
        events: list[TraceEvent] = []
        busy = iter(event for event in self._busy if event.nic == 0)
        inner = next(busy, None)
        for event in self.core_events:
            if event.kind == "work":
                events.append(TraceEvent("compute", self.steps[event.stage], *_ns(event)))
            elif event.kind in _CALLS:
                events.append(TraceEvent("step", self.steps[event.stage], *_ns(event)))
                within: list[CoreEvent] = []
                while inner is not None and inner.begin < event.end:
                    within.append(inner)
                    inner = next(busy, None)
                events += self._call(event, within)
        return events

    def _call(self, call: CoreEvent, within: list[CoreEvent]) -> list[TraceEvent]:
        """Return what the CPU does in a call; it waits when it does nothing else."""
        events: list[TraceEvent] = []
        at = call.begin
        for event in [*within, replace(call, begin=call.end)]:
            if event.begin > at:
                events.append(TraceEvent("wait", "wait", at // PS_PER_NS, event.begin // PS_PER_NS))
            if event is not call and event.kind not in _CALLS:
                events.append(self._handled(event))
            at = max(at, event.end)
        return events

    def _exchanges(self) -> list[Row]:
        """A row for each exchange: every time that it takes place, in it its stages."""
        rows: dict[str, Row] = {}
        stages = sorted(
            (event for event in self.core_events if event.kind == "stage"), key=lambda event: (event.stage, event.begin)
        )
        for _, each in groupby(stages, key=lambda event: self.places.instance(event.stage)):
            of_one = list(each)
            name = self.places.name(of_one[0].stage)
            row = rows.setdefault(name, Row(f"exchange {name}"))
            row.events.append(TraceEvent("exchange", name, _ns(of_one[0])[0], _ns(of_one[-1])[1]))
            for stage in of_one:
                number = self.places.within(stage.stage)
                row.events.append(stage.trace_event(f"stage {number}", number))
        return list(rows.values())


def _ns(event: CoreEvent) -> tuple[int, int]:
    return event.begin // PS_PER_NS, event.end // PS_PER_NS
