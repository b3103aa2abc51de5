"""Gaussian latitudes, weights and rows against NumPy, exact integrals and ecTrans."""

from __future__ import annotations

import ducc0
import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.layout.closed import ReducedGrid
from tradewind.spectral import GaussianGrid


@pytest.mark.parametrize("half", [1, 2, 5, 32])
def test_latitudes_and_weights_are_those_of_gauss(half: int) -> None:
    grid = GaussianGrid(f"F{half}")
    nodes, weights = np.polynomial.legendre.leggauss(2 * half)
    np.testing.assert_allclose(np.sin(np.radians(grid.latitudes)), nodes[::-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(grid.weights, weights[::-1] / 2, rtol=1e-11)


@pytest.mark.parametrize("half", [80, 1280])
def test_many_latitudes_are_those_of_ducc0(half: int) -> None:
    """NumPy and SciPy lose up to nine digits of the weights near the poles."""
    grid = GaussianGrid(f"O{half}")
    theta, weights = ducc0.misc.GL_thetas(2 * half), ducc0.misc.GL_weights(2 * half, 1)
    np.testing.assert_allclose(grid.gaussian.colatitude, theta[:half], rtol=1e-15)
    np.testing.assert_allclose(grid.weights, weights / (4 * np.pi), rtol=1e-14)


@pytest.mark.parametrize("half", [3, 40, 640])
def test_the_quadrature_is_exact(half: int) -> None:
    """The mean of even powers of the sine of latitude, up to twice the degree, is 1 / (k + 1)."""
    grid = GaussianGrid(f"O{half}")
    sine = np.sin(np.radians(grid.latitudes))
    for power in (0, 2, 4, 4 * half - 2):
        assert np.sum(grid.weights * sine**power) == pytest.approx(1 / (power + 1), rel=2e-13)
    assert abs(np.sum(grid.weights * sine)) < 1e-16


def test_the_core_has_the_same_angle_three_times() -> None:
    gaussian = _core.Gaussian(50)
    np.testing.assert_allclose(gaussian.sine, np.sin(gaussian.colatitude), rtol=1e-15)
    np.testing.assert_allclose(gaussian.versine, 2 * np.sin(gaussian.colatitude / 2) ** 2, rtol=1e-15)
    with pytest.raises(InputError, match="0 in a hemisphere; 1 to 1048576 are allowed"):
        _core.Gaussian(0)


def test_rows() -> None:
    octahedral, full = GaussianGrid("O4"), GaussianGrid("F4")
    assert octahedral.rows.tolist() == [20, 24, 28, 32, 32, 28, 24, 20]
    assert octahedral.points == 4 * 4 * (4 + 9)
    assert full.rows.tolist() == [16] * 8
    assert full.is_full
    assert not octahedral.is_full
    assert octahedral.longitudes(1)[:3].tolist() == [0, 15, 30]
    assert octahedral.first.tolist() == [0, 20, 44, 72, 104, 136, 164, 188, 208]
    own = GaussianGrid(rows=octahedral.rows)
    np.testing.assert_array_equal(own.latitudes, octahedral.latitudes)


def test_layouts_divide_the_same_points() -> None:
    grid = GaussianGrid("O8").layout_grid(3)
    assert isinstance(grid, ReducedGrid)
    assert list(grid.points) == [GaussianGrid("O8").points, 1, 3]
