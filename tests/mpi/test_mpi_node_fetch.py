"""Node-aware fetches on real MPI ranks, against NumPy's indexing, with the adjoint."""

from __future__ import annotations

from functools import cache

import node_fetch_cases
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = (3, 4)
CASES = [
    pytest.param(ranks, name, marks=[pytest.mark.slow] if ranks == 3 else [])  # two nodes of two ranks say more
    for ranks in RANKS
    for name in [*node_fetch_cases.names(ranks), *node_fetch_cases.OTHERS]
]


@cache
def outcomes(ranks: int) -> dict[str, str]:
    return launch.run(ranks, "node_fetch_cases:run", ranks, timeout_s=240)


@pytest.mark.parametrize(("ranks", "name"), CASES)
def test_points_arrive_and_are_added_back(ranks, name):
    assert outcomes(ranks)[name] == ""
