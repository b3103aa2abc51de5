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
from tradewind.trace.model import Row, Span, TimeLine, Track

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS: tuple[str, ...] = tuple(_core.act_kinds)
_PS_A_NS = 1000


def time_line(acts: NDArray[np.int64], steps: Sequence[_core.Step], title: str) -> TimeLine:
    """Of ``SimulationResult.acts``, of a program of these steps.

    Each rank has a row of its CPU (steps, in them stages, in them what the CPU does: post, compute, match, wait), one a
    NIC with the messages that it sends, one of copies within a node, and one of arrivals. A message whose sender and
    receiver are both shown has an arrow from the one to the other; several that a rank sends another in one stage end
    in one arrival, the last. Times are rounded down to nanoseconds, so that what is nested stays nested.
    """
    every = [
        _Act(rank, stage, begin, end, _KINDS[kind], None if peer < 0 else peer, nic, size)
        for rank, stage, begin, end, kind, peer, nic, size in acts.tolist()
    ]
    places, arrows = _Places(steps), _Arrows(every)
    ranks = groupby(every, key=lambda act: act.rank)
    return TimeLine(title, [_Rank(rank, list(each), places, arrows).track() for rank, each in ranks])


@dataclass(frozen=True)
class _Act:
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

    def span(self, name: str, stage: int) -> Span:
        begin, end = self.begin // _PS_A_NS, self.end // _PS_A_NS
        return Span(self.kind, name, begin, end, stage, self.peer, self.bytes or None)


class _Places:
    """Where stages of a program belong."""

    def __init__(self, steps: Sequence[_core.Step]) -> None:
        self.steps = steps
        self.first = [0, *accumulate(step.stages * step.repeat for step in steps)]
        self.names: list[str] = []
        for i, step in enumerate(steps):  # named as in the answer of a simulation
            self.names.append(step.name if step.name not in self.names else f"{step.name} {i + 1}")

    def turn(self, stage: int) -> tuple[int, int]:
        """The step, by its place in the program, and which of its repetitions."""
        i = bisect.bisect_right(self.first, stage) - 1
        return i, (stage - self.first[i]) // self.steps[i].stages

    def name(self, stage: int) -> str:
        """Of the step, and which of its repetitions where there are several."""
        i, turn = self.turn(stage)
        return f"{self.names[i]}, {turn + 1} of {self.steps[i].repeat}" if self.steps[i].repeat > 1 else self.names[i]

    def within(self, stage: int) -> int:
        """The stage of the step."""
        i, turn = self.turn(stage)
        return stage - self.first[i] - turn * self.steps[i].stages


class _Arrows:
    """Numbers of the arrows that begin at what was sent, and end at what has arrived."""

    def __init__(self, acts: list[_Act]) -> None:
        arrivals = {(act.peer, act.rank, act.stage): act for act in acts if act.kind == "arrival"}
        self.starts: dict[_Act, tuple[int, ...]] = {}
        self.ends: dict[_Act, tuple[int, ...]] = {}
        for act in acts:
            arrival = arrivals.get((act.rank, act.peer, act.stage)) if act.is_sent and act.peer is not None else None
            if arrival is not None:
                number = (len(self.starts) + 1,)
                self.starts[act] = number
                self.ends[arrival] = self.ends.get(arrival, ()) + number


@dataclass
class _Rank:
    """The acts of one rank, in order of time."""

    rank: int
    acts: list[_Act]
    places: _Places
    arrows: _Arrows

    def track(self) -> Track:
        sends = [act for act in self.acts if act.kind == "send"]
        nics = sorted({act.nic for act in sends})
        rows = [Row("CPU", self._cpu())]
        for nic in nics:
            spans = [self._message(act, "to") for act in sends if act.nic == nic]
            rows.append(Row("NIC" if nics == [0] else f"NIC {nic}", spans))
        for name, kind, word in (("memory", "copy", "to"), ("arrivals", "arrival", "from")):
            rows.append(Row(name, [self._message(act, word) for act in self.acts if act.kind == kind]))
        return Track(self.rank, [row for row in rows if row.spans])

    @cached_property
    def by_stage(self) -> dict[int, list[_Act]]:
        stages: dict[int, list[_Act]] = {}
        for act in self.acts:
            stages.setdefault(act.stage, []).append(act)
        return stages

    def _cpu(self) -> list[Span]:
        """A step, then its stages, each with what the CPU does in it."""
        spans: list[Span] = []
        stages = [act for act in self.acts if act.kind == "stage"]
        for _, each in groupby(stages, key=lambda act: self.places.turn(act.stage)):
            step = list(each)
            name = self.places.name(step[0].stage)
            spans.append(Span("step", name, step[0].begin // _PS_A_NS, step[-1].end // _PS_A_NS))
            for stage in step:
                number = self.places.within(stage.stage)
                spans.append(stage.span(f"stage {number}", number))
                spans += self._stage(stage, number)
        return spans

    def _stage(self, stage: _Act, number: int) -> list[Span]:
        """What the CPU does in a stage; it waits when it does nothing else."""
        spans: list[Span] = []
        busy = [act for act in self.by_stage[stage.stage] if act.kind in ("post", "compute", "match")]
        at = stage.begin
        for act in [*busy, replace(stage, begin=stage.end)]:
            if act.begin > at:
                wait = replace(stage, kind="wait", begin=at, end=act.begin)
                spans.append(replace(wait.span("wait", number), more=self._reason(stage)))
            if act.kind != "stage":
                spans.append(act.span(act.kind, number))
            at = act.end
        return spans

    def _reason(self, stage: _Act) -> dict[str, str | int | float]:
        """What comes or leaves last in a stage."""
        messages = [act for act in self.by_stage[stage.stage] if act.is_sent or act.kind == "arrival"]
        if not messages:
            return {}
        last = max(messages, key=lambda act: (act.end, act.kind == "arrival"))
        peer = "another rank" if last.peer is None else f"rank {last.peer}"
        return {"until": f"the message to {peer} has left" if last.is_sent else f"the message from {peer} has come"}

    def _message(self, act: _Act, word: str) -> Span:
        span = act.span(f"{word} {'others' if act.peer is None else act.peer}", self.places.within(act.stage))
        starts, ends = self.arrows.starts.get(act, ()), self.arrows.ends.get(act, ())
        return replace(span, more={"step": self.places.name(act.stage)}, starts=starts, ends=ends)
