"""Ranks that run far ahead of others, and windows that lie far apart: early arrivals and the wheel's far lists."""

import pytest
from small import CROSSBAR, NS, all_to_all, core, machine, memory_taken, pair, run
from test_threads import bits

from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

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


@pytest.mark.parametrize("size", [1, 40])
def test_a_slow_link_in_a_ring(size):
    """Two nodes of four ranks, joined by links a thousand times slower than memory: the chunks of all stages pass
    them one after another."""
    ring = {"kind": "torus", "shape": [2], "nodes_per_switch": 1}
    file = machine(ring, bandwidth="100MB/s", memory_bandwidth="100GB/s", latency="10ns")
    exchange = Exchange("allreduce", 8, algorithm="ring", count=8 * size, times=50)
    simulation = prepare(exchange, file, ranks_per_node=4)
    result = core(simulation)
    assert result.messages == 50 * 14 * 8
    assert result.time_s >= result.bound_s
    assert bits(core(simulation, 2, adaptive=False)) == bits(result)
    slow = 50 * 14 * (size * 8 * 10 * NS)
    assert slow < result.time_ps < slow * 1.05 + 50 * 14 * 50 * NS


@pytest.mark.parametrize("times", [1, 5])
def test_messages_dozens_of_stages_early(times):
    """38 ranks of one node copy in an instant, ranks 38 and 39 are a millisecond away. Rank 0 first waits for rank 39;
    meanwhile ranks 37, 36, .. 20 send it what it will ask for in stages 2 to 19. Expected: each rank's stage begins
    when the one before has ended, and ends with its one message, sent in the sender's same stage."""
    n, latency, copy = 40, 1_000_000 * NS, 80
    file = machine(CROSSBAR, latency="1ms", memory_bandwidth="100GB/s")
    simulation = prepare(all_to_all(n, "ring-1", times=times), file, ranks_per_node=38)
    result = core(simulation)
    end = [0] * n
    for stage in range(1, n):
        for_all = range(n)
        sent = list(end)
        end = [
            max(sent[r] + copy, sent[r - stage] + (copy if (r < 38) == ((r - stage) % n < 38) else 2 * latency))
            for r in for_all
        ]
    assert result.time_ps == pytest.approx(times * max(end), rel=0.01 if times == 1 else 0.5)
    assert result.messages == times * n * (n - 1)
    assert bits(core(simulation, 2, adaptive=False)) == bits(result)


def test_a_burst_does_not_leave_at_once():
    """A rank sends when its NIC is free, so what is in flight does not grow with the number of messages: 9 million of
    32 bytes would be 288 MB."""
    prepared = """
from small import CROSSBAR, all_to_all, core, machine, prepare
simulation = prepare(all_to_all(3000, "burst"), machine(CROSSBAR | {"nodes": 3000}))"""
    assert memory_taken(prepared, "core(simulation)") < 50_000


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
    assert bits(core(simulation, 4, adaptive=False)) == bits(one)
