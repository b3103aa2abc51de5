"""The Legendre stage of the transform: for each wavenumber, between latitudes and degrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.spectral.arrays import checked, fields_of
from tradewind.spectral.functions import LegendreFunctions
from tradewind.spectral.precision import DOUBLE, Precision
from tradewind.spectral.threads import checked_threads, split_work
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]


class Legendre:
    """The Legendre transforms of some wavenumbers, as two matrix products for each: even and odd n - m.

    `truncation`: degrees of each wavenumber, and the rows that keep it. `wavenumbers`: those of this stage, in the
    order in which they lie in memory, all unless given. `latitudes_of`: for each of them the first of its latitudes,
    counted from the pole, and the one before which they end, all that keep it unless given; with fewer `to_spectral`
    returns their share of the sums. `tables`: the functions are kept, else computed again in each transform; or
    `LegendreFunctions` of these wavenumbers, which several stages share. `threads` share out wavenumbers.

    Fourier coefficients are ``complex128 [m, row][field]``: wavenumber ``wavenumbers[k]`` has entries
    ``fourier_start[k]``..``fourier_start[k + 1] - 1``, the rows of its latitudes from north to south. Spectral
    coefficients are ``complex128 [m, n][field]``: its degrees n = m..top are entries
    ``spectral_start[k]``..``spectral_start[k + 1] - 1``. `precision`: that of functions, products and arrays; single
    has ``complex64``.

    Raises InputError for a wavenumber that is not kept or listed twice, and where memory does not suffice for tables.
    """

    def __init__(
        self,
        truncation: Truncation,
        wavenumbers: ArrayLike | None = None,
        *,
        latitudes_of: Sequence[tuple[int, int]] | None = None,
        tables: bool | LegendreFunctions = True,
        threads: int = 1,
        precision: Precision = DOUBLE,
    ) -> None:
        self.truncation, self.threads = truncation, checked_threads(threads)
        if isinstance(tables, LegendreFunctions):
            self.functions = tables
            if wavenumbers is not None and not np.array_equal(wavenumbers, tables.wavenumbers):
                raise InputError("wavenumbers of a Legendre stage: those of its Legendre functions are allowed")
            if tables.truncation.top < truncation.top or tables.truncation.grid is not truncation.grid:
                raise InputError(f"Legendre functions of {tables.truncation!r} do not serve {truncation!r}")
        else:
            self.functions = LegendreFunctions(
                truncation,
                wavenumbers,
                latitudes_of=latitudes_of,
                tables=tables,
                threads=threads,
                precision=precision,
            )
        self.precision = self.functions.precision
        self.wavenumbers: Numbers = self.functions.wavenumbers
        begin, end = self.functions.begin, self.functions.end
        self.fourier_start: Numbers = np.concatenate([[0], np.cumsum(2 * (end - begin))])
        self._negligible: Numbers = self.functions.first - begin  # rows of a hemisphere whose functions are taken as 0
        self.spectral_start: Numbers = np.concatenate([[0], np.cumsum(truncation.degrees_of(self.wavenumbers))])

    def to_spectral(self, fourier: Complexes, out: Complexes | None = None) -> Complexes:
        """Compute for each wavenumber the sums over latitudes of P(n, m) times its Fourier coefficients."""
        dtype = self.precision.complex_type
        fourier, fields = fields_of(fourier, int(self.fourier_start[-1]), "Fourier coefficients", dtype)
        out = checked(out, (int(self.spectral_start[-1]), fields), "spectral coefficients", dtype)

        def work(places: range) -> None:
            scratch = self.functions.scratch()
            for k, parities, rows, degrees in self.parts(places, fourier, out):
                _core.split_parities(rows, *parities)
                for begin, end, functions in self.functions.by_degree(k, self.truncation.top, scratch):
                    for parity in (0, 1):
                        np.matmul(functions[parity], parities[parity], out=degrees[begin + parity : end : 2])

        self._split_work(work)
        return out

    def to_fourier(self, spectral: Complexes, out: Complexes | None = None) -> Complexes:
        """Compute for each wavenumber and latitude the sum over degrees of P(n, m) times spectral coefficients."""
        dtype = self.precision.complex_type
        spectral, fields = fields_of(spectral, int(self.spectral_start[-1]), "spectral coefficients", dtype)
        out = checked(out, (int(self.fourier_start[-1]), fields), "Fourier coefficients", dtype)

        def work(places: range) -> None:
            scratch = self.functions.scratch()
            for k, parities, rows, degrees in self.parts(places, out, spectral):
                for begin, end, functions in self.functions.by_latitude(k, self.truncation.top, scratch):
                    for parity in (0, 1):
                        np.matmul(functions[parity].T, degrees[parity::2], out=parities[parity][begin:end])
                _core.join_parities(*parities, rows)
            for k in places:
                if self._negligible[k]:
                    out[self.fourier_start[k] :][: self._negligible[k]] = 0
                    out[: self.fourier_start[k + 1]][-self._negligible[k] :] = 0

        self._split_work(work)
        return out

    def _split_work(self, work: Callable[[range], None]) -> None:
        """Divide the wavenumbers among the threads; what is not finite goes through products without a warning."""

        def quietly(places: range) -> None:
            with np.errstate(invalid="ignore", over="ignore"):
                work(places)

        split_work(self.threads, len(self.wavenumbers), quietly)

    def parts(
        self, places: range, fourier: Complexes, spectral: Complexes
    ) -> Iterator[tuple[int, tuple[Reals, Reals], Reals, Reals]]:
        """Yield wavenumbers, by their places, arrays for both parities, rows and degrees, complex as two reals."""
        width, real = 2 * fourier.shape[1], self.precision.real_type
        all_rows, all_degrees = (array.view(real).reshape(len(array), width) for array in (fourier, spectral))
        parities = np.empty((2, int(self.functions.latitudes.max(initial=0)), width), real)
        skipped = self._negligible
        for k in places:
            latitudes = self.functions.latitudes[k]
            rows = all_rows[self.fourier_start[k] + skipped[k] : self.fourier_start[k + 1] - skipped[k]]
            degrees = all_degrees[self.spectral_start[k] : self.spectral_start[k + 1]]
            yield k, (parities[0, :latitudes], parities[1, :latitudes]), rows, degrees
