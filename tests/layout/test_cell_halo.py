"""The icosahedral grid and its halos, against the corners of its triangles on the sphere."""

import numpy as np
import pytest

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.layout.cell_halo import CellHalo
from tradewind.layout.icosahedral import Icosahedral


def corner_numbers(grid):
    """[cell][corner], where corners at one place of the sphere have one number."""
    places = np.round(grid.corners(np.arange(grid.cells)) * 1e9).reshape(-1, 3)
    return np.unique(places, axis=0, return_inverse=True)[1].reshape(-1, 3)


@pytest.mark.parametrize("divisions", [1, 6, 64])
def test_cells_cover_the_sphere_and_meet_across_their_edges(divisions):
    grid = Icosahedral(divisions)
    cell = np.arange(grid.cells)
    at, corners = grid.places(cell), grid.corners(cell)
    assert np.array_equal(grid.numbers(at), cell)
    for edge in range(3):
        across, there = grid.across(at, np.full(cell.shape, edge))
        other = grid.numbers(across)
        assert np.allclose(corners[:, edge], corners[other, (there + 1) % 3], atol=1e-12)
        assert np.allclose(corners[:, (edge + 1) % 3], corners[other, there], atol=1e-12)
    a, b, c = np.moveaxis(corners, 1, 0)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    solid = 2 * np.arctan2(volume, 1 + (a * b).sum(1) + (b * c).sum(1) + (c * a).sum(1))  # van Oosterom, Strackee 1983
    assert solid.min() > 0
    assert solid.sum() == pytest.approx(4 * np.pi)


def test_neighbours_along_the_curve_share_a_corner():
    """But from one face of the icosahedron to the next."""
    corners = corner_numbers(Icosahedral(16))
    shared = (corners[:-1, :, None] == corners[1:, None, :]).any(axis=(1, 2))
    assert np.count_nonzero(~shared) < 10


@pytest.mark.parametrize(("divisions", "ranks", "width"), [(1, 20, 1), (3, 7, 2), (4, 1, 2), (4, 320, 1), (8, 11, 3)])
def test_a_halo_has_the_cells_that_share_a_corner_with_those_within(divisions, ranks, width):
    grid = Icosahedral(divisions)
    corners, halo = corner_numbers(grid), CellHalo(grid, ranks, width)
    assert corners.max() + 1 == 10 * divisions**2 + 2  # Euler's formula
    counts = [len(halo.ids(rank)[0]) for rank in range(ranks)]
    assert (sum(counts), max(counts) - min(counts) <= 1) == (grid.cells, True)
    for rank, each in enumerate(halo.lists(0, ranks)):
        own = np.isin(np.arange(grid.cells), halo.ids(rank)[0])
        within = own.copy()
        for _ in range(width):
            within = np.isin(corners, corners[within]).any(axis=1)
        found = halo.numbers(each.owner, each.index).tolist()
        assert found == np.flatnonzero(within & ~own).tolist()
        assert each.place.tolist() == list(range(counts[rank], each.points))


def test_runs_of_cells_are_compact():
    """Triangles of n cells have 6 sqrt(n) + 6 around them."""
    for ranks in (80, 97):
        halo = CellHalo(Icosahedral(32), ranks, 1)
        own = halo.grid.cells / ranks
        around = np.mean([len(each.owner) for each in halo.lists(0, ranks)])
        assert around < 1.4 * (6 * np.sqrt(own) + 6)


def test_edges_lie_between_two_cells_and_have_one_owner():
    halo = tw.MeshHalo(Icosahedral(6), 7, 1)
    edges = halo.mesh.grid.edges(np.arange(halo.mesh.grid.cells))
    numbers, cells = np.unique(edges, return_counts=True)
    assert (len(numbers), set(cells)) == (30 * 6**2, {2})
    parts = [halo.edges(rank) for rank in range(7)]
    assert np.array_equal(np.sort(np.concatenate([own for own, _ in parts])), numbers)
    for rank, (own, beyond) in enumerate(parts):
        around = np.concatenate([halo.ids(rank)[0], halo.numbers(rank)])
        assert np.array_equal(np.sort(np.concatenate([own, beyond])), np.unique(edges[around]))
    assert tw.Fetch(*zip(*parts, strict=True)).schedule().verify()["ok"]


def test_ranks_find_their_halos_alone():
    halo = CellHalo(Icosahedral(12), 9, 2)
    for rank, each in enumerate(halo.lists(0, 9)):
        (alone,) = halo.lists(rank, rank + 1)
        assert np.array_equal(alone.owner, each.owner)
        assert np.array_equal(alone.index, each.index)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Icosahedral(0), "0 divisions of an edge"),
        (lambda: CellHalo(Icosahedral(1), 21, 1), "21 ranks: 1..20"),
        (lambda: CellHalo(Icosahedral(1), 2, -1), "width -1"),
    ],
)
def test_cells_that_cannot_be_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
