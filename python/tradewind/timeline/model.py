"""The one form of all time lines: one track per rank, rows of events, arrows from row to row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tradewind.base.errors import as_utf8


@dataclass(frozen=True)
class TraceEvent:
    """Something that a rank did, or that happened to it, from one time to another; at one moment where they are equal.

    Times are whole nanoseconds from the beginning of the run.
    """

    kind: str
    """Kind of the event (post, wait, send, ...); events of one kind have one colour."""
    name: str
    begin_ns: int
    end_ns: int
    stage: int | None = None
    peer: int | None = None
    bytes: int | None = None
    more: dict[str, str | int | float] = field(default_factory=dict)
    """Further details, by name."""
    starts: tuple[int, ...] = ()
    """Numbers of the arrows that begin here."""
    ends: tuple[int, ...] = ()
    """Numbers of the arrows that end here."""
    mark: str | None = None
    """A letter or number beside it, by which a text refers to it."""

    @property
    def details(self) -> dict[str, str | int | float]:
        """Stage, peer, bytes, mark and further details, as far as they are known."""
        known = {"stage": self.stage, "peer": self.peer, "bytes": self.bytes, "mark": self.mark}
        return {name: value for name, value in known.items() if value is not None} | self.more


@dataclass
class Row:
    """Spans under one name; they may overlap."""

    name: str
    events: list[TraceEvent] = field(default_factory=list)

    @property
    def spans(self) -> list[TraceEvent]:
        """The same as `events`: its former name."""
        return self.events

    def lanes(self) -> list[list[TraceEvent]]:
        """The events on as few lines as hold them, in order of time: on each, two are nested or apart."""
        lanes: list[tuple[list[TraceEvent], list[int]]] = []  # events, and the ends of those that hold the next one
        for event in sorted(self.events, key=lambda event: (event.begin_ns, -event.end_ns)):
            lane, ends = next((lane for lane in lanes if _fits(event, lane[1])), ([], []))
            if not lane:
                lanes.append((lane, ends))
            lane.append(event)
            ends.append(event.end_ns)
        return [lane for lane, _ in lanes]


def _fits(event: TraceEvent, ends: list[int]) -> bool:
    """Whether an event is nested in those that are open, or apart; closes those that have ended."""
    while ends and ends[-1] <= event.begin_ns:
        ends.pop()
    return not ends or event.end_ns <= ends[-1]


@dataclass
class Track:
    """The rows of one rank."""

    rank: int
    rows: list[Row]
    note: str = ""
    """Accuracy of its clock, where it was corrected."""

    @property
    def name(self) -> str:
        """Name of the rank in pictures."""
        return f"rank {self.rank}"


@dataclass(frozen=True)
class Counter:
    """A quantity over time, like the bytes that wait: (whole nanoseconds, value from then on)."""

    name: str
    values: Sequence[tuple[int, float]]


@dataclass
class TimeLine:
    """Tracks in ascending order of rank, and quantities over the same time."""

    title: str
    tracks: Sequence[Track]
    counters: Sequence[Counter] = ()

    def __post_init__(self) -> None:
        self.title = as_utf8(str(self.title))  # names of files may be in it

    def spans(self) -> Iterator[tuple[Track, Row, TraceEvent]]:
        """The same as `events`: its former name."""
        return self.events()

    def events(self) -> Iterator[tuple[Track, Row, TraceEvent]]:
        """Yield all events, each with its track and row."""
        for track in self.tracks:
            for row in track.rows:
                for event in row.events:
                    yield track, row, event
