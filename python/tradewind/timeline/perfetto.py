"""A time line as Perfetto's TrackEvents (https://perfetto.dev/docs/reference/synthetic-track-event)."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from tradewind.timeline.model import TimeLine, TraceEvent, Track

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent


def write(line: TimeLine, file: IO[bytes]) -> None:
    """Write a trace: a track for the run, below it one per rank with its rows; arrows are flows. Raises OSError."""
    trace = _Trace(file)
    run = trace.track(line.title)
    for order, track in enumerate(line.tracks):
        _write_rank(trace, track, trace.track(track.name, run, order, track.note))
    for order, counter in enumerate(line.counters, len(line.tracks)):
        number = trace.counter(counter.name, run, order)
        for time_ns, value in counter.values:
            trace.value(number, time_ns, value)
    trace.flush()


class _Trace:
    """Writes packets, some thousand at a time."""

    packets_at_a_time = 10_000

    def __init__(self, file: IO[bytes]) -> None:
        from perfetto.trace_builder.proto_builder import TraceProtoBuilder

        self._make, self._file = TraceProtoBuilder, file
        self._builder, self._packets, self._tracks = TraceProtoBuilder(), 0, 0

    def track(self, name: str, parent: int | None = None, order: int = 0, note: str = "") -> int:
        """A track at this place among those of its parent; returns its number."""
        self._tracks += 1
        track: TrackDescriptor = self._packet().track_descriptor
        track.uuid, track.name, track.child_ordering = self._tracks, name, track.EXPLICIT
        if parent is not None:
            track.parent_uuid, track.sibling_order_rank = parent, order
        if note:
            track.description = note
        return self._tracks

    def counter(self, name: str, parent: int, order: int) -> int:
        """A track of a quantity; returns its number."""
        self._tracks += 1
        track: TrackDescriptor = self._packet().track_descriptor
        track.uuid, track.name, track.child_ordering = self._tracks, name, track.EXPLICIT
        track.parent_uuid, track.sibling_order_rank = parent, order
        track.counter.SetInParent()
        return self._tracks

    def value(self, track: int, time_ns: int, value: float) -> None:
        """The value of a quantity from a time on."""
        event = self.event(track, time_ns)
        event.type = event.TYPE_COUNTER
        event.double_counter_value = value

    def event(self, track: int, time_ns: int) -> TrackEvent:
        """An event to fill in."""
        packet = self._packet()
        packet.timestamp, packet.trusted_packet_sequence_id = time_ns, 1
        event: TrackEvent = packet.track_event
        event.track_uuid = track
        return event

    def flush(self) -> None:
        """Traces one after another are one trace."""
        self._file.write(self._builder.serialize())
        self._builder, self._packets = self._make(), 0

    def _packet(self) -> Any:
        if self._packets == self.packets_at_a_time:
            self.flush()
        self._packets += 1
        return self._builder.add_packet()


def _write_rank(trace: _Trace, track: Track, number: int) -> None:
    order = 0
    for row in track.rows:
        for n, lane in enumerate(row.lanes()):
            _write_lane(trace, lane, trace.track(row.name if n == 0 else f"{row.name} ({n + 1})", number, order))
            order += 1


def _write_lane(trace: _Trace, lane: list[TraceEvent], track: int) -> None:
    """Write the events of a lane; at one time, ends come before beginnings."""
    ends: list[int] = []
    for event in lane:
        while ends and ends[-1] <= event.begin_ns:
            _write_end(trace, track, ends.pop())
        _write_begin(trace, track, event)
        if event.end_ns > event.begin_ns:
            ends.append(event.end_ns)
    while ends:
        _write_end(trace, track, ends.pop())


def _write_begin(trace: _Trace, track: int, event: TraceEvent) -> None:
    written = trace.event(track, event.begin_ns)
    written.type = written.TYPE_SLICE_BEGIN if event.end_ns > event.begin_ns else written.TYPE_INSTANT
    written.name = event.name
    written.categories.append(event.kind)
    written.flow_ids.extend(event.starts)
    written.terminating_flow_ids.extend(event.ends)
    for name, value in event.details.items():
        note = written.debug_annotations.add()
        note.name = name
        if isinstance(value, str):
            note.string_value = value
        elif isinstance(value, int):
            note.int_value = value
        else:
            note.double_value = value


def _write_end(trace: _Trace, track: int, time_ns: int) -> None:
    event = trace.event(track, time_ns)
    event.type = event.TYPE_SLICE_END
