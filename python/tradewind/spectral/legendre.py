"""The Legendre stage of the transform: for each wavenumber, between latitudes and degrees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base import memory
from tradewind.base.errors import InputError
from tradewind.spectral.arrays import checked, fields_of
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Complexes = NDArray[np.complex128]


class Legendre:
    """The Legendre transforms of some wavenumbers, as two matrix products for each: even and odd n - m.

    `truncation`: degrees of each wavenumber, and the rows that keep it. `wavenumbers`: those of this stage, in the
    order in which they lie in memory, all unless given. `tables`: the functions are kept (`table_bytes`), else computed
    again in each transform.

    Fourier coefficients are ``complex128 [m, row][field]``: wavenumber ``wavenumbers[k]`` has entries
    ``fourier_start[k]``..``fourier_start[k + 1] - 1``, all rows of the grid that keep it from north to south. Spectral
    coefficients are ``complex128 [m, n][field]``: its degrees n = m..top are entries
    ``spectral_start[k]``..``spectral_start[k + 1] - 1``.

    Raises InputError for a wavenumber that is not kept or listed twice, and where memory does not suffice for tables.
    """

    def __init__(self, truncation: Truncation, wavenumbers: ArrayLike | None = None, *, tables: bool = True) -> None:
        self.truncation = truncation
        every = truncation.wavenumbers
        self.wavenumbers: Numbers = every if wavenumbers is None else np.asarray(wavenumbers, dtype=np.int64)
        if self.wavenumbers.ndim != 1 or not np.isin(self.wavenumbers, every).all():
            raise InputError(f"wavenumbers of a Legendre stage: numbers of 0..{truncation.degree} are allowed")
        if len(np.unique(self.wavenumbers)) < len(self.wavenumbers):
            raise InputError("wavenumbers of a Legendre stage: each once is allowed")
        m = self.wavenumbers
        self._latitudes: Numbers = truncation.grid.half - truncation.row_begin[m]  # of a hemisphere
        self._degrees: Numbers = truncation.degrees_of(m)
        self.fourier_start: Numbers = np.concatenate([[0], np.cumsum(2 * self._latitudes)])
        self.spectral_start: Numbers = np.concatenate([[0], np.cumsum(self._degrees)])
        sizes = self._latitudes * self._degrees
        self._table_start = np.concatenate([[0], np.cumsum(sizes)])
        self.table_bytes = 8 * int(sizes.sum())
        self._table: Reals | None = None
        if tables:
            memory.require(f"tables of Legendre functions of {truncation!r}", self.table_bytes, "name tables=False")
            self._table = np.empty(int(sizes.sum()))
            for k in range(len(m)):
                self._fill(k, self._functions_at(self._table, k))
        self._scratch = np.empty(0 if tables else int(sizes.max(initial=0)))

    def to_spectral(self, fourier: Complexes, out: Complexes | None = None) -> Complexes:
        """Compute for each wavenumber the sums over latitudes of P(n, m) times its Fourier coefficients."""
        fourier, fields = fields_of(fourier, int(self.fourier_start[-1]), "Fourier coefficients", np.complex128)
        out = checked(out, (int(self.spectral_start[-1]), fields), "spectral coefficients", np.complex128)
        for k, even, odd, rows, degrees in self._products(fourier, out):
            _core.split_parities(rows, even, odd)
            p_even, p_odd = self._functions(k)
            np.matmul(p_even, even, out=degrees[0::2])
            np.matmul(p_odd, odd, out=degrees[1::2])
        return out

    def to_fourier(self, spectral: Complexes, out: Complexes | None = None) -> Complexes:
        """Compute for each wavenumber and latitude the sum over degrees of P(n, m) times spectral coefficients."""
        spectral, fields = fields_of(spectral, int(self.spectral_start[-1]), "spectral coefficients", np.complex128)
        out = checked(out, (int(self.fourier_start[-1]), fields), "Fourier coefficients", np.complex128)
        for k, even, odd, rows, degrees in self._products(out, spectral):
            p_even, p_odd = self._functions(k)
            np.matmul(p_even.T, degrees[0::2], out=even)
            np.matmul(p_odd.T, degrees[1::2], out=odd)
            _core.join_parities(even, odd, rows)
        return out

    def _products(self, fourier: Complexes, spectral: Complexes) -> Iterator[tuple[int, Reals, Reals, Reals, Reals]]:
        """Yield for each wavenumber its place, arrays for both parities, its rows and its degrees, as real numbers."""
        width = 2 * fourier.shape[1]
        reals = [np.ascontiguousarray(array).view(np.float64).reshape(-1, width) for array in (fourier, spectral)]
        parities = np.empty((2, int(self._latitudes.max(initial=0)), width))
        for k, latitudes in enumerate(self._latitudes):
            rows = reals[0][self.fourier_start[k] : self.fourier_start[k + 1]]
            degrees = reals[1][self.spectral_start[k] : self.spectral_start[k + 1]]
            yield k, parities[0, :latitudes], parities[1, :latitudes], rows, degrees

    def _functions(self, k: int) -> tuple[Reals, Reals]:
        """P(n, m) of the k-th wavenumber, even and odd n - m: each [degree][latitude], from the pole to the equator."""
        if self._table is not None:
            values = self._functions_at(self._table, k)
        else:
            values = self._scratch[: self._latitudes[k] * self._degrees[k]]
            self._fill(k, values)
        functions = values.reshape(self._degrees[k], self._latitudes[k])
        even = (int(self._degrees[k]) + 1) // 2
        return functions[:even], functions[even:]

    def _functions_at(self, table: Reals, k: int) -> Reals:
        return table[self._table_start[k] : self._table_start[k + 1]]

    def _fill(self, k: int, values: Reals) -> None:
        m, truncation = int(self.wavenumbers[k]), self.truncation
        _core.legendre(truncation.grid.gaussian, int(truncation.row_begin[m]), m, truncation.top, values)
