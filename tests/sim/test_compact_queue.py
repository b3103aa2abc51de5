"""Packets that wait long for a port, where buffers are unbounded and many wait: held in few bytes, and let go at their
times.

The truth is the simulation with finite buffers that are never full. It holds no packet so: one that finds room has its
time when it arrives.
"""

import numpy as np
import pytest
from small import CROSSBAR, DRAGONFLY, FATTREE, TORUS, all_to_all, core, machine, memory_taken, prepare
from test_threads import bits

from tradewind import _core
from tradewind.workload.exchange import Exchange

PATIENCE_S = 1024 * 0.512e-9
"""Windows of 2^9 ps, where latencies are 1 ns: what waits longer is held back."""


def longest_wait_s(result):
    return _core.delay_lower_edge_s(int(np.flatnonzero(result.delay_counts)[-1]))


@pytest.mark.parametrize(("eager_limit", "ranks_per_node"), [("0B", 1), ("1MiB", 2)])
@pytest.mark.parametrize(
    ("topology", "exchange"),
    [
        (TORUS, Exchange("transpose", 24, (24, 120, 24), (6, 4), algorithm="burst")),
        (TORUS, Exchange("halo", 24, (48, 48, 4), (6, 4), algorithm="sweep", width=20, periodic="xy")),
        (DRAGONFLY, Exchange("transpose", 24, (24, 200, 24), (6, 4), algorithm="ring-3")),
        (FATTREE, Exchange("halo", 16, (48, 48, 8), (4, 4), algorithm="direct", width=13, periodic="x")),
        (TORUS, all_to_all(40, "burst", 100)),  # more messages at a port than a line has places for
        (CROSSBAR, all_to_all(60, "burst", 50)),
    ],
)
def test_packets_leave_at_their_times(topology, exchange, eager_limit, ranks_per_node):
    def simulation(buffers):
        file = machine(
            topology, packet="100B", latency="1ns", switch={"buffer": "64MiB"}, mpi={"eager_limit": eager_limit}
        )
        return prepare(exchange, file, buffers=buffers, ranks_per_node=ranks_per_node)

    finite, held = core(simulation("credits")), core(simulation("unbounded"), compact_from_bytes=0)
    if topology is not CROSSBAR:  # which has no links between switches, and the receivers' own need no event
        assert longest_wait_s(finite) > 2 * PATIENCE_S
    assert bits(held) == bits(finite)
    assert bits(core(simulation("unbounded"), 2, adaptive=False, compact_from_bytes=0)) == bits(finite)


SWITCH = {"bandwidth": "20GB/s"}


@pytest.mark.parametrize(
    ("threads", "crossbar", "followed"), [(1, {}, 5), (1, SWITCH, -1), (1, SWITCH, 5), (2, SWITCH, 5)]
)
def test_packets_leave_at_their_times_where_a_switch_takes_them_in_order(followed, crossbar, threads):
    """Crossbars of limited bandwidth, and packets that are followed: then all packets of a switch pass in order."""
    file = machine(TORUS, packet="100B", latency="1ns", switch={"buffer": "64MiB", **crossbar})
    exchange = Exchange("halo", 24, (48, 48, 4), (6, 4), algorithm="sweep", width=20, periodic="xy")
    finite = core(prepare(exchange, file, buffers="credits"))
    assert longest_wait_s(finite) > 2 * PATIENCE_S
    held = core(
        prepare(exchange, file, buffers="unbounded"), threads, adaptive=False, compact_from_bytes=0, followed=followed
    )
    assert bits(held) == bits(finite)


def test_a_waiting_packet_takes_few_bytes():
    """Two rows of 16 nodes, joined by one link: 15 messages wait for it, of 100,000 packets each. As events of 32 bytes
    they would take 45 MiB."""
    prepared = """
from small import core, machine, prepare
from tradewind.workload.exchange import Exchange
rows = {"kind": "torus", "shape": [2], "nodes_per_switch": 16}
exchange = Exchange("halo", 32, (32, 2, 10_000_000 // 8), (16, 2), algorithm="sweep", width=1, periodic="")
simulation = prepare(exchange, machine(rows, packet="100B"), buffers="unbounded")"""
    simulated = "assert core(simulation, compact_from_bytes=0).packet_hops > 2_000_000"
    assert memory_taken(prepared, simulated) < 20_000
