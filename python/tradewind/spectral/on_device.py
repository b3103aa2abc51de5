"""The spherical-harmonics transform of one process where its fields stay on a device.

Fourier transforms and matrix products are those of an array module with NumPy's names: of CuPy they are cuFFT (hipFFT)
and cuBLAS (hipBLAS). Values differ from the host's by roundings, as the libraries add up in other orders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from tradewind.spectral.transform import SpectralTransform


class _Rows(NamedTuple):
    """Rows of one length that keep as many wavenumbers, which are transformed together."""

    length: int
    kept: int
    points: Any
    """[row][point] of the grid."""
    entries: Any
    """[row][m] of the Fourier coefficients."""
    factors: Any
    """[row][1]: factors of a mean over the sphere."""


class _Wavenumber(NamedTuple):
    """A wavenumber: its rows and degrees, and its functions [degree][latitude] of even and of odd n - m."""

    rows: slice
    degrees: slice
    latitudes: int
    functions: tuple[Any, Any]


class DeviceTransform:
    """`transform` for fields in the memory that an array module allocates, such as ``cupy``.

    Fields on the grid are ``[field, point]``, spectral coefficients ``[coefficient, field]``, in the precision with
    which the transform was made. Indices and Legendre functions are copied to the device once, here. Raises InputError
    for a transform without tables of functions.
    """

    def __init__(self, transform: SpectralTransform, module: Any) -> None:
        self._module = module
        self._truncation, self._fourier, legendre = transform.truncation, transform.fourier, transform.legendre
        self._types = legendre.precision
        self._groups = self._grouped()
        functions, top = legendre.functions, self._truncation.top
        if not functions.has_tables:
            raise InputError("transform: on a device one with tables of Legendre functions is allowed")
        skipped = functions.first - functions.begin
        self._wavenumbers = [
            _Wavenumber(
                slice(int(legendre.fourier_start[k] + skipped[k]), int(legendre.fourier_start[k + 1] - skipped[k])),
                slice(int(legendre.spectral_start[k]), int(legendre.spectral_start[k + 1])),
                int(functions.latitudes[k]),
                tuple(module.asarray(each) for each in functions.of(k, top)),
            )
            for k in range(len(legendre.wavenumbers))
        ]

    def _grouped(self) -> list[_Rows]:
        fourier, truncation, module = self._fourier, self._truncation, self._module
        lengths, kept = truncation.grid.rows[fourier.rows], truncation.kept[fourier.rows]
        first_entry = fourier.start[:-1] - fourier.row_begin
        groups = []
        for length, count in np.unique(np.stack([lengths, kept]), axis=1).T.tolist():
            rows = np.flatnonzero((lengths == length) & (kept == count))[:, None]
            groups.append(
                _Rows(
                    length,
                    count,
                    module.asarray(fourier.first[rows] + np.arange(length)),
                    module.asarray(first_entry[:count] + rows),
                    module.asarray(fourier.quadrature[rows].astype(self._types.real_type)),
                )
            )
        return groups

    def to_spectral(self, grid: Any) -> Any:
        """Return the spectral coefficients of fields on the grid."""
        module, fields = self._module, self._checked(grid, 1, self._fourier.points, self._types.real_type)
        fourier = module.empty((self._fourier.coefficients, fields), self._types.complex_type)
        for rows in self._groups:
            lines = module.fft.rfft(grid[:, rows.points], axis=2)[:, :, : rows.kept] * rows.factors
            fourier[rows.entries] = lines.transpose(1, 2, 0)
        spectral = module.empty((self._truncation.coefficients, fields), self._types.complex_type)
        all_rows, all_degrees = self._reals(fourier), self._reals(spectral)
        for each in self._wavenumbers:
            lines, degrees = all_rows[each.rows], all_degrees[each.degrees]
            north, south = lines[: each.latitudes], lines[each.latitudes :][::-1]
            for parity, sums in enumerate((north + south, north - south)):
                degrees[parity::2] = each.functions[parity] @ sums
        return spectral

    def to_grid(self, spectral: Any) -> Any:
        """Return fields on the grid from spectral coefficients."""
        module = self._module
        fields = self._checked(spectral, 0, self._truncation.coefficients, self._types.complex_type)
        fourier = module.zeros((self._fourier.coefficients, fields), self._types.complex_type)
        all_rows, all_degrees = self._reals(fourier), self._reals(spectral)
        for each in self._wavenumbers:
            lines, degrees = all_rows[each.rows], all_degrees[each.degrees]
            even, odd = (each.functions[parity].T @ degrees[parity::2] for parity in (0, 1))
            lines[: each.latitudes] = even + odd
            lines[each.latitudes :] = (even - odd)[::-1]
        grid = module.empty((fields, self._fourier.points), self._types.real_type)
        for rows in self._groups:
            lines = module.zeros((fields, len(rows.points), rows.length // 2 + 1), self._types.complex_type)
            lines[:, :, : rows.kept] = fourier[rows.entries].transpose(2, 0, 1)
            grid[:, rows.points] = module.fft.irfft(lines, n=rows.length, axis=2, norm="forward")
        return grid

    def _reals(self, array: Any) -> Any:
        """Return complex numbers as two reals each, of the same memory."""
        return array.view(self._types.real_type)

    def _checked(self, array: Any, axis: int, size: int, dtype: Any) -> int:
        """Return the fields of an array of two axes, one of which has `size` entries. Raises InputError."""
        if array.ndim != 2 or array.shape[axis] != size or array.dtype != dtype:
            shape = f"(fields, {size})" if axis else f"({size}, fields)"
            raise InputError(f"fields of {array.dtype} and shape {array.shape}: {dtype} {shape} is allowed")
        return int(array.shape[1 - axis])
