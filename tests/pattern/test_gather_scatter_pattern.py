"""Gather-scatters: which ids are shared, and how they are numbered."""

import pytest

import tradewind as tw
from tradewind.base.errors import InputError


def test_a_brick_is_the_same_as_its_lists():
    brick = tw.BrickGatherScatter((2, 1, 3), 3, (2, 3, 1), "y")
    assert (brick.elements, brick.points, brick.split) == ([2, 1, 3], 3, [2, 3, 1])
    lists = tw.GatherScatter([brick.ids(rank) for rank in range(brick.ranks)])
    assert (brick.shared, brick.values(5)) == (lists.shared, 2 * 1 * 3 * 27)
    assert sorted(brick.shared_ids(5)) == sorted(lists.shared_ids(5))


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
        (lambda: tw.BrickGatherScatter((1, 1, 1), 3, (1, 1, 1), "w"), "some of 'x', 'y' and 'z' are allowed"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(InputError, match=words):
        make()
