"""Every algorithm on real MPI ranks, against results computed in NumPy: one job per rank count runs all its cases."""

from __future__ import annotations

from dataclasses import asdict

import mpi_cases
import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = [1, 3, *slow(2, 4, 5, 6)]
"""One rank has only copies; three exchange with each other and with themselves, along either direction."""


@pytest.mark.parametrize("ranks", RANKS)
def test_data_arrive(ranks):
    """That the schedules are right for any ranks is proved by the tests of the core."""
    cases = mpi_cases.cases(ranks)
    outcomes = launch.run(ranks, "mpi_cases:run", [asdict(case) for case in cases], timeout_s=240)
    assert list(outcomes) == [case.name for case in cases]
    assert {name: problem for name, problem in outcomes.items() if problem} == {}
    assert {(case.transport, case.packing) for case in cases} == set(mpi_cases.METHODS)
