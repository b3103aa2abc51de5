"""Node-aware fetches on real MPI ranks, against NumPy's indexing, with the adjoint."""

from __future__ import annotations

import node_fetch_cases
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


@pytest.mark.parametrize("ranks", [pytest.param(3, marks=pytest.mark.slow), 4])  # two nodes of two ranks show more
def test_points_arrive_and_are_added_back(ranks):
    outcomes = launch.run(ranks, "node_fetch_cases:run", ranks, timeout_s=240)
    assert set(outcomes) == {*node_fetch_cases.names(ranks), *node_fetch_cases.OTHERS}
    assert {name: problem for name, problem in outcomes.items() if problem} == {}
