"""The time line of a trace: a track per rank, a row per thread, an event per call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tradewind.base.errors import InputError
from tradewind.timeline.model import Row, TimeLine, TraceEvent, Track
from tradewind.trace.calls import CALLS
from tradewind.trace.model import NONE
from tradewind.trace.source_lines import SourceLines

if TYPE_CHECKING:
    from tradewind.trace.model import RankEvents, Trace

MAX_EVENTS = 2_000_000
"""Events that one time line can show."""


def time_line(trace: Trace, ranks: Sequence[int] | None = None) -> TimeLine:
    """Return the time line of some ranks of a trace; None: of all.

    Raises InputError for more than `MAX_EVENTS` events, and for ranks that the trace does not have.
    """
    shown = trace.ranks if ranks is None else list(ranks)
    check_shown(trace, shown)
    title = " ".join(trace.command) or "recorded run"
    lines = SourceLines()
    return TimeLine(title, [Track(rank, rows_of(trace.events(rank), lines)) for rank in shown])


def check_shown(trace: Trace, ranks: Sequence[int]) -> None:
    """Raises InputError where some ranks have more than `MAX_EVENTS` events."""
    events = sum(trace.infos[rank].events for rank in ranks if rank in trace.infos)
    if events > MAX_EVENTS:
        raise InputError(f"time line of {events} events: at most {MAX_EVENTS} are allowed; name fewer ranks")


def rows_of(events: RankEvents, lines: SourceLines, name: str = "MPI", since_ns: int = 0) -> list[Row]:
    """Return the rows of a rank's threads, with times counted from `since_ns` on."""
    rows: dict[int, Row] = {}
    operations = [ShownOperation(events, number, lines) for number in range(len(events.operations))]
    for number, begin, end in zip(events.order.tolist(), events.begin_ns.tolist(), events.end_ns.tolist(), strict=True):
        shown = operations[number]
        row = rows.setdefault(shown.thread, Row(name if shown.thread == 0 else f"{name}, thread {shown.thread}"))
        row.events.append(shown.at(begin - since_ns, end - since_ns))
    return [rows[thread] for thread in sorted(rows)]


class ShownOperation:
    """An operation as an event of a time line has it."""

    def __init__(self, events: RankEvents, number: int, lines: SourceLines) -> None:
        operation = events.operations[number]
        call = CALLS[int(operation["call"])]
        names = ("peer", "tag", "bytes", "source", "source_tag", "received", "communicator", "request", "window")
        details = {name: int(operation[name]) for name in names}
        self.thread = int(operation["thread"])
        self._name, self._kind = call.name, call.kind.value
        self._peer = details["peer"] if details["peer"] >= 0 else None
        self._bytes = details["bytes"] or details["received"] or None
        self._more: dict[str, str | int | float] = {
            name: value for name, value in details.items() if name not in ("peer", "bytes") and value > NONE
        }
        if (place := lines.of(events, number)) is not None:
            self._more["place"] = str(place)

    def at(self, begin_ns: int, end_ns: int) -> TraceEvent:
        """Return the event from one time to another."""
        return TraceEvent(
            self._kind, self._name, begin_ns, end_ns, peer=self._peer, bytes=self._bytes, more=dict(self._more)
        )
