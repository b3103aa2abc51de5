"""Gather-scatters on real MPI ranks, against NumPy: one job per rank count runs all cases."""

from functools import cache

import gather_scatter_cases
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = (1, 2, 3, 4)
"""The last for `make test-all`: on two cores they wait for each other."""


@cache
def outcomes(ranks):
    return launch.run(ranks, "gather_scatter_cases:run", ranks, timeout_s=240)


CASES = [
    pytest.param(ranks, case, marks=[pytest.mark.slow] if ranks == RANKS[-1] else [])
    for ranks in RANKS
    for case in gather_scatter_cases.cases(ranks)
]


@pytest.mark.parametrize(("ranks", "case"), CASES)
def test_every_value_becomes_that_of_all_copies(ranks, case):
    assert outcomes(ranks)[case] == ""
