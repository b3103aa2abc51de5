"""Critical paths of replays: computed by hand, and as long as the replay; and the time line that shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_exchange import trace_of
from validation.machines import CROSSBAR, TORUS, all_to_all, machine

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.replay.critical_path import path_of
from tradewind.replay.time_line import time_line
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation import prepare
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import Trace

PS_PER_NS = 1000
TRIP_NS, BYTE_NS = 200.0, 0.1
"""Costs of the machines of `validation.machines`."""


def simulated(trace: Trace, file, **options):  # type: ignore[no-untyped-def]
    """The workload, and the core's result of a replay that keeps the events of all ranks."""
    chosen = {"buffers": "unbounded", "threads": 1, "packet": "512B"} | options
    simulation = replace(prepare(TraceWorkload(trace), file, **chosen), shown=tuple(range(trace.size)))
    machine_, _, placement, core_options = simulation._arguments()
    workload = simulation.exchange
    return workload, _core.simulate_calls(machine_, workload.calls, placement, core_options)


def pieces_of(trace: Trace, file, **options):  # type: ignore[no-untyped-def]
    """[(rank, label, is a message, ns)]"""
    workload, result = simulated(trace, file, **options)
    path = path_of(result)
    labels = [workload.calls.labels[label] for label in path["label"]]
    lasts = (path["end_ps"] - path["begin_ps"]) / PS_PER_NS
    return list(zip(path["rank"].tolist(), labels, path["is_message"].tolist(), lasts.tolist(), strict=True))


def pair(gap_ns: int, late: int, name: str = "MPI_Send") -> Trace:
    """Rank 0 sends 1000 bytes to rank 1; one of them computes before."""
    builder = TraceBuilder(2)
    for rank in (0, 1):
        builder.rank(rank).call("MPI_Init")
    gaps = [gap_ns if rank == late else 0 for rank in (0, 1)]
    builder.rank(0).call(name, gap_ns=gaps[0], peer=1, tag=0, bytes=1000)
    builder.rank(1).call("MPI_Recv", gap_ns=gaps[1], source=0, source_tag=0, received=1000)
    return builder.trace()


def test_a_receiver_waits_for_a_late_sender() -> None:
    costs = {"send_overhead": "40ns", "receive_overhead": "60ns"}
    assert pieces_of(pair(5000, 0), machine(CROSSBAR, **costs)) == [
        (0, "computing", 0, 5000),
        (0, "MPI_Send", 0, 40),
        (0, "MPI_Send", 1, TRIP_NS + 1000 * BYTE_NS),
        (1, "MPI_Recv", 0, 60),
    ]


def test_a_sender_waits_for_a_late_receiver() -> None:
    """The message is on its way from the request of its receiver on; its acknowledgement comes back to the sender."""
    pieces = pieces_of(pair(5000, 1, "MPI_Ssend"), machine(CROSSBAR))
    assert [piece[:3] for piece in pieces] == [(1, "computing", 0), (0, "MPI_Ssend", 1)]
    assert pieces[0][3] == 5000
    assert pieces[1][3] > 3 * TRIP_NS + 1000 * BYTE_NS - 1


