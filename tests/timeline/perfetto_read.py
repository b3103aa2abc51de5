"""Traces read back with Perfetto's own protos, and checked as its trace processor would."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


@dataclass
class Slice:
    """Something on a track: what its begin says, its end, and how deep it is nested."""

    name: str
    kind: str
    begin: int
    end: int
    depth: int
    notes: dict[str, Any]
    starts: list[int]
    ends: list[int]


@dataclass
class Read:
    """A track: where it stands, what is on it."""

    name: str
    parent: int | None
    order: int
    note: str
    slices: list[Slice] = field(default_factory=list)
    values: list[tuple[int, float]] = field(default_factory=list)


def read(path: Path) -> dict[int, Read]:
    """All tracks, by number, parents first. Fails for events without a track, and ends without a begin."""
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    tracks: dict[int, Read] = {}
    open_slices: dict[int, list[Slice]] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            it = packet.track_descriptor
            assert it.uuid not in tracks
            parent = it.parent_uuid if it.HasField("parent_uuid") else None
            assert parent is None or parent in tracks
            assert it.child_ordering == it.EXPLICIT
            tracks[it.uuid] = Read(it.name, parent, it.sibling_order_rank, it.description)
            open_slices[it.uuid] = []
            continue
        assert packet.trusted_packet_sequence_id == 1
        if packet.track_event.type == TrackEvent.TYPE_COUNTER:
            moment = packet.timestamp, packet.track_event.double_counter_value
            tracks[packet.track_event.track_uuid].values.append(moment)
            continue
        event, inside = packet.track_event, open_slices[packet.track_event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_END:
            inside.pop().end = packet.timestamp
            continue
        notes = {note.name: getattr(note, note.WhichOneof("value")) for note in event.debug_annotations}
        new = Slice(event.name, event.categories[0], packet.timestamp, packet.timestamp, len(inside), notes, [], [])
        new.starts, new.ends = list(event.flow_ids), list(event.terminating_flow_ids)
        tracks[event.track_uuid].slices.append(new)
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            inside.append(new)
        else:
            assert event.type == TrackEvent.TYPE_INSTANT
    assert not any(open_slices.values())
    return tracks


def structure(tracks: dict[int, Read]) -> list[str]:
    """A line a track and slice, indented."""

    def lines(number: int, depth: int) -> list[str]:
        track = tracks[number]
        found = ["  " * depth + track.name + (f" ({track.note})" if track.note else "")]
        for it in track.slices:
            arrows = "".join([*(f" >{n}" for n in it.starts), *(f" <{n}" for n in it.ends)])
            found.append("  " * (depth + 1 + it.depth) + f"[{it.begin}, {it.end}] {it.name}{arrows}")
        children = sorted((n for n in tracks if tracks[n].parent == number), key=lambda n: tracks[n].order)
        return found + [line for child in children for line in lines(child, depth + 1)]

    return [line for number in tracks if tracks[number].parent is None for line in lines(number, 0)]
