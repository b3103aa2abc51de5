"""Ranks that run far ahead of others, and windows that lie far apart: early arrivals and the wheel's far lists."""

import pytest
from small import CROSSBAR, NS, all_to_all, core, machine, pair, run
from test_threads import bits

from tradewind.exchange import Exchange
from tradewind.simulation import prepare

BYTE = 100


@pytest.mark.parametrize("times", [1, 7])
@pytest.mark.parametrize("latency", ["1ps", "10ns"])
def test_large_packets_and_small_latencies(latency, times):
    """Windows of picoseconds between packets of milliseconds: nearly all are empty."""
    file = machine(CROSSBAR, latency=latency)
    exchange = all_to_all(8, "ring-1", 2_000_000, times=times)
    result = run(exchange, file, packet="message")
    ps = 1 if latency == "1ps" else 10 * NS
    assert result.time_ps == times * 7 * (16_000_000 * BYTE + 2 * ps)
    assert result.windows < 100_000


def test_a_message_of_an_hour():
    file = machine(CROSSBAR, bandwidth="1MB/s", latency="1ns")
    exchange = Exchange("allreduce", 2, algorithm="recursive-2", count=450_000_000)
    result = run(exchange, file, packet="128MiB")
    assert result.time_s == pytest.approx(3600, rel=1e-9)


@pytest.mark.parametrize("size", [1, 3000])
def test_ranks_far_ahead_of_their_neighbours(size):
    """Two nodes, four ranks each, joined by a link a thousand times slower than memory: in a ring of ranks dealt out in
    runs of four, three of four messages are copies and arrive long before their stage. The slow link passes every
    chunk of every stage, one after another."""
    ring = {"kind": "torus", "shape": [2], "nodes_per_switch": 1}
    file = machine(ring, bandwidth="100MB/s", memory_bandwidth="100GB/s", latency="10ns")
    exchange = Exchange("allreduce", 8, algorithm="ring", count=8 * size, times=50)
    simulation = prepare(exchange, file, ranks_per_node=4)
    result = core(simulation)
    assert result.messages == 50 * 14 * 8
    assert result.time_s >= result.bound_s
    for threads in (2, 4):
        assert bits(core(simulation, threads)) == bits(result)
    slow = 50 * 14 * (size * 8 * 10 * NS)
    # Nothing but the slow link and the latencies around it counts.
    assert slow < result.time_ps < slow * 1.05 + 50 * 14 * 50 * NS


def test_messages_dozens_of_stages_early():
    """Ranks 0..2 of a chain of halo exchanges; rank 0 sends a hundred times without hearing from ranks beyond its
    neighbour, while the far end's node is slow: what waits in the ring and in the map is not lost."""
    line = {"kind": "torus", "shape": [16], "nodes_per_switch": 1}
    file = machine(line, latency="10ns", packet="64B", send_overhead="3us")
    exchange = Exchange("halo", 16, (64, 4, 2), (16, 1), "sweep", width=3, times=100)
    result = run(exchange, file)
    assert result.bytes == result.port_bytes.reshape(16, 3)[:, 2].sum()
    once = run(Exchange("halo", 16, (64, 4, 2), (16, 1), "sweep", width=3), file)
    assert result.time_ps == pytest.approx(100 * once.time_ps, rel=0.02)


def test_mixed_latencies():
    """Windows follow the smallest latency; links a thousand times longer reach beyond the wheel."""
    file = machine(CROSSBAR, nic_latency="10ns")
    assert run(pair(1), file).time_ps == 20 * NS + 8 * BYTE
    dragonfly = {"kind": "dragonfly", "rows": 1, "columns": 2, "groups": 3, "nodes_per_switch": 2, "global_links": 1}
    file = machine(dragonfly, latency="10ns", global_link={"latency": "1ms"})
    exchange = all_to_all(12, "ring-2", 100)
    simulation = prepare(exchange, file)
    one = core(simulation)
    assert one.time_ps > 1_000_000 * NS
    assert bits(core(simulation, 4)) == bits(one)
