"""The two stages on some rows and some wavenumbers, against the transform of all."""

from __future__ import annotations

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.spectral import Fourier, GaussianGrid, Legendre, SpectralTransform, Truncation
from tradewind.spectral.functions import LegendreFunctions

FIELDS = 3
TRUNCATION = Truncation("O16")


@pytest.fixture
def spectral() -> np.ndarray:
    random = np.random.default_rng(4)
    shape = (TRUNCATION.coefficients, FIELDS)
    values = random.normal(size=shape) + 1j * random.normal(size=shape)
    values[: TRUNCATION.degree + 1].imag = 0
    return values


@pytest.fixture
def grid(spectral: np.ndarray) -> np.ndarray:
    return SpectralTransform("O16").to_grid(spectral)


def points_of(rows: np.ndarray) -> np.ndarray:
    first = TRUNCATION.grid.first
    return np.concatenate([np.arange(0), *(np.arange(first[row], first[row + 1]) for row in rows)])


@pytest.mark.parametrize("rows", [range(5, 21), [0, 3, 4, 15, 16, 28, 31], [31], []])
def test_rows_by_themselves_have_the_coefficients_of_all(rows: list[int], grid: np.ndarray) -> None:
    every = Fourier(TRUNCATION)
    some = Fourier(TRUNCATION, list(rows))
    whole, part = every.to_fourier(grid), some.to_fourier(grid[:, points_of(some.rows)])
    assert len(part) == sum(TRUNCATION.kept[row] for row in rows)
    for m in TRUNCATION.wavenumbers:
        own = some.rows[some.row_begin[m] : some.row_end[m]]
        assert [row for row in rows if TRUNCATION.kept[row] > m] == own.tolist()
        places = every.start[m] + own - TRUNCATION.row_begin[m]
        np.testing.assert_array_equal(part[some.start[m] : some.start[m + 1]], whole[places])
    back = some.to_grid(part, factors=1 / some.quadrature / TRUNCATION.grid.rows[some.rows])
    np.testing.assert_allclose(back, grid[:, points_of(some.rows)], rtol=0, atol=1e-12 * np.abs(grid).max())


@pytest.mark.parametrize("wavenumbers", [[3, 0, 15, 7], [15], []])
@pytest.mark.parametrize("tables", [True, False])
def test_wavenumbers_by_themselves_have_the_coefficients_of_all(
    wavenumbers: list[int], tables: bool, spectral: np.ndarray
) -> None:
    every = Legendre(TRUNCATION)
    some = Legendre(TRUNCATION, wavenumbers, tables=tables)
    fourier = every.to_fourier(spectral)
    part = np.concatenate(
        [spectral[:0], *(spectral[TRUNCATION.start[m] : TRUNCATION.start[m + 1]] for m in wavenumbers)]
    )
    rows = [fourier[every.fourier_start[m] : every.fourier_start[m + 1]] for m in wavenumbers]
    own = np.concatenate([fourier[:0], *rows])
    np.testing.assert_array_equal(some.to_fourier(part), own)
    whole = every.to_spectral(fourier)
    again = [whole[TRUNCATION.start[m] : TRUNCATION.start[m + 1]] for m in wavenumbers]
    np.testing.assert_array_equal(some.to_spectral(own), np.concatenate([whole[:0], *again]))


def test_stages_share_functions() -> None:
    """Those of a truncation with one more degree serve both; others are refused."""
    functions = LegendreFunctions(TRUNCATION.extended(), [5, 0, 14])
    random = np.random.default_rng(1)
    for truncation in (TRUNCATION, TRUNCATION.extended()):
        shared, own = Legendre(truncation, tables=functions), Legendre(truncation, [5, 0, 14])
        spectral = random.normal(size=(own.spectral_start[-1], 2)) + 0j
        np.testing.assert_allclose(shared.to_fourier(spectral), own.to_fourier(spectral), rtol=0, atol=1e-13)
        fourier = own.to_fourier(spectral)
        np.testing.assert_allclose(shared.to_spectral(fourier), own.to_spectral(fourier), rtol=0, atol=1e-13)
    with pytest.raises(InputError, match="those of its Legendre functions are allowed"):
        Legendre(TRUNCATION, [5, 0], tables=functions)
    with pytest.raises(InputError, match="do not serve"):
        Legendre(TRUNCATION.extended(), tables=LegendreFunctions(TRUNCATION))
    with pytest.raises(InputError, match="do not serve"):
        Legendre(Truncation("O16"), tables=functions)


