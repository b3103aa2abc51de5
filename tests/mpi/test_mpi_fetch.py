"""Fetches and their adjoints on real MPI ranks, against NumPy: one job per rank count runs all cases."""

from functools import cache

import fetch_cases
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = (1, 2, 3, 4)
"""The last for `make test-all`: on two cores they wait for each other."""


@cache
def outcomes(ranks):
    return launch.run(ranks, "fetch_cases:run", ranks, timeout_s=240)


CASES = [
    pytest.param(ranks, case, marks=[pytest.mark.slow] if ranks == RANKS[-1] else [])
    for ranks in RANKS
    for case in fetch_cases.cases(ranks)
]


@pytest.mark.parametrize(("ranks", "case"), CASES)
def test_points_arrive_and_are_added_back(ranks, case):
    assert outcomes(ranks)[case] == ""
