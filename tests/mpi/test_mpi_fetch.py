"""Fetches and their adjoints on real MPI ranks, against NumPy: one job per rank count runs all cases."""

import fetch_cases
import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = [1, 2, *slow(3, 4)]
"""On two cores more ranks wait for each other: `make test-all` has time for them."""


@pytest.mark.parametrize("ranks", RANKS)
def test_points_arrive_and_are_added_back(ranks):
    outcomes = launch.run(ranks, "fetch_cases:run", ranks, timeout_s=240)
    assert set(outcomes) == set(fetch_cases.cases(ranks))
    assert {case: problem for case, problem in outcomes.items() if problem} == {}
