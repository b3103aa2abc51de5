"""Fields on the grid and their coefficients against formulas, SciPy, ducc0 and ecTrans itself."""

from __future__ import annotations

import ducc0
import ectrans4py
import numpy as np
import pytest
from scipy.special import sph_harm_y
from spectral_fields import Array, m_and_n, random_grid, random_spectral, relative_maximum, relative_rms

from tradewind.base.errors import InputError, NotFiniteError
from tradewind.spectral import GaussianGrid, SpectralTransform

RMS = 1e-12
MAXIMUM = {True: 1e-12, False: 1e-10}
"""Largest differences that are allowed: at T79, and to TCo639; in units of the field's root mean square."""


def resolutions() -> list[object]:
    slow = [
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (("O80", None), ("O160", None), ("O320", None), ("O640", None), ("F80", 79), ("F160", 319))
    ]
    return [("O80", 105), ("F40", None), *slow]


@pytest.fixture(scope="module", autouse=True)
def _one_thread_of_ectrans() -> None:
    ectrans4py.init_env(omp_num_threads=1)


def kept_alone(transform: SpectralTransform, spectral: Array, row: int) -> Array:
    """The coefficients whose wavenumbers a row keeps, the others 0."""
    m, _ = m_and_n(transform.truncation)
    return np.where((m < transform.truncation.kept[row])[:, None], spectral, 0)


def synthesised(transform: SpectralTransform, spectral: Array) -> Array:
    """One field on the grid by ducc0, row by row from the wavenumbers that each row keeps."""
    grid, truncation = transform.grid, transform.truncation
    m, _ = m_and_n(truncation)
    out = np.empty(grid.points)
    theta = np.arccos(np.sin(np.radians(grid.latitudes)))
    theta[: grid.half], theta[grid.half :] = grid.gaussian.colatitude, np.pi - grid.gaussian.colatitude[::-1]
    for kept in np.unique(truncation.kept):
        rows = np.flatnonzero(truncation.kept == kept)
        alm = spectral[m < kept, 0] * (-1.0) ** m[m < kept] * np.sqrt(4 * np.pi)
        values = ducc0.sht.synthesis(
            alm=alm[None],
            theta=theta[rows],
            nphi=grid.rows[rows].astype(np.uint64),
            phi0=np.zeros(len(rows)),
            ringstart=np.concatenate([[0], np.cumsum(grid.rows[rows])[:-1]]).astype(np.uint64),
            lmax=truncation.degree,
            mmax=int(kept) - 1,
            spin=0,
        )[0]
        out[np.concatenate([np.arange(grid.first[row], grid.first[row + 1]) for row in rows])] = values
    return out


@pytest.mark.parametrize(("name", "degree"), resolutions())
def test_fields_are_those_of_ducc0(name: str, degree: int | None) -> None:
    transform = SpectralTransform(name, degree)
    spectral = random_spectral(transform.truncation)
    truth, found = synthesised(transform, spectral), transform.to_grid(spectral)[0]
    assert relative_rms(found, truth) < RMS
    assert relative_maximum(found, truth) < MAXIMUM[transform.truncation.degree <= 79]


@pytest.mark.parametrize(("name", "degree"), resolutions())
def test_both_directions_are_those_of_ectrans(name: str, degree: int | None) -> None:
    transform = SpectralTransform(name, degree)
    rows, truncation = transform.grid.rows, transform.truncation
    shape = (len(rows), truncation.degree)
    assert (ectrans4py.trans_inq4py(*shape, len(rows), rows, 99)[2] + 1 == truncation.kept).all()
    spectral = random_spectral(truncation)[:, 0]
    reals = spectral.view(float)
    truth, north, east = ectrans4py.sp2gp_gauss4py(
        *shape, 99, transform.grid.points, len(rows), rows, len(reals), True, False, reals
    )
    found = transform.to_grid(spectral)
    gradient = transform.gradient(spectral)
    back = ectrans4py.gp2sp_gauss4py(
        len(reals), *shape, 99, len(rows), rows, transform.grid.points, False, np.ascontiguousarray(truth)
    )
    pairs = [(found, truth), (gradient[0], east), (gradient[1], north)]
    pairs.append((transform.to_spectral(truth), np.ascontiguousarray(back).view(complex)))
    for ours, theirs in pairs:
        assert relative_rms(ours, theirs) < RMS
        assert relative_maximum(ours, theirs) < MAXIMUM[truncation.degree <= 79]


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 1), (1, 1), (3, 20), (19, 19), (0, 79), (40, 79), (79, 79)])
def test_one_harmonic_is_one_coefficient(m: int, n: int) -> None:
    """On the full grid, whose rows keep all wavenumbers: SciPy's harmonic in, one coefficient out, and back."""
    transform = SpectralTransform("F80", 79)
    spectral = np.zeros(transform.truncation.coefficients, complex)
    spectral[transform.truncation.index(m, n)] = 1
    theta = np.concatenate([colatitude := transform.grid.gaussian.colatitude, np.pi - colatitude[::-1]])
    truth = (-1) ** m * np.sqrt(4 * np.pi) * sph_harm_y(n, m, theta[:, None], np.radians(transform.grid.longitudes(0)))
    field = (truth.real * (1 if m == 0 else 2)).ravel()
    assert np.abs(transform.to_spectral(field) - spectral).max() < 1e-13
    found = transform.to_grid(spectral)
    assert relative_rms(found, field) < 1e-13
    assert relative_maximum(found, field) < 2e-12  # SciPy's own, near the poles


