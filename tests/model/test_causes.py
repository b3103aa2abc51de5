"""Causes of the time of a step against what can be computed by hand; a point takes 0.3 us, a byte 0.1 ns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model.small_models import COMPUTE, HALO, SUM, TRANSPOSE, text_of
from validation.machines import CROSSBAR, FATTREE, machine

from tradewind.machine import MachineFile
from tradewind.model import Model, load_model
from tradewind.simulation.causes import CAUSES, by_cause

POINT_S = 3000 / 10e9
NODE = {"memory_bandwidth": "10GB/s", "flow_memory_bandwidth": "10GB/s", "flops": "1Tflop/s"}


@pytest.fixture
def made(tmp_path: Path):
    def make(*steps: str, grid: str = "40x20x10") -> Model:
        path = tmp_path / "own.toml"
        path.write_text(text_of(*steps, grid=grid))
        return load_model(path)

    return make


def caused(model: Model, ranks: int, file: MachineFile, **options: Any) -> dict[str, float]:
    """Return the causes of a step, which add up to its time."""
    result = model.simulate(file, ranks, threads=1, **options)
    assert list(result["cause_s"]) == list(CAUSES)
    assert sum(result["cause_s"].values()) == pytest.approx(result["time_s"])
    assert min(result["cause_s"].values()) >= 0
    return result["cause_s"]


def test_on_an_infinitely_fast_network_only_computing_is_left(made):
    """8 ranks have 1000 points each."""
    fast = machine(CROSSBAR, bandwidth="1000TB/s", latency="1ps", node=NODE)
    cause_s = caused(made(COMPUTE, HALO, TRANSPOSE, COMPUTE.replace("physics", "more")), 8, fast)
    assert cause_s["compute"] == pytest.approx(2 * 1000 * POINT_S)
    assert sum(cause_s.values()) - cause_s["compute"] < 1e-8


def test_imbalance_is_the_largest_part_over_the_mean(made):
    """42 points along x over 4 ranks: two of them have 11 x 10 columns, two 10 x 10."""
    cause_s = caused(made(COMPUTE, HALO, grid="42x20x10"), 8, machine(CROSSBAR, node=NODE))
    assert cause_s["imbalance"] == pytest.approx(50 * POINT_S)
    assert cause_s["compute"] == pytest.approx(1050 * POINT_S)


def test_a_message_is_its_bytes_its_latencies_and_its_overheads(made):
    """Two ranks send each other 20 x 10 points of 8 bytes, through two links of a crossbar."""
    file = machine(CROSSBAR, send_overhead="300ns", receive_overhead="200ns", node=NODE)
    cause_s = caused(made(COMPUTE, HALO), 2, file)
    assert cause_s["bandwidth"] == pytest.approx(1600 / 10e9, rel=1e-3)
    assert cause_s["latency"] == pytest.approx(300e-9 + 200e-9 + 2 * 100e-9, rel=1e-3)
    assert cause_s["congestion"] == pytest.approx(0, abs=1e-12)


def test_what_is_over_an_unloaded_network_is_congestion(made):
    """All ranks begin with the first one: its port is in the way. The tapered tree has fewer links than nodes."""
    tapered = {**FATTREE, "down_ports": 4, "up_ports": 1}
    cause_s = caused(made(COMPUTE, TRANSPOSE, grid="64x64x64"), 16, machine(tapered, node=NODE), placement="random")
    assert cause_s["congestion"] > cause_s["bandwidth"] > 0


def test_copies_within_a_node_are_its_pack_time_and_ranks_share_its_nic(made):
    """Four ranks on two nodes: two pairs exchange 10 x 10 points within a node, two 20 x 10 points between them."""
    model = made(COMPUTE, HALO, grid="40x20x10")
    cause_s = caused(model, 4, machine(CROSSBAR, node=NODE), ranks_per_node=2)
    assert cause_s["pack"] > 0
    assert cause_s["compute"] == pytest.approx(2000 * 2 * POINT_S)
    alone = caused(model, 4, machine(CROSSBAR, node=NODE))
    assert alone["pack"] == 0
    assert cause_s["bandwidth"] > alone["bandwidth"]


@pytest.mark.parametrize(
    ("mpi", "options", "simulations"),
    [
        ({}, {}, 4),
        ({}, {"ranks_per_node": 2}, 5),
        ({"unexpected_bandwidth": "1GB/s"}, {}, 5),
        ({"unexpected_bandwidth": "1GB/s"}, {"protocol": "put"}, 4),
    ],
)
def test_a_step_without_copies_is_not_simulated_without_them(made, mpi, options, simulations):
    result = made(COMPUTE, HALO).simulate(machine(CROSSBAR, node=NODE, mpi=mpi), 4, threads=1, **options)
    assert result["simulations"] == simulations


def test_a_rendezvous_is_no_congestion(made):
    """But for the bytes of its control messages, which travel with the others."""
    file = machine(CROSSBAR, node=NODE, mpi={"eager_limit": "0B"})
    cause_s = caused(made(COMPUTE, HALO), 2, file)
    assert cause_s["congestion"] < 3 * 64 / 10e9 + 1e-12
    assert cause_s["latency"] == pytest.approx(4 * 200e-9, rel=1e-3)


def test_what_is_done_now_and_then_has_its_part_of_each_cause(made):
    rare = COMPUTE.replace("physics", "output") + "every = 10\n"
    model, file = made(COMPUTE, SUM, rare), machine(CROSSBAR, node=NODE)
    result = model.simulate(file, 8, threads=1)
    assert result["cause_s"]["compute"] == pytest.approx(1.1 * 1000 * POINT_S)
    assert result["compute_by_s"] == {"memory bandwidth": pytest.approx(1.1 * 1000 * POINT_S)}
    assert (result["bound_by"], result["simulations"]) == ("memory bandwidth", 2 * 4)
    assert result["bound_share"] == pytest.approx(result["cause_s"]["compute"] / result["time_s"])


def test_what_limits_a_computation_is_named(made):
    flops = COMPUTE.replace("physics", "radiation").replace("bytes = 3000", "flops = 1000000")
    stated = COMPUTE.replace("physics", "ice").replace("bytes = 3000", 'seconds = "100us"')
    result = made(COMPUTE, flops, stated, SUM).simulate(machine(CROSSBAR, node=NODE), 8, threads=1)
    assert result["compute_by_s"] == {
        "memory bandwidth": pytest.approx(1000 * POINT_S),
        "processors": pytest.approx(1000 * 1e6 / 1e12),
        "stated times": pytest.approx(1e-4),
    }
    assert result["bound_by"] == "processors"


def test_a_step_that_is_slower_without_a_cause_has_none_of_it():
    found = by_cause([10.0, 11.0, 9.0, 8.0, 8.0, 7.0], 6.0)
    assert found == {
        "compute": 6.0,
        "imbalance": 1.0,
        "waiting for servers": 1.0,
        "pack": 0.0,
        "latency": 1.0,
        "bandwidth": 1.0,
        "congestion": 0.0,
    }
