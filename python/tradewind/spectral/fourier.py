"""The Fourier stage of the transform: along rows, between grid points and Fourier coefficients by wavenumber."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.spectral.arrays import checked, fields_of
from tradewind.spectral.precision import precision_of
from tradewind.spectral.threads import checked_threads, split_work
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]


class Fourier:
    """The Fourier transforms of some rows of a grid, those of all fields of a row at a time.

    `truncation`: which wavenumbers the rows keep. `rows`: the rows, ascending from the north, all of them unless given.
    `threads` share out the rows.

    Grid points are ``float64 [field][point]``, the rows of this stage one after another: row ``rows[i]`` has the points
    ``first[i]``..``first[i + 1] - 1``. Fourier coefficients are ``complex128 [m, row][field]``: for each wavenumber m =
    0..T those of this stage's rows that keep it, ``rows[row_begin[m]:row_end[m]]``, from north to south. They lie from
    entry ``start[m]`` to ``start[m + 1] - 1``; of row ``rows[i]`` that is entry ``start[m] + i - row_begin[m]``. Grid
    points ``float32`` have Fourier coefficients ``complex64``, computed in single precision.

    Raises InputError for rows that are not ascending or not of the grid.
    """

    def __init__(self, truncation: Truncation, rows: ArrayLike | None = None, *, threads: int = 1) -> None:
        self._forward, self._back = _transforms()
        self.truncation, self.threads = truncation, checked_threads(threads)
        every = len(truncation.grid.rows)
        self.rows: Numbers = np.arange(every) if rows is None else np.asarray(rows, dtype=np.int64)
        inside = not self.rows.size or (self.rows.min() >= 0 and self.rows.max() < every)
        if self.rows.ndim != 1 or not inside or (np.diff(self.rows) <= 0).any():
            raise InputError(f"rows of a Fourier stage: ascending numbers of 0..{every - 1} are allowed")
        self.first: Numbers = np.concatenate([[0], np.cumsum(truncation.grid.rows[self.rows])])
        self.points = int(self.first[-1])
        self.row_begin: Numbers = np.searchsorted(self.rows, truncation.row_begin)
        self.row_end: Numbers = np.searchsorted(self.rows, truncation.row_end)
        self.start: Numbers = np.concatenate([[0], np.cumsum(self.row_end - self.row_begin)])
        self.coefficients = int(self.start[-1])
        self._places = np.ascontiguousarray(self.start[:-1] - self.row_begin)  # of row 0, were it kept

    @property
    def quadrature(self) -> Reals:
        """Factor of each row in a mean over the sphere: Gaussian weight over the points of the row. [row]"""
        grid = self.truncation.grid
        return grid.weights[self.rows] / grid.rows[self.rows]

    def to_fourier(
        self, grid: Reals, out: Complexes | None = None, *, factors: Reals | None = None, twice: float = 1.0
    ) -> Complexes:
        """Compute Fourier coefficients, sums over the points of a row of f exp(-i m lambda), from grid points.

        `factors` [row]: what the coefficients of a row are multiplied by; `quadrature` unless given, so that what
        `Legendre.to_spectral` makes of them are spectral coefficients. `twice`: a factor of all but the mean, m > 0.
        """
        types = precision_of(grid)
        grid, fields = fields_of(grid, self.points, "grid points", types.real_type, points_last=True)
        out = checked(out, (self.coefficients, fields), "Fourier coefficients", types.complex_type)
        factors = self.quadrature if factors is None else factors

        def work(places: range) -> None:
            for i in places:
                kept = self.truncation.kept[self.rows[i]]
                line = self._forward(grid[:, self.first[i] : self.first[i + 1]])
                _core.spread_row(line, out, self._places[:kept] + i, factors[i], twice * factors[i])

        split_work(self.threads, len(self.rows) if fields else 0, work)
        return out

    def to_grid(
        self, fourier: Complexes, out: Reals | None = None, *, factors: Reals | None = None, twice: float = 1.0
    ) -> Reals:
        """Compute grid points from Fourier coefficients: the real part of their sum, all but the mean (m > 0) twice.

        `factors` [row]: what the coefficients of a row are multiplied by before, 1 unless given. `twice`: another
        factor of all but the mean.
        """
        types = precision_of(fourier)
        fourier, fields = fields_of(fourier, self.coefficients, "Fourier coefficients", types.complex_type)
        out = checked(out, (fields, self.points), "grid points", types.real_type)
        factors = np.ones(len(self.rows)) if factors is None else factors
        lengths = self.truncation.grid.rows[self.rows]

        def work(places: range) -> None:
            lines = np.empty((fields, max(lengths, default=0) // 2 + 1), types.complex_type)
            for i in places:
                kept, line = self.truncation.kept[self.rows[i]], lines[:, : lengths[i] // 2 + 1]
                _core.collect_row(fourier, self._places[:kept] + i, line, factors[i], twice * factors[i])
                self._back(line, out[:, self.first[i] : self.first[i + 1]])

        split_work(self.threads, len(self.rows) if fields else 0, work)
        return out


def _transforms() -> tuple[Callable[[Reals], Complexes], Callable[[Complexes, Reals], None]]:
    """Return the transforms of real lines ``[line][point]`` and back, not scaled: ducc0's, SciPy's where it is missing.

    Both are imported here, as all commands import this module.
    """
    if find_spec("ducc0") is not None:
        import ducc0

        def forward(lines: Reals) -> Complexes:
            return np.asarray(ducc0.fft.r2c(lines, axes=(1,)))

        def back(coefficients: Complexes, out: Reals) -> None:
            ducc0.fft.c2r(coefficients, axes=(1,), lastsize=out.shape[1], forward=False, out=out)

    else:
        import scipy.fft

        def forward(lines: Reals) -> Complexes:
            return np.asarray(scipy.fft.rfft(lines, axis=1))

        def back(coefficients: Complexes, out: Reals) -> None:
            out[:] = scipy.fft.irfft(coefficients, n=out.shape[1], axis=1, norm="forward")

    return forward, back