@pytest.mark.parametrize(("m", "n"), [(0, 79), (5, 60), (79, 79)])
def test_one_harmonic_is_one_coefficient_on_the_octahedral_grid(m: int, n: int) -> None:
    transform = SpectralTransform("O80")
    spectral = np.zeros(transform.truncation.coefficients, complex)
    spectral[transform.truncation.index(m, n)] = 1
    back = transform.to_spectral(transform.to_grid(spectral))
    # Rows near the poles leave out what is there of their highest wavenumbers: it is this small.
    assert np.abs(back - spectral).max() < 1e-9
    assert np.sqrt((np.abs(back - spectral) ** 2).mean()) < 1e-11


@pytest.mark.parametrize("name", ["O40", "F20"])
def test_parseval(name: str) -> None:
    """The mean square of a field over the sphere is the sum of those of its coefficients, m > 0 twice."""
    half = SpectralTransform(name).truncation.degree // 2  # squares are still integrated exactly
    transform = SpectralTransform(name, half)
    spectral = random_spectral(transform.truncation)
    m, _ = m_and_n(transform.truncation)
    field = transform.to_grid(spectral)[0]
    per_point = np.repeat(transform.fourier.quadrature, transform.grid.rows)
    power = (np.abs(spectral[:, 0]) ** 2 * np.where(m > 0, 2, 1)).sum()
    assert (per_point * field**2).sum() == pytest.approx(power, rel=1e-9 if name[0] == "O" else 1e-13)


@pytest.mark.parametrize(
    ("name", "rms", "maximum"),
    [
        ("F40", 1e-14, 1e-13),
        ("O80", 3e-11, 2e-9),
        ("O160", 1e-12, 1e-9),
        pytest.param("O640", 1e-12, 1e-10, marks=pytest.mark.slow),
    ],
)
def test_round_trip_of_white_noise(name: str, rms: float, maximum: float) -> None:
    transform = SpectralTransform(name)
    spectral = random_spectral(transform.truncation, 2)
    back = transform.to_spectral(transform.to_grid(spectral))
    assert relative_rms(back, spectral) < rms
    assert np.abs(back - spectral).max() < maximum


def test_rows_of_any_kind() -> None:
    """A reduced grid without a name, with odd rows, too, beside ducc0."""
    rows = [18, 25, 36, 40, 45, 54, 60, 64, 64, 64]
    transform = SpectralTransform(GaussianGrid(rows=rows + rows[::-1]), 19)
    spectral = random_spectral(transform.truncation)
    assert transform.truncation.rule == "linear"
    assert relative_maximum(transform.to_grid(spectral)[0], synthesised(transform, spectral)) < 1e-13


@pytest.mark.parametrize("axes", [(), (1,), (3,), (2, 5), (0,)])
def test_other_axes_are_kept(axes: tuple[int, ...]) -> None:
    transform = SpectralTransform("O16")
    fields = int(np.prod(axes, dtype=int))
    grid = random_grid(transform, fields)
    spectral = transform.to_spectral(grid.reshape(*axes, -1) if fields else grid)
    assert spectral.shape == (transform.truncation.coefficients, *axes)
    alone = [transform.to_spectral(field) for field in grid]
    for field, own in enumerate(alone):
        np.testing.assert_allclose(spectral.reshape(-1, fields)[:, field], own, rtol=0, atol=1e-15)
    back = transform.to_grid(spectral)
    assert back.shape == (*axes, transform.grid.points)


@pytest.mark.parametrize("tables", [True, False])
def test_threads_and_tables_do_not_change_a_bit(tables: bool) -> None:
    one, other = SpectralTransform("O40"), SpectralTransform("O40", threads=3, tables=tables)
    spectral = random_spectral(one.truncation, 5)
    grid = one.to_grid(spectral)
    np.testing.assert_array_equal(other.to_grid(spectral), grid)
    np.testing.assert_array_equal(other.to_spectral(grid), one.to_spectral(grid))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_found(bad: float) -> None:
    transform = SpectralTransform("O16")
    grid, spectral = np.ones((3, transform.grid.points)), random_spectral(transform.truncation, 3)
    grid[1, 77] = spectral[100, 2] = bad
    with pytest.raises(NotFiniteError, match=f"field 1 has {bad} at point 77, and 0 more"):
        transform.to_spectral(grid)
    with pytest.raises(NotFiniteError, match=r"field 2 has .* at coefficient 100, and 0 more"):
        transform.to_grid(spectral)
    with pytest.raises(NotFiniteError, match=f"field 4 has {bad} at point 77"):
        transform.vorticity_divergence(np.ones_like(grid), grid)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda t: t.to_spectral(np.ones((2, 99))), r"fields of shape \(2, 99\) on O16: \(..., 1600\) is allowed"),
        (lambda t: t.to_grid(np.ones((99, 2))), r"shape \(99, 2\) of Truncation\('O16', 15, 'cubic'\): \(136, ...\)"),
        (lambda t: t.to_spectral(np.ones(1600, complex)), "grid points of type complex128: float64 is allowed"),
        (lambda t: t.wind(np.ones((136, 2)), np.ones((136, 3))), r"\(2,\) and \(3,\): equal ones are allowed"),
        (lambda t: t.to_grid_adjoint(np.ones(1600), "round"), "plain and weighted are allowed"),
        (lambda _: SpectralTransform("O16", 40), "truncation T40 on grid O16: T0..T31 are allowed"),
        (lambda _: SpectralTransform("O16", threads=0), "threads of a transform 0: a whole number, 1 or more"),
        (lambda _: SpectralTransform("O16", radius=-1), "radius -1: a positive number of metres is allowed"),
    ],
)
def test_bad_input(wrong: object, text: str) -> None:
    with pytest.raises(InputError, match=text):
        wrong(SpectralTransform("O16"))
