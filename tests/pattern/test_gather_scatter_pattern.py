"""Gather-scatters: which ids are shared, and how they are numbered."""

import itertools

import numpy as np
import pytest

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import InputError


@pytest.mark.parametrize("periodic", ["", "x", "yz", "xyz"])
@pytest.mark.parametrize(
    ("elements", "points", "split"),
    [((2, 1, 3), 3, (2, 3, 1)), ((1, 1, 1), 2, (3, 2, 2)), ((1, 2, 1), 4, (1, 1, 4)), ((2, 2, 2), 3, (1, 1, 1))],
)
def test_a_brick_has_the_cells_that_its_ids_say(elements, points, split, periodic):
    brick = tw.BrickGatherScatter(elements, points, split, periodic)
    lists = brick.listed()
    assert brick.shared == lists.shared
    for rank in range(brick.ranks):
        assert brick.values(rank) == np.prod(elements) * points**3
        assert sorted(brick.shared_ids(rank)) == sorted(lists.shared_ids(rank))
        numbers = dict(zip(lists.shared_ids(rank), lists.numbers(rank), strict=True))
        assert dict(zip(brick.shared_ids(rank), brick.numbers(rank), strict=True)) == numbers


def test_the_ids_of_a_brick_are_those_of_its_points():
    """Global coordinates of all points, computed element by element."""
    elements, points, split = (2, 1, 2), 3, (2, 2, 1)
    brick = tw.BrickGatherScatter(elements, points, split, "y")
    widths = [4 * 2 + 1, 2 * 2, 2 * 2 + 1]
    for rank, (pz, py, px) in enumerate(itertools.product(range(1), range(2), range(2))):
        ids = []
        for ez, ey, ex in itertools.product(range(2), range(1), range(2)):
            for k, j, i in itertools.product(range(3), repeat=3):
                x, y, z = (px * 2 + ex) * 2 + i, (py + ey) * 2 + j, (pz * 2 + ez) * 2 + k
                ids.append(1 + x % widths[0] + widths[0] * (y % widths[1] + widths[1] * (z % widths[2])))
        assert brick.ids(rank).tolist() == ids


def test_ids_below_1_take_no_part():
    pattern = tw.GatherScatter([[0, 5, -7, 9], [0, -7, 9, 9]])
    assert pattern.shared == 1
    assert pattern.shared_ids(0).tolist() == [9]
    assert pattern.values(1) == 4


def test_levels():
    pattern = tw.GatherScatter([[1, 2], [2, 3]])
    assert pattern.source_shape(0) == (1, 1, 2)
    assert pattern.for_levels([3, 4]).source_shape(0) == (4, 3, 2)


def test_a_sum_is_its_own_adjoint():
    pattern = tw.GatherScatter([[1, 2], [2, 3]])
    assert pattern.adjoint() is pattern
    with pytest.raises(InputError, match="the min of values is not linear, and has no adjoint: add has one"):
        tw.GatherScatter([[1], [1]], "min").adjoint()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tw.GatherScatter([[1, 2], [2.5]]), "ids, rank 1: an array of shape"),
        (lambda: tw.GatherScatter([[2**63], [2]]), "up to 2\\^63 - 1 are allowed"),
        (lambda: tw.GatherScatter([]), "the ids of one rank or more are allowed"),
        (lambda: tw.GatherScatter([[1], [1]], "sum"), 'operation "sum": add, mul, min and max are allowed'),
        (lambda: tw.BrickGatherScatter((1, 1, 1), 1, (1, 1, 1)), "1 points per direction of an element: 2 or more"),
        (lambda: tw.BrickGatherScatter((1, 0, 1), 3, (1, 1, 1)), "a brick of 1x0x1 elements on each of 1x1x1 ranks"),
        (lambda: tw.BrickGatherScatter((1, 1, 1), 3, (1, 1, 1), "w"), "some of 'x', 'y' and 'z' are allowed"),
        (lambda: tw.BrickGatherScatter((2**20, 2**20, 2**20), 3, (1, 1, 1)), "can be counted"),
        (lambda: tw.GatherScatter([[1], [1]]).schedule("cartesian"), "cartesian: the ids of a brick of elements"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_a_million_ranks_store_nothing():
    brick = _core.BrickGatherScatter((8, 8, 4), 10, (128, 128, 64), [False] * 3, "add")
    schedule = _core.make_schedule(brick, "cartesian")
    messages = schedule.sends(500_000, 2)
    assert [m.count for m in messages] == [73 * 73] * 2
    assert len(_core.make_schedule(brick, "pairwise").sends(500_000, 0)) == 26
