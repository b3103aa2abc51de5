"""The fetch pattern: its result from the definition, and lists that cannot be."""

import re

import numpy as np
import pytest

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.layout.mesh import octahedral, octahedral_points
from tradewind.layout.regions import regions


def test_ids_lead_to_the_same_fetch_as_owners_and_indices():
    random = np.random.default_rng(1)
    ids = random.permutation(1000)[:60]
    owned = np.split(ids, [10, 10, 35])
    wanted = [random.choice(ids, n) for n in (20, 0, 5, 40)]
    place = {int(point): (rank, i) for rank, own in enumerate(owned) for i, point in enumerate(own)}
    lists = [np.array([place[int(p)] for p in want]).reshape(-1, 2) for want in wanted]
    a = tw.Fetch(owned, wanted)
    b = tw.Fetch.of_owners([len(own) for own in owned], [(table[:, 0], table[:, 1]) for table in lists])
    for rank in range(4):
        for one, other in zip(a.list_of(rank), b.list_of(rank), strict=True):
            assert np.array_equal(one, other)
        owner, index, at, _ = a.list_of(rank)
        assert [int(owned[o][i]) for o, i in zip(owner, index, strict=True)] == wanted[rank][at].tolist()


def octahedral_fetch(rows, ranks, mesh="octahedral", **options):
    return tw.Exchange("fetch", ranks, grid=(8, rows, 1), mesh=mesh, **options)


OWNED = [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tw.Fetch.of_owners([1], [([0], [0])] * 2), "2 lists for 1 counts: one for each rank is allowed"),
        (lambda: tw.Fetch.of_owners([1], [([0], [0])], [[0], [1]]), "2 places for 1 counts"),
        (lambda: tw.Fetch(OWNED, [[9], []]), "rank 0 wants point 9 (entry 0 of its list), which no rank owns"),
        (lambda: tw.Fetch(OWNED, [[0]]), "a fetch of 2 ranks with 1 lists"),
        (lambda: tw.Fetch(OWNED, [[0.5], []]), "a list of whole numbers is allowed"),
        (lambda: tw.Fetch(OWNED, 3), "wanted: 3: a list for each rank is allowed"),
        (lambda: tw.Fetch(OWNED, [[[1, 2]], []]), "an array of shape (1, 2)"),
        (lambda: tw.Fetch.of_owners([3, 2], [([1, 1], [0]), ([], [])]), "2 owners, 1 indices"),
        (
            lambda: tw.Fetch.of_owners([3, 2], [([1, 1], [0, 1]), ([], [])], [[2, 2], []]),
            "rank 0, entry 1 of its list: place 2 of the target array is taken twice",
        ),
        (lambda: octahedral(7, 2, 1), "7 rows: an even number"),
        (lambda: octahedral(2, 50, 1), "50 ranks: 1..40 are allowed"),
        (lambda: octahedral_fetch(7, 2), "7 rows: an even number"),
        (lambda: octahedral_fetch(8, 2, algorithm="leaders-7"), "radix 7 is out of range, 1..2 are allowed"),
        (lambda: octahedral_fetch(10**6, 2).steps(), "a mesh of 1000018000000 points with a halo of 3"),
        (lambda: octahedral_fetch(8, 2, mesh="lonlat", width=10**8).steps(), "a mesh of 64 points with a halo of 1"),
        (
            lambda: tw.Exchange("fetch", 2 * 10**9, grid=(50_000, 50_000, 1)),
            "a fetch among 2000000000 ranks needs about 3",
        ),
        (lambda: regions(0), "0 regions: 1 or more are allowed"),
    ],
)
def test_lists_that_cannot_be_are_refused(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()


def test_an_octahedral_grid_has_the_points_that_are_published():
    """O1280 has 6,599,680 (Malardel et al. 2016); a step reaches a neighbour in every direction, and back."""
    assert octahedral_points(2560) == 6_599_680
    owned, wanted = octahedral(32, 5, 1)
    assert np.array_equal(np.sort(np.concatenate(owned)), np.arange(octahedral_points(32)))
    assert max(map(len, owned)) - min(map(len, owned)) <= 1
    fetch = tw.Fetch(owned, wanted)
    sent = {(rank, peer) for rank in range(5) for peer, _ in fetch.sent_by(rank)}
    assert sent == {(peer, rank) for rank, peer in sent}


def test_regions_of_a_sphere_are_those_of_its_author():
    """As eq_caps(2, n) of pyeqsp 1.0b1, Leopardi's own library, has them.

    All n up to 1500 were compared once: alike, but mirrored where halves are ties.
    """
    assert regions(7) == [1, 5, 1]
    assert regions(50) == [1, 7, 11, 12, 11, 7, 1]
    assert regions(100) == [1, 6, 11, 15, 17, 17, 15, 11, 6, 1]
    assert regions(400) == [1, 6, 13, 17, 23, 26, 30, 33, 34, 34, 34, 33, 30, 26, 23, 17, 13, 6, 1]
    assert regions(33) == [1, 6, 9, 10, 6, 1][::-1]
    assert [regions(n) for n in (1, 2, 3)] == [[1], [1, 1], [1, 1, 1]]
    assert all(sum(regions(n)) == n and min(regions(n)) >= 1 for n in range(1, 500))


def test_parts_of_an_octahedral_grid_are_compact():
    """A part of n points, were it a square, would have 4 sqrt(n) + 4 of them around it."""
    owned, wanted = octahedral(128, 48, 1)
    ratio = [len(want) / (4 * np.sqrt(len(own)) + 4) for own, want in zip(owned, wanted, strict=True)]
    assert 0.7 < min(ratio) <= max(ratio) < 1.5


def test_parts_of_an_octahedral_grid_are_as_equal_as_they_can_be():
    exchange = tw.Exchange("fetch", 7, grid=(64, 32, 3), split=(1, 7), width=1, mesh="octahedral")
    assert exchange.imbalance() == pytest.approx(229 / (1600 / 7))


def test_levels_and_boxes_are_given_back_as_they_are():
    fetch = tw.Fetch.of_owners([3, 2], [([1, 1], [0, 1]), ([0], [2])], [[5, 1], [0]])
    assert fetch.expected(0) == [([1, 0, 0], [2, 1, 1]), ([5, 0, 0], [6, 1, 1])]
    assert (fetch.source_shape(0), fetch.target_shape(0)) == ((1, 1, 3), (1, 1, 6))
    assert fetch.adjoint().expected(0) == [([2, 0, 0], [3, 1, 1])]
    assert fetch.with_levels((2, 5)).source_shape(0) == (5, 2, 3)
