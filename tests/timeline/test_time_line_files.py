"""Time lines as files: nested on each track, whole or not there, read by Perfetto's protos."""

from __future__ import annotations

import contextlib
import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfetto_read import read, structure

from tradewind.base.errors import InputError
from tradewind.timeline.files import check, save
from tradewind.timeline.model import Counter, Row, TimeLine, TraceEvent, Track

NOTES = {"words": "ring-4", "number": 2**40, "part": 0.5}
LINE = TimeLine(
    "a run",
    [
        Track(
            3,
            [
                Row(
                    "CPU",
                    [
                        TraceEvent("step", "all", 0, 10**15),
                        TraceEvent("post", "first", 0, 2, 1, 5, 800, NOTES, (1, 2)),
                        TraceEvent("post", "second", 2, 10**15, starts=(3,)),
                        TraceEvent("mark", "here", 5, 5, ends=(9,)),
                    ],
                ),
                Row(
                    "NIC", [TraceEvent("send", "a", 1, 5), TraceEvent("send", "b", 3, 7), TraceEvent("send", "c", 5, 9)]
                ),
            ],
            "give or take 1 us",
        ),
        Track(7, []),
    ],
)


def test_what_is_read_is_what_was_written(tmp_path):
    save(LINE, tmp_path / "line")
    tracks = read(tmp_path / "line")
    assert structure(tracks) == [
        "a run",
        "  rank 3 (give or take 1 us)",
        "    CPU",
        f"      [0, {10**15}] all",
        "        [0, 2] first >1 >2",
        f"        [2, {10**15}] second >3",
        "          [5, 5] here <9",
        "    NIC",
        "      [1, 5] a",
        "      [5, 9] c",
        "    NIC (2)",  # what overlaps has a line of its own
        "      [3, 7] b",
        "  rank 7",
    ]
    (first,) = (it for track in tracks.values() for it in track.slices if it.name == "first")
    assert first.kind == "post"
    assert first.notes == {"stage": 1, "peer": 5, "bytes": 800, **NOTES}


def test_a_title_in_any_encoding(tmp_path):
    save(TimeLine("./mod\udce8le", []), tmp_path / "line")
    assert structure(read(tmp_path / "line")) == [r"./mod\udce8le"]


def test_of_more_packets_than_are_written_at_a_time(tmp_path):
    events = [TraceEvent("send", str(i), 2 * i, 2 * i + 1) for i in range(12_000)]
    save(TimeLine("long", [Track(0, [Row("NIC", events)])]), tmp_path / "line")
    (slices,) = (track.slices for track in read(tmp_path / "line").values() if track.name == "NIC")
    assert [(it.name, it.begin, it.end) for it in slices] == [(s.name, s.begin_ns, s.end_ns) for s in events]


def test_quantities_are_below_the_ranks(tmp_path):
    values = [(0, 0.0), (3, 1e9), (5, 2.5)]
    line = TimeLine("a run", LINE.tracks, [Counter("bytes that wait", values)])
    save(line, tmp_path / "line")
    tracks = read(tmp_path / "line")
    (found,) = (track for track in tracks.values() if track.values)
    assert (found.name, found.parent, found.order, found.values) == ("bytes that wait", 1, 2, values)
    save(TimeLine("a run", [LINE.tracks[0]], line.counters), tmp_path / "line.svg")
    assert "bytes that wait" in (tmp_path / "line.svg").read_text()


times = st.integers(0, 30)


@given(st.lists(st.tuples(times, times).map(sorted), max_size=40))
def test_lanes_hold_every_span_nested_or_apart(pairs):
    events = [TraceEvent("x", str(i), begin, end) for i, (begin, end) in enumerate(pairs)]
    lanes = Row("row", events).lanes()
    assert sorted(event.name for lane in lanes for event in lane) == sorted(event.name for event in events)
    for lane in lanes:
        for i, a in enumerate(lane):
            for b in lane[i + 1 :]:
                assert a.begin_ns <= b.begin_ns
                assert b.begin_ns >= a.end_ns or b.end_ns <= a.end_ns
    maximum = max((sum(s.begin_ns < t + 0.5 < s.end_ns for s in events) for t in range(30)), default=0)
    assert len(lanes) <= max(1, maximum) if events else not lanes


@contextlib.contextmanager
def largest_file(size):
    """A limit on the size of files fails a write as a full disk does; Python ignores the signal."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_what_was_there(tmp_path):
    path = tmp_path / "line"
    path.write_text("an earlier one")
    line = TimeLine("a run", [Track(0, [Row("CPU", [TraceEvent("x", "y", i, i + 1) for i in range(1000)])])])
    for end in ("", ".svg"):
        with largest_file(4096), pytest.raises(InputError) as error:
            save(line, tmp_path / f"line{end}")
        assert str(error.value) == f"cannot write time line {path}{end}: File too large"
    assert path.read_text() == "an earlier one"
    assert list(tmp_path.iterdir()) == [path]


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(InputError, match=r"cannot write time line .*: there is no folder"):
        save(LINE, tmp_path / "no" / "line")
    with pytest.raises(InputError, match="cannot write time line"):
        save(LINE, tmp_path)
    with pytest.raises(InputError, match="this is a folder"):
        check(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        check(tmp_path / "no" / "line")
    check(tmp_path / "line")
    assert list(tmp_path.iterdir()) == []
