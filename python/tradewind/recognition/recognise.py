"""Patterns of a trace: its exchanges by name, the time step that repeats them, and what belongs to none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.recognition.box_sizes import Known
from tradewind.recognition.computing import Computing, ComputingTimes
from tradewind.recognition.exchange import Exchange
from tradewind.recognition.loops import Leaf, Loop, main_loop
from tradewind.recognition.parsing import Instance, Parsed, Parser
from tradewind.recognition.streams import streams_of
from tradewind.replay.row import Left
from tradewind.trace.calls import CALLS
from tradewind.trace.model import Trace

NO_PATTERN, OUTSIDE, SOME_RANKS, LEFT_OUT, ROUNDED = (
    "no pattern",
    "outside of the loop",
    "of some ranks",
    "one-sided or between groups",
    "more iterations in some steps than in the file",
)
"""Why messages are not in a file."""


@dataclass
class Step:
    """A step of the loop: an exchange, and the computing before it and while it is under way."""

    exchange: Exchange
    computing: Computing
    during: Computing


@dataclass
class Repeated:
    """Steps that are repeated within a step of the loop."""

    steps: list[Step | Repeated]
    repeats: float
    """In the mean of the steps of the loop."""

    @property
    def in_file(self) -> int:
        """Repetitions that a program file has: a whole number of them."""
        return max(1, round(self.repeats))


@dataclass(frozen=True)
class Unexplained:
    """Messages, or calls, that the file does not have."""

    call: str
    why: str
    size: int
    """Bytes of each."""
    messages: int


@dataclass(eq=False)
class Recognised:
    """Patterns that were found in a trace."""

    trace: Trace
    exchanges: list[Exchange]
    """Those of the loop, by their first use."""
    steps: list[Step | Repeated]
    repeats: int
    """Repetitions of the loop."""
    messages: int
    """Messages of the trace; a collective call is one of each rank."""
    bytes: int
    explained_messages: int
    """Those that the file has."""
    explained_bytes: int
    unexplained: list[Unexplained]
    """Messages that the file does not have, most bytes first."""
    uses: Mapping[str, int] = field(default_factory=dict)
    """Number of times that each exchange takes place in the loop, by name."""

    @property
    def share_of_bytes(self) -> float:
        """Bytes that the file has over those of the trace; 0 of none."""
        return self.explained_bytes / self.bytes if self.bytes else 0.0

    @property
    def share_of_messages(self) -> float:
        """Messages that the file has over those of the trace; 0 of none."""
        return self.explained_messages / self.messages if self.messages else 0.0

    @cached_property
    def computing_s(self) -> float:
        """Computing seconds of a rank in a step of the loop, in the mean of the ranks."""
        return sum(times * (step.computing.mean_s + step.during.mean_s) for step, times in _each(self.steps))


def _each(steps: Sequence[Step | Repeated], times: float = 1.0) -> Iterator[tuple[Step, float]]:
    for each in steps:
        if isinstance(each, Step):
            yield each, times
        else:
            yield from _each(each.steps, times * each.repeats)


def recognise(trace: Trace, grid: tuple[int, int, int] | None = None) -> Recognised:
    """Return the patterns of a trace.

    `grid`: points of the program along x, y, z, of which x is the direction in which ranks follow each other; None:
    one that the messages allow. Raises InputError for a trace that lacks ranks.
    """
    if missing := sorted({*range(trace.size)} - {*trace.ranks}):
        raise InputError(f"the trace has {len(trace.ranks)} of {trace.size} ranks: rank {missing[0]} is missing")
    left = Left()
    parser = Parser(trace, Known(grid))
    parsed = [parser.parse(stream) for stream in streams_of(trace, left)]
    instances = sorted((each for part in parsed for each in part.found), key=lambda each: each.time_ns)
    loop, begin, end = main_loop(
        [instance.exchange.identity for instance in instances], [instance.exchange.bytes for instance in instances]
    )
    inside = instances[begin:end]
    times = ComputingTimes(trace, instances)
    exchanges = list({id(each.exchange): each.exchange for each in inside}.values())
    _name(exchanges)
    steps = _steps(loop, instances, times) if instances else []
    repeats = loop.repeats[0] if instances else 0
    uses = Counter(each.exchange.name for each in inside)
    in_file = _in_file(steps, repeats)
    too_few = {each.name: max(0, uses[each.name] - in_file[each.name]) for each in exchanges}
    rounded = [
        Unexplained(each.name, ROUNDED, each.bytes // each.messages, too_few[each.name] * each.messages)
        for each in exchanges
        if too_few[each.name]
    ]
    return Recognised(
        trace,
        exchanges,
        steps,
        repeats,
        messages=sum(len(part.stream) for part in parsed) + sum(left.calls.values()),
        bytes=sum(int(sent.sizes.sum()) for part in parsed for sent in part.stream.sent) + sum(left.bytes.values()),
        explained_messages=sum(each.messages * (uses[each.name] - too_few[each.name]) for each in exchanges),
        explained_bytes=sum(each.bytes * (uses[each.name] - too_few[each.name]) for each in exchanges),
        unexplained=_most_first([*_unexplained(parsed, {id(each) for each in inside}, left), *rounded]),
        uses=uses,
    )


def _in_file(steps: Sequence[Step | Repeated], repeats: int) -> Counter[str]:
    """Return how often each exchange takes place in a file, by name."""
    found: Counter[str] = Counter()
    for each in steps:
        if isinstance(each, Step):
            found[each.exchange.name] += repeats
        else:
            found += _in_file(each.steps, repeats * each.in_file)
    return found


def _name(exchanges: Sequence[Exchange]) -> None:
    """Name exchanges by their kind, and a number where there are several of it."""
    kinds = Counter(each.kind for each in exchanges)
    seen: Counter[str] = Counter()
    for each in exchanges:
        seen[each.kind] += 1
        each.name = f"{each.kind} {seen[each.kind]}" if kinds[each.kind] > 1 else each.kind


def _steps(loop: Loop, instances: Sequence[Instance], times: ComputingTimes) -> list[Step | Repeated]:
    made: list[Step | Repeated] = []
    for each in loop.body:
        if isinstance(each, Leaf):
            made.append(Step(instances[each.places[0]].exchange, times.before(each.places), times.during(each.places)))
        else:
            made.append(Repeated(_steps(each, instances, times), each.mean))
    return made


def _unexplained(parsed: Sequence[Parsed], in_file: set[int], left: Left) -> Iterator[Unexplained]:
    found: Counter[tuple[str, str, int]] = Counter()
    for part in parsed:
        why = NO_PATTERN if part.stream.is_of_all else SOME_RANKS
        covered, outside = part.marks(in_file)
        for sent, inside, beyond in zip(part.stream.sent, covered, outside, strict=True):
            for missing, reason in ((~inside & ~beyond, why), (beyond, OUTSIDE)):
                pairs = np.stack([sent.labels[missing], sent.sizes[missing]], axis=1)
                for (label, size), count in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
                    found[CALLS[int(label)].name, reason, int(size)] += int(count)
    for name, calls in left.calls.items():
        found[name, LEFT_OUT, left.bytes[name] // calls if calls else 0] += calls
    for (call, why, size), messages in found.items():
        yield Unexplained(call, why, size, messages)


def _most_first(found: list[Unexplained]) -> list[Unexplained]:
    return sorted(found, key=lambda each: (-each.size * each.messages, -each.messages, each.call))


def report(found: Recognised, name: str) -> dict[str, Any]:
    """Return what was found as plain values."""
    return {
        "trace": name,
        "ranks": found.trace.size,
        "steps": found.repeats,
        "computing_s": found.computing_s,
        "messages": found.messages,
        "bytes": found.bytes,
        "explained": {
            "messages": found.explained_messages,
            "bytes": found.explained_bytes,
            "share_of_messages": found.share_of_messages,
            "share_of_bytes": found.share_of_bytes,
        },
        "exchanges": [
            {
                "name": each.name,
                "pattern": each.kind,
                "about": each.about,
                "times": found.uses[each.name],
                "per_step": found.uses[each.name] / found.repeats,
                "messages": each.messages * found.uses[each.name],
                "bytes": each.bytes * found.uses[each.name],
                "notes": list(each.notes),
            }
            for each in found.exchanges
        ],
        "not_explained": [
            {"call": each.call, "why": each.why, "bytes_each": each.size, "messages": each.messages}
            for each in found.unexplained
        ],
    }
