"""Time lines of real runs: clocks brought together, arrows where both ends of a message are known."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfetto_read import read, structure

from tradewind.base.errors import InputError
from tradewind.base.units import seconds
from tradewind.timeline.clock import Clock
from tradewind.timeline.files import save
from tradewind.timeline.measured import time_line
from tradewind.workload.exchange import Exchange

AHEAD = [0.0, 1000.0, -0.25]
"""Seconds by which the clocks of three ranks are wrong."""
EVENTS = [
    # Twice to rank 1 in one stage, then to rank 2, who says nothing of it.
    [
        ("pack", 0, 1, 800, 50.0, 50.001),
        ("post", 0, -1, 0, 50.001, 50.002),
        ("pack", 0, 1, 800, 50.002, 50.003),
        ("pack", 1, 2, 80, 50.003, 50.004),
        ("wait", -1, -1, 0, 50.004, 50.010),
    ],
    [("unpack", 0, 0, 800, 1050.004, 1050.005), ("unpack", 0, 0, 800, 1050.006, 1050.007)],
    [],
]


def test_ranks_one_under_another(tmp_path):
    clocks = [Clock(), Clock(-1000.0, 2e-6), Clock(0.25, 1e-6)]
    save(time_line(EVENTS, clocks, "halo, measured"), tmp_path / "line")
    assert [round_times(line) for line in structure(read(tmp_path / "line"))] == [
        "halo, measured",
        "  rank 0",
        "    CPU",
        "      [0, 1] pack 1 >1",
        "      [1, 2] post",
        "      [2, 3] pack 1 >2",
        "      [3, 4] pack 2",
        "      [4, 10] wait",
        "  rank 1 (clock put 1000 s back, give or take 2 us, to be rank 0's)",
        "    CPU",
        "      [4, 5] unpack 0 <1",
        "      [6, 7] unpack 0 <2",
        "  rank 2 (clock put 250 ms forward, give or take 1 us, to be rank 0's)",
    ]


def round_times(line: str) -> str:
    """In ms: sums of seconds are not exact to the nanosecond."""
    if "[" not in line:
        return line
    indent, rest = line.split("[")
    times, name = rest.split("]")
    return f"{indent}[{', '.join(str(round(int(time) / 1e6)) for time in times.split(', '))}]{name}"


def test_what_an_event_tells(tmp_path):
    save(time_line(EVENTS, [Clock()] * 3, "run"), tmp_path / "line")
    slices = [it for track in read(tmp_path / "line").values() for it in track.slices]
    assert slices[0].notes == {"stage": 0, "peer": 1, "bytes": 800}
    assert slices[4].notes == {}


@given(st.floats(0, 1e6), st.floats(-1e6, 1e6), st.lists(st.floats(0, 10), min_size=1))
def test_time_begins_at_0_whatever_the_clocks(start, offset, lengths):
    """Sums of floating-point numbers are not exact, and a trace has no negative times."""
    events = [("x", -1, -1, 0, start, start + length) for length in lengths]
    spans = [span for *_, span in time_line([events, events], [Clock(), Clock(offset, 1e-6)], "run").events()]
    assert min(span.begin_ns for span in spans) == 0
    assert all(span.begin_ns <= span.end_ns for span in spans)


def test_no_events_at_all(tmp_path):
    save(time_line([[], []], [Clock(), Clock()], "nothing"), tmp_path / "line")
    assert structure(read(tmp_path / "line")) == ["nothing", "  rank 0", "  rank 1"]


def test_clocks_that_differ_are_found_out():
    pytest.importorskip("mpi4py.MPI")
    from tradewind import launch

    clocks = launch.run(3, "clock_ranks:compare", AHEAD, timeout_s=240)
    assert clocks[0] == [0.0, 0.0]
    for (offset, error), ahead in zip(clocks[1:], AHEAD[1:], strict=True):
        assert 0 < error < 0.1
        assert abs(offset + ahead) <= error  # the ranks of one computer do share a clock: this is the truth


def test_a_time_line_is_gathered():
    pytest.importorskip("mpi4py.MPI")
    from tradewind import launch

    pack, unpack = launch.run(2, "clock_ranks:gather", AHEAD[:2], timeout_s=240)
    assert pack == [0, "pack 1", 0, pack[3], [1], []]
    assert pack[3] == pytest.approx(1e9, abs=10)
    assert unpack[:2] + unpack[4:] == [1, "unpack 0", [], [1]]
    assert unpack[2:4] == pytest.approx([3e9, 3.5e9], abs=1e8)  # the error of the clocks


def test_of_a_benchmark(tmp_path):
    """Each step's messages as the schedule has them, packed before they are unpacked."""
    pytest.importorskip("mpi4py.MPI")
    from tradewind import launch

    exchange = Exchange("transpose", 2, (24, 20, 16), algorithm="ring-1")
    result = launch.bench(exchange, repeat=1, warmup=1, timeline=tmp_path / "line", timeout_s=240)
    assert result["timeline"] == str(tmp_path / "line")
    tracks = read(tmp_path / "line")
    assert tracks[1].name == "transpose on 2 ranks, ring-1, isend-irecv, buffer"
    ranks = {int(track.name[5:]): number for number, track in tracks.items() if track.name.startswith("rank")}
    notes = [track.note for track in tracks.values()]
    packed, unpacked = {}, {}
    for rank, number in ranks.items():
        (cpu,) = (track.slices for track in tracks.values() if track.parent == number)
        steps = [it for it in cpu if it.depth == 0]
        assert [it.name for it in steps] == 3 * [step.name for step in exchange.steps()]
        assert {it.kind for it in cpu if it.depth == 1} <= {"pack", "post", "copy", "wait", "unpack"}
        messages = [m for step in exchange.steps() for m in step.schedule.sends(rank, 0)]
        packs = [it for it in cpu if it.kind == "pack"]
        assert [it.notes for it in packs] == 3 * [{"stage": 0, "peer": m.peer, "bytes": 8 * m.count} for m in messages]
        packed |= {it.starts[0]: it for it in packs}
        unpacked |= {it.ends[0]: it for it in cpu if it.kind == "unpack"}
    assert packed.keys() == unpacked.keys() == set(range(1, 2 * 3 * len(messages) + 1)) != set()
    # Clocks of one computer do not differ, but what is known of them has an error, which is large on a busy one.
    errors = [seconds(found[1]) for found in map(re.compile("give or take (.*), to be").search, notes) if found]
    assert len(errors) == 1
    for arrow, pack in packed.items():
        assert pack.end <= unpacked[arrow].begin + 1e9 * errors[0] * 1.01 + 1000  # as it is rounded


def test_of_the_fastest_of_several_and_of_the_librarys_own(tmp_path):
    pytest.importorskip("mpi4py.MPI")
    from tradewind import launch

    exchange = Exchange("transpose", 2, (24, 20, 16), slab="xz")
    for algorithms in (["native"], ["ring-1", "burst"]):
        result = launch.bench(exchange, algorithms, repeat=3, timeline=tmp_path / "line.svg", timeout_s=240)
        best = min(result["results"], key=lambda row: row["median_s"])
        assert f"transpose on 2 ranks, {best['algorithm']}" in (tmp_path / "line.svg").read_text()


def test_a_benchmark_without_a_place_for_it(tmp_path):
    from tradewind.launch import bench

    with pytest.raises(InputError, match="there is no folder"):
        bench(Exchange("transpose", 2, (24, 20, 16)), timeline=tmp_path / "no" / "line")
