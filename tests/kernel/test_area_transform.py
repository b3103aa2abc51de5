"""The stages of the bi-Fourier transform against scipy.fft: lines along x, and lines along y of an ellipse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

from tradewind import _core
from tradewind.base.errors import InputError

GRIDS = [(2, 1), (3, 2), (9, 5), (16, 12), (30, 97), (49, 26), (97, 166), (64, 48)]
"""(nx, ny): odd and even, powers of two, primes with and without a pass of their own."""
PRECISIONS = {"f4": "c8", "f8": "c16"}
FIELDS = 3
TEAM = _core.Team()


def near(found, wanted, points):
    bound = 8 * np.finfo(found.dtype).eps * np.sqrt(points)
    return np.abs(found - wanted).max() <= bound * np.abs(wanted).max()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("grid", GRIDS)
def test_lines_along_x_are_those_of_scipy(grid, precision):
    nx, ny = grid
    lines = np.random.default_rng(nx).normal(size=(FIELDS, ny, nx)).astype(precision)
    transform = _core.AreaTransform(nx, ny)
    wanted = scipy.fft.rfft(lines.astype("f8"))
    for kept in {1, nx // 3 + 1, nx // 2 + 1}:
        waves = np.full((FIELDS, ny, kept), np.nan, PRECISIONS[precision])
        transform.to_waves(lines, waves, 0.5, TEAM)
        assert near(waves, 0.5 * wanted[:, :, :kept], nx)
        back = np.full_like(lines, np.nan)
        transform.to_lines(waves, back, 2.0 / nx, TEAM)
        assert near(back, scipy.fft.irfft(2 * waves.astype("c16"), n=nx), nx)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("grid", GRIDS)
def test_lines_along_y_of_an_ellipse_are_those_of_scipy(grid, precision):
    numbers, ny = grid
    random = np.random.default_rng(ny)
    waves = random.normal(size=(FIELDS, ny, numbers, 2)).view(complex)[..., 0].astype(PRECISIONS[precision])
    limits = random.integers(0, (ny + 1) // 2, numbers).tolist()
    m = np.repeat(np.arange(numbers), 2 * np.array(limits) + 1)
    n = np.concatenate([np.arange(-limit, limit + 1) for limit in limits])
    transform = _core.AreaTransform(2, ny)
    ellipse = np.full((len(m), 1, FIELDS), np.nan, waves.dtype)
    transform.to_ellipse(waves, limits, ellipse, 0.25, TEAM)
    kept = scipy.fft.fft(waves.astype("c16"), axis=1)[:, n % ny, m].T
    assert near(ellipse[:, 0], 0.25 * kept, ny)
    back = np.full_like(waves, np.nan)
    transform.from_ellipse(ellipse, limits, back, TEAM)
    whole = np.zeros(waves.shape, complex)
    whole[:, n % ny, m] = ellipse[:, 0].T
    assert near(back, scipy.fft.ifft(whole, axis=1, norm="forward"), ny)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_line_has_the_same_bits_whichever_are_beside_it(precision):
    random, transform = np.random.default_rng(4), _core.AreaTransform(28, 21)
    lines = random.normal(size=(5, 21, 28)).astype(precision)
    waves, limits = np.empty((5, 21, 13), PRECISIONS[precision]), [10 - m // 2 for m in range(13)]
    transform.to_waves(lines, waves, 1.0, _core.Team(3))
    ellipse = np.empty((sum(2 * limit + 1 for limit in limits), 1, 5), waves.dtype)
    transform.to_ellipse(waves, limits, ellipse, 1.0, _core.Team(3))
    across, along = np.empty_like(waves), np.empty_like(lines)
    transform.from_ellipse(ellipse, limits, across, _core.Team(3))
    transform.to_lines(across, along, 1.0, _core.Team(3))
    one = np.s_[3:4, 8:9]
    alone, back = np.empty((1, 1, 13), waves.dtype), np.empty((1, 1, 28), precision)
    transform.to_waves(np.ascontiguousarray(lines[one]), alone, 1.0, TEAM)
    assert (alone == waves[one]).all()
    transform.to_lines(np.ascontiguousarray(across[one]), back, 1.0, TEAM)
    assert (back == along[one]).all()
    begin, count = sum(2 * limit + 1 for limit in limits[:2]), 2 * limits[2] + 1
    column, again = np.empty((count, 1, 1), waves.dtype), np.empty((1, 21, 1), waves.dtype)
    transform.to_ellipse(np.ascontiguousarray(waves[3:4, :, 2:3]), limits[2:3], column, 1.0, TEAM)
    assert (column[:, 0, 0] == ellipse[begin : begin + count, 0, 3]).all()
    transform.from_ellipse(column, limits[2:3], again, TEAM)
    assert (again[0, :, 0] == across[3, :, 2]).all()


def test_other_shapes_are_refused():
    transform, waves = _core.AreaTransform(8, 6), np.zeros((1, 6, 3), complex)
    with pytest.raises(InputError, match="as many of them, of 8 points, are allowed"):
        transform.to_waves(np.zeros((1, 6, 7)), waves, 1.0, TEAM)
    with pytest.raises(InputError, match="6 wavenumbers of 8 points: up to 5 are allowed"):
        transform.to_lines(np.zeros((1, 6, 6), complex), np.zeros((1, 6, 8)), 1.0, TEAM)
    with pytest.raises(InputError, match=r"limit 3 of wavenumbers along y: 0\.\.2 are allowed"):
        transform.to_ellipse(waves, [3, 1, 0], np.zeros((11, 1, 1), complex), 1.0, TEAM)
    with pytest.raises(InputError, match="ellipse: 9 coefficients of 1 fields are needed"):
        transform.from_ellipse(np.zeros((8, 1, 1), complex), [2, 1, 0], waves, TEAM)
    with pytest.raises(InputError, match="6 points along y, and a limit of each, are needed"):
        transform.to_ellipse(waves, [2, 1], np.zeros((8, 1, 1), complex), 1.0, TEAM)
    with pytest.raises(InputError, match="0 points along y: 1 or more are allowed"):
        _core.AreaTransform(8, 0)
