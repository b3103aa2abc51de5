"""Operators in spectral space: the Laplacian and its inverse, and the derivatives that winds are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.extents import real_number
from tradewind.spectral.arrays import fields_of
from tradewind.spectral.precision import precision_of
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]

EARTH_RADIUS_M = 6_371_229.0
"""Radius of the sphere in the models of ECMWF, metres."""


_SMALLEST = 1e-100
_RADII = "a positive number of metres is allowed"


class Operators:
    """Operators on the coefficients of a truncation, whose lists may be those of some wavenumbers only.

    With the streamfunction psi and the velocity potential chi, U = u cos(phi) and V = v cos(phi) of the wind are

        a U = d chi/d lambda - cos(phi) d psi/d phi        a V = d psi/d lambda + cos(phi) d chi/d phi

    d/d lambda multiplies a coefficient by i m; cos(phi) d/d phi is a matrix H for each wavenumber, whose entries come
    from (1 - x^2) dP(n)/dx = (n + 1) e(n) P(n - 1) - n e(n + 1) P(n + 1), e(n)^2 = (n^2 - m^2) / (4 n^2 - 1):

        (H psi)(n) = (n + 2) e(n + 1) psi(n + 1) - (n - 1) e(n) psi(n - 1)

    so that winds have one degree more than what they are made of. All arrays are ``[m, n][field]``, ``complex128`` or,
    computed in single precision, ``complex64``.

    `truncation`, `wavenumbers`: as in `Legendre`. `radius`: a, metres. Raises InputError for a radius that is not
    positive.
    """

    def __init__(
        self, truncation: Truncation, wavenumbers: NDArray[np.int64] | None = None, *, radius: float = EARTH_RADIUS_M
    ) -> None:
        if not _SMALLEST <= real_number("radius", radius, _RADII) <= 1 / _SMALLEST:
            raise InputError(f"radius {radius}: {_RADII}")
        self.radius, self.top = float(radius), truncation.top
        own = truncation.wavenumbers if wavenumbers is None else wavenumbers
        self._m, self._n = _numbers(own, truncation.top)
        self._wide_m, self._wide_n = _numbers(own, truncation.top + 1)
        self._inner = self._wide_n <= truncation.top  # coefficients that fields without the additional degree have
        m, n = self._wide_m.astype(float), self._wide_n.astype(float)
        epsilon = np.sqrt((n * n - m * m) / (4 * n * n - 1))
        self._below = (-(n - 1) * epsilon / radius)[:, None]  # of psi(n - 1) in (H psi)(n); 0 at n = m
        above = (n[1:] + 1) * epsilon[1:] / radius  # of psi(n + 1) in (H psi)(n); 0 at the top, where n + 1 begins anew
        self._above = np.append(above, 0.0)[:, None]
        self._east = (1j * m / radius)[:, None]
        self._eigenvalues = -(self._n * (self._n + 1.0)) / radius**2

    def laplacian(self, spectral: Complexes) -> Complexes:
        """Return the Laplacian, coefficients times -n (n + 1) / a^2."""
        return _times(self._eigenvalues[:, None], self._checked(spectral))

    def inverse_laplacian(self, spectral: Complexes) -> Complexes:
        """Return the field without a mean whose Laplacian is this one, but for its mean, which no Laplacian has."""
        return self.solve_helmholtz(spectral, 0.0, -1.0)

    def solve_helmholtz(self, spectral: Complexes, identity: float, laplacian: float) -> Complexes:
        """Return x where identity x - laplacian lap(x) is the given field: the equation of a semi-implicit step.

        Where the operator has no inverse (the mean, for identity 0) the result is 0.
        """
        denominator = identity - laplacian * self._eigenvalues
        inverse = np.divide(1.0, denominator, out=np.zeros_like(denominator), where=denominator != 0)
        return _times(inverse[:, None], self._checked(spectral))

    def wind(self, vorticity: Complexes, divergence: Complexes) -> tuple[Complexes, Complexes]:
        """Return U = u cos(phi) and V = v cos(phi), with one degree more, from vorticity and divergence."""
        psi, chi = (self._widened(self.inverse_laplacian(field)) for field in (vorticity, divergence))
        return _times(self._east, chi) - self._north(psi), _times(self._east, psi) + self._north(chi)

    def wind_adjoint(self, u: Complexes, v: Complexes) -> tuple[Complexes, Complexes]:
        """Apply the transpose of `wind` to coefficients with one degree more, for vorticity and divergence."""
        psi = _times(-self._east, v) - self._north_transposed(u)
        chi = _times(-self._east, u) + self._north_transposed(v)
        return self.inverse_laplacian(psi[self._inner]), self.inverse_laplacian(chi[self._inner])

    def curl(self, u: Complexes, v: Complexes) -> tuple[Complexes, Complexes]:
        """Return vorticity and divergence from the coefficients of u / cos(phi) and v / cos(phi) to one degree more."""
        vorticity = _times(self._east, v) + self._north_transposed(u)
        divergence = _times(self._east, u) - self._north_transposed(v)
        return vorticity[self._inner], divergence[self._inner]

    def curl_adjoint(self, vorticity: Complexes, divergence: Complexes) -> tuple[Complexes, Complexes]:
        """Apply the transpose of `curl` to vorticity and divergence."""
        curl, spread = self._widened(self._checked(vorticity)), self._widened(self._checked(divergence))
        return self._north(curl) - _times(self._east, spread), _times(-self._east, curl) - self._north(spread)

    def gradient(self, spectral: Complexes) -> tuple[Complexes, Complexes]:
        """Return the coefficients of cos(phi) times the gradient to the east and north, with one degree more."""
        wide = self._widened(self._checked(spectral))
        return _times(self._east, wide), self._north(wide)

    def gradient_adjoint(self, east: Complexes, north: Complexes) -> Complexes:
        """Apply the transpose of `gradient` to coefficients with one degree more."""
        wide: Complexes = self._north_transposed(north) - _times(self._east, east)
        return wide[self._inner]

    def widened(self, spectral: Complexes) -> Complexes:
        """Return coefficients with one degree more, which are 0 there."""
        return self._widened(spectral)

    def narrowed(self, wide: Complexes, out: Complexes) -> None:
        """Copy coefficients without the additional degree."""
        np.compress(self._inner, wide, axis=0, out=out)

    def _checked(self, spectral: Complexes) -> Complexes:
        dtype = precision_of(spectral).complex_type
        array: Complexes = fields_of(spectral, len(self._n), "spectral coefficients", dtype)[0]
        return array

    def _widened(self, spectral: Complexes) -> Complexes:
        wide = np.zeros((len(self._inner), spectral.shape[1]), spectral.dtype)
        wide[self._inner] = spectral
        return wide

    def _north(self, wide: Complexes) -> Complexes:
        """H of each wavenumber, over the radius."""
        out = np.zeros_like(wide)
        out[:-1] = _times(self._above[:-1], wide[1:])
        out[1:] += _times(self._below[1:], wide[:-1])
        return out

    def _north_transposed(self, wide: Complexes) -> Complexes:
        out = np.zeros_like(wide)
        out[1:] = _times(self._above[:-1], wide[:-1])
        out[:-1] += _times(self._below[1:], wide[1:])
        return out


def _times(factors: Any, fields: Complexes) -> Complexes:
    """Return fields times factors of their coefficients, in the precision of the fields."""
    types = precision_of(fields)
    product: Complexes = factors.astype(types.complex if np.iscomplexobj(factors) else types.real, copy=False) * fields
    return product


def _numbers(wavenumbers: NDArray[np.int64], top: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return m and n of the coefficients in the order of memory."""
    m = np.repeat(wavenumbers, top + 1 - wavenumbers)
    n = np.concatenate([np.arange(0), *(np.arange(k, top + 1) for k in wavenumbers)])
    return m, n
