"""The adjoint of each direction, in both products: |<Ax, y> - <x, A*y>| <= 1e-14 |Ax| |y|."""

from __future__ import annotations

import numpy as np
import pytest
from spectral_fields import inner, random_grid, random_spectral

from tradewind.spectral import SpectralTransform

BOUND = 1e-14
norm = np.linalg.norm


def single(shape: tuple[int, ...], seed: int, dtype: type = float) -> np.ndarray:
    """Zeros and a single 1, anywhere; for complex numbers 1 + i, or 1 for the first ones, m = 0."""
    values = np.zeros(shape, dtype)
    values.flat[np.random.default_rng(seed).integers(values.size)] = 1
    return values


def candidates(transform: SpectralTransform, fields: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of spectral coefficients and grid points: random ones, and single ones."""
    spectral = random_spectral(transform.truncation, fields)
    pairs = [(spectral, random_grid(transform, fields))]
    for seed in range(3):
        lone = single(spectral.shape, seed, complex)
        pairs.append((lone if seed % 2 else 1j * lone, random_grid(transform, fields, seed)))
        pairs.append((random_spectral(transform.truncation, fields, seed), single(pairs[0][1].shape, seed)))
    imaginary_means = spectral + 1j  # has imaginary parts at m = 0, too
    return [*pairs, (imaginary_means, pairs[0][1])]


@pytest.mark.parametrize("product", ["plain", "weighted"])
@pytest.mark.parametrize("name", ["O40", "F20", pytest.param("O80", marks=pytest.mark.slow)])
def test_of_scalars(name: str, product: str) -> None:
    transform = SpectralTransform(name)
    truncation = transform.truncation
    for spectral, grid in candidates(transform):
        there = transform.to_grid(spectral)
        difference = (there * grid).sum() - inner(
            spectral, transform.to_grid_adjoint(grid, product), truncation, product
        )
        assert abs(difference) <= BOUND * norm(there) * norm(grid)
        there = transform.to_spectral(grid)
        back = transform.to_spectral_adjoint(spectral, product)
        difference = inner(there, spectral, truncation, product) - (back * grid).sum()
        assert abs(difference) <= BOUND * norm(there) * norm(spectral)


@pytest.mark.parametrize("product", ["plain", "weighted"])
@pytest.mark.parametrize("name", ["O40", "F20", pytest.param("O80", marks=pytest.mark.slow)])
def test_of_winds(name: str, product: str) -> None:
    transform = SpectralTransform(name)
    truncation = transform.truncation
    pairs = candidates(transform)
    for (vorticity, u), (divergence, v) in zip(pairs, [*pairs[1:], pairs[0]], strict=True):
        there, back = transform.wind(vorticity, divergence), transform.wind_adjoint(u, v, product)
        left = (there[0] * u).sum() + (there[1] * v).sum()
        right = inner(vorticity, back[0], truncation, product) + inner(divergence, back[1], truncation, product)
        assert abs(left - right) <= BOUND * norm(there) * norm([u, v])
        there = transform.vorticity_divergence(u, v)
        back = transform.vorticity_divergence_adjoint(vorticity, divergence, product)
        left = inner(there[0], vorticity, truncation, product) + inner(there[1], divergence, truncation, product)
        right = (back[0] * u).sum() + (back[1] * v).sum()
        assert abs(left - right) <= BOUND * norm(there) * norm([vorticity, divergence])
        there = transform.gradient(vorticity)
        left = (there[0] * u).sum() + (there[1] * v).sum()
        right = inner(vorticity, transform.gradient_adjoint(u, v, product), truncation, product)
        assert abs(left - right) <= BOUND * norm(there) * norm([u, v])


def test_the_direct_transform_is_the_adjoint_of_the_inverse_in_the_weighted_products() -> None:
    """With Gaussian weights on the grid, too: the quadrature is the only difference."""
    transform = SpectralTransform("O40")
    grid = random_grid(transform)
    per_point = np.repeat(transform.fourier.quadrature, transform.grid.rows)
    np.testing.assert_allclose(
        transform.to_grid_adjoint(grid * per_point), transform.to_spectral(grid), rtol=0, atol=1e-15
    )
