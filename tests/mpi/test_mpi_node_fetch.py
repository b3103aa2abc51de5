"""Node-aware fetches on real MPI ranks, against NumPy's indexing, with the adjoint."""

from __future__ import annotations

import node_fetch_cases
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


@pytest.mark.parametrize(
    ("ranks", "stride"), [(3, 5), *(pytest.param(*more, marks=pytest.mark.slow) for more in ((3, 1), (4, 2)))]
)
def test_points_arrive_and_are_added_back(ranks, stride):
    outcomes = launch.run(ranks, "node_fetch_cases:run", stride, timeout_s=240)
    assert set(outcomes) == {*node_fetch_cases.names(ranks, stride), *node_fetch_cases.OTHERS}
    assert {name: problem for name, problem in outcomes.items() if problem} == {}
