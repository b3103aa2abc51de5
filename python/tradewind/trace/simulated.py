"""The time line of a simulation, from what its core has kept of the ranks that are shown."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.trace.model import Row, TimeLine, TraceEvent, Track

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS: tuple[str, ...] = tuple(_core.trace_event_kinds)
_PS_PER_NS = 1000


def time_line(core_events: NDArray[np.int64], steps: Sequence[_core.Step], title: str) -> TimeLine:
    """Return the time line of ``SimulationResult.trace_events`` of a program of these steps.

    Each rank has one row for its CPU (steps, in them stages, in them post, compute, match and wait), one row per NIC
    with the messages that it sends, one for copies within a node, and one for arrivals. An arrow joins a message's
    sender and receiver where both are shown; several messages from one rank to another in one stage end in one
    arrival, the last. Times are rounded down to nanoseconds, so that nested events stay nested.
    """
    every = [
        _CoreEvent(rank, stage, begin, end, _KINDS[kind], None if peer < 0 else peer, nic, size)
        for rank, stage, begin, end, kind, peer, nic, size in core_events.tolist()
    ]
    places, arrows = _Places(steps), _Arrows(every)
    ranks = groupby(every, key=lambda event: event.rank)
    return TimeLine(title, [_Rank(rank, list(each), places, arrows).track() for rank, each in ranks])


@dataclass(frozen=True)
class _CoreEvent:
    """Something that a rank did, as the core tells it; times in ps, stages of all steps counted through."""

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
        return self.kind in ("send", "copy")

    def trace_event(self, name: str, stage: int) -> TraceEvent:
        begin, end = self.begin // _PS_PER_NS, self.end // _PS_PER_NS
        return TraceEvent(self.kind, name, begin, end, stage, self.peer, self.bytes or None)


class _Places:
    """The steps of a program, found by stage."""

    def __init__(self, steps: Sequence[_core.Step]) -> None:
        self.steps = steps
        self.first = [0, *accumulate(step.stages * step.repeat for step in steps)]
        self.names: list[str] = []
        for i, step in enumerate(steps):  # named as in the result of a simulation
            self.names.append(step.name if step.name not in self.names else f"{step.name} {i + 1}")

    def repetition(self, stage: int) -> tuple[int, int]:
        """The step, by its place in the program, and which of its repetitions."""
        i = bisect.bisect_right(self.first, stage) - 1
        return i, (stage - self.first[i]) // self.steps[i].stages

    def name(self, stage: int) -> str:
        """Return the name of the step, with its repetition where there are several."""
        i, repetition = self.repetition(stage)
        return (
            f"{self.names[i]}, {repetition + 1} of {self.steps[i].repeat}"
            if self.steps[i].repeat > 1
            else self.names[i]
        )

    def within(self, stage: int) -> int:
        """The stage of the step."""
        i, repetition = self.repetition(stage)
        return stage - self.first[i] - repetition * self.steps[i].stages


class _Arrows:
    """Numbers of the arrows that begin at what was sent, and end at what has arrived."""

    def __init__(self, core_events: list[_CoreEvent]) -> None:
        arrivals = {(event.peer, event.rank, event.stage): event for event in core_events if event.kind == "arrival"}
        self.starts: dict[_CoreEvent, tuple[int, ...]] = {}
        self.ends: dict[_CoreEvent, tuple[int, ...]] = {}
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


@dataclass
class _Rank:
    """The events of one rank, in order of time."""

    rank: int
    core_events: list[_CoreEvent]
    places: _Places
    arrows: _Arrows

    def track(self) -> Track:
        sends = [event for event in self.core_events if event.kind == "send"]
        nics = sorted({event.nic for event in sends})
        rows = [Row("CPU", self._cpu())]
        for nic in nics:
            events = [self._message(event, "to") for event in sends if event.nic == nic]
            rows.append(Row("NIC" if nics == [0] else f"NIC {nic}", events))
        for name, kind, word in (("memory", "copy", "to"), ("arrivals", "arrival", "from")):
            rows.append(Row(name, [self._message(event, word) for event in self.core_events if event.kind == kind]))
        return Track(self.rank, [row for row in rows if row.events])

    @cached_property
    def by_stage(self) -> dict[int, list[_CoreEvent]]:
        stages: dict[int, list[_CoreEvent]] = {}
        for event in self.core_events:
            stages.setdefault(event.stage, []).append(event)
        return stages

    def _cpu(self) -> list[TraceEvent]:
        """A step, then its stages, each with what the CPU does in it."""
        events: list[TraceEvent] = []
        stages = [event for event in self.core_events if event.kind == "stage"]
        for _, each in groupby(stages, key=lambda event: self.places.repetition(event.stage)):
            step = list(each)
            name = self.places.name(step[0].stage)
            events.append(TraceEvent("step", name, step[0].begin // _PS_PER_NS, step[-1].end // _PS_PER_NS))
            for stage in step:
                number = self.places.within(stage.stage)
                events.append(stage.trace_event(f"stage {number}", number))
                events += self._stage(stage, number)
        return events

    def _stage(self, stage: _CoreEvent, number: int) -> list[TraceEvent]:
        """Return what the CPU does in a stage; it waits when it does nothing else."""
        events: list[TraceEvent] = []
        busy = [event for event in self.by_stage[stage.stage] if event.kind in ("post", "compute", "match")]
        at = stage.begin
        for event in [*busy, replace(stage, begin=stage.end)]:
            if event.begin > at:
                wait = replace(stage, kind="wait", begin=at, end=event.begin)
                events.append(replace(wait.trace_event("wait", number), more=self._reason(stage)))
            if event.kind != "stage":
                events.append(event.trace_event(event.kind, number))
            at = event.end
        return events

    def _reason(self, stage: _CoreEvent) -> dict[str, str | int | float]:
        """Return which message arrives or leaves last in a stage."""
        messages = [event for event in self.by_stage[stage.stage] if event.is_sent or event.kind == "arrival"]
        if not messages:
            return {}
        last = max(messages, key=lambda event: (event.end, event.kind == "arrival"))
        peer = "another rank" if last.peer is None else f"rank {last.peer}"
        return {"until": f"the message to {peer} has left" if last.is_sent else f"the message from {peer} has come"}

    def _message(self, event: _CoreEvent, word: str) -> TraceEvent:
        name = f"{word} {'others' if event.peer is None else event.peer}"
        drawn = event.trace_event(name, self.places.within(event.stage))
        starts, ends = self.arrows.starts.get(event, ()), self.arrows.ends.get(event, ())
        return replace(drawn, more={"step": self.places.name(event.stage)}, starts=starts, ends=ends)