@pytest.mark.parametrize(
    ("algorithm", "costs", "options"),
    [
        ("ring-1", {}, {"ranks_per_node": 2}),
        ("burst", {"send_overhead": "40ns", "receive_overhead": "60ns"}, {"buffers": "credits", "noise": "100kHz,1us"}),
        ("pairwise", {"send_overhead": "40ns", "mpi": {"eager_limit": "1KiB"}}, {"ranks_per_node": 2}),
        ("bruck", {"mpi": {"eager_limit": "1KiB"}}, {"mpi_progress": "thread"}),
    ],
)
def test_the_path_is_as_long_as_the_replay(algorithm, costs, options) -> None:  # type: ignore[no-untyped-def]
    exchange = all_to_all(6, algorithm, 1000)
    (schedule,) = exchange.schedules().values()
    trace = trace_of(schedule, exchange.bytes_per_point, times=3)
    workload, result = simulated(trace, machine(TORUS, **costs), **options)
    path = path_of(result)
    assert path["begin_ps"][0] == 0
    assert path["end_ps"][-1] == result.time_ps
    assert np.array_equal(path["begin_ps"][1:], path["end_ps"][:-1])
    figures = workload.figures(result)["critical_path"]
    shares = (figures["computing_s"], figures["calls_s"], figures["messages_s"])
    named = sum(part["time_s"] + part["messages_s"] for part in figures["parts"])
    assert sum(shares) == pytest.approx(result.time_s)
    assert named + figures["other_s"] == pytest.approx(result.time_s)
    assert figures["messages_s"] > 0


def test_a_path_is_that_of_the_calls_that_were_simulated() -> None:
    """The result keeps them."""
    kept = simulated(pair(5000, 0), machine(CROSSBAR))[1]
    before = path_of(kept)
    simulated(pair(7000, 0), machine(CROSSBAR))
    assert all(np.array_equal(path_of(kept)[name], column) for name, column in before.items())


def test_messages_of_a_replay_take_memory() -> None:
    """Beside its calls each has when it came, and when and in which call it was asked for."""
    builder = TraceBuilder(1)
    builder.rank(0).call("MPI_Init").call("MPI_Finalize", gap_ns=1000)
    alone, with_message = TraceWorkload(builder.trace()), TraceWorkload(pair(5000, 0))
    of_call, all_of_it = (prepare(each, machine(CROSSBAR)).forecast()["memory_bytes"] for each in (alone, with_message))
    assert alone.calls.calls == with_message.calls.messages == 1
    assert all_of_it - of_call * with_message.calls.calls >= 8 + 8 + 4


def test_more_events_than_a_time_line_shows_are_refused_before_the_replay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tradewind.trace.time_line.MAX_EVENTS", 3)
    workload, line = TraceWorkload(pair(0, 0)), tmp_path / "line.json"
    with pytest.raises(InputError, match="time line of 4 events: at most 3 are allowed"):
        prepare(workload, machine(CROSSBAR), timeline=line, timeline_ranks="0,1")
    assert prepare(workload, machine(CROSSBAR), timeline=line, timeline_ranks="0").shown == (0,)


def test_the_recorded_run_and_the_replay_stand_side_by_side() -> None:
    builder = TraceBuilder(2)
    for rank in (0, 1):
        builder.rank(rank).call("MPI_Barrier", duration_ns=700)
    builder.rank(0).call("MPI_Send", gap_ns=1000, duration_ns=50, peer=1, tag=0, bytes=1000)
    builder.rank(1).call("MPI_Recv", duration_ns=1500, source=0, source_tag=0, received=1000)
    trace = builder.trace()
    workload, result = simulated(trace, machine(CROSSBAR))
    line = time_line(trace, workload.calls, result, (0, 1), "both")
    first, second = ({row.name: row.events for row in track.rows} for track in line.tracks)
    assert [event.name for event in first["recorded"]] == ["MPI_Barrier", "MPI_Send"]
    assert [event.name for event in first["replay"]] == ["MPI_Barrier", "computing", "MPI_Send"]
    assert (second["recorded"][1].begin_ns, second["recorded"][1].end_ns) == (700, 2200)
    end_ns = result.time_ps // PS_PER_NS
    assert second["replay"][-1].end_ns == first["critical path"][-1].end_ns == end_ns
    assert [event.name for event in first["critical path"]][-2:] == ["computing", "message to 1, MPI_Send"]
    (arrow,) = first["NIC"][-1].starts
    assert (second["arrivals"][-1].ends, second["arrivals"][-1].bytes) == ((arrow,), 1000)
    assert sum(len(event.starts) for event in first["NIC"]) == 2  # one of the barrier
