"""Time lines of simulations: read back as Perfetto reads them, against what was simulated."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfetto_read import read, structure
from slow_tests import slow
from validation.machines import CROSSBAR, TORUS, machine, pair

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.simulation import simulate
from tradewind.timeline.ranks import chosen
from tradewind.workload.exchange import Exchange

OVERHEADS = {"send_overhead": "7ns", "receive_overhead": "9ns"}
EXCHANGE = Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="ring-2", times=2)


def test_two_ranks_and_a_message_each_way(tmp_path):
    """8000 bytes at 10 GB/s, 100 ns to the switch and 100 ns on."""
    simulate(pair(1000), machine(CROSSBAR, **OVERHEADS), buffers="unbounded", timeline=tmp_path / "line")
    assert structure(read(tmp_path / "line")) == [
        "allreduce 1000x1 recursive-2 on 2 ranks of small, simulated",
        *(
            line
            for me, other in ((0, 1), (1, 0))
            for line in (
                f"  rank {me}",
                "    CPU",
                "      [0, 1016] allreduce",
                "        [0, 1016] stage 0",
                "          [0, 7] post",
                "          [7, 1007] wait",
                "          [1007, 1016] match",
                "    NIC",
                f"      [7, 807] to {other} >{1 + me}",
                "    arrivals",
                f"      [1007, 1007] from {other} <{1 + other}",
            )
        ),
    ]


def test_what_a_message_and_a_wait_tell(tmp_path):
    simulate(pair(1000), machine(CROSSBAR), buffers="unbounded", timeline=tmp_path / "line")
    slices = {it.kind: it for track in read(tmp_path / "line").values() for it in track.slices}
    assert slices["send"].notes == {"stage": 0, "peer": 0, "bytes": 8000, "step": "allreduce"}
    assert slices["arrival"].notes == {"stage": 0, "peer": 0, "bytes": 8000, "step": "allreduce"}
    assert slices["wait"].notes == {"stage": 0, "until": "the message from rank 0 has come"}


def test_computing_beside_an_exchange_that_is_repeated(tmp_path):
    """The first sweep is over before the computation; the second is 14 points of 8 bytes: 200 + 11.2 ns."""
    blocks = tw.Blocks(tw.Grid(nx=12, ny=8, nz=2), split=(2, 2))
    halo = tw.Halo(blocks, width=1).schedule("sweep")
    inside = tw.Compute("inside", seconds=5e-6, during=halo, repeat=2)
    program = tw.Program(tw.Compute("physics", seconds=3e-6), inside)
    program.simulate(machine(CROSSBAR), timeline=tmp_path / "line", timeline_ranks="2")
    found = structure(read(tmp_path / "line"))
    assert found[:9] == [
        "program on 4 ranks of small, simulated",
        "  rank 2",
        "    CPU",
        "      [0, 3000] physics",
        "        [0, 3000] stage 0",
        "          [0, 3000] compute",
        "      [3000, 8211] inside, 1 of 2",
        "        [3000, 8000] stage 0",
        "          [3000, 8000] compute",
    ]
    assert "      [8211, 13422] inside, 2 of 2" in found


@pytest.mark.parametrize("ranks_per_node", [1, 2])
def test_arrows_join_what_belongs_together(tmp_path, ranks_per_node):
    file = machine(TORUS, **OVERHEADS)
    options = {"packet": "256B", "ranks_per_node": ranks_per_node, "timeline_ranks": "0:8"}
    simulate(EXCHANGE, file, timeline=tmp_path / "line", **options)
    tracks = read(tmp_path / "line")
    ranks = {number: int(track.name.split()[1]) for number, track in tracks.items() if track.name.startswith("rank")}
    starts, ends = {}, {}
    for track in tracks.values():
        for it in track.slices:
            for arrow in it.starts:
                assert arrow not in starts
                starts[arrow] = (ranks[track.parent], it)
            for arrow in it.ends:
                assert arrow not in ends
                ends[arrow] = (ranks[track.parent], it)
            if it.kind in ("send", "copy", "arrival"):
                assert bool(it.starts or it.ends) == (it.notes["peer"] < 8)  # whenever both are shown
    assert starts.keys() == ends.keys() != set()
    for arrow, (rank, sent) in starts.items():
        other, arrived = ends[arrow]
        assert (sent.notes["peer"], arrived.notes["peer"]) == (other, rank)
        assert sent.notes["stage"] == arrived.notes["stage"]
        assert sent.notes["step"] == arrived.notes["step"]
        assert sent.end <= arrived.begin
        assert sum(starts[n][1].notes["bytes"] for n in arrived.ends) == arrived.notes["bytes"]


def test_the_same_file_from_any_number_of_threads(tmp_path):
    file = machine(TORUS, **OVERHEADS)
    for threads in (1, 2):
        simulate(EXCHANGE, file, packet="256B", threads=threads, timeline=tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_the_result_is_the_same_with_and_without(tmp_path):
    file = machine(TORUS, **OVERHEADS)
    without, with_one = (
        simulate(EXCHANGE, file, packet="256B", congestion=True, **more) for more in ({}, {"timeline": tmp_path / "x"})
    )
    taken = ("wall_s", "packet_hops_per_s", "peak_rss_bytes", "timeline")
    assert {k: v for k, v in without.items() if k not in taken} == {k: v for k, v in with_one.items() if k not in taken}


def test_of_a_steady_simulation_what_was_simulated(tmp_path):
    allreduce = Exchange("allreduce", 8, algorithm="recursive-2", count=10, times=100)
    result = simulate(allreduce, machine(TORUS), steady=True, timeline=tmp_path / "line")
    cpu = next(track for track in read(tmp_path / "line").values() if track.name == "CPU")
    assert len([it for it in cpu.slices if it.kind == "step"]) == result["simulated_times"] < 100


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", *slow(".html")])
def test_pictures(tmp_path, suffix):
    path = tmp_path / f"line{suffix}"
    simulate(EXCHANGE, machine(TORUS), timeline=path, timeline_ranks="0:3")
    start = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}
    assert path.read_bytes().startswith(start[suffix])


def test_a_picture_shows_every_row_and_message(tmp_path):
    path = tmp_path / "line.svg"
    simulate(pair(1000), machine(CROSSBAR, **OVERHEADS), buffers="unbounded", timeline=path)
    text = path.read_text()
    for words in (
        "rank 0 CPU",
        "rank 1 NIC",
        "rank 1 arrivals",
        "post",
        "wait",
        "match",
        "send",
        "on 2 ranks of small",
    ):
        assert words in text
    assert text.count("row: rank 0 NIC") >= 2  # its message, and the arrow from it


def test_a_picture_would_be_too_full(tmp_path):
    with pytest.raises(InputError, match="1 to 5000 are allowed; show fewer ranks, or write a trace for Perfetto"):
        simulate(Exchange("transpose", 24, (30, 26, 25), (6, 4), times=6), machine(TORUS), timeline=tmp_path / "l.svg")
    assert list(tmp_path.iterdir()) == []


def test_only_the_packet_model(tmp_path):
    with pytest.raises(InputError, match="only the packet model knows what ranks do when"):
        simulate(EXCHANGE, machine(TORUS), model="loggp", timeline=tmp_path / "line")


def test_ranks_in_words():
    assert chosen(None, 100) == tuple(range(64))
    assert chosen(None, 3) == (0, 1, 2)
    assert chosen("7, 0:3,2,98:100", 100) == (0, 1, 2, 7, 98, 99)


@pytest.mark.parametrize("text", ["", "a", "1:", ":3", "1-3", "-1", "3:3", "5:2", "24", "0:25", "1,,2", "99999999999"])
def test_what_is_no_list_of_ranks(text):
    with pytest.raises(InputError, match=r"of the time line: (ranges like 0:64|0:24 are there)"):
        chosen(text, 24)


def test_paths_that_cannot_be_written_are_refused_before_anything_is_run(tmp_path):
    for path, words in ((tmp_path, "this is a folder"), (tmp_path / "no" / "line", f"no folder {tmp_path / 'no'}")):
        with pytest.raises(InputError, match=words):
            simulate(pair(1), machine(CROSSBAR), timeline=path)
    assert list(Path(tmp_path).iterdir()) == []
