"""Collective calls as messages: each finds its other end, and what a rank needs reaches it."""

from __future__ import annotations

import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.replay.buffering import verify_trace
from tradewind.replay.calls import calls_of
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import NONE, Trace

CALLS = (
    *("Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall"),
    *("Reduce_scatter_block", "Scan"),
)
ROOTED = ("Bcast", "Reduce", "Gather", "Scatter")


def trace_of(name: str, ranks: int, size: int, root: int = 0, request: bool = False) -> Trace:
    """One call in which each rank gives and gets `size` bytes (of all-to-all: in all)."""
    builder = TraceBuilder(ranks)
    for rank in range(ranks):
        calls = builder.rank(rank)
        peer = root if name in ROOTED else NONE
        function = f"MPI_I{name.lower()}" if request else f"MPI_{name}"
        calls.call(function, bytes=size, received=size, peer=peer, request=0 if request else NONE)
        if request:
            calls.call("MPI_Wait", asked=[0], ended=[(0, NONE, NONE, 0)])
    return builder.trace()


@pytest.mark.parametrize("name", CALLS)
def test_all_messages_have_both_ends_and_the_call_ends_without_buffers(name: str) -> None:
    """Sizes on both sides of all limits between algorithms; a root in the middle; blocking or by a request."""
    for ranks in (1, 2, 3, 5, 8, 13):
        for size in (8, 4000, 40_000, 1_000_000):
            found = verify_trace(
                trace_of(name, ranks, size, ranks // 2, request=ranks % 2 == 0 and name != "Reduce_scatter_block")
            )
            assert (found["eager_limit"], found["unmatched_messages"]) == (0, 0), (name, ranks, size)
            assert found["messages"] >= ranks - 1


def bytes_of(name: str, ranks: int, size: int) -> int:
    return calls_of(trace_of(name, ranks, size)).calls.bytes


def test_bytes_are_those_of_the_algorithms() -> None:
    """In all: trees carry the vector to each rank but the root, rings all blocks but a rank's own."""
    ranks, short, large = 8, 100, 1_000_000
    assert bytes_of("Bcast", ranks, short) == bytes_of("Reduce", ranks, short) == (ranks - 1) * short
    assert bytes_of("Bcast", ranks, large) == (12 + ranks * (ranks - 1)) * large // ranks  # scattered, then a ring
    assert bytes_of("Gather", ranks, short) == bytes_of("Scatter", ranks, short) == 12 * short  # 4 + 2 * 2 + 4 * 1
    assert bytes_of("Allgather", ranks, short) == bytes_of("Allgather", ranks, large) // (large // short) == 56 * short
    assert bytes_of("Alltoall", ranks, ranks * 50_000) == ranks * (ranks - 1) * 50_000
    assert bytes_of("Alltoall", ranks, ranks * short) == 3 * 4 * ranks * short  # Bruck: half of the blocks, three times
    assert bytes_of("Allreduce", ranks, short) == 3 * ranks * short
    assert bytes_of("Reduce_scatter_block", ranks, 800) == ranks * (400 + 200 + 100)


def test_another_algorithm_of_the_allreduce() -> None:
    trace = trace_of("Allreduce", 8, 80_000)
    messages = {
        name: calls_of(trace, allreduce=name).calls.messages
        for name in ("recursive-2", "rabenseifner", "ring", "binomial")
    }
    schedules = {name: _core.make_schedule(_core.AllReduce(8, 80_000), name) for name in messages}
    for name, schedule in schedules.items():
        stages = range(schedule.stages)
        assert messages[name] == sum(len(schedule.sends(r, stage)) for r in range(8) for stage in stages)


def test_an_algorithm_of_a_radix_larger_than_a_communicator() -> None:
    """A pair of six ranks has radix 2, whatever all of them have."""
    builder = TraceBuilder(6)
    pair = builder.communicator([0, 1])
    for rank in (0, 1):
        builder.rank(rank).call("MPI_Allreduce", bytes=8, received=8, communicator=pair)
    assert calls_of(builder.trace(), allreduce="recursive-4").calls.messages == 2
    with pytest.raises(InputError, match="radix 7"):
        calls_of(builder.trace(), allreduce="recursive-7")


def test_communicators_have_their_own_ranks() -> None:
    """Rows and columns of four ranks: the allreduce of a row does not touch the other."""
    builder = TraceBuilder(4)
    rows = [builder.communicator([2 * row, 2 * row + 1]) for row in (0, 1)]
    for rank in range(4):
        builder.rank(rank).call("MPI_Allreduce", bytes=8, received=8, communicator=rows[rank // 2])
    found = verify_trace(builder.trace())
    assert (found["messages"], found["bytes"]) == (4, 32)


@pytest.mark.parametrize("form", ["MPI_{}", "MPI_I{}", "MPI_{}_init"])
def test_blocks_of_their_own_size_are_messages_of_their_own(form: str) -> None:
    """Sizes of a rank alone would lead each of the 8 to another algorithm. Empty blocks are no messages."""
    builder = TraceBuilder(8)
    sizes = [10 * rank**6 for rank in range(8)]
    names = ("Alltoallv", "Gatherv", "Scatterv", "Allgatherv")
    for rank in range(8):
        calls = builder.rank(rank)
        blocks = [0] * 8
        blocks[(rank + 1) % 8] = sizes[rank]
        given = {"Alltoallv": sum(blocks), "Scatterv": sum(sizes) if rank == 3 else 0}
        obtained = {"Allgatherv": sum(sizes), "Gatherv": sum(sizes) if rank == 3 else 0}
        for name in names:
            calls.call(
                form.format(name.lower() if form == "MPI_I{}" else name),
                bytes=given.get(name, sizes[rank]),
                received=obtained.get(name, sizes[rank]),
                peer=3 if name in ("Gatherv", "Scatterv") else NONE,
                blocks=blocks if name == "Alltoallv" else sizes if name == "Scatterv" and rank == 3 else (),
                request=NONE if form == "MPI_{}" else 0,
            )
            if form == "MPI_{}_init":
                calls.call("MPI_Start", asked=[0])
            if form != "MPI_{}":
                calls.call("MPI_Wait", asked=[0], ended=[(0, NONE, NONE, 0)])
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], found["unmatched_messages"], found["order"]) == (0, 0, [])
    all_bytes = sum(sizes)
    rings = 8 * 7 * (all_bytes // 8)
    assert found["bytes"] == all_bytes + 2 * (all_bytes - sizes[3]) + rings
    assert found["messages"] == 7 + 2 * 6 + 8 * 7  # rank 0 has nothing to give, and gets nothing from the root


def test_ranks_may_wait_for_collective_calls_in_different_order() -> None:
    """MPI brings them on in the background; what hangs beside them is found all the same."""
    builder = TraceBuilder(4)
    for rank in range(4):
        calls = builder.rank(rank)
        for request in (0, 1):
            calls.call("MPI_Iallreduce", bytes=8, received=8, request=request)
        for request in (0, 1) if rank < 2 else (1, 0):
            calls.call("MPI_Wait", asked=[request], ended=[(request, NONE, NONE, 0)])
    found = verify_trace(builder.trace())
    assert (found["eager_limit"], found["messages"], found["unmatched_messages"]) == (0, 16, 0)
    builder.rank(0).call("MPI_Recv", source=1, source_tag=0, received=8).call("MPI_Ssend", peer=1, tag=0, bytes=8)
    builder.rank(1).call("MPI_Recv", source=0, source_tag=0, received=8).call("MPI_Ssend", peer=0, tag=0, bytes=8)
    assert verify_trace(builder.trace())["eager_limit"] is None
