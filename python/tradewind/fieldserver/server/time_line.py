"""The time line of a model and its field server: what ranks of the model, servers and writers do, and what waits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradewind.fieldserver.server.events import MAX_EVENTS, Event
from tradewind.timeline.clock import Clock, compare
from tradewind.timeline.model import Counter, Row, TimeLine, TraceEvent, Track

if TYPE_CHECKING:
    from tradewind.fieldserver.server.step_files import WriterFigures
    from tradewind.mpi.library import MPI

_KINDS = {
    "model": {
        "write": "hand over",
        "start": "hand over",
        "wait": "hand over",
        "end": "hand over",
        "prefetch": "ask to read ahead",
        "read": "receive input",
        "finish": "wait for servers",
        "close": "wait for servers",
    },
    "server": {"collect": "collect", "send": "send input"},
    "writer": {"write": "encode and write", "finish": "let files appear"},
    "reader": {"read": "read ahead"},
}
"""Kind of an event of a row, by the first word of its name; any other is a time step of the model."""
_STEP = "step"
_MAX_SHOWN = 4000
"""Events of a picture: a longer run is cut off there."""


@dataclass
class Rows:
    """The events of a rank by row, and the bytes that wait for its writer over time."""

    events: dict[str, list[Event]]
    depth: list[tuple[float, int]]


def of_writers(figures: Sequence[WriterFigures], reads: Sequence[Event]) -> Rows:
    """Return the rows of the writers of a rank, and of what reads ahead: that may do so while a writer writes."""
    events = [event for each in figures for event in each.events]
    return Rows({"writer": events, "reader": list(reads)}, [moment for each in figures for moment in each.depth])


def gather(comm: MPI.Intracomm, rows: Rows, title: str) -> TimeLine | None:
    """Return the time line of all ranks of `comm`, the servers among them, on rank 0. Collective."""
    clocks = compare(comm)
    everyone = comm.gather(rows)
    return None if everyone is None else time_line(everyone, clocks, title)


def time_line(everyone: Sequence[Rows], clocks: Sequence[Clock], title: str) -> TimeLine:
    """Return the time line of the rows of all ranks; the earliest event begins at 0."""
    zero = min(
        (begin + clock.offset_s for rows, clock in zip(everyone, clocks, strict=True) for begin in _begins(rows)),
        default=0.0,
    )
    tracks, counters = [], []
    for rank, (rows, clock) in enumerate(zip(everyone, clocks, strict=True)):
        shift = zero - clock.offset_s
        made = [
            Row(name, [_event(name, each, shift) for each in events]) for name, events in rows.events.items() if events
        ]
        tracks.append(Track(rank, made))
        if rows.depth:
            values = [(_ns(at - shift), float(size)) for at, size in rows.depth]
            counters.append(Counter(f"rank {rank}: bytes that wait", [(0, 0.0), *values]))
    if any(len(events) >= MAX_EVENTS for rows in everyone for events in rows.events.values()):
        title += f", of a rank or server the first {MAX_EVENTS} events of each kind"
    return TimeLine(title, tracks, counters)


def first_part(line: TimeLine) -> TimeLine:
    """Return as much of a time line from its beginning as a picture shows."""
    ends = sorted(event.end_ns for *_, event in line.events())
    if len(ends) <= _MAX_SHOWN:
        return line
    last = ends[_MAX_SHOWN - 1]
    tracks = [
        Track(track.rank, [Row(row.name, [each for each in row.events if each.end_ns <= last]) for row in track.rows])
        for track in line.tracks
    ]
    return TimeLine(f"{line.title}, the first {last * 1e-9:.3g} s", tracks, line.counters)


def _begins(rows: Rows) -> Iterator[float]:
    return (begin for events in rows.events.values() for _, begin, _ in events)


def _event(row: str, event: Event, shift: float) -> TraceEvent:
    name, begin, end = event
    return TraceEvent(_KINDS[row].get(name.partition(" ")[0], _STEP), name, _ns(begin - shift), _ns(end - shift))


def _ns(seconds: float) -> int:
    return max(0, math.floor(seconds * 1e9))
