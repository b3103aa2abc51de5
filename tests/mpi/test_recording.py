"""Time steps of a model that are recorded on MPI ranks, and become programs."""

from __future__ import annotations

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


def test_recorded_steps(tmp_path):
    outcomes = launch.run(4, "recorded_cases:run", str(tmp_path), timeout_s=240)
    assert list(outcomes) == [
        *("messages", "loaded", "groups", "rows", "components", "open", "nested", "often", "raises", "early")
    ]
    assert {name: problem for name, problem in outcomes.items() if problem} == {}
