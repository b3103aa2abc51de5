"""Every algorithm on real MPI ranks, against results computed in NumPy: one job per rank count runs all its cases."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

import mpi_cases
import pytest

from tradewind import _core

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

MAXIMUM = 4
"""Ranks of `make test`; with more of them two cores are kept waiting, which `make test-all` has time for."""


def _unless_long(ranks: int, *values: object) -> object:
    return pytest.param(ranks, *values, marks=[pytest.mark.slow] if ranks > MAXIMUM else [])


RANKS = [_unless_long(ranks) for ranks in range(1, 7)]
CASES = [_unless_long(ranks, case) for ranks in range(1, 7) for case in mpi_cases.cases(ranks)]


@cache
def outcomes(ranks: int) -> dict[str, str]:
    return launch.run(ranks, "mpi_cases:run", [asdict(case) for case in mpi_cases.cases(ranks)], timeout_s=240)


@pytest.mark.parametrize("ranks", RANKS)
def test_every_case_has_run(ranks):
    assert set(outcomes(ranks)) == {case.name for case in mpi_cases.cases(ranks)}
    assert len(outcomes(ranks)) > 50


@pytest.mark.parametrize(("ranks", "case"), CASES, ids=lambda value: getattr(value, "name", str(value)))
def test_data_arrive(ranks, case):
    assert outcomes(ranks)[case.name] == ""


@pytest.mark.parametrize("ranks", RANKS)
def test_the_same_schedules_are_verified(ranks):
    for case in mpi_cases.cases(ranks):
        if case.algorithm != "native":
            schedule = _core.make_schedule(mpi_cases.make_pattern(case), case.algorithm)
            assert _core.verify(schedule, case.transport).ranks == ranks


@pytest.mark.parametrize("ranks", RANKS)
def test_every_way_carries_something(ranks):
    carried = {(case.transport, case.packing) for case in mpi_cases.cases(ranks)}
    assert carried == set(mpi_cases.METHODS)
