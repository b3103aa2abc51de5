"""Interior, rim and widened regions of a halo, as slices of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import tradewind as tw


def test_an_empty_interior_is_a_region_too():
    halo = tw.Halo(tw.Blocks(tw.Grid(8, 8, 2), (4, 4)), width=2, periodic="xy")
    field = np.zeros(halo.source_shape(0))
    assert field[halo.interior(0, 2)].size == 0
    assert [field[box].shape for box in halo.rim(0, 2)] == [(2, 2, 2)]


def test_where_the_grid_ends_nothing_is_waited_for():
    halo = tw.Halo(tw.Blocks(tw.Grid(12, 12, 1), (2, 1)), width=2)
    assert halo.interior(0, 2) == (slice(0, 1), slice(2, 14), slice(2, 6))
    assert halo.rim(0, 2) == [(slice(0, 1), slice(2, 14), slice(6, 8))]
    assert halo.widened(0, 1) == (slice(0, 1), slice(2, 14), slice(2, 9))
    assert halo.widened(0) == (slice(0, 1), slice(2, 14), slice(2, 8))


@pytest.mark.parametrize("region", ["interior", "rim", "widened"])
@pytest.mark.parametrize("value", [-1, 3])
def test_what_the_halo_does_not_hold(region, value):
    halo = tw.Halo(tw.Blocks(tw.Grid(12, 12, 1), (2, 1)), width=2)
    with pytest.raises(tw.InputError, match=rf"{value}: 0\.\.2 are allowed, the halo's width"):
        getattr(halo, region)(0, value)
