"""Redistributions between layouts of closed forms on real MPI ranks, by every algorithm, transport and packing."""

from __future__ import annotations

from functools import cache

import pytest
import redistribution_cases

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

RANKS = [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)]
"""On two cores four ranks wait for each other: `make test-all` has time for them."""


@cache
def outcomes(ranks: int) -> dict[str, str]:
    return launch.run(ranks, "redistribution_cases:run", None, timeout_s=240)


@pytest.mark.parametrize("ranks", RANKS)
def test_points_arrive_where_a_whole_array_has_them(ranks):
    found = outcomes(ranks)
    assert list(found) == [" ".join(case) for case in redistribution_cases.cases(ranks)]
    assert {case: problem for case, problem in found.items() if problem} == {}


@pytest.mark.parametrize("ranks", RANKS[1:])
def test_every_way_carries_something(ranks):
    carried = {case[3:] for case in redistribution_cases.cases(ranks)}
    assert carried == set(redistribution_cases.METHODS)
