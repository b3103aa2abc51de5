"""Conditions that every simulation satisfies, whatever the network, routing, algorithm and placement."""

import itertools

import numpy as np
import paths
import pytest
from networks import PETERSEN
from small import CROSSBAR, DRAGONFLY, FATTREE, TORUS, core, machine, messages, terminal_bytes

from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

TAPERED = {"kind": "fattree", "levels": 3, "down_ports": [4, 4, 2], "up_ports": [2, 3]}
PLUS = {"kind": "dragonflyplus", "leaves": 3, "spines": 2, "groups": 5, "nodes_per_switch": 2, "global_links": 2}
HYPERX = {"kind": "hyperx", "shape": [4, 3], "nodes_per_switch": 2}
WIDE_DRAGONFLY = {"kind": "dragonfly", "rows": 3, "columns": 2, "groups": 4, "nodes_per_switch": 3, "global_links": 2}
NETWORKS = [
    (CROSSBAR, "direct"),
    (TORUS, "dimension-order"),
    (FATTREE, "d-mod-k"),
    (FATTREE, "round-robin"),
    (DRAGONFLY, "minimal"),
    (DRAGONFLY, "valiant"),
    (WIDE_DRAGONFLY, "minimal"),
    (WIDE_DRAGONFLY, "ugal"),
    (DRAGONFLY, "valiant-router"),
    (WIDE_DRAGONFLY, "par"),
    (WIDE_DRAGONFLY, "ugal-sst71"),
    (TORUS, "ugal"),
    (TAPERED, "d-mod-k"),
    (TAPERED, "adaptive"),
    (PLUS, "minimal"),
    (PLUS, "ugal"),
    (HYPERX, "minimal"),
    (HYPERX | {"links": [1, 3]}, "valiant"),
    (HYPERX, "ugal"),
    ({"kind": "complete", "switches": 6, "nodes_per_switch": 4}, "minimal"),
    ({"kind": "hypercube", "dimensions": 4, "links": 2, "nodes_per_switch": 2}, "ugal"),
    ({"kind": "slimfly", "q": 4, "nodes_per_switch": 1}, "minimal"),
    ({"kind": "slimfly", "q": 4, "nodes_per_switch": 1}, "valiant"),
    ({"kind": "cubemesh", "gpu": "P100", "boxes": 3}, "direct"),
    ({"kind": "cubemesh", "gpu": "V100", "boxes": 3}, "minimal"),
    ({"kind": "graph", "file": PETERSEN, "nodes_per_switch": 3}, "minimal"),
]
FIXED = [
    (TORUS, "dimension-order"),
    (FATTREE, "d-mod-k"),
    (DRAGONFLY, "minimal"),
    (TAPERED, "d-mod-k"),
    (HYPERX, "minimal"),
    ({"kind": "complete", "switches": 6, "nodes_per_switch": 4}, "minimal"),
    ({"kind": "slimfly", "q": 4, "nodes_per_switch": 1}, "minimal"),
    ({"kind": "cubemesh", "gpu": "P100", "boxes": 3}, "direct"),
    ({"kind": "graph", "file": PETERSEN, "nodes_per_switch": 3}, "minimal"),
]
"""Those whose paths have nothing random."""
LONGEST = {
    "crossbar": 0,
    "torus": 10,
    "fattree": 4,
    "dragonfly": 10,
    "dragonflyplus": 6,
    "hyperx": 4,
    "hypercube": 8,
    "slimfly": 4,
    "cubemesh": 4,
}
"""Links between switches on a path of any routing."""
EXCHANGES = [
    Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="ring-2"),
    Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="burst", slab="xy"),
    Exchange("transpose", 16, (32, 16, 16), (4, 4), algorithm="bruck", slab="all"),
    Exchange("transpose", 12, (20, 9, 20), (12, 1), algorithm="pairwise", slab="xz"),
    Exchange("halo", 24, (61, 50, 7), (6, 4), algorithm="sweep", width=3, periodic="x"),
    Exchange("halo", 24, (61, 50, 7), (6, 4), algorithm="direct", width=15, periodic="xy"),
    Exchange("allreduce", 24, algorithm="recursive-3", count=600, times=2),
    Exchange("allreduce", 23, algorithm="ring", count=5000),
]
PLACEMENTS = [("linear", 1), ("random", 1), ("round-robin", 2), ("random", 3)]


