"""The forecast against what then happens."""

from pathlib import Path

import numpy as np
import pytest
import xarray
from small import TORUS, machine

from tradewind.base import units
from tradewind.base.errors import InputError
from tradewind.simulation import prepare, simulate
from tradewind.workload.exchange import Exchange

EXCHANGES = [
    Exchange("transpose", 60, (40, 20, 30), (10, 6), algorithm="ring-2"),
    Exchange("transpose", 64, (64, 8, 64), (64, 1), algorithm="bruck", slab="xz"),
    Exchange("halo", 60, (100, 70, 8), (10, 6), algorithm="sweep", width=8),
    Exchange("halo", 4, (40, 30, 8), (4, 1), algorithm="direct", width=2),
    Exchange("allreduce", 59, algorithm="recursive-4", count=700, times=7),
    Exchange("allreduce", 64, algorithm="ring", count=9000),
]


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
