"""The forecast against what then happens."""

from pathlib import Path

import numpy as np
import pytest
import xarray
from small import CROSSBAR, FATTREE, TORUS, core, machine

from tradewind.base import units
from tradewind.base.errors import InputError
from tradewind.simulation import prepare, simulate
from tradewind.workload.exchange import Exchange

DRAGONFLY = {"kind": "dragonfly", "rows": 4, "columns": 4, "groups": 9, "nodes_per_switch": 4, "global_links": 4}
EXCHANGES = [
    Exchange("transpose", 60, (40, 20, 30), (10, 6), algorithm="ring-2"),
    Exchange("transpose", 64, (64, 8, 64), (64, 1), algorithm="bruck", slab="xz"),
    Exchange("halo", 60, (100, 70, 8), (10, 6), algorithm="sweep", width=8),
    Exchange("halo", 4, (40, 30, 8), (4, 1), algorithm="direct", width=2),
    Exchange("allreduce", 59, algorithm="recursive-4", count=700, times=7),
    Exchange("allreduce", 64, algorithm="ring", count=9000),
]


@pytest.mark.parametrize("packet", ["100B", "message"])
@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda e: e.name)
@pytest.mark.parametrize(
    ("topology", "routing", "error"),
    [
        (CROSSBAR, "direct", 0.0),
        (TORUS | {"shape": [4, 4, 4]}, "dimension-order", 0.0),
        (FATTREE, "d-mod-k", 0.0),
        (FATTREE, "round-robin", 0.0),
        (DRAGONFLY, "minimal", 0.05),
        (DRAGONFLY, "valiant", 0.5),
        (DRAGONFLY, "ugal", 0.5),
    ],
    ids=str,
)
def test_forecast_of_messages_and_hops(topology, routing, error, exchange, packet):
    """All ranks of a small exchange are in the sample: exact where one path leads from node to node."""
    simulation = prepare(exchange, machine(topology, routing), packet=packet)
    forecast, result = simulation.forecast(), core(simulation)
    assert forecast["messages"] == pytest.approx(result.messages, rel=1e-9)
    assert forecast["packet_hops"] == pytest.approx(result.packet_hops, rel=max(error, 1e-9))


def test_forecast_of_many_ranks_from_a_sample():
    for name, exchange in {
        "torus-M": Exchange("halo", 40_000, (2000, 2000, 10), (200, 200), algorithm="sweep", width=2),
        "dragonfly-MM": Exchange("transpose", 10_000, (1000, 1000, 100), (100, 100), algorithm="ring-4", slab="xy"),
        "fattree-M": Exchange("allreduce", 30_000, algorithm="recursive-8", count=3),
    }.items():
        simulation = prepare(exchange, name)
        forecast, result = simulation.forecast(), core(simulation, 2)
        assert forecast["messages"] == pytest.approx(result.messages, rel=0.05)
        assert forecast["packet_hops"] == pytest.approx(result.packet_hops, rel=0.05)


def test_a_ring_of_very_few_elements_is_forecast_from_a_sample_of_its_ranks():
    """Each of 3 elements makes n - 1 steps, twice; 24 of 25 go to a node of the same switch, one to the next switch.

    All ranks in all their stages would be visited 180 thousand million times, which no test waits for.
    """
    ranks = 300_000
    exchange = Exchange("allreduce", ranks, algorithm="ring", count=3)
    forecast = prepare(exchange, "torus-M", packet="message").forecast()
    assert forecast["messages"] == pytest.approx(2 * 3 * (ranks - 1), rel=0.01)
    assert forecast["packet_hops"] == pytest.approx(2.04 * forecast["messages"], rel=0.05)


def test_the_wall_time_is_that_of_the_packet_hops():
    """At the rate of simulations whose times lie beside the studies, of one thread, give or take a factor of 4; each
    further thread is worth 0.7."""
    with xarray.open_dataset(Path(__file__).parents[2] / "studies" / "results" / "packets.nc") as known:
        long = known.wall_time.values > 1
        rate = float(np.median((known.packet_hops.values / known.wall_time.values)[long]))
    wall_s = {}
    for threads in (1, 2, 5):
        forecast = prepare(EXCHANGES[0], machine(TORUS | {"shape": [4, 4, 4]}), threads=threads).forecast()
        wall_s[threads] = forecast["wall_s"]
    assert rate / 4 < forecast["packet_hops"] / wall_s[1] < rate * 4
    assert wall_s[1] / wall_s[2] == pytest.approx(1.7)
    assert wall_s[1] / wall_s[5] == pytest.approx(3.8)


def test_loggp_has_no_packets():
    assert prepare(EXCHANGES[0], machine(TORUS | {"shape": [4, 4, 4]}), model="loggp").forecast()["packet_hops"] == 0


def test_what_memory_cannot_hold_is_refused_unless_forced(monkeypatch):
    class Memory:
        available = 1000.0

    monkeypatch.setattr("psutil.virtual_memory", Memory)
    file = machine(TORUS)
    needed = prepare(EXCHANGES[3], file).forecast()["memory_bytes"]
    with pytest.raises(InputError, match=f"about {units.format_bytes(needed)} of memory and 1000 B are free"):
        simulate(EXCHANGES[3], file)
    assert simulate(EXCHANGES[3], file, force=True)["time_s"] > 0
