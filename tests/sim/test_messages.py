"""Values that Python computes from a machine file for messages: connections, several NICs, the model's version."""

import pytest
from small import (
    CROSSBAR,
    DRAGONFLY,
    NS,
    all_to_all,
    machine,
    pair,
    run,
)

from tradewind.base.errors import InputError
from tradewind.simulation import model_version, prepare

BYTE = 100
"""Picoseconds at 10 GB/s."""
TRIP = 200 * NS
"""Latency of a head, from NIC to NIC."""


@pytest.mark.parametrize("model", ["packet", "loggp"])
def test_connections_cost_time_at_both_ends(model):
    """Each rank of n has one to every rank of other nodes, n - 1 or n - 3."""
    file = machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns", mpi={"connection_overhead": "5ns"})
    alone = machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns")
    one = run(pair(100), file, model=model).time_ps
    assert one == run(pair(100), alone, model=model).time_ps + 2 * 5 * NS == TRIP + 800 * BYTE + 110 * NS
    many = all_to_all(6, "burst")
    for ranks_per_node, connections in ((1, 5), (3, 3), (6, 0)):
        costs = {"send_overhead": f"{40 + 5 * connections}ns", "receive_overhead": f"{60 + 5 * connections}ns"}
        options = {"model": model, "ranks_per_node": ranks_per_node}
        found, wanted = run(many, file, **options), run(many, machine(CROSSBAR, **costs), **options)
        assert found.time_ps == wanted.time_ps
    assert file.identity != alone.identity == machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns").identity


@pytest.mark.parametrize("ranks", [8, 9])
def test_nodes_of_a_fattree_have_several_nics(ranks):
    """All send to all below one switch: of a node's messages about half go by each of its two NICs."""
    fattree = {"kind": "fattree", "levels": 2, "down_ports": 9}
    one, two = (machine(fattree, "d-mod-k", nic={"count": n}).machine.build().topology for n in (1, 2))
    assert (two.nodes, two.switches, two.links()) == (2 * one.nodes, one.switches, one.links())
    exchange = all_to_all(ranks, "burst", 1000)
    result = run(exchange, machine(fattree, "d-mod-k", nic={"count": 2}), packet="message")
    maximum = max([(a + b) % 2 for b in range(ranks) if b != a].count(nic) for a in range(ranks) for nic in range(2))
    assert result.time_ps == maximum * 8000 * BYTE + TRIP


def test_a_gpu_has_one_nic():
    with pytest.raises(InputError, match=r"nic\.count = 3: a GPU of a cubemesh has one"):
        prepare(pair(1), machine({"kind": "cubemesh", "gpu": "V100"}, nic={"count": 3}))


def test_results_of_an_older_model_are_not_used_again():
    """Only of cases that use what has changed since: other studies need not be simulated anew."""
    assert model_version(machine(CROSSBAR), 1) == 2
    assert (
        model_version(machine(DRAGONFLY, "ugal-sst71"), 1)
        == model_version(machine(DRAGONFLY), 2, routing="ugal-sst71")
        == 6
    )
    assert model_version(machine(CROSSBAR), 2) == model_version(machine(CROSSBAR, mpi={"eager_limit": "1KiB"}), 1) == 3
