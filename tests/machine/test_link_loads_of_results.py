"""How busy links are, against the bytes that must cross them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.machine.link_loads import Loads, link_shares
from tradewind.pattern import Schedule
from tradewind.simulation import simulate
from tradewind.workload.exchange import Exchange

sys.path.insert(0, str(Path(__file__).parents[1] / "sim"))
from small import CROSSBAR, machine


def test_two_switches_of_a_torus() -> None:
    """26 ranks, 25 on the first switch: all that rank 25 sends and receives crosses one link."""
    exchange = Exchange("transpose", 26, grid=(260, 4, 26), split=(26, 1), slab="xz", algorithm="burst")
    result = simulate(exchange, "torus-M", congestion=True, threads=1)
    congestion = result["congestion"]
    crossing = 25 * 10 * 4 * 1 * 8  # bytes: 10 points along x, 4 along y, 1 level to or from each of 25 ranks
    share = crossing / 10e9 / result["time_s"]
    cells = zip(congestion["from"], congestion["to"], congestion["share"], strict=True)
    assert {(sender, receiver): value for sender, receiver, value in cells} == {
        (0, 1): pytest.approx(share),
        (1, 0): pytest.approx(share),
    }
    assert (congestion["switches"], congestion["switches_per_bin"], congestion["links"]) == (2, 1, 2)
    assert congestion["quantiles"] == pytest.approx([share] * 4)


def test_many_switches_are_taken_together() -> None:
    exchange = Exchange("halo", 4000, grid=(4000, 4000, 1), width=1, periodic="xy")
    result = simulate(exchange, "torus-M", congestion=True)
    congestion = result["congestion"]
    assert congestion["switches"] >= 160
    assert congestion["switches_per_bin"] == -(-congestion["switches"] // 125)
    assert max(congestion["from"] + congestion["to"]) < 125
    assert max(congestion["share"]) == congestion["quantiles"][-1] <= 1
    assert max(congestion["share"]) * result["time_s"] <= result["bound_s"] * (1 + 1e-6)


def test_the_formula_knows_no_links() -> None:
    with pytest.raises(InputError, match="only the packet model"):
        simulate(Exchange("allreduce", 4), "torus-M", model="loggp", congestion=True)


def test_quantiles_of_shares() -> None:
    """A tenth, half, nine tenths and all of 101 links whose shares are 0, 0.01, ..., 1."""
    shares = np.random.default_rng(1).permutation(np.arange(101) / 100)
    links, nothing = np.arange(101), np.zeros(0)
    found = link_shares(Loads(links, links, links, links, links, shares, nothing))
    assert found["quantiles"] == pytest.approx([0.1, 0.5, 0.9, 1.0])


def test_delays_of_a_crowd() -> None:
    """Five ranks send a packet each to another one at one time: they wait for none, one, ... four of 1 us."""
    fetch = _core.fetch_of_messages([1000] * 6, [(r, 5, 1000) for r in range(5)])
    schedule = Schedule(_core.make_schedule(fetch, "direct"))
    file = machine(CROSSBAR, bandwidth="8GB/s", packet="8000B")
    result = schedule.simulate(file, congestion=True, pairs=1, buffers="unbounded")
    series = result["delay_over_time"]
    total = sum(n * mean for n, mean in zip(series["packets"], series["mean_delay_s"], strict=True))
    assert sum(series["packets"]) == 5
    assert total == pytest.approx((0 + 1 + 2 + 3 + 4) * 1e-6, rel=1e-3)
    assert result["delay_pairs"] == [[pytest.approx(2e-6, rel=1e-3)]]
