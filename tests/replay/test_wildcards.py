"""Receives from any source: hangs of matchings that did not happen are found, and answers are no accusation."""

from __future__ import annotations

from math import comb

import pytest

from tradewind.replay.buffering import verify_trace
from tradewind.replay.calls import NamedEvents, calls_of
from tradewind.replay.wildcards import wildcards
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import ANY, NONE


def send(builder: TraceBuilder, rank: int, peer: int, tag: int = 0, name: str = "MPI_Send") -> None:
    builder.rank(rank).call(name, peer=peer, tag=tag, bytes=8)


def receive(builder: TraceBuilder, rank: int, source: int, tag: int = 0) -> None:
    builder.rank(rank).call("MPI_Recv", source=source, source_tag=tag, received=8)


def take_any(builder: TraceBuilder, rank: int, taken: int, tag: int = 0, any_tag: bool = False) -> None:
    wanted = ANY if any_tag else tag
    builder.rank(rank).call("MPI_Recv", source=ANY, source_tag=wanted, received=8, ended=[(NONE, taken, tag, 8)])


def test_a_wildcard_takes_what_a_later_receive_needs() -> None:
    """It took the message of rank 2; that of rank 1 leaves nothing for the second receive, whatever is buffered."""
    builder = TraceBuilder(3)
    take_any(builder, 0, 2)
    receive(builder, 0, 1)
    send(builder, 1, 0)
    send(builder, 2, 0)
    found = verify_trace(builder.trace())
    assert found["eager_limit"] == 0
    hang = found["wildcards"]["hang"]
    assert hang["buffers"] == "always"
    assert [(each["rank"], each["call"], each["event"]) for each in hang["waiting"]] == [(0, "MPI_Recv", 1)]
    (taken,) = [each for each in hang["taken"] if each["event"] == 0]
    assert (taken["rank"], taken["recorded"], taken["source"]) == (0, 2, 1)


def test_a_hang_that_buffers_prevent() -> None:
    """Rank 2 sends, then takes part in a barrier with rank 0, which has taken the message of rank 1 before."""
    builder = TraceBuilder(3)
    pair = builder.communicator([0, 2])
    take_any(builder, 0, 2)
    builder.rank(0).call("MPI_Barrier", communicator=pair)
    take_any(builder, 0, 1)
    send(builder, 1, 0)
    send(builder, 2, 0)
    builder.rank(2).call("MPI_Barrier", communicator=pair)
    hang = verify_trace(builder.trace())["wildcards"]["hang"]
    assert hang["buffers"] == "few"
    assert {each["rank"]: each["call"] for each in hang["waiting"]} == {0: "MPI_Barrier", 2: "MPI_Send"}


def test_a_hang_that_buffers_bring() -> None:
    """Rank 2 sends to rank 0 before rank 1 does, but that of rank 1 may be faster."""
    builder = TraceBuilder(3)
    take_any(builder, 0, 2)
    receive(builder, 0, 1)
    receive(builder, 1, 2, 1)
    send(builder, 1, 0)
    send(builder, 2, 0)
    send(builder, 2, 1, 1)
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], found["wildcards"]["hang"]["buffers"]) == (0, "many")


def test_answers_are_sent_to_whoever_asked() -> None:
    """A master answers each request; under another order it would answer another worker, so there is no accusation."""
    builder = TraceBuilder(3)
    for worker in (2, 1, 2, 1):
        take_any(builder, 0, worker)
        send(builder, 0, worker, 1)
        send(builder, worker, 0)
        receive(builder, worker, 0, 1)
    found = verify_trace(builder.trace())
    wild = found["wildcards"]
    assert (found["eager_limit"], wild["receives"], wild["kept"], wild["hang"]) == (0, 4, 4, None)


def test_a_message_that_is_kept_is_for_its_receive_alone() -> None:
    """Both are answered once both have been taken: the second receive keeps its message, the first has no other."""
    builder = TraceBuilder(3)
    for worker in (1, 2):
        take_any(builder, 0, worker)
        send(builder, worker, 0)
        receive(builder, worker, 0, 1)
    for worker in (1, 2):
        send(builder, 0, worker, 1)
    found = verify_trace(builder.trace())
    wild = found["wildcards"]
    assert (found["eager_limit"], wild["receives"], wild["kept"], wild["hang"]) == (0, 2, 1, None)
    assert (wild["unclear"], wild["complete"]) == (0, True)


