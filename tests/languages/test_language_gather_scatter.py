"""Gather-scatters in C, C++ and Fortran, against sums that are counted there, and what is refused on every rank."""

import pytest


@pytest.mark.one_level
@pytest.mark.parametrize("ranks", [1, 3])
def test_values_become_sums_in_c(on_ranks, ranks):
    assert on_ranks(ranks, "gather_scatters_c").stdout == "all right\n"


@pytest.mark.parametrize("ranks", [1, 2])
def test_kinds_of_ids_in_fortran(on_ranks, ranks):
    assert on_ranks(ranks, "gather_scatter_fortran").stdout == "all right\n"