def ids(value):
    return value.name if isinstance(value, Exchange) else value["kind"] if isinstance(value, dict) else str(value)


@pytest.mark.parametrize("exchange", EXCHANGES, ids=ids)
@pytest.mark.parametrize(("topology", "routing"), NETWORKS, ids=ids)
def test_what_holds_for_every_run(topology, routing, exchange):
    sizes = list(messages(exchange))
    for (placement, ranks_per_node), packet in itertools.product(PLACEMENTS, ("300B", "message")):
        file = machine(topology, routing, nic_bandwidth="7GB/s", send_overhead="30ns", receive_overhead="20ns")
        simulation = prepare(exchange, file, placement=placement, ranks_per_node=ranks_per_node, packet=packet, seed=5)
        network, place = simulation.machine.topology, simulation.placement
        result = core(simulation)
        assert result.messages == len(sizes)
        assert result.bytes == sum(size for _, _, size in sizes)
        assert result.time_ps > 0
        assert result.time_s >= result.bound_s
        assert list(result.step_end_s) == sorted(result.step_end_s)
        assert result.step_end_s[-1] == result.time_s
        assert result.imbalance >= 1

        sent, received = np.zeros(network.nodes, np.uint64), np.zeros(network.nodes, np.uint64)
        packets = 0
        for sender, receiver, size in sizes:
            a, b = place.node(sender), place.node(receiver)
            if a != b:
                sent[a] += np.uint64(size)
                received[b] += np.uint64(size)
                packets += -(-size // 300) if packet == "300B" else 1
        np.testing.assert_array_equal(result.nic_bytes, sent)
        np.testing.assert_array_equal(terminal_bytes(result, network), received)
        assert sum(result.delay_counts) == packets
        check_conservation(result, network, sent, received)

        if (topology, routing) in FIXED:
            load, hops = paths.expected(exchange, simulation.machine, topology, place, simulation.packet_bytes)
            np.testing.assert_array_equal(result.port_bytes, load)
            assert result.packet_hops == hops
        else:
            assert 2 * packets <= result.packet_hops <= (2 + LONGEST[topology["kind"]]) * packets
        assert result.bound_s == pytest.approx(bound(result, network), rel=1e-6)


def check_conservation(result, network, sent, received):
    """Bytes into a switch equal bytes out of it."""
    each = network.nodes_per_switch
    load = result.port_bytes.reshape(network.switches, network.radix).astype(np.int64)
    balance = -load.sum(axis=1)
    holders = network.nodes // each
    balance[:holders] += sent.reshape(holders, each).sum(axis=1).astype(np.int64)
    for switch, port in zip(*np.nonzero(load), strict=True):
        kind, other, _ = network.port(int(switch), int(port))
        assert kind != "none"
        if kind != "terminal":
            balance[other] += load[switch, port]
    assert not balance.any()


def bound(result, network):
    """Links at 10 GB/s, NICs at 7 GB/s."""
    load = result.port_bytes.reshape(network.switches, network.radix)
    times = [0.0, float(result.nic_bytes.max()) / 7e9]
    for switch, port in zip(*np.nonzero(load), strict=True):
        kind = network.port(int(switch), int(port))[0]
        times.append(float(load[switch, port]) / (7e9 if kind == "terminal" else 10e9))
    return max(times)


@pytest.mark.parametrize("exchange", EXCHANGES[::2], ids=ids)
def test_loggp_counts_the_same_messages(exchange):
    simulation = prepare(exchange, machine(TORUS), model="loggp")
    result, sizes = core(simulation), [size for _, _, size in messages(exchange)]
    assert (result.messages, result.bytes) == (len(sizes), sum(sizes))
    # Without congestion it cannot be slower than on a torus whose links are shared.
    assert 0 < result.time_ps <= core(prepare(exchange, machine(TORUS))).time_ps * 1.001
