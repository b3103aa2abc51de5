"""The spherical-harmonics transform in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradewind.spectral.fourier import Fourier
from tradewind.spectral.grid import GaussianGrid
from tradewind.spectral.legendre import Legendre
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Complexes = NDArray[np.complex128]


class SpectralTransform:
    """The spherical-harmonics transform between a Gaussian grid and spectral coefficients, of many fields together.

    A real field on the sphere is the sum over m = -T..T and n = |m|..T of f(m, n) P(n, m)(sin phi) exp(i m lambda),
    where the mean over the sphere of |P exp(i m lambda)|^2 is 1. Coefficients of m < 0 are the complex conjugates of
    those of -m, and are not stored. This is the normalisation of ecTrans.

    `grid`: ``"O80"``, ``"F80"``, or a `GaussianGrid`. `degree`, `rule`: see `Truncation`; an octahedral grid has the
    cubic truncation unless another one is named, TCo79 on O80. `tables`: Legendre functions are kept in memory, else
    they are computed in each transform.

    Grid points are ``float64 [field][point]``, spectral coefficients ``complex128 [m, n][field]``. Raises InputError
    for a truncation that the grid cannot hold, for arrays whose shapes do not fit, and where memory does not suffice.
    """

    def __init__(
        self,
        grid: GaussianGrid | str,
        degree: int | None = None,
        rule: str | None = None,
        *,
        tables: bool = True,
    ) -> None:
        self.truncation = Truncation(grid, degree, rule)
        self.grid = self.truncation.grid
        self.fourier = Fourier(self.truncation)
        self.legendre = Legendre(self.truncation, tables=tables)

    def to_spectral(self, grid: Reals) -> Complexes:
        """Return the spectral coefficients [m, n][field] of fields on the grid [field][point]: the direct transform."""
        return self.legendre.to_spectral(self.fourier.to_fourier(grid))

    def to_grid(self, spectral: Complexes) -> Reals:
        """Return fields on the grid [field][point] from spectral coefficients [m, n][field]: the inverse transform."""
        return self.fourier.to_grid(self.legendre.to_fourier(spectral))
