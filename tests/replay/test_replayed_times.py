"""Times of replayed traces: those of the same exchange as a schedule, and closed forms."""

from __future__ import annotations

import pytest
from recorded_exchange import trace_of
from validation.machines import CROSSBAR, DRAGONFLY, TORUS, all_to_all, machine

from tradewind.base.errors import InputError, VerificationError
from tradewind.replay.calls import calls_of
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation import prepare
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import Trace

BYTE_NS = 0.1
"""At 10 GB/s."""
TRIP_NS = 200.0
"""From NIC to NIC."""
OVERHEADS = {"send_overhead": "40ns", "receive_overhead": "60ns"}


def replayed_ns(trace: Trace, file, **options) -> float:  # type: ignore[no-untyped-def]
    chosen = {"buffers": "unbounded", "threads": 1, "packet": "512B"} | options
    return 1e9 * prepare(TraceWorkload(trace), file, **chosen).run()["time_s"]


@pytest.mark.parametrize("topology", [CROSSBAR, DRAGONFLY, TORUS], ids=lambda topology: topology["kind"])
@pytest.mark.parametrize(
    ("algorithm", "costs", "ranks_per_node", "buffers", "within"),
    [
        ("ring-1", {}, 1, "unbounded", 0),
        ("burst", OVERHEADS, 1, "credits", 0),
        ("pairwise", {}, 1, "credits", 0),
        # In a program messages of later stages are matched as they come, in a trace when they are waited for.
        ("pairwise", OVERHEADS, 1, "unbounded", 0.02),
        ("ring-1", {}, 2, "credits", 0.05),
        ("burst", {"mpi": {"eager_limit": "1KiB"}}, 1, "unbounded", 0.01),
        ("pairwise", OVERHEADS | {"mpi": {"eager_limit": "1KiB"}}, 2, "credits", 0.08),
    ],
)
def test_a_trace_takes_the_time_of_its_schedule(topology, algorithm, costs, ranks_per_node, buffers, within) -> None:  # type: ignore[no-untyped-def]
    """Beside the bound: nothing but the order in which ranks of a node, and waits, have their turns."""
    exchange, file = all_to_all(6, algorithm, 1000), machine(topology, **costs)
    options = {"buffers": buffers, "ranks_per_node": ranks_per_node, "threads": 1, "packet": "512B"}
    program = prepare(exchange, file, **options).run()
    (schedule,) = exchange.schedules().values()
    trace = prepare(TraceWorkload(trace_of(schedule, exchange.bytes_per_point)), file, **options).run()
    assert (trace["messages"], trace["bytes"]) == (program["messages"], program["bytes"])
    assert trace["time_s"] == pytest.approx(program["time_s"], rel=within, abs=0)


def two_ranks(first, second) -> Trace:  # type: ignore[no-untyped-def]
    builder = TraceBuilder(2)
    for rank, calls in enumerate((first, second)):
        for name, values in calls:
            builder.rank(rank).call(name, **values)
    return builder.trace()


SEND = ("MPI_Send", {"peer": 1, "tag": 7, "bytes": 1000})
RECEIVE = ("MPI_Recv", {"source": 0, "source_tag": 7, "received": 1000})


def test_a_late_sender_and_a_late_receiver() -> None:
    """A short message waits for its receiver; a long one, and a synchronous one, for the request of its receiver."""
    late_send = two_ranks([(SEND[0], {**SEND[1], "gap_ns": 0}), SEND], [RECEIVE, RECEIVE])
    assert replayed_ns(late_send, machine(CROSSBAR)) == pytest.approx(2000 * BYTE_NS + TRIP_NS)
    begin = ("MPI_Barrier", {})
    late = two_ranks([begin, (SEND[0], {**SEND[1], "gap_ns": 5000})], [begin, RECEIVE])
    plain = replayed_ns(two_ranks([begin], [begin]), machine(CROSSBAR))
    assert replayed_ns(late, machine(CROSSBAR)) == pytest.approx(plain + 5000 + 1000 * BYTE_NS + TRIP_NS)
    late_receiver = two_ranks([begin, SEND], [begin, (RECEIVE[0], {**RECEIVE[1], "gap_ns": 5000})])
    assert replayed_ns(late_receiver, machine(CROSSBAR)) == pytest.approx(plain + 5000)
    for name, costs in (("MPI_Ssend", {}), ("MPI_Send", {"mpi": {"eager_limit": "500B"}})):
        asked = two_ranks([begin, (name, SEND[1])], [begin, (RECEIVE[0], {**RECEIVE[1], "gap_ns": 5000})])
        assert replayed_ns(asked, machine(CROSSBAR, **costs)) > plain + 5000 + TRIP_NS + 1000 * BYTE_NS + TRIP_NS


