"""Random fields and inner products for the tests of the transform."""

from __future__ import annotations

import numpy as np

from tradewind.spectral import SpectralTransform, Truncation

Array = np.ndarray


def random_spectral(truncation: Truncation, fields: int = 1, seed: int = 1) -> Array:
    """White noise: all coefficients of the same size, m = 0 real."""
    random = np.random.default_rng(seed)
    shape = (truncation.coefficients, fields)
    values = random.normal(size=shape) + 1j * random.normal(size=shape)
    values[: truncation.degree + 1].imag = 0
    return values


def random_grid(transform: SpectralTransform, fields: int = 1, seed: int = 2) -> Array:
    return np.random.default_rng(seed).normal(size=(fields, transform.grid.points))


def m_and_n(truncation: Truncation) -> tuple[Array, Array]:
    """m and n of each coefficient, in the order that the documentation states."""
    pairs = [(m, n) for m in range(truncation.degree + 1) for n in range(m, truncation.degree + 1)]
    m, n = np.array(pairs).T
    return m, n


def inner(one: Array, two: Array, truncation: Truncation, product: str) -> float:
    """The inner product of spectral coefficients that adjoints are defined by."""
    m, _ = m_and_n(truncation)
    if product == "plain":
        return float((one.real * two.real + one.imag * two.imag).sum())
    real = one.real * two.real * np.where(m > 0, 2.0, 1.0)[:, None]
    imaginary = one.imag * two.imag * np.where(m > 0, 2.0, 0.0)[:, None]
    return float((real + imaginary).sum())


def relative_rms(found: Array, truth: Array) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def relative_maximum(found: Array, truth: Array) -> float:
    """The largest difference in units of the field's root mean square."""
    return float(np.abs(found - truth).max() / np.sqrt((np.abs(truth) ** 2).mean()))
