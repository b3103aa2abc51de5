"""Gather-scatters on real MPI ranks, against NumPy: one job per rank count runs all cases."""

import gather_scatter_cases
import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = [1, 2, *slow(3, 4)]
"""On two cores more ranks wait for each other: `make test-all` has time for them."""


@pytest.mark.parametrize("ranks", RANKS)
def test_every_value_becomes_that_of_all_copies(ranks):
    outcomes = launch.run(ranks, "gather_scatter_cases:run", ranks, timeout_s=240)
    assert set(outcomes) == set(gather_scatter_cases.cases(ranks))
    assert {case: problem for case, problem in outcomes.items() if problem} == {}
