"""Redistributions between layouts of closed forms on real MPI ranks, by every algorithm, transport and packing."""

from __future__ import annotations

import pytest
import redistribution_cases
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = [1, 2, *slow(3, 4)]
"""On two cores more ranks wait for each other: `make test-all` has time for them."""


@pytest.mark.parametrize("ranks", RANKS)
def test_points_arrive_where_a_whole_array_has_them(ranks):
    found = launch.run(ranks, "redistribution_cases:run", None, timeout_s=240)
    cases = redistribution_cases.cases(ranks)
    assert list(found) == [" ".join(case) for case in cases]
    assert {case: problem for case, problem in found.items() if problem} == {}
    assert ranks == 1 or {case[3:] for case in cases} == set(redistribution_cases.METHODS)
