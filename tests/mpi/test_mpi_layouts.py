"""Bands, whole fields, wavenumbers and lists on real MPI ranks, with the arrays that a model has."""

from __future__ import annotations

import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


@pytest.mark.parametrize("ranks", [1, 2, 3, *slow(4)])
def test_points_arrive_in_arrays_of_any_shape_that_a_layout_allows(ranks):
    assert launch.run(ranks, "layout_cases:run", None, timeout_s=240) == []


def test_rows_with_gaps_are_refused_with_their_strides():
    assert "bands of it are sent, so its rows must follow each other" in launch.run(2, "layout_cases:gaps", None)
