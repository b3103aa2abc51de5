"""No exchange is faster than its busiest link; where paths are fixed, the simulator's counters say which it is."""

import pytest
from validation.bounds import exchanges, row, summary
from validation.machines import DRAGONFLY, all_to_all, machine
from validation.networks import NETWORKS
from validation.routes import Link, Routes, loads

from tradewind.simulation import prepare

HASHED = {"dragonflyplus", "cubemesh"}
"""Where a hash picks one of several ways between two nodes."""


@pytest.mark.parametrize("network", NETWORKS)
def test_bounds_hold_and_are_found_without_the_simulator(network):
    for what, exchange in exchanges(48):
        found = row(network, what, exchange, machine(NETWORKS[network]))
        assert found["time / bound"] >= 1
        assert (found["walked us"] == "-") == (network in HASHED)
        if network not in HASHED:
            assert found["walked us"] == pytest.approx(found["bound us"], rel=1e-6)


def test_large_messages_on_a_full_fattree_come_close_to_the_bound():
    for what, exchange in exchanges(64):
        if "24 B" not in what and "fetch" not in what:  # few messages, of unequal lengths
            found = row("fattree", what, exchange, machine({"kind": "fattree", "levels": 3, "down_ports": 4}))
            assert 1 <= found["time / bound"] < 1.05


def test_loads_of_a_link_between_groups():
    """Two groups of 12 nodes, all to all: what each sends to the other passes one link."""
    simulation = prepare(all_to_all(24, "ring-1", 2), machine(DRAGONFLY))
    load = loads(simulation, Routes(simulation.machine))
    between = [size for link, size in load.items() if link.kind == "global"]
    assert between == [12 * 12 * 16] * 2
    assert load[Link("injection", -1, 3)] == 23 * 16


def test_a_summary_has_a_row_a_network():
    rows = [
        {"network": name, "exchange": what, "time / bound": 2.0, "time / loggp": 1.5}
        for name in ("a", "b")
        for what in ("halo", "allreduce 24 B")
    ]
    assert summary(rows) == [{"network": n, "halo": 2.0, "allreduce 24 B / loggp": 1.5} for n in ("a", "b")]
