"""The peers of the benchmark of exchanges bring the expected result: a ratio to a wrong one would say nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from figures import figure, figures

from tradewind import _core
from tradewind.launch import job

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
METHODS = {
    f"{entry.name},{packing}" for entry in _core.transports() for packing in entry.packings if not entry.on_devices
}

pytestmark = pytest.mark.slow


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
    found, given_up = figures(lines)
    assert len(found) + len(given_up) == len(lines) - 2  # and two headings
    assert {each.what for each in found} | given_up >= METHODS
    assert [each.goal for each in found if each.goal] == [("least", 1.5)]
    assert {each.samples for each in found} == {2}


def test_figures_come_with_their_goals() -> None:
    payload = {"edge": 8, "few": 2, "samples": 2}
    lines = job.run(1, "exchanges.transposition:transposition", payload)
    found, given_up = figures(lines)
    assert {each.what for each in found} | given_up >= METHODS
    goals = [each.goal for each in found if each.goal]
    assert goals == [("most", 1.0), ("most", 1.3), ("least", 1.6), ("least", 1.6)]
    assert all(each.to == "the floor" for each in found if each.goal and each.goal[0] == "most")


def test_a_figure_is_the_median_of_ratios_round_by_round_and_its_goal_is_met_or_missed() -> None:
    samples = {"ours": [2.0, 8.0, 3.0], "theirs": [1.0, 2.0, 3.0]}
    program = f"from exchanges.sampling import line; print(line('it', {samples!r}, 'ours', 'theirs', %s))"

    def comparison(goal: str) -> str:
        command = [sys.executable, "-c", program % goal]
        return subprocess.run(command, cwd=BENCHMARKS, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    found = figure(comparison("at_most=2"))
    assert (found.what, found.to, found.ratio, found.samples) == ("it", "theirs", 2.0, 3)
    assert not found.missed
    assert figure(comparison("at_most=1.9")).missed
    assert not figure(comparison("at_least=2")).missed
    assert figure(comparison("at_least=2.1")).missed
    assert figure(comparison("at_most=None")).goal is None
