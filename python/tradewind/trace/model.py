"""The one form of all time lines: a track a rank, rows of spans, arrows from row to row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """Something that a rank did, or that happened to it, from one time to another; at one moment where they are equal.

    Times are whole nanoseconds from the beginning of the run.
    """

    kind: str
    """What it is (post, wait, send, ...): spans of one kind have one colour."""
    name: str
    begin_ns: int
    end_ns: int
    stage: int | None = None
    peer: int | None = None
    bytes: int | None = None
    more: dict[str, str | int | float] = field(default_factory=dict)
    """What else a reader may want to know."""
    starts: tuple[int, ...] = ()
    """Numbers of the arrows that begin here."""
    ends: tuple[int, ...] = ()
    """Numbers of the arrows that end here."""

    @property
    def details(self) -> dict[str, str | int | float]:
        known = {"stage": self.stage, "peer": self.peer, "bytes": self.bytes}
        return {name: value for name, value in known.items() if value is not None} | self.more


@dataclass
class Row:
    """Spans under one name; they may overlap."""

    name: str
    spans: list[Span] = field(default_factory=list)

    def lanes(self) -> list[list[Span]]:
        """The spans on as few lines as hold them, in order of time: on each, two are nested or apart."""
        lanes: list[tuple[list[Span], list[int]]] = []  # spans, and the ends of those that hold the next one
        for span in sorted(self.spans, key=lambda span: (span.begin_ns, -span.end_ns)):
            lane, ends = next((lane for lane in lanes if _fits(span, lane[1])), ([], []))
            if not lane:
                lanes.append((lane, ends))
            lane.append(span)
            ends.append(span.end_ns)
        return [lane for lane, _ in lanes]


def _fits(span: Span, ends: list[int]) -> bool:
    """Whether a span is nested in those that are open, or apart; closes those that have ended."""
    while ends and ends[-1] <= span.begin_ns:
        ends.pop()
    return not ends or span.end_ns <= ends[-1]


@dataclass
class Track:
    """What is known of one rank."""

    rank: int
    rows: list[Row]
    note: str = ""
    """How good its times are, where that is in question."""

    @property
    def name(self) -> str:
        return f"rank {self.rank}"


@dataclass
class TimeLine:
    """Tracks in ascending order of rank."""

    title: str
    tracks: Sequence[Track]

    def spans(self) -> Iterator[tuple[Track, Row, Span]]:
        """All of them."""
        for track in self.tracks:
            for row in track.rows:
                for span in row.spans:
                    yield track, row, span
