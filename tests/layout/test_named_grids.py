"""Grids by name, against the numbers of points that are published."""

import math
import re

import pytest

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.layout.grid_names import ORCA
from tradewind.layout.named_grids import mesh_grid


def columns(name):
    nx, ny, _ = mesh_grid(name).points
    return nx * ny


def test_grids_have_the_cells_that_are_published():
    """ICON: Giorgetta et al. 2018, doi:10.1029/2017MS001242; Hohenegger et al. 2023, doi:10.5194/gmd-16-779-2023."""
    assert columns("R2B4") == 20_480
    assert columns("R2B9x90") == 20_971_520
    assert columns("R2B10") == 83_886_080
    assert columns("C768x127") == 6 * 768**2
    assert mesh_grid("eORCA025x75").points == (1440, 1206, 75)
    assert mesh_grid("O1280x137").points == (1, 2560, 137)


def test_orca_has_the_extents_that_files_have_with_their_copies():
    files = {"ORCA2": (182, 149), "ORCA1": (362, 292), "ORCA05": (722, 511), "ORCA025": (1442, 1021)}
    files |= {"ORCA12": (4322, 3059), "eORCA1": (362, 332), "eORCA025": (1442, 1207), "eORCA12": (4322, 3606)}
    assert {name: (nx + 2, ny + 1) for name, (_, nx, ny) in ORCA.items()} == files


def test_the_halo_of_a_name_is_that_of_its_mesh():
    named = tw.Exchange("halo", 24, grid="C8x3", width=1)
    assert named == tw.Exchange("fetch", 24, mesh="cubed-sphere", grid=(8, 48, 3), split=(2, 12), width=1)
    assert tw.Exchange.from_plain(named.as_dict()) == named
    assert tw.Exchange("halo", 4, "R2B1").imbalance() == 1.0
    assert tw.Exchange("halo", 6, "ORCA2x31").split == (3, 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mesh_grid("R2"), "unknown grid 'R2'; did you mean 'R2B"),
        (lambda: mesh_grid("C8x0"), "1..2147483647 levels are allowed"),
        (lambda: mesh_grid("C0"), "unknown grid 'C0'"),
        (lambda: mesh_grid("R2B20"), "grid 'R2B20': R<n>B<k> with"),
        (lambda: mesh_grid("R2B14x90"), "R2B14: 21474836480 x 1 points"),
        (lambda: mesh_grid("F320x137"), "grid F320: no halo is known"),
        (lambda: tw.Exchange("transpose", 4, grid="C8x3"), "a transpose needs NXxNYxNZ"),
        (lambda: tw.Exchange("halo", 4, grid="C8x3"), "4 ranks: a multiple of 6 is allowed"),
        (lambda: tw.Exchange("halo", 4, grid="ORCA2", periodic="x"), "mesh tripolar has edges of its own"),
        (lambda: tw.Exchange("halo", 81, grid="R1B1"), "81 ranks: 1..80 are allowed"),
        (lambda: tw.Exchange("fetch", 6, mesh="cubed-sphere", grid=(8, 40, 1)), "n x 6n, are allowed"),
        (lambda: tw.Exchange("fetch", 6, mesh="icosahedral", grid=(90, 1, 1)), "20 n^2 are allowed"),
        (lambda: tw.MeshHalo("O16", 4), "grid 'O16': tripolar, "),
        (lambda: tw.MeshHalo(3, 4), "grid 3: a name, a Tripolar"),
        (lambda: tw.MeshHalo("C4", 6).of(6), "rank 6: 0..5 are allowed"),
    ],
)
def test_grids_that_cannot_be_are_refused(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()


@pytest.mark.parametrize("grid", ["ORCA2x2", "C12x2", "R2B1x2", tw.Tripolar(12, 8, "F", "v")])
def test_halos_of_meshes_are_verified(grid):
    halo = tw.MeshHalo(grid, 24, 2)
    found = halo.fetch().schedule().verify()
    levels = 2 if isinstance(grid, str) else 1
    received = sum(len(each.owner) for each in halo.mesh.lists(0, 24))
    assert found["ok"]
    assert found["bytes"] <= 8 * levels * received
    assert sum(len(halo.ids(rank)[0]) for rank in range(24)) <= sum(math.prod(halo.shape(rank)) for rank in range(24))
