"""The time line of a simulation of steps that follow each other; of others see `tradewind.timeline.simulated_order`."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.timeline.core_events import PS_PER_NS, CoreEvent, RankEvents, by_rank
from tradewind.timeline.model import Row, TimeLine, TraceEvent

if TYPE_CHECKING:
    from numpy.typing import NDArray


def time_line(core_events: NDArray[np.int64], steps: Sequence[_core.Step], title: str) -> TimeLine:
    """Return the time line of ``SimulationResult.trace_events`` of a program of these steps.

    Each rank has one row for its CPU (steps, in them stages, in them post, compute, match and wait), one row per NIC
    with the messages that it sends, one for copies within a node, and one for arrivals. An arrow joins a message's
    sender and receiver where both are shown; several messages from one rank to another in one stage end in one
    arrival, the last. Times are rounded down to nanoseconds, so that nested events stay nested.
    """
    places = _Places(steps)
    return TimeLine(
        title, [_Rank(rank, events, places, arrows).track() for rank, events, arrows in by_rank(core_events)]
    )


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


class _Rank(RankEvents):
    """The events of one rank, in order of time."""

    places: _Places

    def rows(self) -> list[Row]:
        return [Row("CPU", self._cpu())]

    @cached_property
    def by_stage(self) -> dict[int, list[CoreEvent]]:
        stages: dict[int, list[CoreEvent]] = {}
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
            events.append(TraceEvent("step", name, step[0].begin // PS_PER_NS, step[-1].end // PS_PER_NS))
            for stage in step:
                number = self.places.within(stage.stage)
                events.append(stage.trace_event(f"stage {number}", number))
                events += self._stage(stage, number)
        return events

    def _stage(self, stage: CoreEvent, number: int) -> list[TraceEvent]:
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

    def _reason(self, stage: CoreEvent) -> dict[str, str | int | float]:
        """Return which message arrives or leaves last in a stage."""
        messages = [event for event in self.by_stage[stage.stage] if event.is_sent or event.kind == "arrival"]
        if not messages:
            return {}
        last = max(messages, key=lambda event: (event.end, event.kind == "arrival"))
        peer = "another rank" if last.peer is None else f"rank {last.peer}"
        return {"until": f"the message to {peer} has left" if last.is_sent else f"the message from {peer} has come"}
