"""The stages of the spherical-harmonics transform where fields stay on a device.

Fourier transforms and matrix products are those of an array module with NumPy's names: of CuPy they are cuFFT (hipFFT)
and cuBLAS (hipBLAS). Values differ from the host's by roundings, as the libraries add up in other orders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from tradewind.spectral.fourier import Fourier
    from tradewind.spectral.legendre import Legendre
    from tradewind.spectral.precision import Precision
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
    functions: tuple[Any, ...]


class DeviceFourier:
    """A `Fourier` stage whose arrays lie where `module` allocates; only its own factors, and no adjoint."""

    def __init__(self, fourier: Fourier, precision: Precision, module: Any) -> None:
        self._fourier, self._types, self._module = fourier, precision, module
        truncation = fourier.truncation
        lengths, kept = truncation.grid.rows[fourier.rows], truncation.kept[fourier.rows]
        first_entry = fourier.start[:-1] - fourier.row_begin
        self._groups = []
        for length, count in np.unique(np.stack([lengths, kept]), axis=1).T.tolist():
            rows = np.flatnonzero((lengths == length) & (kept == count))[:, None]
            self._groups.append(
                _Rows(
                    length,
                    count,
                    module.asarray(fourier.first[rows] + np.arange(length)),
                    module.asarray(first_entry[:count] + rows),
                    module.asarray(fourier.quadrature[rows].astype(precision.real_type)),
                )
            )

    def to_fourier(self, grid: Any, out: Any | None = None) -> Any:
        """Compute Fourier coefficients from grid points."""
        module, types = self._module, self._types
        fields = _fields(grid, 1, self._fourier.points, types.real_type)
        out = module.empty((self._fourier.coefficients, fields), types.complex_type) if out is None else out
        for rows in self._groups:
            lines = module.fft.rfft(grid[:, rows.points], axis=2)[:, :, : rows.kept] * rows.factors
            out[rows.entries] = lines.transpose(1, 2, 0)
        return out

    def to_grid(self, fourier: Any, out: Any | None = None) -> Any:
        """Compute grid points from Fourier coefficients."""
        module, types = self._module, self._types
        fields = _fields(fourier, 0, self._fourier.coefficients, types.complex_type)
        out = module.empty((fields, self._fourier.points), types.real_type) if out is None else out
        for rows in self._groups:
            lines = module.zeros((fields, len(rows.points), rows.length // 2 + 1), types.complex_type)
            lines[:, :, : rows.kept] = fourier[rows.entries].transpose(2, 0, 1)
            out[:, rows.points] = module.fft.irfft(lines, n=rows.length, axis=2, norm="forward")
        return out


class DeviceLegendre:
    """A `Legendre` stage whose arrays lie where `module` allocates. Its functions are copied there, once.

    Raises InputError for a stage without tables of functions.
    """

    def __init__(self, legendre: Legendre, module: Any) -> None:
        self.functions = functions = legendre.functions
        if not functions.has_tables:
            raise InputError("transform: on a device one with tables of Legendre functions is allowed")
        self._types, self._module, top = legendre.precision, module, legendre.truncation.top
        self._rows, self._degrees = int(legendre.fourier_start[-1]), int(legendre.spectral_start[-1])
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

    def to_spectral(self, fourier: Any, out: Any | None = None) -> Any:
        """Compute for each wavenumber the sums over latitudes of P(n, m) times its Fourier coefficients."""
        fields = _fields(fourier, 0, self._rows, self._types.complex_type)
        out = self._module.empty((self._degrees, fields), self._types.complex_type) if out is None else out
        all_rows, all_degrees = self._reals(fourier), self._reals(out)
        for each in self._wavenumbers:
            lines, degrees = all_rows[each.rows], all_degrees[each.degrees]
            north, south = lines[: each.latitudes], lines[each.latitudes :][::-1]
            for parity, sums in enumerate((north + south, north - south)):
                degrees[parity::2] = each.functions[parity] @ sums
        return out

    def to_fourier(self, spectral: Any, out: Any | None = None) -> Any:
        """Compute for each wavenumber and latitude the sum over degrees of P(n, m) times spectral coefficients."""
        fields = _fields(spectral, 0, self._degrees, self._types.complex_type)
        out = self._module.empty((self._rows, fields), self._types.complex_type) if out is None else out
        out[...] = 0  # also where the functions are taken as 0
        all_rows, all_degrees = self._reals(out), self._reals(spectral)
        for each in self._wavenumbers:
            lines, degrees = all_rows[each.rows], all_degrees[each.degrees]
            even, odd = (each.functions[parity].T @ degrees[parity::2] for parity in (0, 1))
            lines[: each.latitudes] = even + odd
            lines[each.latitudes :] = (even - odd)[::-1]
        return out

    def _reals(self, array: Any) -> Any:
        """Return complex numbers as two reals each, of the same memory."""
        return array.view(self._types.real_type)


class DeviceTransform:
    """`transform` for fields in the memory that an array module allocates, such as ``cupy``.

    Fields on the grid are ``[field, point]``, spectral coefficients ``[coefficient, field]``, in the precision with
    which the transform was made. Indices and Legendre functions are copied to the device once, here. Raises InputError
    for a transform without tables of functions.
    """

    def __init__(self, transform: SpectralTransform, module: Any) -> None:
        self._fourier = DeviceFourier(transform.fourier, transform.legendre.precision, module)
        self._legendre = DeviceLegendre(transform.legendre, module)

    def to_spectral(self, grid: Any) -> Any:
        """Return the spectral coefficients of fields on the grid."""
        return self._legendre.to_spectral(self._fourier.to_fourier(grid))

    def to_grid(self, spectral: Any) -> Any:
        """Return fields on the grid from spectral coefficients."""
        return self._fourier.to_grid(self._legendre.to_fourier(spectral))


def _fields(array: Any, axis: int, size: int, dtype: Any) -> int:
    """Return the fields of an array of two axes, one of which has `size` entries. Raises InputError."""
    if array.ndim != 2 or array.shape[axis] != size or array.dtype != dtype:
        shape = f"(fields, {size})" if axis else f"({size}, fields)"
        raise InputError(f"fields of {array.dtype} and shape {array.shape}: {dtype} {shape} is allowed")
    return int(array.shape[1 - axis])