def test_without_ducc0_the_fft_is_that_of_scipy(monkeypatch: pytest.MonkeyPatch, grid: np.ndarray) -> None:
    """Two libraries add in another order: equal to some roundings of the largest."""
    fast = Fourier(TRUNCATION)
    monkeypatch.setattr("tradewind.spectral.fourier.find_spec", lambda _: None)
    plain = Fourier(TRUNCATION)
    fourier = fast.to_fourier(grid)
    np.testing.assert_allclose(plain.to_fourier(grid), fourier, rtol=0, atol=1e-14 * np.abs(fourier).max())
    points = fast.to_grid(fourier)
    np.testing.assert_allclose(plain.to_grid(fourier), points, rtol=0, atol=1e-14 * np.abs(points).max())


def test_results_are_written_where_the_caller_wants_them(grid: np.ndarray) -> None:
    fourier, legendre = Fourier(TRUNCATION), Legendre(TRUNCATION)
    coefficients = np.zeros((fourier.coefficients, FIELDS), complex)
    assert fourier.to_fourier(grid, coefficients) is coefficients
    spectral = np.zeros((TRUNCATION.coefficients, FIELDS), complex)
    assert legendre.to_spectral(coefficients, spectral) is spectral
    np.testing.assert_array_equal(spectral, SpectralTransform("O16").to_spectral(grid))


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: Fourier(TRUNCATION, [3, 2]), "ascending numbers of 0..31 are allowed"),
        (lambda: Fourier(TRUNCATION, [32]), "ascending numbers of 0..31 are allowed"),
        (lambda: Legendre(TRUNCATION, [16]), "numbers of 0..15 are allowed"),
        (lambda: Legendre(TRUNCATION, [1, 1]), "each once is allowed"),
        (lambda: Fourier(TRUNCATION).to_fourier(np.zeros((2, 5))), r"shape \(2, 5\): \(fields, 1600\) is allowed"),
        (lambda: Fourier(TRUNCATION).to_fourier(np.zeros((2, 1600), complex)), "complex128: float64 is allowed"),
        (lambda: Legendre(TRUNCATION).to_fourier(np.zeros((5, 2))), r"shape \(5, 2\): \(136, fields\) is allowed"),
        (lambda: Fourier(TRUNCATION).to_fourier(np.zeros((1, 1600)), np.zeros((2, 3))), "out, Fourier coefficients"),
        (lambda: GaussianGrid("Q80"), "unknown grid 'Q80': O1..O16384"),
        (lambda: GaussianGrid("O0"), "unknown grid 'O0'"),
        (lambda: GaussianGrid(), "one of the two is allowed"),
        (lambda: GaussianGrid(rows=[20, 24, 20]), "an even number of whole numbers"),
        (lambda: GaussianGrid(rows=[20, 24]), "alike in both hemispheres"),
        (lambda: Truncation("O16", 32), "truncation T32 on grid O16: T0..T31 are allowed"),
        (lambda: Truncation("O16", 16, "cubic"), "T0..T15 are allowed .*by the cubic rule"),
        (lambda: Truncation("O16", rule="square"), "unknown rule 'square'"),
        (lambda: Truncation(GaussianGrid(rows=[4] * 64)), "hold wavenumbers up to 1 by the linear rule"),
        (lambda: Truncation("O16").index(3, 2), "0 <= m <= 15, m <= n <= 15 are allowed"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(wrong: object, text: str) -> None:
    with pytest.raises(InputError, match=text):
        wrong()
