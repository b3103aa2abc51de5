"""The bi-Fourier transform of a doubly periodic limited area, with an elliptic truncation, as of ALADIN and AROME.

    f(x, y) = sum (m = -M..M) sum (|n| <= N(m)) c(m, n) exp(2 pi i (m x / nx + n y / ny))

for points x = 0..nx-1, y = 0..ny-1. The coefficients of -m are conjugates of those of m, and not stored. An ellipse
keeps the same shortest wave in all directions: N(m) = N / M sqrt(M^2 - m^2), rounded down as ecTrans does.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Complexes = NDArray[np.complex128]

_ROUNDING = 1e-10
"""Margin of ecTrans, so that a whole number stays one."""


def largest_wavenumber(points: int) -> int:
    """Return the largest wavenumber that `points` points hold with sine and cosine."""
    return (points - 1) // 2


def quadratic_wavenumber(points: int) -> int:
    """Return the largest wavenumber whose products with others do not alias: three points per shortest wave."""
    return (points - 1) // 3


class EllipticTruncation:
    """The wavenumbers (m, n) that are kept of nx x ny points: m = 0..M, n = -N(m)..N(m).

    `grid`: (nx, ny); `largest`: (M, N), those of quadratic truncation unless given. Coefficients are stored by m, those
    of a wavenumber by n, ascending. Raises InputError for wavenumbers that the grid cannot hold, or below 1.
    """

    def __init__(self, grid: tuple[int, int], largest: tuple[int, int] | None = None) -> None:
        self.grid = grid
        chosen = largest or (quadratic_wavenumber(grid[0]), quadratic_wavenumber(grid[1]))
        problems = []
        for axis, wavenumber, points in zip("xy", chosen, grid, strict=True):
            most = largest_wavenumber(points)
            if not 1 <= wavenumber <= most:
                allowed = f"1..{most} are allowed" if most > 0 else "3 points or more are needed"
                problems.append(f"truncation {wavenumber} along {axis}, with {points} points: {allowed}")
        if problems:
            raise InputError(*problems)
        self.m_largest, self.n_largest = chosen

    def __repr__(self) -> str:
        return f"EllipticTruncation({self.grid}, ({self.m_largest}, {self.n_largest}))"

    @cached_property
    def limits(self) -> Numbers:
        """N(m) of m = 0..M."""
        m, largest = np.arange(self.m_largest + 1.0), float(self.m_largest)
        return (self.n_largest / largest * np.sqrt(largest**2 - m**2) + _ROUNDING).astype(np.int64)

    @cached_property
    def start(self) -> Numbers:
        """Where the coefficients of each m begin; the last entry is how many there are."""
        return np.concatenate([[0], np.cumsum(2 * self.limits + 1)])

    @property
    def coefficients(self) -> int:
        """Number of complex coefficients."""
        return int(self.start[-1])

    @cached_property
    def m(self) -> Numbers:
        """m of each coefficient."""
        return np.repeat(np.arange(self.m_largest + 1), 2 * self.limits + 1)

    @cached_property
    def n(self) -> Numbers:
        """n of each coefficient."""
        return np.concatenate([np.arange(-limit, limit + 1) for limit in self.limits])


class BiFourier:
    """The transform in one process, between fields ``float64 [...][y][x]`` and coefficients ``complex128 [...][m, n]``.

    `truncation`: see `EllipticTruncation`, whose arguments it may be given in place.
    """

    def __init__(
        self, truncation: EllipticTruncation | tuple[int, int], largest: tuple[int, int] | None = None
    ) -> None:
        import scipy.fft  # here, as all commands import this module

        self._fft = scipy.fft
        if isinstance(truncation, EllipticTruncation):
            self.truncation = truncation
        else:
            self.truncation = EllipticTruncation(truncation, largest)

    def to_spectral(self, fields: ArrayLike) -> Complexes:
        """Return the coefficients of fields; what the ellipse does not keep is lost. Raises InputError."""
        fields, (nx, ny) = np.asarray(fields, float), self.truncation.grid
        if fields.shape[-2:] != (ny, nx):
            raise InputError(f"fields of the shape {fields.shape}: [...][{ny}][{nx}] is allowed")
        both = self._fft.rfft2(fields, norm="forward")
        return np.asarray(both[..., self.truncation.n % ny, self.truncation.m])

    def to_grid(self, coefficients: ArrayLike) -> Reals:
        """Return the fields of coefficients. Those of m = 0 are taken for n >= 0. Raises InputError."""
        c, (nx, ny) = np.asarray(coefficients, complex), self.truncation.grid
        if c.shape[-1:] != (self.truncation.coefficients,):
            raise InputError(f"coefficients of the shape {c.shape}: [...][{self.truncation.coefficients}] is allowed")
        both = np.zeros((*c.shape[:-1], ny, nx // 2 + 1), complex)
        both[..., self.truncation.n % ny, self.truncation.m] = c
        top = int(self.truncation.limits[0])
        both[..., 0, 0] = both[..., 0, 0].real
        both[..., ny - top :, 0] = np.conj(both[..., top:0:-1, 0])
        return np.asarray(self._fft.irfft2(both, s=(ny, nx), norm="forward"))

    def gradient(
        self, coefficients: ArrayLike, lengths: tuple[float, float] | None = None
    ) -> tuple[Complexes, Complexes]:
        """Return the coefficients of the derivatives along x and y.

        `lengths`: of the whole area along x and y; its points unless given.
        """
        c = np.asarray(coefficients, complex)
        x, y = lengths or self.truncation.grid
        return 2j * np.pi / x * self.truncation.m * c, 2j * np.pi / y * self.truncation.n * c

    def inverse_laplacian(self, coefficients: ArrayLike, lengths: tuple[float, float] | None = None) -> Complexes:
        """Return the coefficients whose Laplacian these are, with a mean of 0."""
        c = np.asarray(coefficients, complex)
        x, y = lengths or self.truncation.grid
        squares = (2 * np.pi / x * self.truncation.m) ** 2 + (2 * np.pi / y * self.truncation.n) ** 2
        return np.asarray(c * np.divide(-1.0, squares, out=np.zeros_like(squares), where=squares > 0))
