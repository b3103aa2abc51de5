"""Layouts with a closed form: every point has one owner, in whatever way its directions are divided."""

import numpy as np
import pytest
from drawing import layouts, owners_of, products
from hypothesis import given

from tradewind import _core
from tradewind.base.errors import InputError

even, cut, dealt = _core.Parts.even, _core.Parts.cut, _core.Parts.dealt


@given(products())
def test_every_point_has_one_owner_who_is_found_by_its_coordinates(layout):
    owner = owners_of(layout)
    assert owner.min() >= layout.first
    for point in np.ndindex(*owner.shape):
        assert layout.owner(point) == owner[point]


@given(products())
def test_arrays_are_as_large_as_the_points_that_a_rank_owns(layout):
    owner = owners_of(layout)
    for rank in range(layout.ranks):
        points = owner == rank
        shape = layout.shape(rank)
        assert np.prod(shape) == points.sum()
        if points.any():  # a product: as many points along each direction
            along = [np.unique(where).size for where in np.nonzero(points)]
            assert shape == tuple(along[::-1])


@given(layouts(max_ranks=12))
def test_blocks_are_a_case_of_them(blocks):
    product = _core.Product(blocks)
    assert (owners_of(product) == owners_of(blocks)).all()
    for rank in range(blocks.ranks):
        assert product.shape(rank) == blocks.shape(rank)
    for point in np.ndindex(*blocks.grid.points):
        assert blocks.owner(point) == product.owner(point)


@given(products())
def test_rows_one_after_another_are_the_same_points(layout):
    if layout.parts(0).parts > 1:
        with pytest.raises(InputError, match="x is divided among"):
            layout.in_one_row()
        return
    row = layout.in_one_row()
    nx, ny, nz = layout.grid.points
    assert tuple(row.grid.points) == (nx * ny, 1, nz)
    assert (owners_of(row).reshape(ny, nx, nz).swapaxes(0, 1) == owners_of(layout)).all()


@given(products())
def test_a_layout_can_be_placed_among_other_ranks(layout):
    placed = layout.placed(layout.first + 2, layout.ranks + 3)
    assert (owners_of(placed) == owners_of(layout) + 2).all()
    assert placed.part_of(0) is None
    assert placed.boxes(0) == []
    assert placed.shape(0) == (0, 0, 0)


def test_parts_that_hold_nothing_have_no_owner_and_no_points():
    parts = cut(np.array([0, 0, 4, 4, 6]))
    assert [parts.width(part) for part in range(4)] == [0, 4, 0, 2]
    assert (parts.points, parts.parts, parts.widest) == (6, 4, 4)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: even(5, 0), "0 parts of a direction: 1 or more are allowed"),
        (lambda: cut(np.array([0])), "1 cuts: 2 or more are allowed"),
        (lambda: cut(np.array([1, 5])), "cut 0 is 1: 0 is allowed"),
        (lambda: cut(np.array([0, 5, 4])), "cut 2 is 4, less than 5 before it: ascending cuts are allowed"),
        (lambda: dealt(np.array([0, 2], np.int32), 2), "point 1 belongs to part 2: 0..1 are allowed"),
        (lambda: of((6, 1, 1), (0, -1, -1), 2), "x has 5 points in the layout and 6 in the grid"),
        (lambda: of((5, 1, 1), (-1, -1, -1), 2), "x has 2 parts and is divided by coordinate -1"),
        (lambda: of((5, 1, 1), (0, 0, -1), 2), "y and x are divided by one coordinate: two are allowed"),
        (lambda: of((5, 1, 1), (0, -1, -1), 1), "2 x 1 ranks from rank 0 on are more than the 1 that there are"),
    ],
)
def test_what_is_no_layout_is_refused(make, said):
    with pytest.raises(InputError) as refused:
        make()
    assert said in str(refused.value)


def of(points, coordinates, ranks):
    return _core.Product(_core.Grid(*points), [even(5, 2), even(1, 1), even(1, 1)], coordinates, 0, ranks, "strange")
