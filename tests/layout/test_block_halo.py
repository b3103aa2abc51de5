"""Halos of tripolar grids and cubed spheres: what arrives lies where geometry says that it does."""

import numpy as np
import pytest

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.layout.block_halo import BlockHalo
from tradewind.layout.tiles import STAGGERED, CubedSphere, Tripolar


def delivered(halo):
    """Return tile, x and y of each place that receives a point, the same of that point, and turns; all own points."""
    (nx, ny), w = halo.tiles.points, halo.width
    arrays = []
    for rank in range(halo.ranks):
        array = np.full(np.prod(halo.shape(rank)), -1)
        ids, place = halo.ids(rank)
        array[place] = ids
        arrays.append(array)
    found = []
    for rank, each in enumerate(halo.lists(0, halo.ranks)):
        points = np.array([arrays[o][i] for o, i in zip(each.owner, each.index, strict=True)])
        assert np.array_equal(points, halo.numbers(each.owner, each.index))
        (tile, x, y, *_), columns = halo._block(np.asarray(rank)), halo.shape(rank)[1]
        x, y = x - w + each.place % columns, y - w + each.place // columns
        point = points // (nx * ny), points % nx, points // nx % ny
        found.append(np.stack([np.full_like(x, tile), x, y, *point, each.turns]))
    owned = np.sort(np.concatenate([halo.ids(rank)[0] for rank in range(halo.ranks)]))
    return np.concatenate(found, axis=1), owned


def folded(tripolar, x, y):
    """Places, and directions of x, of a grid that is folded between two poles: ellipses around them.

    Nothing here knows of images: beyond the fold an ellipse goes on where the one within it has come from.
    """
    east, north = STAGGERED[tripolar.point]
    pivot = 0.5 * (tripolar.pivot == "F")
    u = 2 * np.pi * (x + east / 2 + pivot) / tripolar.nx
    v = (tripolar.ny - 1 + pivot - y - north / 2) / tripolar.ny
    return np.cosh(v + 0j + 1j * u), 1j * np.sinh(v + 1j * u)


@pytest.mark.parametrize("point", STAGGERED)
@pytest.mark.parametrize("pivot", ["T", "F"])
def test_points_across_the_fold_lie_where_the_grid_goes_on(pivot, point):
    tripolar = Tripolar(12, 9, pivot, point)
    (_, x, y, _, from_x, from_y, turns), owned = delivered(BlockHalo(tripolar, (3, 2), 2))
    assert len(owned) == 12 * tripolar.rows
    (there, along), (here, direction) = folded(tripolar, from_x, from_y), folded(tripolar, x, y)
    assert np.allclose(here, there, atol=1e-12)
    beyond = y >= tripolar.rows
    assert np.array_equal(turns, np.where(beyond, 2, 0))
    assert beyond.any()
    assert np.allclose(direction, np.where(beyond, -1, 1) * along, atol=1e-12)


def test_the_fold_is_that_of_the_reference_manual():
    """Row jpj of NEMO, counted from 1 with a column more in the west: T(i) = T(jpi - i + 2, jpj - 2) by a pivot T,
    T(jpi - i + 1, jpj - 1) by a pivot F; V by a pivot T is V(jpi - i + 2, jpj - 3)."""
    jpi, jpj, i = 16, 11, np.arange(2, 16)
    for pivot, point, back, rows in [("T", "t", 2, 2), ("F", "t", 1, 1), ("T", "v", 2, 3), ("F", "u", 0, 1)]:
        meant = Tripolar(jpi - 2, jpj - 1, pivot, point).canonical(np.zeros_like(i), i - 2, np.full_like(i, jpj - 1))
        assert np.array_equal((meant.x - (jpi - i + back - 2)) % (jpi - 2), np.zeros_like(i))
        assert (meant.y == jpj - 1 - rows).all()


FRAMES = ["xyz", "yXz", "zXY", "XZY", "YZx", "Zyx"]
"""Outward direction, direction of x and of y of each tile of FV3 (large letters: negative)."""


