"""Marks: letters beside events of a time line, by which a text refers to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tradewind.base.errors import InputError
from tradewind.timeline.model import TimeLine, Track


def mark(line: TimeLine, rank: int, events: Mapping[str, str]) -> None:
    """Write marks beside events of a rank: `events` has the beginning of an event's name for each, in order of time.

    A mark is put on the first event of that name which does not begin before the one with the mark ahead of it. Raises
    InputError where there is none: so marks also check that a run kept to their order.
    """
    track = next((track for track in line.tracks if track.rank == rank), None)
    if track is None:
        raise InputError(f"no rank {rank} on the time line {line.title!r}: it has {[t.rank for t in line.tracks]}")
    before, since_ns = "", 0
    for text, name in events.items():
        since_ns = _mark_next(track, name, text, before, since_ns)
        before = text


def _mark_next(track: Track, name: str, text: str, before: str, since_ns: int) -> int:
    """Mark the next event of a name; returns when it begins."""
    found = [
        (event.begin_ns, row, i)
        for row in track.rows
        for i, event in enumerate(row.events)
        if event.name.startswith(name) and event.begin_ns >= since_ns and not event.mark
    ]
    if not found:
        after = f" after {before}, at {since_ns * 1e-9:g} s" if before else ""
        raise InputError(f"{track.name} has no event {name!r}{after}: {text} marks nothing")
    begin_ns, row, i = min(found, key=lambda each: each[0])
    row.events[i] = replace(row.events[i], mark=text)
    return begin_ns
