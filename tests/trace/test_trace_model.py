"""Traces in memory: operations that repeat are stored once, columns and lists are those that were added."""

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.calls import CALLS, Form, Kind
from tradewind.trace.counts import counts
from tradewind.trace.model import ANY, NONE


def ring(steps):
    """Two ranks that exchange 80 bytes in each step, by requests 0 and 1."""
    builder = TraceBuilder(2)
    for rank in range(2):
        each, other = builder.rank(rank), 1 - rank
        for _ in range(steps):
            each.call("MPI_Irecv", source=ANY, source_tag=3, received=96, request=0, gap_ns=10, duration_ns=1)
            each.call("MPI_Isend", peer=other, tag=3, bytes=80, request=1, duration_ns=2)
            each.call("MPI_Waitall", asked=[0, 1], ended=[(0, other, 3, 80), (1, NONE, NONE, 0)], duration_ns=5)
    return builder.trace()


def test_equal_steps_share_operations():
    events = ring(steps=50).events(0)
    assert len(events) == 150
    assert len(events.operations) == 3
    assert events.order.tolist() == [0, 1, 2] * 50


def test_columns_and_lists():
    trace = ring(steps=2)
    events = trace.events(1)
    assert [events.call(n).name for n in events.order] == ["MPI_Irecv", "MPI_Isend", "MPI_Waitall"] * 2
    assert events.column("peer").tolist() == [NONE, 0, NONE] * 2
    assert events.column("source").tolist() == [ANY, NONE, NONE] * 2
    assert events.asked_of(2).tolist() == [0, 1]
    assert events.ended_of(2)[["request", "source", "tag", "bytes"]].tolist() == [(0, 0, 3, 80), (1, NONE, NONE, 0)]
    assert events.begin_ns.tolist() == [10, 11, 13, 28, 29, 31]
    assert events.gaps_ns().tolist() == [0, 0, 0, 10, 0, 0]


def test_gaps_are_those_of_each_thread():
    builder = TraceBuilder(1)
    builder.rank(0).call("MPI_Barrier", duration_ns=5)
    builder.rank(0).call("MPI_Barrier", thread=1, gap_ns=3, duration_ns=1)
    builder.rank(0).call("MPI_Barrier", gap_ns=2)
    assert builder.trace().events(0).gaps_ns().tolist() == [0, 0, 6]


def test_parts_are_the_whole():
    trace = ring(steps=20)
    parts = list(trace.parts(0, events=7))
    assert [part.first for part in parts] == list(range(0, 60, 7))
    assert np.array_equal(np.concatenate([part.order for part in parts]), trace.events(0).order)
    assert parts[1].table().index[0] == 7


def test_table_and_counts():
    trace = ring(steps=5)
    table = trace.table(0)
    assert table["call"].tolist() == ["MPI_Irecv", "MPI_Isend", "MPI_Waitall"] * 5
    assert table["bytes"].sum() == 400
    rows = counts(trace).set_index(["rank", "call"])
    assert rows.loc[(0, "MPI_Isend"), ["calls", "bytes"]].tolist() == [5, 400]
    assert rows.loc[(1, "MPI_Waitall"), ["calls", "received"]].tolist() == [5, 400]
    assert rows.loc[(1, "MPI_Waitall"), "seconds"] == pytest.approx(25e-9)


def test_names_and_forms():
    by_name = {call.name: call for call in CALLS}
    assert len(by_name) == len(CALLS)
    assert by_name["MPI_Ireduce_scatter_block"].base == "Reduce_scatter_block"
    assert by_name["MPI_Issend"] == type(by_name["MPI_Send"])("MPI_Issend", Kind.SEND, Form.NONBLOCKING, "synchronous")
    assert by_name["MPI_Ineighbor_alltoallw"].kind is Kind.NEIGHBOR


def test_refused():
    builder = TraceBuilder(1)
    with pytest.raises(InputError, match="unknown MPI function 'MPI_Sennd'; did you mean 'MPI_Send'"):
        builder.rank(0).call("MPI_Sennd")
    with pytest.raises(InputError, match="unknown column of an operation 'sources'; did you mean 'source'"):
        builder.rank(0).call("MPI_Send", sources=3)
    with pytest.raises(InputError, match="rank 3: the trace has 1 of 1 ranks"):
        builder.trace().events(3)
