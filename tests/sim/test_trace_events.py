"""Trace events of ranks: recording changes nothing, events match the schedule, and their times are right."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from shared_cases import LARGE_DRAGONFLY, TRANSPOSE, drawn, large, special
from small import CROSSBAR, DRAGONFLY, FATTREE, NS, TORUS, core, machine, pair
from test_threads import bits
from validation.forms import BYTE, placed

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

KINDS = list(_core.trace_event_kinds)
EXCHANGE = Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="ring-2")


def showing(simulation, *ranks):
    """All ranks unless some are named."""
    return replace(simulation, shown=ranks or tuple(range(simulation.exchange.ranks)))


def trace_events(result):
    """[(rank, stage, begin, end, kind, peer, NIC, bytes)]"""
    return [(*row[:4], KINDS[row[4]], *row[5:]) for row in result.trace_events.tolist()]


def test_nothing_is_kept_unasked():
    assert core(prepare(EXCHANGE, machine(TORUS))).trace_events.shape == (0, 8)


@pytest.mark.parametrize("more", [{}, {"mpi": {"eager_limit": "200B"}}, {"mpi": {"bypass": "1200B"}}], ids=str)
@pytest.mark.parametrize("ranks_per_node", [1, 2])
@pytest.mark.parametrize("buffers", ["credits", "unbounded"])
@pytest.mark.parametrize(
    ("topology", "routing"),
    [(TORUS, "dimension-order"), (FATTREE, "adaptive"), (DRAGONFLY, "ugal")],
    ids=lambda value: value if isinstance(value, str) else value["kind"],
)
def test_same_bits_with_any_number_of_threads(topology, routing, buffers, ranks_per_node, more):
    file = machine(topology, routing, send_overhead="7ns", receive_overhead="9ns", **more)
    simulation = prepare(EXCHANGE, file, buffers=buffers, packet="256B", ranks_per_node=ranks_per_node, pairs=5)
    alone = core(simulation)
    simulation = showing(simulation, 0, 1, 2, 3, 4, 17)
    one = core(simulation)
    for threads in (1, 2, 3):
        result = core(simulation, threads, adaptive=False)
        assert bits(result) == bits(alone)
        assert np.array_equal(result.delay_pairs, alone.delay_pairs)
        assert np.array_equal(result.trace_events, one.trace_events)
    assert {event[0] for event in trace_events(one)} == {0, 1, 2, 3, 4, 17}


def test_one_message_computed_by_hand():
    file = machine(TORUS, send_overhead="7ns", receive_overhead="9ns")
    simulation = prepare(pair(1000), file, packet="1KiB", buffers="unbounded", **placed(file, (3, 0)))
    left, arrives = 7 * NS + 8000 * BYTE, (7 + 5 * 100) * NS + 8000 * BYTE
    for rank in (0, 1):
        assert [event for event in trace_events(core(showing(simulation))) if event[0] == rank] == [
            (rank, 0, 0, arrives + 9 * NS, "stage", -1, 0, 0),
            (rank, 0, 0, 7 * NS, "post", -1, 0, 0),
            (rank, 0, 7 * NS, left, "send", 1 - rank, 0, 8000),
            (rank, 0, arrives, arrives + 9 * NS, "match", -1, 0, 0),
            (rank, 0, arrives, arrives, "arrival", 1 - rank, 0, 8000),
        ]


def test_a_message_that_waits_until_it_is_asked_for():
    """A request of 64 bytes there, the grant back, then the message."""
    file = machine(TORUS, mpi={"eager_limit": "0B", "header": "64B"})
    simulation = prepare(pair(1000), file, packet="1KiB", buffers="unbounded", **placed(file, (3, 0)))
    control = 5 * 100 * NS + 64 * BYTE
    sends = [event for event in trace_events(core(showing(simulation))) if event[4] == "send"]
    arrivals = [event for event in trace_events(core(showing(simulation))) if event[4] == "arrival"]
    assert [send[2:4] for send in sends] == 2 * [(2 * control, 2 * control + 8000 * BYTE)]
    assert [arrival[2] for arrival in arrivals] == 2 * [2 * control + 5 * 100 * NS + 8000 * BYTE]


def test_copies_and_messages_past_the_network():
    file = machine(CROSSBAR, memory_bandwidth="20GB/s")
    copied = core(showing(prepare(pair(1000), file, ranks_per_node=2)))
    # One memory, two copies, each no faster than one can be: at once, since a node serves many.
    assert [event[2:8] for event in trace_events(copied) if event[4] == "copy"] == [
        (0, 8000 * BYTE // 2, "copy", 1, 0, 8000),
        (0, 8000 * BYTE // 2, "copy", 0, 0, 8000),
    ]
    assert {event[2] for event in trace_events(copied) if event[4] == "arrival"} == {copied.time_ps}
    past = core(showing(prepare(pair(10), machine(CROSSBAR, mpi={"bypass": "80B"}))))
    assert {event[2:4] for event in trace_events(past) if event[4] == "send"} == {(0, 80 * BYTE)}
    assert {event[2] for event in trace_events(past) if event[4] == "arrival"} == {200 * NS + 80 * BYTE}


@pytest.mark.parametrize("buffers", ["credits", "unbounded"])
@pytest.mark.parametrize("latency", ["1ns", "1us", "100us"])
def test_ranks_that_share_a_nic_take_turns(latency, buffers):
    """Two send 64 packets each: one has every first turn, the other every second, whatever the windows are."""
    exchange = Exchange("allreduce", 4, algorithm="recursive-2", count=2048)
    file = machine(CROSSBAR, latency=latency)
    simulation = prepare(exchange, file, packet="256B", ranks_per_node=2, placement="round-robin", buffers=buffers)
    packet = 256 * BYTE
    for rank, begin, end in ((0, 0, 127 * packet), (2, packet, 128 * packet)):
        (send,) = (
            event for event in trace_events(core(showing(simulation))) if event[:2] == (rank, 0) and event[4] == "send"
        )
        assert send[2:4] == (begin, end)


def test_computing():
    import tradewind as tw

    blocks = tw.Blocks(tw.Grid(nx=12, ny=8, nz=2), split=(2, 2))
    halo = tw.Halo(blocks, width=1).schedule("direct")
    program = tw.Program(tw.Compute("physics", seconds=3e-6), tw.Compute("inside", seconds=5e-6, during=halo))
    result = core_of_program(program, machine(CROSSBAR, send_overhead="10ns"))
    computed = {event[:4] for event in trace_events(result) if event[4] == "compute"}
    posts = 3 * 10 * NS  # to three neighbours
    assert computed == {
        (rank, stage, begin, begin + length)
        for rank in range(4)
        for stage, begin, length in ((0, 0, 3000 * NS), (1, 3000 * NS + posts, 5000 * NS))
    }


def core_of_program(program, file):
    simulation = showing(prepare(program, file))
    return _core.simulate_packets(*simulation._arguments())


CASES = [*large(), *drawn(), *special()]


@pytest.mark.parametrize("simulation", [s for _, s in CASES], ids=[name for name, _ in CASES])
def test_acts_are_what_the_schedule_says(simulation):
    result = core(showing(simulation))
    sent, came = Counter(), Counter()
    for kind, count in (("send", sent), ("copy", sent), ("arrival", came)):
        for rank, stage, _, _, name, peer, _, size in trace_events(result):
            if name == kind:
                count[(rank, peer) if count is sent else (peer, rank), stage] += size
    wanted = Counter()
    for stage, (schedule, number) in enumerate(stages(simulation.exchange)):
        for rank in range(simulation.exchange.ranks):
            for message in schedule.sends(rank, number):
                if message.count:
                    size = message.count * simulation.exchange.bytes_per_point
                    wanted[(rank, message.peer), stage] += size
    assert sent == came == wanted


@pytest.mark.parametrize("simulation", [s for _, s in CASES], ids=[name for name, _ in CASES])
def test_acts_come_when_they_must(simulation):
    result = core(showing(simulation))
    stages_of, within, messages = defaultdict(list), defaultdict(list), {}
    for rank, stage, begin, end, kind, peer, nic, _ in trace_events(result):
        if kind == "stage":
            stages_of[rank].append((stage, begin, end))
        else:
            within[rank, stage].append((kind, begin, end, nic))
        if kind in ("send", "copy"):
            messages.setdefault((rank, peer, stage), []).append(end)
    for each in stages_of.values():
        assert [stage for stage, *_ in each] == sorted({stage for stage, *_ in each})
        assert all(end <= begin for (_, _, end), (_, begin, _) in pairwise(each))
        assert all(begin < end for _, begin, end in each)
    assert max(end for each in stages_of.values() for *_, end in each) == result.time_ps
    own = {(rank, stage): (begin, end) for rank, each in stages_of.items() for stage, begin, end in each}
    for (rank, stage), done in within.items():
        begin, end = own[rank, stage]
        for kind, first, last, _ in done:
            assert last <= end
            assert first >= begin or kind in ("arrival", "match")  # messages may come early
        for nic in {nic for *_, nic in done}:
            sends = sorted((a, b) for kind, a, b, n in done if kind == "send" and n == nic)
            assert all(a < b for a, b in sends)
    for rank, stage, begin, _, kind, peer, _, _ in trace_events(result):
        if kind == "arrival":
            assert max(messages[peer, rank, stage]) <= begin


def stages(exchange):
    """(schedule, stage of it) of a whole program."""
    for step in exchange.steps():
        for _ in range(step.repeat):
            yield from ((step.schedule, stage) for stage in range(step.schedule.stages))


@pytest.mark.slow  # a matrix of 4095 x 4095 blocks
def test_senders_beyond_those_that_packets_can_name():
    """With 4095 blocks of ranks, packets can name one rank beside them."""
    halo = Exchange("halo", 4100, (328, 200, 1), (82, 50), algorithm="direct", width=1)
    simulation = prepare(halo, machine({"kind": "crossbar", "nodes": 4100}), pairs=4095)
    result = core(showing(simulation, 100))
    arrivals = sorted((event[5], event[7]) for event in trace_events(result) if event[4] == "arrival")
    assert arrivals == [(-1, (4 * 4 + 3) * 8), (183, 8)]  # one neighbour, at a corner, has a code
    assert np.array_equal(result.delay_pairs, core(simulation).delay_pairs)


@pytest.mark.parametrize("shown", [[-1], [24], [3, 3], [5, 4]])
def test_ranks_that_cannot_be_shown(shown):
    simulation = prepare(EXCHANGE, machine(TORUS))
    with pytest.raises(InputError, match=r"0 to 23 are allowed, in ascending order"):
        core(showing(simulation, *shown))


def test_too_much_to_keep():
    simulation = prepare(replace(TRANSPOSE, times=1000), machine(LARGE_DRAGONFLY))
    with pytest.raises(InputError, match="time line of 240 ranks: more than 500000 stages and messages"):
        core(showing(simulation))
