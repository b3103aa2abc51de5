"""Legendre functions against SciPy's spherical harmonics, recurrences in exact arithmetic, and their own integrals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import sph_harm_y

from tradewind import _core
from tradewind.base import memory
from tradewind.base.errors import InputError
from tradewind.spectral import GaussianGrid, Legendre, Truncation
from tradewind.spectral.functions import LegendreFunctions


def functions(half: int, m: int, top: int, first: int = 0) -> np.ndarray:
    """P(n, m), [n - m][latitude]."""
    gaussian, count = _core.Gaussian(half), top - m + 1
    values = np.full(count * (half - first), np.nan)
    _core.legendre(gaussian, first, m, top, values)
    values = values.reshape(count, -1)
    even = (count + 1) // 2
    out = np.empty_like(values)
    out[0::2], out[1::2] = values[:even], values[even:]
    return out


@pytest.mark.parametrize("m", [0, 1, 2, 7, 40])
def test_they_are_spherical_harmonics(m: int) -> None:
    top, half = 41, 37
    theta = _core.Gaussian(half).colatitude
    truth = [(-1) ** m * np.sqrt(4 * np.pi) * sph_harm_y(n, m, theta, 0.0).real for n in range(m, top + 1)]
    np.testing.assert_allclose(functions(half, m, top), truth, rtol=0, atol=2e-13)


def exact_legendre(degree: int, x: Fraction) -> Fraction:
    before, value = Fraction(0), Fraction(1)
    for k in range(degree):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
    return value


def test_the_polar_row_keeps_its_digits_where_rounded_sines_lose_them() -> None:
    """P(n, 0) beside exact rationals: n^2 times the rounding of the sine of latitude would be 1e-12."""
    half, degree = 80, 100
    first = Fraction(float(_core.Gaussian(half).versine[0]))
    truth = float(exact_legendre(degree, 1 - first)) * np.sqrt(2 * degree + 1)
    assert functions(half, 0, degree)[-1, 0] == pytest.approx(truth, rel=2e-14)


@pytest.mark.parametrize(("half", "m", "top"), [(320, 0, 319), (320, 200, 320), (1280, 1000, 1279), (640, 639, 639)])
def test_they_are_orthonormal(half: int, m: int, top: int) -> None:
    """All degrees together, at high wavenumbers, where their values near the pole are far below the smallest double."""
    weights = _core.Gaussian(half).weight
    values = functions(half, m, top)
    for parity in (0, 1):
        some = values[parity::2]
        np.testing.assert_allclose(2 * (some * weights) @ some.T, np.eye(len(some)), rtol=0, atol=2e-13)


@pytest.mark.parametrize("m", [0, 3, 90])
def test_rows_by_themselves_have_the_same_bits(m: int) -> None:
    np.testing.assert_array_equal(functions(100, m, 99)[:, 37:], functions(100, m, 99, first=37))


def test_small_values_are_zeros_and_grow_continuously() -> None:
    """Sine to the power m: beside its logarithm wherever a double holds it."""
    half, m = 640, 600
    values = functions(half, m, m)[0]
    log2 = m * np.log2(_core.Gaussian(half).sine)
    assert (values[log2 < -270] == 0).all()
    assert (values[log2 > -230] > 0).all()
    shown = log2 > -230
    difference = np.log2(values[shown]) - log2[shown]
    np.testing.assert_allclose(difference, difference[0], rtol=0, atol=1e-9)


def test_octahedral_tables_are_compact() -> None:
    """The project's bound is 0.45 of N (T + 1)^2 numbers, rows and wavenumbers of both parities."""
    for half in (80, 160, 320):
        functions = LegendreFunctions(Truncation(f"O{half}").extended(), tables=False)
        assert functions.table_bytes <= 8 * 0.45 * half**3
        assert functions.scratch_bytes <= 0.05 * functions.table_bytes


def test_memory_is_stated_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        available = 10_000

    monkeypatch.setattr(memory.psutil, "virtual_memory", Little)
    with pytest.raises(
        InputError, match=r"Legendre functions of Truncation\('O80', 79, 'cubic'\) needs about 1.71 MiB"
    ):
        Legendre(Truncation("O80"))
    Legendre(Truncation("O80"), tables=False)


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="do not fit 3 numbers"):
        _core.legendre(GaussianGrid("F4").gaussian, 0, 0, 3, np.empty(3))
