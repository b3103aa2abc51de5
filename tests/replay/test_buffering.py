"""Whether recorded programs need buffers: planted hangs are found, and nothing is accused falsely."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_exchange import trace_of
from validation.machines import all_to_all

from tradewind.replay.buffering import verify_trace
from tradewind.replay.rows import gaps_ns
from tradewind.trace.builder import TraceBuilder, in_memory
from tradewind.trace.model import ANY, NONE, Trace
from tradewind.trace.read import open_trace
from tradewind.trace.write import save_trace


def send(builder: TraceBuilder, rank: int, peer: int, size: int, name: str = "MPI_Send") -> None:
    builder.rank(rank).call(name, peer=peer, tag=0, bytes=size)


def receive(builder: TraceBuilder, rank: int, source: int, size: int) -> None:
    builder.rank(rank).call("MPI_Recv", source=source, source_tag=0, received=size)


@pytest.mark.parametrize("algorithm", ["ring-1", "pairwise", "bruck"])
def test_waits_for_all_are_safe(algorithm: str) -> None:
    (schedule,) = all_to_all(6, algorithm, 10).schedules().values()
    found = verify_trace(trace_of(schedule, 8))
    assert (found["eager_limit"], found["cycle"], found["unmatched_messages"]) == (0, [], 0)


def test_a_ring_of_sends_needs_buffers_as_large_as_the_smallest_message_that_opens_it() -> None:
    """One of them buffered is enough; the first call of each is named."""
    builder = TraceBuilder(3)
    for rank, size in enumerate((100, 300, 200)):
        send(builder, rank, (rank + 1) % 3, size)
        receive(builder, rank, (rank - 1) % 3, (200, 100, 300)[rank])
    found = verify_trace(builder.trace())
    assert found["eager_limit"] == 100
    assert [(each["rank"], each["peer"], each["event"], each["call"]) for each in found["cycle"]] == [
        (0, 1, 0, "MPI_Send"),
        (1, 2, 0, "MPI_Send"),
        (2, 0, 0, "MPI_Send"),
    ]


def test_synchronous_sends_and_receives_hang_whatever_is_buffered() -> None:
    builder = TraceBuilder(2)
    for rank in (0, 1):
        send(builder, rank, 1 - rank, 8, "MPI_Ssend")
        receive(builder, rank, 1 - rank, 8)
    assert verify_trace(builder.trace())["eager_limit"] is None
    builder = TraceBuilder(2)
    for rank in (0, 1):
        receive(builder, rank, 1 - rank, 8)
        send(builder, rank, 1 - rank, 8)
    found = verify_trace(builder.trace())
    assert found["eager_limit"] is None
    assert [each["sends"] for each in found["cycle"]] == [False, False]


def test_wildcards_are_what_they_took_and_cancelled_receives_nothing() -> None:
    """The second receive from anywhere was posted first, and took the message of rank 2."""
    builder = TraceBuilder(3)
    first = builder.rank(0)
    first.call("MPI_Irecv", source=ANY, source_tag=ANY, received=8, request=0)
    first.call("MPI_Irecv", source=1, source_tag=0, received=8, request=1)
    first.call("MPI_Irecv", source=ANY, source_tag=ANY, received=8, request=2)
    first.call("MPI_Wait", asked=[1], ended=[(1, 1, 0, 8)])
    first.call("MPI_Wait", asked=[0], ended=[(0, 2, 0, 8)])
    send(builder, 1, 0, 8)
    send(builder, 2, 0, 8)
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], found["messages"], found["unmatched_messages"]) == (0, 2, 0)


def test_messages_without_another_end_are_named() -> None:
    builder = TraceBuilder(2)
    send(builder, 0, 1, 24)
    builder.rank(1).call("MPI_Irecv", source=0, source_tag=5, received=8, request=0)
    found = verify_trace(builder.trace())
    assert found["unmatched_messages"] == 2
    named = [(each["rank"], each["sends"], each["call"], each["tag"]) for each in found["unmatched"]]
    assert named == [(0, True, "MPI_Send", 0), (1, False, "MPI_Irecv", 5)]


def test_collective_calls_in_another_order_are_found() -> None:
    builder = TraceBuilder(2)
    for rank, names in enumerate((("MPI_Barrier", "MPI_Allreduce"), ("MPI_Allreduce", "MPI_Barrier"))):
        for name in names:
            builder.rank(rank).call(name, bytes=8, received=8)
    (differs,) = verify_trace(builder.trace())["order"]
    assert differs == {
        **{"communicator": 0, "ranks": [0, 1], "number": 0, "calls": ["MPI_Barrier", "MPI_Allreduce"]},
        **{"events": [0, 0], "places": [None, None]},
    }


def cut_short(endings: tuple[str, str]) -> Trace:
    """Return a loop of which rank 1 lacks the last call in step 2, and rank 0 makes three steps."""
    builder = TraceBuilder(2)
    for rank, ending in enumerate(endings):
        calls = builder.rank(rank)
        calls.ending = ending
        for step in range(3 - rank):
            calls.call("MPI_Isend", peer=1 - rank, tag=0, bytes=8, request=0)
            calls.call("MPI_Recv", source=1 - rank, source_tag=0, received=8)
            calls.call("MPI_Wait", asked=[0], ended=[(0, NONE, NONE, 0)])
            if (rank, step) != (1, 1):
                calls.call("MPI_Allreduce", bytes=8, received=8)
    return builder.trace()


def test_a_rank_that_is_cut_is_not_verified_to_its_end_and_lacks_nothing() -> None:
    found = verify_trace(cut_short(("aborted", "killed")))
    assert (found["eager_limit"], found["order"], found["unmatched"], found["wildcards"]) == (0, [], [], None)
    assert (found["messages"], found["unknown_messages"]) == (6, 6)  # of two steps; of a message and two allreduces
    last = [(each["rank"], each["ending"], each["event"], each["call"]) for each in found["cut"]]
    assert last == [(0, "aborted", 11, "MPI_Allreduce"), (1, "killed", 6, "MPI_Wait")]


def test_a_rank_that_is_there_to_its_end_lacks_what_another_calls() -> None:
    (differs,) = verify_trace(cut_short(("killed", "exited")))["order"]
    assert (differs["ranks"], differs["number"], differs["calls"]) == ([0, 1], 1, ["MPI_Allreduce", "none"])


def test_ranks_that_are_there_to_their_end_are_compared_beside_one_that_is_cut() -> None:
    builder = TraceBuilder(3)
    builder.rank(0).ending = "killed"
    for rank in (1, 2):
        for _ in range(rank):
            builder.rank(rank).call("MPI_Barrier")
    (differs,) = verify_trace(builder.trace())["order"]
    assert (differs["ranks"], differs["number"]) == ([2, 1], 1)


def test_calls_have_their_places() -> None:
    builder = TraceBuilder(2)
    for rank in (0, 1):
        calls = builder.rank(rank)
        receive = {"source": 1 - rank, "source_tag": 0, "received": 8}
        calls.call("MPI_Send", peer=1 - rank, tag=0, bytes=8, site=calls.site("/no/model", 16))
        calls.call("MPI_Recv", **receive)
        calls.call("MPI_Irecv", **receive, request=0, site=calls.site("/no/model", 48))
        if rank == 0:
            calls.call("MPI_Barrier", site=calls.site("/no/model", 64))
    (differs,) = verify_trace(builder.trace())["order"]
    place = {"object": "/no/model", "function": None, "file": None, "line": None}
    assert differs["places"] == [place | {"offset": 64}, None]
    builder.rank(1).call("MPI_Barrier")
    found = verify_trace(builder.trace())
    assert [each["place"]["offset"] for each in found["cycle"]] == [16, 16]
    assert [each["place"]["offset"] for each in found["unmatched"]] == [48, 48]
    assert [each["place"]["offset"] for each in found["never_awaited"]] == [48, 48]


def test_persistent_requests_begin_with_each_start() -> None:
    builder = TraceBuilder(2)
    for rank in (0, 1):
        calls = builder.rank(rank)
        calls.call("MPI_Recv_init", source=1 - rank, source_tag=0, received=8, request=0)
        calls.call("MPI_Send_init", peer=1 - rank, tag=0, bytes=8, request=1)
        for _ in range(3):
            calls.call("MPI_Startall", asked=[0, 1])
            calls.call("MPI_Waitall", asked=[0, 1], ended=[(0, 1 - rank, 0, 8), (1, NONE, NONE, 0)])
    found = verify_trace(builder.trace())
    assert (found["messages"], found["eager_limit"], found["unmatched_messages"]) == (6, 0, 0)


def test_buffered_sends_need_no_buffers_of_the_library() -> None:
    builder = TraceBuilder(2)
    for rank in (0, 1):
        send(builder, rank, 1 - rank, 24, "MPI_Bsend")
        builder.rank(rank).call("MPI_Ibsend", peer=1 - rank, tag=0, bytes=24, request=0)
        builder.rank(rank).call("MPI_Wait", asked=[0], ended=[(0, NONE, NONE, 0)])
        receive(builder, rank, 1 - rank, 24)
        receive(builder, rank, 1 - rank, 24)
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], found["messages"], found["unmatched_messages"]) == (0, 4, 0)


def test_calls_of_threads_wait_while_those_of_others_begin() -> None:
    """Both calls of a rank are under way at once; which of them returns first differs between the ranks."""
    builder = TraceBuilder(2)
    sends = {"peer": 1, "tag": 1, "bytes": 8}
    receives = {"source": 1, "source_tag": 2, "received": 8, "thread": 1}
    builder.rank(0).call("MPI_Ssend", duration_ns=50, **sends).call("MPI_Recv", gap_ns=-40, duration_ns=60, **receives)
    receives = {"source": 0, "source_tag": 1, "received": 8, "thread": 1}
    builder.rank(1).call("MPI_Ssend", duration_ns=50, peer=0, tag=2, bytes=8)
    builder.rank(1).call("MPI_Recv", gap_ns=-40, duration_ns=60, **receives)
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], found["messages"], found["unmatched_messages"]) == (0, 2, 0)


def asking(gap_ns: int, overlap_ns: int) -> TraceBuilder:
    """Return a program whose rank 0 asks in one thread, and waits for the answer in another, which returns first.

    The call that asks begins `gap_ns` behind the call before it, and `overlap_ns` before the answer is there.
    """
    builder = TraceBuilder(2)
    calls = builder.rank(0).call("MPI_Init", duration_ns=100)
    begun_ns = gap_ns // 7
    receive_2 = {"source": 1, "source_tag": 2, "received": 8, "thread": 1}
    calls.call("MPI_Recv", gap_ns=begun_ns, duration_ns=gap_ns - begun_ns + overlap_ns, **receive_2)
    calls.call("MPI_Send", peer=1, tag=1, bytes=8, gap_ns=-overlap_ns, duration_ns=2 * overlap_ns)
    receive_1 = {"source": 0, "source_tag": 1, "received": 8}
    builder.rank(1).call("MPI_Recv", **receive_1).call("MPI_Send", peer=0, tag=2, bytes=8)
    return builder


def test_threads_end_in_the_order_of_their_events_and_begin_where_they_did() -> None:
    """Whatever the times are: here the call that asks begins behind the answer by its time."""
    trace = asking(1000, -20).trace()
    for overtakers, limit in (([0, 0, 1], 0), ([0, 0, 0], None)):
        events = {0: replace(trace.events(0), overtakers=np.array(overtakers, np.int32)), 1: trace.events(1)}
        found = verify_trace(in_memory(2, trace.infos, trace.communicators, events))
        assert (found["eager_limit"], found["threaded_ranks"]) == (limit, 1)


def test_threads_of_older_traces_begin_as_early_as_rounded_times_allow(tmp_path: Path) -> None:
    """Times are within 0.4 %: of a second four ms, by which the answer seems to come before it is asked for."""
    for gap_ns in range(200_000_000, 220_000_000, 700_000):
        save_trace(asking(gap_ns, 10_000).trace(), tmp_path / "run.trace")
        assert verify_trace(open_trace(tmp_path / "run.trace"))["eager_limit"] == 0, gap_ns


def test_the_slot_of_an_older_trace_is_taken_when_it_is_free() -> None:
    """A call that makes a request began before that of another thread ended the last request of its slot."""
    builder = TraceBuilder(2)
    calls = builder.rank(0)
    calls.call("MPI_Irecv", source=1, source_tag=0, received=8, request=0)
    calls.call("MPI_Wait", duration_ns=1000, asked=[0], ended=[(0, 1, 0, 8)])
    calls.call("MPI_Isend", gap_ns=-10, duration_ns=20, peer=1, tag=0, bytes=8, request=0, thread=1)
    calls.call("MPI_Ssend", peer=1, tag=1, bytes=8).call("MPI_Wait", asked=[0], ended=[(0, NONE, NONE, 0)], thread=1)
    send(builder, 1, 0, 8)
    builder.rank(1).call("MPI_Recv", source=0, source_tag=1, received=8)
    receive(builder, 1, 0, 8)
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], found["messages"], found["requests_never_awaited"]) == (0, 3, 0)


def test_a_request_that_was_freed_is_not_the_next_one_of_its_slot() -> None:
    """The slot of a freed persistent send is that of one to no rank, whose start sends nothing."""
    builder = TraceBuilder(2)
    calls = builder.rank(0)
    calls.call("MPI_Send_init", peer=1, tag=0, bytes=8, request=0).call("MPI_Request_free", asked=[0])
    calls.call("MPI_Send_init", peer=NONE, tag=0, bytes=8, request=0).call("MPI_Start", asked=[0])
    calls.call("MPI_Wait", asked=[0], ended=[(0, NONE, NONE, 0)])
    found = verify_trace(builder.trace())
    assert (found["messages"], found["unmatched_messages"]) == (0, 0)


def test_events_are_counted_behind_calls_that_are_left_out() -> None:
    builder = TraceBuilder(2)
    between = builder.communicator([0], "MPI_Intercomm_create", remote=np.array([1], np.int32))
    for rank in (0, 1):
        builder.rank(rank).call("MPI_Barrier", communicator=between)
    send(builder, 0, 1, 24)
    (unmatched,) = verify_trace(builder.trace())["unmatched"]
    assert (unmatched["event"], unmatched["call"]) == (1, "MPI_Send")


def test_ranks_compute_nothing_between_looks_in_vain() -> None:
    builder = TraceBuilder(1)
    calls = builder.rank(0)
    calls.call("MPI_Test", asked=[0], argument=0).call("MPI_Test", gap_ns=50, asked=[0], argument=1)
    calls.call("MPI_Parrived", gap_ns=60, asked=[1]).call("MPI_Parrived", gap_ns=70, asked=[1])
    calls.call("MPI_Wait", gap_ns=80, asked=[1])
    assert gaps_ns(builder.rank(0).events()).tolist() == [0, 0, 60, 0, 80]


def test_messages_without_bytes_may_have_to_be_buffered_too() -> None:
    builder = TraceBuilder(2)
    for rank in (0, 1):
        send(builder, rank, 1 - rank, 0)
        receive(builder, rank, 1 - rank, 0)
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], len(found["cycle"])) == (1, 2)
