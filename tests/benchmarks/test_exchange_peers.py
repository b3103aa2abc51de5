"""The peers of the benchmark of exchanges bring the right answers: a ratio to a wrong one would say nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tradewind.launch import job

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def ranks_find_both_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{BENCHMARKS}")


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_every_peer_is_right(ranks: int) -> None:
    found = job.run(ranks, "peer_cases:right", None)
    assert "packed Alltoallv" in found
    assert f"isend-irecv of subarrays ({ranks}, 1)" in found


def test_a_wrong_peer_is_found() -> None:
    idle, lazy = job.run(2, "peer_cases:wrong", None)
    assert idle.startswith("idle: ")
    assert lazy.startswith("lazy: ")


def test_a_redistribution_has_its_goal_and_every_way() -> None:
    payload = {"grid": "12x10x6", "path": "xy-zy-zx-zy-xy", "few": 2, "samples": 2}
    lines = job.run(2, "exchanges.redistribution:redistribution", payload)
    assert any("goal: at least 1.5" in line for line in lines)
    assert any(line.startswith("  put-notify,datatype: ") for line in lines)


def test_figures_come_with_their_goals() -> None:
    payload = {"edge": 8, "few": 2, "samples": 2}
    lines = job.run(1, "exchanges.transposition:transposition", payload)
    assert any("goal: at most 1.3" in line for line in lines)
    assert any("goal: at least 1.6" in line for line in lines)
