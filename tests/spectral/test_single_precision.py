"""Transforms of floats: element types, and errors beside double precision."""

from __future__ import annotations

import numpy as np
import pytest

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.spectral.functions import LegendreFunctions
from tradewind.spectral.precision import DOUBLE, SINGLE

ROUNDING = 2.0**-24
T = tw.SpectralTransform("O48")
FIELDS = 3


def coefficients(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    shape = (T.truncation.coefficients, FIELDS)
    found = random.normal(size=shape) + 1j * random.normal(size=shape)
    found[: T.truncation.degree + 1].imag = 0
    return found


def grid(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(FIELDS, T.grid.points))


SPECTRAL = ("to_grid", "to_spectral_adjoint", "gradient", "laplacian", "inverse_laplacian")
TWO_SPECTRAL = ("wind", "vorticity_divergence_adjoint")
GRID, TWO_GRID = ("to_spectral", "to_grid_adjoint"), ("vorticity_divergence", "wind_adjoint", "gradient_adjoint")


@pytest.mark.parametrize("name", [*SPECTRAL, *TWO_SPECTRAL, *GRID, *TWO_GRID])
def test_floats_stay_floats_and_lie_some_roundings_beside_doubles(name):
    """White noise, whose sums of T terms have errors of some roundings; derivatives are n times as large."""
    made = coefficients if name in SPECTRAL + TWO_SPECTRAL else grid
    given = [made(seed) for seed in range(2 if name in TWO_SPECTRAL + TWO_GRID else 1)]
    floats = [each.astype("c8" if made is coefficients else "f4") for each in given]
    wanted, found = np.asarray(getattr(T, name)(*given)), np.asarray(getattr(T, name)(*floats))
    assert wanted.dtype.itemsize == 2 * found.dtype.itemsize
    assert wanted.dtype.kind == found.dtype.kind
    apart = np.abs(found - wanted)
    assert 0 < apart.max() < 64 * ROUNDING * np.abs(wanted).max()
    assert np.sqrt((apart**2).mean()) < 16 * ROUNDING * np.sqrt((np.abs(wanted) ** 2).mean())


def test_a_round_trip_of_floats_ends_where_it_began():
    given = coefficients(5).astype(np.complex64)
    found = T.to_spectral(T.to_grid(given))
    assert found.dtype == np.complex64
    assert np.abs(found - given).max() < 16 * ROUNDING * np.abs(given).max()


def test_results_go_to_arrays_of_their_type_alone():
    given = coefficients(6).astype(np.complex64)
    out = np.empty((FIELDS, T.grid.points), np.float32)
    assert T.to_grid(given, out) is out
    assert (out == T.to_grid(given)).all()
    with pytest.raises(InputError, match="out, grid points: a contiguous array of float32"):
        T.to_grid(given, np.empty(out.shape))


def test_two_fields_are_single_where_both_are():
    floats, doubles = grid(7).astype(np.float32), grid(8)
    assert T.vorticity_divergence(floats, doubles)[0].dtype == np.complex128
    assert T.to_spectral(np.ones((1, T.grid.points), int)).dtype == np.complex128


@pytest.mark.parametrize("tables", [True, False])
def test_functions_are_rounded_once_and_take_half_the_memory(tables):
    single, double = (LegendreFunctions(T.truncation, tables=tables, precision=each) for each in (SINGLE, DOUBLE))
    assert 2 * single.table_bytes == double.table_bytes
    top = T.truncation.top
    for k in (0, 20, 47):
        parts = [next(each.by_degree(k, top, each.scratch()))[2] for each in (single, double)]
        for found, wanted in zip(*parts, strict=True):
            assert found.dtype == np.float32
            assert (found == np.where(np.abs(wanted) < 2.0**-60, 0, wanted).astype(np.float32)).all()


def test_the_first_precision_is_that_which_is_asked_for():
    single = tw.SpectralTransform("O8", precision="f4")
    assert single.legendre.precision == SINGLE
    field = np.ones((1, single.grid.points))
    assert single.to_spectral(field).dtype == np.complex128
    assert single.to_spectral(field.astype(np.float32)).dtype == np.complex64
    with pytest.raises(InputError, match="unknown precision of a transform 'f2'"):
        tw.SpectralTransform("O8", precision="f2")
