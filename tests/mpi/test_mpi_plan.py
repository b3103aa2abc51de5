"""Every algorithm on real MPI ranks, against results computed in NumPy: one job per rank count runs all its cases."""

from __future__ import annotations

from dataclasses import asdict

import mpi_cases
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)]
"""With more than four ranks two cores are kept waiting, which `make test-all` has time for."""


@pytest.mark.parametrize("ranks", RANKS)
def test_data_arrive(ranks):
    """That the schedules are right for any ranks is proved by the tests of the core."""
    cases = mpi_cases.cases(ranks)
    outcomes = launch.run(ranks, "mpi_cases:run", [asdict(case) for case in cases], timeout_s=240)
    assert list(outcomes) == [case.name for case in cases]
    assert {name: problem for name, problem in outcomes.items() if problem} == {}
    assert {(case.transport, case.packing) for case in cases} == set(mpi_cases.METHODS)
