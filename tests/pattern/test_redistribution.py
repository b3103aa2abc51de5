"""Redistributions between layouts with a closed form, against brute force: who has how many points for whom."""

import numpy as np
import pytest
from drawing import owners_of, products, redistributions
from hypothesis import given, settings

from tradewind import _core
from tradewind.base.errors import InputError


def counted(pattern):
    """[sender][receiver]: points, found point by point."""
    count = np.zeros((pattern.ranks, pattern.ranks), int)
    before, after = (owners_of(layout).ravel() for layout in (pattern.from_layout, pattern.to_layout))
    np.add.at(count, (before, after), 1)
    return count


@settings(max_examples=200)
@given(redistributions())
def test_partners_and_counts_are_those_of_a_search_over_all_points(pattern):
    sent, received = np.zeros((2, pattern.ranks, pattern.ranks), int)
    for rank in range(pattern.ranks):
        for receiver, points in pattern.receivers(rank):
            assert sent[rank, receiver] == 0
            sent[rank, receiver] = points
        for sender, points in pattern.senders(rank):
            assert received[sender, rank] == 0
            received[sender, rank] = points
    assert (sent == counted(pattern)).all()
    assert (received == sent).all()


@given(redistributions())
def test_the_result_is_what_a_rank_owns_afterwards(pattern):
    for rank in range(pattern.ranks):
        assert pattern.expected(rank) == pattern.to_layout.boxes(rank)
        assert pattern.source_shape(rank) == pattern.from_layout.shape(rank)
        assert pattern.target_shape(rank) == pattern.to_layout.shape(rank)


def test_rows_and_columns_of_ranks_are_closed_and_other_exchanges_are_not():
    grid = _core.Grid(12, 12, 12)

    def closed(split, before, after):
        pair = [_core.Product(_core.Blocks(grid, split, axes)) for axes in (before, after)]
        return _core.Redistribution(*pair).closed

    assert closed((4, 3), "xy", "zy")
    assert closed((4, 3), "zy", "zx")
    assert closed((4, 3), "xy", "xy")
    assert not closed((4, 3), "xy", "yx")
    placed = _core.Product(_core.Blocks(grid, (4, 1), "xy")).placed(1, 5)
    assert not _core.Redistribution(placed, placed).closed


def test_layouts_that_do_not_go_together_are_refused():
    grids = [_core.Grid(4, 4, 4), _core.Grid(4, 4, 5)]
    one, other = (_core.Product(_core.Blocks(grid, (2, 1))) for grid in grids)
    with pytest.raises(InputError, match="the two layouts divide different grids"):
        _core.Redistribution(one, other)
    with pytest.raises(InputError, match="2 ranks before and 3 after"):
        _core.Redistribution(one, one.placed(0, 3))


@given(products())
def test_there_and_back_each_rank_meets_the_same_ranks(layout):
    blocks = (
        _core.Parts.even(layout.grid.points[0], layout.ranks),
        *(_core.Parts.even(n, 1) for n in layout.grid.points[1:]),
    )
    other = _core.Product(layout.grid, blocks, (0, -1, -1), 0, layout.ranks, "slices")
    there, back = _core.Redistribution(layout, other), _core.Redistribution(other, layout)
    for rank in range(layout.ranks):
        assert sorted(there.receivers(rank)) == sorted(back.senders(rank))


LAYOUT = _core.Product(_core.Blocks(_core.Grid(2, 3, 4), (2, 1), "zx"))


def in_lines(begins, ends):
    return LAYOUT.in_lines(np.array(begins, dtype=np.int64), np.array(ends, dtype=np.int64))


@pytest.mark.parametrize(
    ("begins", "ends", "said"),
    [
        ([0, 0], [1, 1], "2 lines, and z has 4 points"),
        ([0, 0, 0, 0], [1, 1, 1], "4 lines begin and 3 end"),
        ([0, 0, 0, 0], [1, 1, 4, 1], "a line ends at 4, and y has 3 points"),
        ([0, 2, 0, 0], [1, 1, 1, 1], "line 1 has the places from 2 to before 1"),
        ([-1, 0, 0, 0], [1, 1, 1, 1], "line 0 has the places from -1 to before 1"),
        ([1, 1, 1, 1], [1, 1, 1, 1], "4 lines have no points"),
    ],
)
def test_lines_that_cannot_be_are_named(begins, ends, said):
    with pytest.raises(InputError, match=said):
        in_lines(begins, ends)


def test_the_points_of_lines_follow_each_other():
    layout = in_lines([0, 1, 0, 2], [3, 2, 0, 3])
    assert layout.lines == ([0, 1, 0, 2], [3, 2, 0, 3])
    assert list(layout.grid.points) == [2, 1, 5]
    assert layout.shape(0) == (4, 1, 2)  # lines 0 and 1
    assert layout.boxes(1) == [([0, 0, 4], [2, 1, 5])]
    assert layout.owner((1, 0, 3)) == 0
    with pytest.raises(InputError, match="lie in lines already"):
        layout.in_lines(np.array([0]), np.array([1]))


def test_layouts_of_other_lines_do_not_go_together():
    one, other = in_lines([0, 1, 0, 2], [3, 2, 0, 3]), in_lines([0, 1, 0, 2], [3, 3, 0, 2])
    _core.Redistribution(one, one)
    with pytest.raises(InputError, match="lie in other lines"):
        _core.Redistribution(one, other)
