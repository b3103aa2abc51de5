"""One-sided accesses are replayed as messages that take the time of closed forms, and never make a program hang."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from validation.machines import CROSSBAR, machine

from tradewind.replay.buffering import verify_trace
from tradewind.replay.calls import NamedEvents, calls_of
from tradewind.replay.message_tags import AMOUNT, ROW
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation import prepare
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import NONE, Trace

BYTES = 1000
SENT_NS = 0.1 * BYTES
"""At 10 GB/s."""
TRIP_NS = 200.0
"""From NIC to NIC."""
REQUEST_NS = 0.1 * 3 * 64
"""The header of a request, which is received as a whole before it is sent on: by a NIC, a switch, and a NIC."""

Calls = list[tuple[str, dict[str, Any]]]
FENCE = ("MPI_Win_fence", {})
LOCK, UNLOCK, FLUSH, FLUSH_LOCAL = (
    (f"MPI_Win_{name}", {"peer": 1}) for name in ("lock", "unlock", "flush", "flush_local")
)
LOCK_ALL, UNLOCK_ALL = (("MPI_Win_lock_all", {}), ("MPI_Win_unlock_all", {}))
PUT, ADD = ((name, {"peer": 1, "bytes": BYTES}) for name in ("MPI_Put", "MPI_Accumulate"))
GET = ("MPI_Get", {"peer": 1, "received": BYTES})
GET_ADD = ("MPI_Get_accumulate", {"peer": 1, "bytes": BYTES, "received": BYTES})
RPUT = ("MPI_Rput", {"peer": 1, "bytes": BYTES, "request": 0})
RGET = ("MPI_Rget", {"peer": 1, "received": BYTES, "request": 0})
ENDED = ("MPI_Wait", {"asked": [0], "ended": [(0, NONE, NONE, 0)]})


def trace_of(*ranks: Calls) -> Trace:
    builder = TraceBuilder(len(ranks))
    window = builder.window()
    for rank, calls in enumerate(ranks):
        builder.rank(rank).call("MPI_Win_create", created=window)
        for name, fields in calls:
            builder.rank(rank).call(name, window=window, **fields)
    return builder.trace()


def replayed_ns(*ranks: Calls) -> float:
    simulation = prepare(
        TraceWorkload(trace_of(*ranks)), machine(CROSSBAR), buffers="unbounded", threads=1, packet="512B"
    )
    return float(1e9 * simulation.run()["time_s"])


REPLY_NS = REQUEST_NS + 2 * TRIP_NS
"""A request and its reply, without the data."""


@pytest.mark.parametrize(
    ("calls", "longer_ns"),
    [
        ([FENCE, PUT], SENT_NS + TRIP_NS),
        ([FENCE, ADD, PUT], 2 * SENT_NS + TRIP_NS),
        ([FENCE, GET], SENT_NS + REPLY_NS),
        ([LOCK, PUT, UNLOCK], SENT_NS + REPLY_NS),
        ([LOCK, PUT, PUT, UNLOCK], 2 * SENT_NS + REPLY_NS),
        ([LOCK_ALL, PUT, FLUSH, PUT, UNLOCK_ALL], 2 * (SENT_NS + REPLY_NS)),
        ([LOCK, PUT, FLUSH_LOCAL, UNLOCK], SENT_NS + REPLY_NS),
        ([LOCK, GET, UNLOCK], SENT_NS + REPLY_NS),
        ([LOCK, RPUT, ENDED, UNLOCK], SENT_NS + REPLY_NS),
        ([LOCK, RGET, ENDED, UNLOCK], SENT_NS + REPLY_NS),
    ],
    ids=lambda value: "-".join(name.removeprefix("MPI_") for name, _ in value) if isinstance(value, list) else "",
)
def test_the_time_is_that_of_the_closed_form(calls: Calls, longer_ns: float) -> None:
    """Beside the time of the collective calls on the window, in which the other rank waits."""
    collective = [FENCE] * sum(call == FENCE for call in calls) + [FENCE]
    plain = replayed_ns(collective, collective)
    assert replayed_ns([*calls, FENCE], collective) - plain == pytest.approx(longer_ns, abs=0.5)


def test_a_target_that_computes_delays_no_put_between_fences() -> None:
    busy = ("MPI_Win_fence", {"gap_ns": 5000})
    assert replayed_ns([FENCE, PUT, FENCE], [FENCE, busy]) == pytest.approx(replayed_ns([FENCE, FENCE], [FENCE, busy]))


@pytest.mark.parametrize("end", [("MPI_Win_wait", {}), ("MPI_Win_test", {"argument": 1})], ids=["wait", "test"])
def test_a_start_waits_for_its_post_and_a_wait_for_its_complete(end: tuple[str, dict[str, Any]]) -> None:
    """A post, the put and a complete that follows it; a complete that waits for a get."""
    late, byte_ns = 3000, 0.1
    start, complete = ("MPI_Win_start", {"blocks": [1]}), ("MPI_Win_complete", {})
    exposed: Calls = [("MPI_Win_post", {"blocks": [0], "gap_ns": late}), end]
    making = replayed_ns([], [])
    posted_ns = making + late + byte_ns + TRIP_NS
    assert replayed_ns([start, PUT, complete], exposed) == pytest.approx(posted_ns + SENT_NS + byte_ns + TRIP_NS)
    got_ns = posted_ns + SENT_NS + REPLY_NS + byte_ns + TRIP_NS
    assert replayed_ns([start, GET, complete], exposed) == pytest.approx(got_ns, abs=0.5)


def test_accesses_are_expected_in_the_epoch_that_they_are_of() -> None:
    """Those between locks are expected from the making of the window on, before those of a post."""
    ranks: list[Calls] = []
    for peer in (1, 0):
        group, put = {"blocks": [peer]}, ("MPI_Put", {"peer": peer, "bytes": BYTES})
        started = [
            ("MPI_Win_post", group),
            ("MPI_Win_start", group),
            put,
            ("MPI_Win_complete", {}),
            ("MPI_Win_wait", {}),
        ]
        locked = [("MPI_Win_lock", {"peer": peer}), put, ("MPI_Win_unlock", {"peer": peer})]
        ranks.append([*started, *locked, *started, FENCE])
    found = verify_trace(trace_of(*ranks))
    assert (found["eager_limit"], found["unmatched_messages"], found["requests_never_awaited"]) == (0, 0, 0)


def test_the_making_of_a_window_takes_no_message_of_an_access() -> None:
    """Ranks wait for each other when they make it, and a put follows in its epoch."""
    assert calls_of(trace_of([LOCK, PUT, UNLOCK], [], [])).eager_limit == 0


def test_accesses_to_and_from_a_rank_with_threads_are_left_out_and_counted() -> None:
    """Also posts and completes of such a rank: no other rank waits for them, but each for the others."""
    all_ranks = {"blocks": [0, 1, 2]}
    exposed: Calls = [("MPI_Win_post", all_ranks), ("MPI_Win_wait", {})]
    threads: Calls = [FENCE, ("MPI_Put", {"peer": 0, "bytes": 8, "thread": 1}), FENCE, *exposed]
    started: Calls = [("MPI_Win_start", all_ranks), PUT, ("MPI_Put", {"peer": 2, "bytes": 8}), ("MPI_Win_complete", {})]
    locked = [LOCK, PUT, RPUT, ENDED, GET, FLUSH, UNLOCK]
    trace = trace_of([FENCE, PUT, FENCE, *started, *locked], threads, [FENCE, FENCE, *exposed])
    found = verify_trace(trace)
    assert (found["eager_limit"], found["unmatched_messages"], found["requests_never_awaited"]) == (0, 0, 0)
    left = calls_of(trace).left
    assert left.calls == {
        **{"MPI_Put": 4, "MPI_Rput": 1, "MPI_Get": 1, "MPI_Win_flush": 1},
        **{"MPI_Win_start": 1, "MPI_Win_complete": 1, "MPI_Win_post": 2, "MPI_Win_wait": 2},
    }
    assert sum(left.bytes.values()) == 5 * BYTES + 8
    assert found["bytes"] == 8


def test_accesses_of_a_rank_to_itself_need_no_message() -> None:
    own = calls_of(trace_of([FENCE, ("MPI_Put", {"peer": 0, "bytes": 8}), FENCE], [FENCE, FENCE]))
    assert (own.left.calls, own.calls.messages) == ({}, 6)


def test_any_accesses_end_on_any_rank_whatever_is_buffered() -> None:
    """Drawn epochs of three ranks: each message has two ends, none waits for another, and all bytes move."""
    random = np.random.default_rng(7)
    accesses = (PUT, ADD, GET, GET_ADD)
    ranks: list[Calls] = [[], [], []]
    moved = 0
    for _ in range(16):
        posts, fences = random.integers(0, 2, 2).astype(bool).tolist()
        for rank, calls in enumerate(ranks):
            targets = random.integers(0, 3, random.integers(0, 4)).tolist()
            locks = not posts and bool(random.integers(0, 2))
            calls += [LOCK_ALL] if locks else []
            group = {"blocks": [other for other in range(3) if other != rank]}
            calls += [("MPI_Win_post", group), ("MPI_Win_start", group)] if posts else []
            for target in targets:
                name, fields = accesses[random.integers(0, len(accesses))]
                calls.append((name, {**fields, "peer": target}))
                if target != rank:
                    moved += fields.get("bytes", 0) + fields.get("received", 0)
            calls += [UNLOCK_ALL] if locks else []
            calls += [("MPI_Win_complete", {}), ("MPI_Win_wait", {})] if posts else []
            calls += [FENCE] if fences else []
    found = verify_trace(trace_of(*([*calls, FENCE] for calls in ranks)))
    assert (found["eager_limit"], found["not_replayed"]) == (0, {})
    assert (found["unmatched_messages"], found["requests_never_awaited"]) == (0, 0)
    assert found["bytes"] == moved


def test_a_message_has_the_event_of_its_access() -> None:
    trace = trace_of([FENCE, PUT, FENCE], [FENCE, FENCE])
    table = calls_of(trace).calls.table(0)
    named = NamedEvents(trace)
    names = {named.of_row(0, int(row))["call"] for row in table[table[:, AMOUNT] == BYTES][:, ROW]}
    assert names == {"MPI_Put"}
