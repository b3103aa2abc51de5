"""tw_transform_* against ecTrans itself, and against the transform of Python, which is held against other codes."""

from __future__ import annotations

import ectrans4py
import numpy as np
import pytest
from library_transform import LibraryError, LibraryTransform
from spectral_fields import random_spectral, relative_maximum

from tradewind import launch
from tradewind.spectral import SpectralTransform

MPI = pytest.importorskip("mpi4py.MPI")
pytestmark = pytest.mark.ranks

BOUNDS = {"f8": 2e-14, "f4": 4e-6}


@pytest.mark.parametrize(
    ("ranks", "grid", "options"),
    [
        (1, "F16", {"degree": 21, "threads": 2}),
        (2, "O20", {"element": "f4"}),
        (4, "O20", {"level_sets": 2, "dealt": "snake"}),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((3, "F8", {"level_sets": 3}), (4, "O20", {"element": "f4", "level_sets": 4}))
        ),
    ],
)
def test_every_transform_is_that_of_python(ranks, grid, options):
    found = launch.run(ranks, "library_cases:run", [grid, options], timeout_s=240)
    assert len(found) == 15
    bound = BOUNDS[options.get("element", "f8")]
    assert {what: value for what, value in found.items() if not value <= bound} == {}


def test_what_is_wrong_on_one_rank_is_an_error_on_all():
    *errors, right = launch.run(2, "library_cases:refusals", None, timeout_s=240)
    shape, calls, products, options, name = errors
    assert shape[0].startswith("spectral has 3 points along y: ")
    assert shape[1].startswith("rank 0 cannot ")
    assert shape[1].endswith(shape[0])
    assert all("to_grid of 5 levels" in each for each in calls)
    assert all("to_grid_adjoint of 5 levels, product 1" in each for each in products)
    assert all("radius 1" in each for each in options)
    assert name[0].startswith('unknown grid "O9999999"')
    assert name[1].endswith(name[0])
    assert right == ["True"]


def test_fields_and_gradients_are_those_of_ectrans():
    """On the octahedral grid, whose rows keep the wavenumbers that ecTrans keeps; both ways."""
    ectrans4py.init_env(omp_num_threads=1)
    one, ours = SpectralTransform("O40", 52), LibraryTransform(MPI.COMM_SELF, "O40", degree=52)
    rows, points, degree = one.grid.rows, one.grid.points, one.truncation.degree
    spectral = random_spectral(one.truncation)
    reals = spectral[:, 0].view(float)
    truth, north, east = ectrans4py.sp2gp_gauss4py(
        len(rows), degree, 99, points, len(rows), rows, len(reals), True, False, reals
    )
    back = ectrans4py.gp2sp_gauss4py(
        len(reals), len(rows), degree, 99, len(rows), rows, points, False, np.ascontiguousarray(truth)
    )
    (field,) = ours.run("to_grid", [spectral], [np.empty((1, points))])
    gradient = ours.run("gradient", [spectral], [np.empty((1, points)), np.empty((1, points))])
    (coefficients,) = ours.run("to_spectral", [truth[None].copy()], [np.empty_like(spectral)])
    for found, wanted in zip((field, *gradient), (truth, east, north), strict=True):
        assert relative_maximum(found[0], wanted) < 1e-10
    assert relative_maximum(coefficients[:, 0], np.ascontiguousarray(back).view(complex)) < 1e-10
    ours.free()


def test_coordinates_are_those_of_the_grid():
    ours, grid = LibraryTransform(MPI.COMM_SELF, "O20"), SpectralTransform("O20").grid
    longitude, latitude = ours.coordinates()
    assert np.abs(latitude - np.repeat(grid.latitudes, grid.rows)).max() < 1e-13
    assert (longitude == np.concatenate([grid.longitudes(row) for row in range(len(grid.rows))])).all()
    ours.free()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"degree": 40}, "truncation T40 on grid O20: T0..T39 are allowed"),
        ({"rule": "cubical"}, 'unknown rule "cubical" of a truncation'),
        ({"dealt": "evenly"}, 'unknown way to deal wavenumbers "evenly"'),
        ({"level_sets": 3}, "3 level sets on 1 ranks"),
        ({"threads": 0}, "threads 0: 1..1024 are allowed"),
        ({"radius": 0.0}, "radius 0"),
        ({"watchdog_s": -1.0}, "watchdog of -1"),
    ],
)
def test_options_that_cannot_be(options, problem):
    with pytest.raises(LibraryError, match=problem):
        LibraryTransform(MPI.COMM_SELF, "O20", **options)


def test_fields_that_do_not_fit():
    ours = LibraryTransform(MPI.COMM_SELF, "O20")
    spectral, grid = ours.fields(2)
    one_level_twice = np.lib.stride_tricks.as_strided(grid, strides=(0, grid.itemsize))
    wrong = [
        ([spectral[:, :1].copy()], [grid], "spectral has 1 points along x: 2 are allowed"),
        ([spectral], [grid[:, 1:].copy()], "grid has .* points along x: .* are allowed"),
        ([spectral.astype("c8")], [grid], "spectral has the type c8: c16 is allowed"),
        ([spectral], [np.zeros((2, 2 * ours.points))[:, ::2]], "grid has strides of 16"),
        ([spectral[:, :0].copy()], [grid[:0].copy()], "grid has no levels"),
        ([np.stack([spectral, spectral])], [grid], "spectral has 2 points along z: 1 are allowed"),
        ([spectral], [one_level_twice], "grid has strides that bring two of its elements to one place"),
    ]
    for given, out, problem in wrong:
        with pytest.raises(LibraryError, match=problem):
            ours.run("to_grid", given, out)
    with pytest.raises(LibraryError, match="east and north overlap in memory"):
        ours.run("gradient", [spectral], [grid, grid])
    with pytest.raises(LibraryError, match="product 7 of an adjoint"):
        ours.run("to_grid_adjoint", [grid], [spectral], 7)
    ours.free()


@pytest.mark.parametrize("rows", [[4, 4, 4], [20, 24, 24, 21], [1, 1], [2**40, 2**40]])
def test_rows_that_are_no_gaussian_grid(rows):
    with pytest.raises(LibraryError, match=r"rows of a Gaussian grid: .* of 2 to 131072 points"):
        LibraryTransform(MPI.COMM_SELF, np.array(rows))
