"""Changes of recorded programs: which messages are merged, what overlaps, and the times that follow, by hand."""

from __future__ import annotations

import pytest
from validation.machines import CROSSBAR, machine

from tradewind.base.errors import InputError
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation import prepare
from tradewind.simulation.trace_advice import advise_trace
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import NONE, Trace

TRIP_NS, BYTE_NS, SEND_NS, RECEIVE_NS = 200.0, 0.1, 40, 60
COSTS = {"send_overhead": f"{SEND_NS}ns", "receive_overhead": f"{RECEIVE_NS}ns"}


def replayed_ns(trace: Trace, costs=COSTS, progress: str = "pokes", **changes) -> float:  # type: ignore[no-untyped-def]
    options = {"buffers": "unbounded", "threads": 1, "packet": "4KiB", "mpi_progress": progress}
    return 1e9 * prepare(TraceWorkload(trace, **changes), machine(CROSSBAR, **costs), **options).run()["time_s"]


def messages(trace: Trace, merge_bytes: int) -> tuple[int, int]:
    calls = TraceWorkload(trace, merge_bytes=merge_bytes).calls
    assert calls.buffering()[0] >= 0
    return calls.messages, calls.bytes


def fields(sizes: list[int], blocking: bool = False, ask_at: int = NONE) -> Trace:
    """Rank 0 sends messages to rank 1, which waits for all; before number `ask_at` it waits for an answer."""
    builder = TraceBuilder(2)
    first, second = builder.rank(0), builder.rank(1)
    for tag, size in enumerate(sizes):
        if tag == ask_at:
            first.call("MPI_Recv", source=1, source_tag=99, received=8)
            second.call("MPI_Send", peer=0, tag=99, bytes=8)
        if blocking:
            first.call("MPI_Send", peer=1, tag=tag, bytes=size)
        else:
            first.call("MPI_Isend", peer=1, tag=tag, bytes=size, request=tag)
        second.call("MPI_Irecv", source=0, source_tag=tag, received=size, request=tag)
    every = range(len(sizes))
    if not blocking:
        first.call("MPI_Waitall", asked=[*every], ended=[(tag, NONE, NONE, 0) for tag in every])
    second.call("MPI_Waitall", asked=[*every], ended=[(tag, 0, tag, sizes[tag]) for tag in every])
    return builder.trace()


def test_short_messages_of_one_phase_become_one() -> None:
    for blocking in (False, True):
        trace = fields([100, 200, 300, 5000, 50], blocking)
        assert messages(trace, 0) == (5, 5650)
        assert messages(trace, 1000) == (3 if blocking else 2, 5650)  # a long blocking send is waited for
        assert messages(trace, 350) == (4 if blocking else 3, 5650)
        assert messages(trace, 99) == (5, 5650)
    assert messages(fields([100, 200, 300, 400], ask_at=2), 1000) == (3, 1008)


def test_a_merged_message_costs_one_overhead() -> None:
    trace = fields([500, 500, 500])
    once = SEND_NS + 1500 * BYTE_NS + TRIP_NS + RECEIVE_NS
    assert replayed_ns(trace, merge_bytes=4096) == pytest.approx(once)
    assert replayed_ns(trace) == pytest.approx(3 * SEND_NS + 500 * BYTE_NS + TRIP_NS + 3 * RECEIVE_NS, abs=120)
    assert replayed_ns(trace) > once


def overlapping(name: str) -> Trace:
    """Rank 0 sends late; rank 1 waits for it, then computes."""
    builder = TraceBuilder(2)
    for rank in (0, 1):
        builder.rank(rank).call("MPI_Init")
    builder.rank(0).call(name, gap_ns=5000, peer=1, tag=0, bytes=1000).call("MPI_Finalize")
    calls = builder.rank(1).call("MPI_Irecv", source=0, source_tag=0, received=1000, request=0)
    calls.call("MPI_Wait", asked=[0], ended=[(0, 0, 0, 1000)]).call("MPI_Finalize", gap_ns=4000)
    return builder.trace()


def test_computing_comes_before_the_wait_ahead_of_it() -> None:
    trace, arrival = overlapping("MPI_Send"), 5000 + 1000 * BYTE_NS + TRIP_NS
    assert replayed_ns(trace, {}) == pytest.approx(arrival + 4000)
    assert replayed_ns(trace, {}, overlap="waits") == replayed_ns(trace, {}, overlap="both") == pytest.approx(arrival)
    assert replayed_ns(trace, {}, overlap="receives") == pytest.approx(arrival + 4000)


def test_early_receives_let_synchronous_sends_go() -> None:
    """The receive is posted after 5 us of computing, and before it with the change; the sender computes after it."""
    builder = TraceBuilder(2)
    for rank in (0, 1):
        builder.rank(rank).call("MPI_Init")
    builder.rank(0).call("MPI_Ssend", peer=1, tag=0, bytes=1000).call("MPI_Finalize", gap_ns=5000)
    builder.rank(1).call("MPI_Recv", gap_ns=5000, source=0, source_tag=0, received=1000)
    trace = builder.trace()
    late, early = (replayed_ns(trace, {}, "thread", overlap=overlap) for overlap in ("none", "receives"))
    assert late > 10_000 > early > 5000 + 4 * TRIP_NS
    assert late - early == pytest.approx(5000 - TRIP_NS, abs=10)  # the request has a header


def test_advice_ranks_them_by_what_they_save() -> None:
    """Nothing is merged beyond what the machine sends at once."""
    builder = TraceBuilder(2)
    for rank in (0, 1):
        calls = builder.rank(rank).call("MPI_Init")
        for tag in range(4):
            calls.call("MPI_Irecv", source=1 - rank, source_tag=tag, received=400, request=tag)
        for tag in range(4):
            calls.call("MPI_Send", peer=1 - rank, tag=tag, bytes=400)
        calls.call("MPI_Waitall", asked=[*range(4)], ended=[(tag, 1 - rank, tag, 400) for tag in range(4)])
        calls.call("MPI_Finalize", gap_ns=10_000)
    workload = TraceWorkload(builder.trace())
    found = advise_trace(workload, machine(CROSSBAR, **COSTS), threads=1)["changes"]
    saved = {each["change"]: each["saves_s"] for each in found if each["by"] == "program"}
    assert saved["messages merged up to 8 KiB: 2, not 8"] > 0
    assert saved["computing before the waits ahead of it"] > 0
    limited = machine(CROSSBAR, **COSTS, mpi={"eager_limit": "800B"})
    named = {each["change"] for each in advise_trace(workload, limited, threads=1)["changes"]}
    assert "messages merged up to 800 B: 4, not 8" in named


def test_changes_that_cannot_be() -> None:
    trace = fields([8])
    with pytest.raises(InputError, match="0 or more"):
        _ = TraceWorkload(trace, merge_bytes=-1).calls
    with pytest.raises(InputError, match="overlap 'wait'"):
        _ = TraceWorkload(trace, overlap="wait").calls
