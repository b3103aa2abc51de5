from __future__ import annotations

from pathlib import Path

import pytest

from tradewind.machine import machine_folder
from tradewind.simulation import simulate
from tradewind.simulation.energy import NO_USAGE, with_energy
from tradewind.study.cases.environment import here
from tradewind.study.cases.network import network_size, power_of, settings_of
from tradewind.study.cases.records import record_of
from tradewind.study.claims.quantity import quantity_of
from tradewind.workload.exchange import Exchange


def test_sizes_of_networks() -> None:
    def size(name: str, settings: str | None = None) -> dict[str, int]:
        return dict(network_size(machine_folder() / f"{name}.toml", settings))

    assert size("torus-M") == {"switches": 25**3, "links": 3 * 25**3}
    assert size("fattree-M") == {"switches": 4 * 25**3, "links": 3 * 25**4}, "25^4 ways up from each level but the top"
    inside, between = 625 * (24 + 24) // 2, 25 * 24 // 2 * 260  # 6250 global ports of a group, to 24 others: 260 each
    assert size("dragonfly-MM") == {"switches": 15625, "links": 25 * inside + between}
    changed = "topology.columns=5, topology.nodes_per_switch=25"
    assert size("dragonfly-SL", changed)["switches"] == 15625
    assert size("no such machine") == {}
    assert dict(network_size(Path("nowhere.toml"), None)) == {}


def test_settings_of_a_label() -> None:
    assert settings_of(None) == {}
    assert settings_of("link.latency=1us, topology.shape=[4, 4], nic.count=2") == {
        "link.latency": "1us",
        "topology.shape": "[4, 4]",
        "nic.count": "2",
    }


def test_joules_follow_the_power_of_the_machine_file_of_today() -> None:
    """The key of a case does not hold the power, so what is stored is its usage of nodes."""
    path = machine_folder() / "dgx-2.toml"
    result = simulate(Exchange("allreduce", 4, count=100), path)
    power = power_of(path, None)
    assert power is not None
    assert power.waiting == 55
    assert quantity_of({"kind": "simulate", "result": {**result, "steps": 2}}, "energy") == pytest.approx(
        result["energy_j"] / 2
    )
    assert quantity_of({"kind": "run", "result": {**result, "steps": 2}}, "energy") is None
    twice = power_of(path, "power.idle=82W, power.waiting=110W")
    assert with_energy(result, twice)["energy_j"] == pytest.approx(2 * result["energy_j"])
    assert with_energy(result, None)["no_energy"] == "no power in this machine file"


def test_cases_that_were_stored_without_usage_have_the_reason_why_they_have_no_joules() -> None:
    result = {"time_s": 1.0, "no_energy": "no power in this machine file"}  # the file had none then
    entry = {"labels": {"kind": "simulate", "settings": None}, "layout_imbalance": None}
    known = dict.fromkeys(("wall_s", "finished", "key", "environment"))
    body = {"result": result, "identity": {"request": {"exchange": {}}}, **known}
    record = record_of(entry, body, here(), machine_folder() / "dgx-2.toml")
    assert record["result"] == {"time_s": 1.0, "no_energy": NO_USAGE}
