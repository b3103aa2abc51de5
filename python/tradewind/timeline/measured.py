"""The time line of a real run, from what its ranks have written down."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tradewind.base.collective import check_communicator, collective, proceed
from tradewind.base.units import format_seconds
from tradewind.timeline.clock import Clock, compare
from tradewind.timeline.model import Row, TimeLine, TraceEvent, Track

if TYPE_CHECKING:
    from mpi4py import MPI

Event = tuple[str, int, int, int, float, float]
"""Recorded event of a rank: (name, stage, peer, bytes, begin, end), seconds of its clock. -1: no peer, no stage."""

PAIRS = {"pack": "unpack"}
"""Events of a sender, with its receiver as peer, and those of the receiver that belong to them: arrows join them."""


class _Message(NamedTuple):
    """One end of a message: the how-manieth of those that one rank sends another in a stage."""

    name: str
    sender: int
    receiver: int
    stage: int
    number: int


@collective
def gather(
    comm: MPI.Intracomm, events: Sequence[Event], title: str, now: Callable[[], float] = time.perf_counter
) -> TimeLine | None:
    """The time line of all ranks, on rank 0; None on the others. Collective.

    `now`: the clock that the events were written down with; clocks of ranks are compared now (see `clock.compare`).
    """
    check_communicator(comm)
    mine: list[Event] = [
        (str(name), int(stage), int(peer), int(sent), float(begin), float(end))
        for name, stage, peer, sent, begin, end in events
    ]
    float(now())
    title = str(title)
    proceed(comm)
    clocks = compare(comm, now)
    everyone = comm.gather(mine)
    return None if everyone is None else time_line(everyone, clocks, title)


def time_line(events: Sequence[Sequence[Event]], clocks: Sequence[Clock], title: str) -> TimeLine:
    """Return the time line of the events of all ranks; the earliest begins at 0.

    A rank has one row. A message has an arrow where both its ends are known (see `PAIRS`). An arrow that runs backwards
    is within the error of the clocks, which the track of each rank states.
    """
    events = [sorted(each, key=lambda event: (event[4], -event[5])) for each in events]
    starts = [begin + clock.offset_s for each, clock in zip(events, clocks, strict=True) for *_, begin, _ in each]
    first = min(starts, default=0.0)
    arrows = _arrows(events)
    tracks = [
        Track(
            rank, [Row("CPU", _trace_events(rank, each, first - clock.offset_s, arrows))] if each else [], _note(clock)
        )
        for rank, (each, clock) in enumerate(zip(events, clocks, strict=True))
    ]
    return TimeLine(title, tracks)


def _note(clock: Clock) -> str:
    if clock.error_s == 0:
        return ""
    offset, error = format_seconds(abs(clock.offset_s)), format_seconds(clock.error_s)
    return f"clock put {offset} {'back' if clock.offset_s < 0 else 'forward'}, give or take {error}, to be rank 0's"


def _trace_events(rank: int, events: Sequence[Event], zero_s: float, arrows: dict[_Message, int]) -> list[TraceEvent]:
    """Times are rounded down, so that what is nested stays nested."""
    made = []
    for (name, stage, peer, size, begin, end), message in zip(events, _messages(rank, events), strict=True):
        begin_ns, end_ns = (max(0, math.floor((time_s - zero_s) * 1e9)) for time_s in (begin, end))
        number = None if message is None else arrows.get(message)
        arrow = () if number is None else (number,)
        made.append(
            TraceEvent(
                name,
                name if peer < 0 else f"{name} {peer}",
                begin_ns,
                end_ns,
                stage=None if stage < 0 else stage,
                peer=None if peer < 0 else peer,
                bytes=size or None,
                starts=arrow if name in PAIRS else (),
                ends=() if name in PAIRS else arrow,
            )
        )
    return made


def _messages(rank: int, events: Sequence[Event]) -> list[_Message | None]:
    """Return the message that each event sends or receives, named as its sender's; None for other events."""
    senders = {receives: sends for sends, receives in PAIRS.items()}
    seen: Counter[tuple[str, int, int, int]] = Counter()
    messages: list[_Message | None] = []
    for name, stage, peer, *_ in events:
        if peer < 0 or (name not in PAIRS and name not in senders):
            messages.append(None)
            continue
        sender, receiver = (rank, peer) if name in PAIRS else (peer, rank)
        key = (name, sender, receiver, stage)
        messages.append(_Message(senders.get(name, name), sender, receiver, stage, seen[key]))
        seen[key] += 1
    return messages


def _arrows(events: Sequence[Sequence[Event]]) -> dict[_Message, int]:
    """Numbers of the messages of which both ends are there."""
    ends = Counter(message for rank, each in enumerate(events) for message in _messages(rank, each) if message)
    return {message: number for number, message in enumerate((m for m, count in ends.items() if count == 2), 1)}
