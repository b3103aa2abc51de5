"""Winds in a transform on many ranks: on the grid u and v, in spectral space vorticity and divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.spectral.operators import Operators

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.spectral.fourier import Fourier
    from tradewind.spectral.truncation import Truncation

    Reals = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]

WIND_VARIABLES = 2
"""The first variables of each level: vorticity and divergence, or u and v."""


class PerCosine:
    """Divides the winds of some rows by the cosine of their latitudes; see `tradewind.spectral.operators`.

    `variables`: of each level, the first two are the wind.
    """

    def __init__(self, fourier: Fourier, variables: int) -> None:
        truncation, rows = fourier.truncation, fourier.rows
        self._variables = variables
        per_cosine = 1 / truncation.grid.cosines
        self._points: Reals = np.repeat(per_cosine[rows], truncation.grid.rows[rows])
        numbers = [rows[begin:end] for begin, end in zip(fourier.row_begin, fourier.row_end, strict=True)]
        self._coefficients: Reals = per_cosine[np.concatenate([np.empty(0, np.int64), *numbers])]

    def points(self, rows: Reals) -> None:
        """Divide the winds among ``float64 [field][point]``."""
        by_level = rows.reshape(-1, self._variables, rows.shape[1])
        by_level[:, :WIND_VARIABLES] *= self._points.astype(rows.dtype, copy=False)

    def coefficients(self, fourier: Complexes) -> None:
        """Divide the winds among Fourier coefficients, ``complex128 [m, row][field]``."""
        by_level = fourier.reshape(len(fourier), -1, self._variables)
        factors = self._coefficients.astype(fourier.real.dtype, copy=False)
        by_level[:, :, :WIND_VARIABLES] *= factors[:, None, None]


class WindOperators:
    """Vorticity and divergence to U = u cos(phi) and V = v cos(phi), and back from u / cos(phi) and v / cos(phi).

    Of some wavenumbers, whose arrays are ``complex128 [m, n][level, variable]``; winds have one degree more, as have
    the other variables, which then are 0 there. `adjoint`: the transpose of the way back, and of the way forth.
    """

    def __init__(
        self, truncation: Truncation, wavenumbers: NDArray[np.int64], variables: int, *, radius: float
    ) -> None:
        self._operators = Operators(truncation, wavenumbers, radius=radius)
        self._variables = variables

    def to_winds(self, spectral: Complexes, *, adjoint: bool = False) -> Complexes:
        """Return the coefficients with one degree more."""
        operate = self._operators.curl_adjoint if adjoint else self._operators.wind
        wide = self._operators.widened(spectral)
        wide[:, :: self._variables], wide[:, 1 :: self._variables] = operate(*self._pair(spectral))
        return wide

    def from_winds(self, wide: Complexes, out: Complexes, *, adjoint: bool = False) -> None:
        """Compute the coefficients without the additional degree."""
        operate = self._operators.wind_adjoint if adjoint else self._operators.curl
        self._operators.narrowed(wide, out)
        out[:, :: self._variables], out[:, 1 :: self._variables] = operate(*self._pair(wide))

    def to_gradient(self, spectral: Complexes) -> Complexes:
        """Return the coefficients of cos(phi) times the gradient of the first variable of each level, in both."""
        wide = self._operators.widened(spectral)
        first = np.ascontiguousarray(spectral[:, :: self._variables])
        wide[:, :: self._variables], wide[:, 1 :: self._variables] = self._operators.gradient(first)
        return wide

    def from_gradient(self, wide: Complexes, out: Complexes) -> None:
        """Compute the first variable of each level by the transpose of `to_gradient`; the second one is 0."""
        self._operators.narrowed(wide, out)
        out[:, :: self._variables] = self._operators.gradient_adjoint(*self._pair(wide))
        out[:, 1 :: self._variables] = 0

    def _pair(self, fields: Complexes) -> tuple[Complexes, Complexes]:
        first, second = fields[:, :: self._variables], fields[:, 1 :: self._variables]
        return np.ascontiguousarray(first), np.ascontiguousarray(second)
