"""The halo's expected result against the definition, cell by cell."""

import pytest
from drawing import cells, halos
from hypothesis import given, settings

from tradewind import _core
from tradewind.base.errors import InputError


def expected_cells(halo, periodic, rank):
    """All cells within `width` of the rank's own points in x and y that are points of the (periodic) grid."""
    (x0, y0, z0), (x1, y1, z1) = halo.layout.box(rank)
    nx, ny, _ = halo.layout.grid.points
    w = halo.width
    return {
        (x, y, z)
        for x in range(x0 - w, x1 + w)
        for y in range(y0 - w, y1 + w)
        for z in range(z0, z1)
        if (periodic[0] or 0 <= x < nx) and (periodic[1] or 0 <= y < ny) and not (x0 <= x < x1 and y0 <= y < y1)
    }


@settings(max_examples=40)
@given(halos(max_ranks=12))
def test_expected_is_the_frame_of_points_around_the_own_ones(halo):
    described = halo.describe().partition("periodic in ")[2]
    periodic = ("x" in described, "y" in described)
    for rank in range(0, halo.ranks, 3):
        result = cells(halo.expected(rank))
        assert set(result.values()) <= {1}
        assert set(result) == expected_cells(halo, periodic, rank)


def test_array_has_the_width_on_all_sides():
    halo = _core.Halo(_core.Blocks(_core.Grid(10, 8, 3), (2, 2)), 2, (False, False))
    assert halo.source_shape(0) == halo.target_shape(0) == (3, 8, 9)
    assert halo.in_place


def test_a_negative_width_is_refused():
    with pytest.raises(InputError, match="width -1: a halo is 0 or more points wide"):
        _core.Halo(_core.Blocks(_core.Grid(4, 4, 4), (1, 1)), -1, (False, False))