def test_more_than_64_bits_hold_is_refused() -> None:
    """Sums of bytes, and picoseconds of computing."""
    large = 10**18 - 1
    builder = TraceBuilder(2)
    for _ in range(10):
        builder.rank(0).call("MPI_Send", peer=1, tag=0, bytes=large)
        builder.rank(1).call("MPI_Recv", source=0, source_tag=0, received=large)
    with pytest.raises(InputError, match="rank 0 sends more bytes than can be counted"):
        calls_of(builder.trace())
    builder = TraceBuilder(1)
    builder.rank(0).call("MPI_Init").call("MPI_Finalize", gap_ns=large)
    with pytest.raises(InputError, match=r"rank 0 computes for 1e\+09 s: 9000000 s can be replayed"):
        calls_of(builder.trace())
    assert calls_of(builder.trace(), 1e-3).calls.calls == 1


def test_computing_is_scaled_and_named() -> None:
    calls = [("MPI_Barrier", {}), ("MPI_Barrier", {"gap_ns": 10_000})]
    trace = two_ranks(calls, calls)
    file = machine(CROSSBAR)
    whole = prepare(TraceWorkload(trace), file, threads=1).run()
    half = prepare(TraceWorkload(trace, computing=0.5), file, threads=1).run()
    assert whole["time_s"] - half["time_s"] == pytest.approx(5e-6)
    assert whole["calls"]["computing"] == pytest.approx({"minimum_s": 1e-5, "mean_s": 1e-5, "maximum_s": 1e-5})
    total = sum(times["mean_s"] for times in whole["calls"].values())
    assert total == pytest.approx(whole["time_s"])
    assert whole["usage"]["computing_s"] == pytest.approx(2e-5)


def test_threads_give_the_same_bits() -> None:
    (schedule,) = all_to_all(12, "pairwise", 100).schedules().values()
    trace = trace_of(schedule, 8, times=3)
    file = machine(DRAGONFLY, **OVERHEADS, mpi={"eager_limit": "500B"})
    times = {replayed_ns(trace, file, threads=threads, buffers="credits", noise="100kHz,1us") for threads in (1, 2, 4)}
    assert len(times) == 1


def test_what_never_ends_is_an_error() -> None:
    """Both send before they receive, and nothing is buffered."""
    head_to_head = [
        [
            ("MPI_Send", {"peer": 1 - rank, "tag": 0, "bytes": 9}),
            ("MPI_Recv", {"source": 1 - rank, "source_tag": 0, "received": 9}),
        ]
        for rank in (0, 1)
    ]
    trace = two_ranks(*head_to_head)
    assert replayed_ns(trace, machine(CROSSBAR)) == pytest.approx(9 * BYTE_NS + TRIP_NS)
    with pytest.raises(VerificationError, match=r"rank 0 waits in MPI_Send .* larger mpi\.eager_limit"):
        replayed_ns(trace, machine(CROSSBAR, mpi={"eager_limit": "8B"}))


def test_loggp_and_missing_ranks_are_refused() -> None:
    trace = two_ranks([SEND], [RECEIVE])
    with pytest.raises(InputError, match="replayed by the packet model alone"):
        prepare(TraceWorkload(trace), machine(CROSSBAR), model="loggp")
    lacking = Trace(3, trace.infos, trace.communicators, trace.load)
    with pytest.raises(InputError, match="1 of 3 ranks are missing: 2; so the trace cannot be replayed"):
        prepare(TraceWorkload(lacking), machine(CROSSBAR)).run()
