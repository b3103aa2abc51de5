"""Fetches and their adjoints on real MPI ranks, against NumPy: one job per rank count runs all cases."""

from functools import cache

import fetch_cases
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = (1, 2, 3, 4)


@cache
def outcomes(ranks):
    return launch.run(ranks, "fetch_cases:run", ranks, timeout_s=120)


@pytest.mark.parametrize(("ranks", "case"), [(ranks, case) for ranks in RANKS for case in fetch_cases.cases(ranks)])
def test_points_arrive_and_are_added_back(ranks, case):
    assert outcomes(ranks)[case] == ""
