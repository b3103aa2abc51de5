"""Wavenumbers dealt to sets of ranks: even, each once, and as uneven as published where they are dealt to and fro."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_tests import slow

from tradewind.base.errors import InputError
from tradewind.spectral import Truncation
from tradewind.spectral.balance import deal, even_cuts, imbalance, packed, to_and_fro

DEGREES = np.arange(1280, 0, -1.0)
"""Degrees of each wavenumber of T1279: flops of the Legendre transform, where all rows keep all wavenumbers."""


def of_lists(weights, lists):
    return imbalance([weights[own].sum() for own in lists])


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.integers(1, 70))
def test_each_item_is_in_one_list(weights, sets):
    for name in ("packed", "snake"):
        lists = deal(name, weights, sets)
        assert len(lists) == sets
        assert sorted(np.concatenate(lists).tolist()) == list(range(len(weights)))
        assert all((np.diff(own) > 0).all() for own in lists)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=60), st.integers(1, 20))
def test_a_packing_is_within_the_bound_of_the_better_of_two_greedy_ones(weights, sets):
    weights = np.array(weights, float)
    largest = max(weights[own].sum() for own in packed(weights, sets))
    lower = max(weights.sum() / sets, weights.max())
    assert lower <= largest * (1 + 1e-12)
    assert largest <= max(weights[own].sum() for own in to_and_fro(weights, sets)) * (1 + 1e-12)


@pytest.mark.parametrize(("sets", "wanted"), [(200, 1.016), (250, 1.037), (400, 1.093), (500, 1.123), (625, 1.022)])
def test_to_and_fro_is_as_uneven_as_it_is_known_to_be(sets, wanted):
    assert of_lists(DEGREES, to_and_fro(DEGREES, sets)) == pytest.approx(wanted, abs=5e-4)


@pytest.mark.parametrize("sets", [1, 2, 7, 64, 250, *slow(200, 333, 400, 427, 500, 511, 588, 625), 640])
def test_a_packing_of_1280_wavenumbers_is_even_up_to_640_sets(sets):
    assert of_lists(DEGREES, packed(DEGREES, sets)) <= 1.012


@pytest.mark.parametrize("sets", [641, 800, 1280])
def test_beyond_them_the_largest_wavenumber_decides(sets):
    assert of_lists(DEGREES, packed(DEGREES, sets)) == pytest.approx(sets / 640.5, rel=1e-3)


@pytest.mark.parametrize(("half", "sets"), [*slow((1280, 256), (1280, 500), (2000, 700)), (640, 240)])
def test_sets_of_even_flops_have_about_as_many_coefficients(half, sets):
    t = Truncation(f"O{half}")
    degrees = t.degrees_of(t.wavenumbers).astype(float)
    flops = degrees * (t.row_end - t.row_begin)
    lists = packed(flops, sets)
    assert of_lists(flops, lists) <= 1.002
    assert of_lists(degrees, lists) <= 1.3


def test_loads_without_anything_are_even_and_other_names_are_refused():
    assert imbalance([0, 0]) == 1
    with pytest.raises(InputError, match=r"snak.*did you mean 'snake'"):
        deal("snak", [1.0], 1)


def smallest_largest(weights, parts):
    """The largest part of the best cut of a short sequence, by dynamic programming."""
    ends = np.concatenate([[0], np.cumsum(weights)])
    best = {0: ends.copy()}
    for part in range(1, parts):
        best[part] = np.array(
            [min(max(best[part - 1][j], ends[i] - ends[j]) for j in range(i + 1)) for i in range(len(ends))]
        )
    return best[parts - 1][-1]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=15), st.integers(1, 8))
def test_cuts_make_the_largest_part_as_small_as_can_be(weights, parts):
    found = even_cuts(weights, parts)
    assert len(found) == parts + 1
    assert (found[0], found[-1]) == (0, len(weights))
    assert (np.diff(found) >= (len(weights) >= parts)).all()
    largest = max(sum(weights[a:b]) for a, b in pairwise(found))
    assert largest == pytest.approx(smallest_largest(weights, parts))