def on_cube(tile, x, y, n):
    """Centres of equiangular cells, and their directions of x; beyond an edge the plane of the tile goes on."""
    axes = {name: np.eye(3)["xyz".index(name.lower())] * (1 if name.islower() else -1) for name in "xyzXYZ"}
    outward, right, up = (np.array([axes[each[k]] for each in FRAMES])[tile] for k in range(3))
    a, b = (np.tan((p + 0.5) / n * np.pi / 2 - np.pi / 4)[:, None] for p in (x, y))
    centre = outward + a * right + b * up
    length = np.linalg.norm(centre, axis=1, keepdims=True)
    centre /= length
    return centre, right - (right * centre).sum(axis=1, keepdims=True) * centre


def test_cells_across_an_edge_of_a_cube_lie_beside_it():
    n = 6
    (tile, x, y, from_tile, from_x, from_y, turns), owned = delivered(BlockHalo(CubedSphere(n), (2, 12), 1))
    assert np.array_equal(owned, np.arange(6 * n * n))
    (here, along), (there, direction) = on_cube(tile, x, y, n), on_cube(from_tile, from_x, from_y, n)
    assert (np.linalg.norm(here - there, axis=1) < 0.5 * np.pi / 2 / n).all()
    up = np.cross(there, direction)
    turned = np.choose(turns[:, None], [direction, -up, -direction, up])
    cosine = (turned * along).sum(axis=1) / np.linalg.norm(turned, axis=1) / np.linalg.norm(along, axis=1)
    assert cosine.min() > 0.5
    assert set(turns) == {0, 1, 3}


def test_the_corners_of_a_cube_have_no_cells():
    halo = BlockHalo(CubedSphere(4), (1, 6), 2)
    assert [len(each.owner) for each in halo.lists(0, 6)] == [4 * 4 * 2] * 6


def test_elements_share_the_points_of_their_edges():
    """Euler: n^2 elements per tile of p points have 6 (n (p - 1))^2 + 2 of them; three meet at 8 corners of a cube."""
    n, p = 3, 4
    cube = CubedSphere(n)
    ids = cube.element_ids(np.arange(6 * n * n), p)
    _, copies = np.unique(ids, return_counts=True)
    corners = 6 * n * n + 2
    edges = 12 * n * n * (p - 2)
    assert len(copies) == 6 * (n * (p - 1)) ** 2 + 2
    assert np.bincount(copies).tolist() == [0, len(copies) - corners - edges, edges, 8, corners - 8]
    for dx, dy, mine in [(1, 0, np.s_[:, -1]), (0, 1, np.s_[-1]), (-1, 0, np.s_[:, 0]), (0, -1, np.s_[0])]:
        tile, y, x = (each.ravel() for each in np.mgrid[:6, :n, :n])
        beyond = cube.canonical(tile, x + dx, y + dy)
        others = ids[beyond.x + n * (beyond.y + n * beyond.tile)]
        for one, other in zip(ids, others, strict=True):
            assert set(one[mine]) == set(one.ravel()) & set(other.ravel())


def test_sums_over_elements_are_verified():
    halo = tw.MeshHalo(CubedSphere(4), 24, 0)
    ids = [halo.mesh.tiles.element_ids(halo.ids(rank)[0], 4).ravel() for rank in range(24)]
    assert tw.GatherScatter(ids).schedule().verify()["ok"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: BlockHalo(CubedSphere(4), (2, 8), 1), "a multiple of 6 ranks along y"),
        (lambda: BlockHalo(Tripolar(6, 5), (7, 1), 1), "up to 6 x 5 ranks"),
        (lambda: BlockHalo(Tripolar(6, 5), (2, 2), 5), "width 5: 0..4"),
        (lambda: Tripolar(6, 1), "2 x 2 and more"),
        (lambda: Tripolar(6, 5, "U"), "unknown pivot 'U'"),
        (lambda: CubedSphere(0), "1 x 1 and more"),
        (lambda: CubedSphere(2).element_ids(np.arange(3), 1), "1 points of an element"),
    ],
)
def test_blocks_that_cannot_be_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
