"""Winds, gradients and Laplacians against formulas and against ducc0's vector harmonics."""

from __future__ import annotations

import ducc0
import numpy as np
import pytest
from spectral_fields import m_and_n, random_spectral, relative_maximum

from tradewind.base.errors import InputError
from tradewind.spectral import SpectralTransform
from tradewind.spectral.operators import Operators


@pytest.fixture(scope="module")
def transform() -> SpectralTransform:
    return SpectralTransform("F40", 39)


def test_solid_body_rotation() -> None:
    """Vorticity 2 u0 sin(phi) / a is the wind u0 cos(phi) to the east: Williamson et al. 1992, eq. 90 and 94."""
    transform = SpectralTransform("O40")
    speed, radius = 20.0, transform.operators.radius
    vorticity = np.zeros(transform.truncation.coefficients, complex)
    vorticity[transform.truncation.index(0, 1)] = 2 * speed / radius / np.sqrt(3)  # P(1, 0) = sqrt(3) sin(phi)
    u, v = transform.wind(vorticity, np.zeros_like(vorticity))
    np.testing.assert_allclose(u, speed * np.repeat(transform.grid.cosines, transform.grid.rows), rtol=0, atol=1e-12)
    assert np.abs(v).max() < 1e-12
    found, divergence = transform.vorticity_divergence(u, v)
    np.testing.assert_allclose(found, vorticity, rtol=0, atol=1e-12 * np.abs(vorticity).max())
    assert np.abs(divergence).max() < 1e-12 * np.abs(vorticity).max()


def test_wind_is_that_of_vector_harmonics(transform: SpectralTransform) -> None:
    """Beside ducc0's transform of spin 1: rotation from the streamfunction, divergence from the velocity potential."""
    truncation, grid, radius = transform.truncation, transform.grid, transform.operators.radius
    vorticity, divergence = random_spectral(truncation, seed=3), random_spectral(truncation, seed=4)
    vorticity[0] = divergence[0] = 0
    m, n = m_and_n(truncation)
    scale = np.where(n > 0, -radius / np.sqrt(np.maximum(n * (n + 1.0), 1)), 0) * (-1.0) ** m * np.sqrt(4 * np.pi)
    theta = np.concatenate([grid.gaussian.colatitude, np.pi - grid.gaussian.colatitude[::-1]])
    alm = np.stack([divergence[:, 0] * scale, vorticity[:, 0] * scale])
    south, east = ducc0.sht.synthesis(
        alm=-alm,  # of spin 1: minus the gradient, and minus its rotation
        theta=theta,
        nphi=grid.rows.astype(np.uint64),
        phi0=np.zeros(len(theta)),
        ringstart=grid.first[:-1].astype(np.uint64),
        lmax=truncation.degree,
        mmax=truncation.degree,
        spin=1,
    )
    u, v = transform.wind(vorticity, divergence)
    assert min(relative_maximum(sign * u[0], east) for sign in (1, -1)) < 1e-12
    assert min(relative_maximum(sign * v[0], south) for sign in (1, -1)) < 1e-12


def test_results_are_written_where_the_caller_wants_them(transform: SpectralTransform) -> None:
    levels = random_spectral(transform.truncation, 6).reshape(-1, 2, 3)
    out = np.full((2, 2, 3, transform.grid.points), np.nan)
    u, v = transform.wind(levels, 2 * levels, out)
    assert u.base is out
    np.testing.assert_array_equal((u, v), transform.wind(levels, 2 * levels))
    grid = np.empty((2, 3, transform.grid.points))
    assert transform.to_grid(levels, grid) is grid
    np.testing.assert_array_equal(grid[1, 2], transform.to_grid(levels)[1, 2])
    spectral = np.empty_like(levels)
    assert transform.to_spectral(grid, spectral) is spectral
    with pytest.raises(InputError, match=r"out, grid points of the wind: .* of shape \(2, 2, 3, 12800\) is allowed"):
        transform.wind(levels, levels, np.empty((2, 6, transform.grid.points)))


def test_wind_and_back(transform: SpectralTransform) -> None:
    vorticity, divergence = random_spectral(transform.truncation, 2), random_spectral(transform.truncation, 2, 5)
    vorticity[0] = divergence[0] = 0  # no wind has a mean of these
    found = transform.vorticity_divergence(*transform.wind(vorticity, divergence))
    np.testing.assert_allclose(found, (vorticity, divergence), rtol=0, atol=1e-12)


def test_gradient_is_the_wind_of_its_divergence(transform: SpectralTransform) -> None:
    potential = random_spectral(transform.truncation, 3)
    u, v = transform.wind(np.zeros_like(potential), transform.laplacian(potential))
    np.testing.assert_allclose(transform.gradient(potential), (u, v), rtol=0, atol=1e-12 * np.abs(u).max())


def test_laplacian_and_inverse(transform: SpectralTransform) -> None:
    spectral = random_spectral(transform.truncation, 2)
    n = m_and_n(transform.truncation)[1]
    radius = transform.operators.radius
    np.testing.assert_allclose(
        transform.laplacian(spectral), spectral * (-n * (n + 1) / radius**2)[:, None], rtol=1e-14
    )
    without_mean = np.where((n > 0)[:, None], spectral, 0)
    np.testing.assert_allclose(
        transform.inverse_laplacian(transform.laplacian(spectral)), without_mean, rtol=1e-14, atol=0
    )


def test_helmholtz_solves_a_semi_implicit_step(transform: SpectralTransform) -> None:
    """X - dt^2 c^2 lap(X) is the right-hand side again."""
    operators, right = transform.operators, random_spectral(transform.truncation)
    coefficient = (1800.0 * 300.0) ** 2
    found = operators.solve_helmholtz(right, 1.0, coefficient)
    np.testing.assert_allclose(found - coefficient * operators.laplacian(found), right, rtol=1e-12)


@pytest.mark.parametrize("wavenumbers", [[4, 0, 39, 17], [2]])
def test_operators_on_some_wavenumbers(wavenumbers: list[int], transform: SpectralTransform) -> None:
    """The same as on all of them, in the order of the list."""
    truncation = transform.truncation

    def own(spectral: np.ndarray, top: int) -> np.ndarray:
        start = np.concatenate([[0], np.cumsum(top + 1 - np.arange(truncation.degree + 1))])
        return np.concatenate([spectral[start[m] : start[m + 1]] for m in wavenumbers])

    some, top = Operators(truncation, np.array(wavenumbers)), truncation.top
    pair = random_spectral(truncation), random_spectral(truncation, seed=7)
    wide = random_spectral(truncation.extended()), random_spectral(truncation.extended(), seed=8)
    pairs = [
        (transform.operators.wind(*pair), some.wind(*(own(x, top) for x in pair)), top + 1),
        (transform.operators.curl(*wide), some.curl(*(own(x, top + 1) for x in wide)), top),
        (transform.operators.wind_adjoint(*wide), some.wind_adjoint(*(own(x, top + 1) for x in wide)), top),
        (transform.operators.curl_adjoint(*pair), some.curl_adjoint(*(own(x, top) for x in pair)), top + 1),
    ]
    for every, found, degrees in pairs:
        for one, other in zip(every, found, strict=True):
            np.testing.assert_array_equal(own(one, degrees), other)


def test_operators_refuse_other_shapes(transform: SpectralTransform) -> None:
    with pytest.raises(InputError, match=r"\(820, fields\) is allowed"):
        transform.operators.laplacian(np.ones((3, 1)))
