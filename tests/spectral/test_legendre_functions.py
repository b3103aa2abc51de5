"""Legendre functions against SciPy's spherical harmonics, recurrences in exact arithmetic, and their own integrals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import sph_harm_y
from slow_tests import slow

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.spectral import GaussianGrid, Legendre, SpectralTransform, Truncation
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


@pytest.mark.parametrize(("degree", "row"), [(100, 0), (100, 1), (100, 5), (639, 0), *slow((639, 1), (639, 5))])
def test_rows_near_the_pole_keep_digits_that_rounded_sines_lose(degree: int, row: int) -> None:
    """P(n, 0) beside exact rationals, in units of its largest value.

    The rounding of the sine of latitude, 1e-16, alone changes it by up to n^2 times as much, 2e-11 at T639.
    """
    half = degree + 1
    versine = Fraction(float(_core.Gaussian(half).versine[row]))
    truth = float(exact_legendre(degree, 1 - versine)) * np.sqrt(2 * degree + 1)
    assert abs(functions(half, 0, degree)[-1, row] - truth) < 5e-15 * np.sqrt(2 * degree + 1)


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
    assert (values[log2 < -120] == 0).all()
    assert (values[log2 > -80] > 0).all()
    shown = log2 > -80
    difference = np.log2(values[shown]) - log2[shown]
    np.testing.assert_allclose(difference, difference[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("half", "m", "top"), [(160, 0, 319), (160, 100, 319), (160, 300, 320), (640, 600, 639)])
def test_what_is_left_out_is_negligible_and_all_of_it(half: int, m: int, top: int) -> None:
    """All functions at these rows, not only at the one that proves it, and not at the next."""
    count = _core.negligible_latitudes(_core.Gaussian(half), m, top)
    largest = np.abs(functions(half, m, top)).max(axis=0)
    assert (largest[:count] == 0).all()
    assert largest[count] >= 2.0**-100
    assert (count > 0) == (m >= 100)


def test_rows_that_are_left_out_become_zeros() -> None:
    """Linear on a full grid, every row of which keeps all wavenumbers: beside functions at all latitudes."""
    truncation = Truncation("F160", 319)
    legendre = Legendre(truncation, [310, 0])
    left_out = legendre.functions.first[0]
    assert left_out > 20
    spectral = np.random.default_rng(1).normal(size=(legendre.spectral_start[-1], 2)) + 0j
    fourier = np.full((legendre.fourier_start[-1], 2), np.nan, complex)
    legendre.to_fourier(spectral, fourier)
    values = functions(160, 310, 319)
    truth = values.T @ spectral[:10]
    np.testing.assert_allclose(fourier[:160], truth, rtol=0, atol=1e-13)
    assert (fourier[:left_out] == 0).all()
    assert (fourier[320 - left_out : 320] == 0).all()
    rows = np.random.default_rng(2).normal(size=fourier.shape) + 0j
    even, odd = rows[:160] + rows[319:159:-1], rows[:160] - rows[319:159:-1]
    found = legendre.to_spectral(rows)[:10]
    np.testing.assert_allclose(found[0::2], values[0::2] @ even, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[1::2], values[1::2] @ odd, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "degree"), [("O80", 79), ("O160", 159), ("O320", 319), ("F320", 639)])
def test_tables_are_compact(name: str, degree: int) -> None:
    """The project's bound is 0.45 of N (T + 1)^2 numbers."""
    functions = LegendreFunctions(Truncation(name, degree).extended(), tables=False)
    assert functions.table_bytes <= functions.truncation.table_bytes
    assert functions.table_bytes <= 8 * 0.45 * int(name[1:]) * (degree + 1) ** 2
    assert functions.scratch_bytes <= 0.05 * functions.table_bytes


def test_blocks_make_what_tables_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of 32 latitudes or 4 degrees, the last ones shorter: functions of the same bits.

    The library of matrix products may add in another order, so sums of 40 products are equal to some roundings.
    """
    monkeypatch.setattr("tradewind.spectral.functions.BLOCK", 200)
    truncation = Truncation("F40", 39)
    tables, blocks = (Legendre(truncation, [3, 0, 20], tables=tables) for tables in (True, False))
    scratch = blocks.functions.scratch()
    for k in range(3):
        wanted, at = tables.functions.of(k, 39), 0
        for begin, end, found in blocks.functions.by_latitude(k, 39, scratch):
            assert (begin, end - begin) == (at, min(32, blocks.functions.latitudes[k] - at))
            for parity in (0, 1):
                np.testing.assert_array_equal(found[parity], wanted[parity][:, begin:end])
            at = end
        assert at == blocks.functions.latitudes[k]
        assert at % 32
        at = 0
        for begin, end, found in blocks.functions.by_degree(k, 39, scratch):
            assert (begin, end - begin) == (at, min(4, wanted[0].shape[0] + wanted[1].shape[0] - at))
            for parity in (0, 1):
                np.testing.assert_array_equal(found[parity], wanted[parity][begin // 2 : (end + 1 - parity) // 2])
            at = end
        assert at == wanted[0].shape[0] + wanted[1].shape[0]
    spectral = np.random.default_rng(1).normal(size=(tables.spectral_start[-1], 3)) + 1j
    fourier = tables.to_fourier(spectral)
    np.testing.assert_allclose(blocks.to_fourier(spectral), fourier, rtol=0, atol=1e-13 * np.abs(fourier).max())
    back = tables.to_spectral(fourier)
    np.testing.assert_allclose(blocks.to_spectral(fourier), back, rtol=0, atol=1e-13 * np.abs(back).max())


def test_memory_is_stated_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        available = 10_000

    monkeypatch.setattr("psutil.virtual_memory", Little)
    with pytest.raises(
        InputError, match=r"Legendre functions of Truncation\('O80', 79, 'cubic'\) needs about 1.71 MiB"
    ):
        Legendre(Truncation("O80"))
    transform = SpectralTransform("O80", tables=False)
    with pytest.raises(InputError, match=r"Fourier coefficients of 7 fields needs about .* transform fewer at a time"):
        transform.to_grid(np.zeros((3240, 7)))


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="do not fit 3 numbers"):
        _core.legendre(GaussianGrid("F4").gaussian, 0, 0, 3, np.empty(3))
