"""Blocks: every point has one owner, and no part differs from another by more than one point a direction."""

import math

import pytest
from drawing import cells, grids, layouts
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError


@given(layouts())
def test_every_point_has_one_owner(layout):
    owned = cells(layout.box(rank) for rank in range(layout.ranks))
    assert len(owned) == math.prod(layout.grid.points)
    assert set(owned.values()) == {1}


@given(layouts())
def test_parts_are_even_and_the_larger_ones_come_first(layout):
    for direction in range(3):
        begins = {}
        for rank in range(layout.ranks):
            begin, end = layout.box(rank)
            begins[begin[direction]] = end[direction] - begin[direction]
        widths = [begins[begin] for begin in sorted(begins)]
        assert max(widths) - min(widths) <= 1
        assert widths == sorted(widths, reverse=True)


@given(layouts())
def test_ranks_count_along_the_first_axis_first(layout):
    first, second = ("xyz".index(axis) for axis in layout.axes)
    for rank in range(layout.ranks):
        i, j = rank % layout.split[0], rank // layout.split[0]
        begin, _ = layout.box(rank)
        assert begin[first] == layout.box(i)[0][first]
        assert begin[second] == layout.box(j * layout.split[0])[0][second]


@given(grids(), st.sampled_from(["xx", "x", "xyz", "ab", ""]))
def test_axes_that_are_not_two_directions_are_refused(points, axes):
    with pytest.raises(InputError, match="axes"):
        _core.Blocks(_core.Grid(*points), (1, 1), axes)


def test_every_empty_part_is_named():
    with pytest.raises(InputError, match=r"7 ranks do not divide the 6 points along x.*9 ranks.*8 points along z"):
        _core.Blocks(_core.Grid(6, 100, 8), (7, 9), "xz")


def test_a_grid_without_points_is_refused():
    with pytest.raises(InputError, match="ny = 0"):
        _core.Grid(4, 0, 4)
