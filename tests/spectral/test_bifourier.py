"""The bi-Fourier transform and the extension zone, beside ecTrans, SciPy, and waves in closed form."""

from __future__ import annotations

import ectrans4py
import numpy as np
import pytest
import scipy.fft

from tradewind.base.errors import InputError
from tradewind.spectral.bifourier import BiFourier, EllipticTruncation
from tradewind.spectral.extension import boyd_weights, filled, smallest_extension


@pytest.fixture(scope="module", autouse=True)
def _one_thread_of_ectrans() -> None:
    ectrans4py.init_env(omp_num_threads=1)


@pytest.mark.parametrize(
    ("grid", "largest"), [((24, 20), (7, 6)), ((24, 20), (11, 9)), ((45, 30), (14, 9)), ((54, 60), (17, 29))]
)
def test_fields_and_derivatives_are_those_of_ectrans(grid: tuple[int, int], largest: tuple[int, int]) -> None:
    transform, spacing = BiFourier(grid, largest), (2000.0, 3000.0)
    shape = (*grid, grid[0] - 11, grid[1] - 11, *largest, 99)
    count = ectrans4py.etrans_inq4py(*shape, *spacing)[1]
    # It has four reals for each (m, n >= 0).
    assert count == 4 * (transform.truncation.limits + 1).sum()
    field = np.random.default_rng(5).normal(size=grid[::-1])
    theirs = ectrans4py.gp2sp_lam4py(count, *shape, *spacing, False, field.ravel())
    truth, north, east = (
        np.asarray(each).reshape(grid[::-1])
        for each in ectrans4py.sp2gp_lam4py(*shape, count, True, False, *spacing, np.asarray(theirs))
    )
    spectral = transform.to_spectral(field)
    lengths = grid[0] * spacing[0], grid[1] * spacing[1]
    pi = float(np.float32(np.pi)) / np.pi  # ectrans4py takes the distance of wavenumbers from a pi of single precision
    along_x, along_y = (transform.to_grid(each) * pi for each in transform.gradient(spectral, lengths))
    for ours, other in ((transform.to_grid(spectral), truth), (along_x, east), (along_y, north)):
        assert np.abs(ours - other).max() < 1e-12 * np.abs(other).max()


def test_coefficients_are_those_of_scipy_inside_the_ellipse() -> None:
    transform = BiFourier((20, 16), (6, 5))
    t = transform.truncation
    field = np.random.default_rng(1).normal(size=(3, 16, 20))
    whole = scipy.fft.fft2(field) / 320
    assert np.abs(transform.to_spectral(field) - whole[:, t.n, t.m]).max() < 1e-15
    assert (((t.m / 6) ** 2 + (t.n / 5) ** 2) < 1 + 1e-9).all()
    kept = {(0, n) for n in range(-5, 6)} | {(6, 0)}
    assert kept <= set(zip(t.m.tolist(), t.n.tolist(), strict=True))


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (2, 0), (4, -2), (6, 0)])
def test_single_waves(m: int, n: int) -> None:
    transform = BiFourier((20, 16), (6, 5))
    t = transform.truncation
    y, x = np.arange(16)[:, None], np.arange(20)
    angle = 2 * np.pi * (m * x / 20 + n * y / 16)
    spectral = transform.to_spectral(np.cos(angle))
    wanted = np.where((t.m == m) & (t.n == n), 0.5 if (m, n) != (0, 0) else 1.0, 0.0)
    wanted += np.where((m == 0) & (n != 0) & (t.m == 0) & (t.n == -n), 0.5, 0.0)
    assert np.abs(spectral - wanted).max() < 1e-15
    assert np.abs(transform.to_grid(spectral) - np.cos(angle)).max() < 1e-14
    curvature = -((2 * np.pi * m / 20) ** 2) - (2 * np.pi * n / 16) ** 2
    if curvature:
        assert (
            np.abs(transform.to_grid(transform.inverse_laplacian(spectral)) * curvature - np.cos(angle)).max() < 1e-13
        )


def test_truncations_that_the_grid_cannot_hold_are_refused() -> None:
    with pytest.raises(InputError, match=r"truncation 10 along x, with 20 points: 1\.\.9 are allowed"):
        EllipticTruncation((20, 16), (10, 5))
    with pytest.raises(InputError, match=r"truncation 0 along y, with 16 points: 1\.\.7 are allowed"):
        EllipticTruncation((20, 16), (5, 0))
    with pytest.raises(InputError, match="with 2 points: 3 points or more are needed"):
        EllipticTruncation((20, 2), (5, 1))
    with pytest.raises(InputError, match=r"\[\.\.\.\]\[16\]\[20\] is allowed"):
        BiFourier((20, 16)).to_spectral(np.zeros((20, 16)))
    with pytest.raises(InputError, match="is allowed"):
        BiFourier((20, 16)).to_grid(np.zeros(3))


@pytest.mark.parametrize("extension", [12, 24])
def test_a_zone_makes_fields_periodic_and_leaves_the_area(extension: int) -> None:
    """A slope has coefficients that fall like 1 / m; with a zone, faster than its truncation can see."""
    area = 96 - extension
    y, x = np.arange(area)[:, None] / 96, np.arange(area) / 96
    field = x + 2 * y
    inside = BiFourier((96, 96), (31, 31))
    weights = boyd_weights(extension)
    assert np.abs(weights + weights[::-1] - 1).max() < 1e-15
    assert (np.diff(weights) < 0).all()
    spline = filled(field, extension)
    assert spline.shape == (96, 96)
    assert (spline[:area, :area] == field).all()
    along = np.concatenate([np.arange(area), np.arange(area, 96) - 96 * (1 - weights)]) / 96
    for whole in (spline, along + 2 * along[:, None]):
        lost = inside.to_grid(inside.to_spectral(whole)) - whole
        assert np.abs(lost).max() < 0.004 * (12 / extension) ** 2
    jump = np.arange(96) / 96 + 2 * np.arange(96)[:, None] / 96
    assert np.abs(inside.to_grid(inside.to_spectral(jump)) - jump).max() > 0.5


def test_zones_that_cannot_be_are_refused() -> None:
    assert smallest_extension(96, 31) == 7
    with pytest.raises(InputError, match="extension 0: 1 or more are allowed"):
        filled(np.zeros((8, 8)), 0)
    with pytest.raises(InputError, match="4 x 4 points and more"):
        filled(np.zeros((3, 8)), 4)