def test_a_receive_that_needs_a_message_that_is_kept_is_no_hang() -> None:
    """If the first receive takes one of rank 1, the second needs that which the third keeps, which has another."""
    builder = TraceBuilder(3)
    take_any(builder, 0, 2)
    receive(builder, 0, 1)
    take_any(builder, 0, 1)
    send(builder, 0, 1, 1)
    for peer in (1, 1, 2):
        send(builder, peer, 0)
    receive(builder, 1, 0, 1)
    wild = verify_trace(builder.trace())["wildcards"]
    assert (wild["kept"], wild["hang"], wild["complete"]) == (1, None, True)
    assert wild["unclear"] > 0


@pytest.mark.parametrize(("ranks", "each"), [(3, 3), (4, 2)])
def test_all_states_are_visited_up_to_the_bound(ranks: int, each: int) -> None:
    """Receives of two tags in turn from all others; a state is how many each has sent, of both."""
    builder = TraceBuilder(ranks)
    for _ in range(each):
        for tag in (0, 1):
            for source in range(1, ranks):
                take_any(builder, 0, source, tag)
                send(builder, source, 0, tag)
    replayed = calls_of(builder.trace())  # with buffers no rank waits, and there is no choice
    whole = wildcards(NamedEvents(builder.trace()), replayed)
    assert (whole["hang"], whole["complete"], whole["kept"]) == (None, True, 0)
    assert whole["receives"] == 2 * each * (ranks - 1)
    # At each receive of a block: which of the others have sent already; the first order of all is not counted.
    senders = ranks - 1
    assert whole["states"] == 2 * each * sum(comb(senders, k) for k in range(1, senders)) - 2 * each * (senders - 1)
    bounded = wildcards(NamedEvents(builder.trace()), replayed, max_states=2)
    assert (bounded["complete"], bounded["states"]) == (False, 2)


def test_buffered_messages_that_are_alike_leave_no_choice() -> None:
    """No rank waits for their sends, so which comes first makes no difference, of thousands as well."""
    builder = TraceBuilder(4)
    for number in range(900):
        take_any(builder, 0, 1 + number % 3, any_tag=True)
        send(builder, 1 + number % 3, 0, name="MPI_Bsend")
    pair = builder.communicator([0, 1])
    for rank in (0, 1):  # head to head, which needs a buffer of 8 bytes
        calls = builder.rank(rank).call("MPI_Send", peer=1 - rank, tag=0, bytes=8, communicator=pair)
        calls.call("MPI_Recv", source=1 - rank, source_tag=0, received=8, communicator=pair)
    found = verify_trace(builder.trace())
    wild = found["wildcards"]
    assert (found["eager_limit"], wild["receives"], wild["states"], wild["complete"]) == (8, 900, 0, True)


def test_a_test_may_end_with_another_message() -> None:
    """The test found the send of rank 1 ended; with the other matching it would have looked for something else."""
    builder = TraceBuilder(3)
    take_any(builder, 0, 1)
    builder.rank(0).call("MPI_Recv", source=1, source_tag=7, received=8)
    take_any(builder, 0, 2)
    builder.rank(1).call("MPI_Isend", peer=0, tag=0, bytes=8, request=0)
    builder.rank(1).call("MPI_Test", asked=[0], ended=[(0, NONE, NONE, 0)], argument=1)
    send(builder, 1, 0, 7)
    send(builder, 2, 0)
    wild = verify_trace(builder.trace())["wildcards"]
    assert (wild["kept"], wild["hang"]) == (1, None)
    builder = TraceBuilder(3)
    pair = builder.communicator([0, 1])
    take_any(builder, 0, 1)
    builder.rank(0).call("MPI_Barrier", communicator=pair)
    take_any(builder, 0, 2)
    builder.rank(1).call("MPI_Isend", peer=0, tag=0, bytes=8, request=0)
    builder.rank(1).call("MPI_Test", asked=[0], ended=[(0, NONE, NONE, 0)], argument=1)
    builder.rank(1).call("MPI_Barrier", communicator=pair)
    send(builder, 2, 0)
    wild = verify_trace(builder.trace())["wildcards"]
    assert (wild["kept"], wild["hang"], wild["unclear"]) == (0, None, 1)
