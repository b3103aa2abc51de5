"""The spherical-harmonics transform in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tradewind.base import memory
from tradewind.base.errors import InputError, NotFiniteError, quoted
from tradewind.spectral.arrays import array_of, checked, require
from tradewind.spectral.fourier import Fourier
from tradewind.spectral.functions import LegendreFunctions
from tradewind.spectral.grid import GaussianGrid
from tradewind.spectral.legendre import Legendre
from tradewind.spectral.operators import EARTH_RADIUS_M, Operators
from tradewind.spectral.precision import Precision, precision_named, precision_of
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]

Product = Literal["plain", "weighted"]


class _Stages(NamedTuple):
    """The Legendre stages of a precision."""

    plain: Legendre
    wide: Legendre
    """With one degree more, for winds and gradients."""


class SpectralTransform:
    """The spherical-harmonics transform between a Gaussian grid and spectral coefficients, of many fields together.

    A real field on the sphere is the sum over m = -T..T and n = abs(m)..T of c(m, n) P(n, m)(sin phi) exp(i m lambda),
    where the mean over the sphere of abs(P exp(i m lambda))^2 is 1. Coefficients of m < 0 are the complex conjugates of
    those of -m, and are not stored. This is the normalisation of ecTrans.

    `grid`: ``"O80"`` (octahedral), ``"F80"`` (full), or a `GaussianGrid`. `degree`, `rule`: see `Truncation`; an
    octahedral grid has the cubic truncation unless another one is named, TCo79 on O80. `tables`: Legendre functions are
    kept in memory (`legendre.functions.table_bytes`), else they are computed in each transform. `threads`: how many
    share out rows and wavenumbers; results do not depend on it. `radius`: of the sphere, metres; only winds, gradients
    and Laplacians depend on it.

    Fields on the grid are ``float64 [..., point]``, spectral coefficients ``complex128 [coefficient, ...]`` in the
    order of `Truncation`: variables, levels, or whatever else the other axes are, are transformed together. 64 fields
    at a time are much cheaper per field than one, and results in arrays that exist (`out`) cheaper than in new ones. An
    object serves one caller at a time.

    Fields ``float32`` have coefficients ``complex64``, and these have fields ``float32``: all is computed in single
    precision then, with functions that are rounded once; of two fields, where both are single. `precision`: "f4" or
    "f8", that whose functions are computed at once; those of the other one, when such a field is first transformed.

    Each transform is a linear map of the stored real numbers, and has its transpose, ``..._adjoint``. `product`:
    ``"plain"`` sums the products of all stored real numbers; ``"weighted"`` counts spectral coefficients of m > 0
    twice, as they stand for those of -m, too. On the grid, both sum over points. The imaginary part of m = 0, which has
    no meaning, is ignored where it is read and 0 where it is written.

    Raises InputError for a truncation that the grid cannot hold, for arrays whose shapes do not fit, and where memory
    does not suffice; NotFiniteError for fields with a NaN or an infinity.
    """

    def __init__(
        self,
        grid: GaussianGrid | str,
        degree: int | None = None,
        rule: str | None = None,
        *,
        tables: bool = True,
        threads: int = 1,
        radius: float = EARTH_RADIUS_M,
        precision: str = "f8",
    ) -> None:
        first = precision_named(precision)
        self.truncation = Truncation(grid, degree, rule)
        self.grid = self.truncation.grid
        self.operators = Operators(self.truncation, radius=radius)
        self.fourier = Fourier(self.truncation, threads=threads)
        self._wide, self._tables, self._threads = self.truncation.extended(), tables, threads
        self._by_precision: dict[Precision, _Stages] = {}
        self.legendre = self._stages(first).plain
        self._between: Complexes = np.empty((self.fourier.coefficients, 0), first.complex_type)
        self._per_cosine = 1 / self.grid.cosines

    def __repr__(self) -> str:
        return f"SpectralTransform({self.truncation!r})"

    def to_spectral(self, grid: Reals, out: Complexes | None = None) -> Complexes:
        """Return the spectral coefficients of fields on the grid, in `out` if given: the direct transform."""
        flat, axes = self._grid_fields(grid)
        shape = (self.truncation.coefficients, *axes)
        out = checked(out, shape, "spectral coefficients", precision_of(flat).complex_type)
        self._analyse(self._stages_of(flat).plain, flat, out.reshape(len(out), len(flat)))
        return out

    def to_grid(self, spectral: Complexes, out: Reals | None = None) -> Reals:
        """Return fields on the grid, in `out` if given, from spectral coefficients: the inverse transform."""
        flat, axes = self._spectral_fields(spectral)
        out = checked(out, (*axes, self.grid.points), "grid points", precision_of(flat).real_type)
        self._synthesise(self._stages_of(flat).plain, flat, out.reshape(flat.shape[1], self.grid.points))
        return out

    def to_spectral_adjoint(self, spectral: Complexes, product: Product = "weighted") -> Reals:
        """Apply the adjoint of `to_spectral` to spectral coefficients; the result is on the grid."""
        flat, axes = self._spectral_fields(spectral)
        twice = 0.5 * weight_of(product)
        result = self._synthesise(self._stages_of(flat).plain, flat, factors=self.fourier.quadrature, twice=twice)
        return self._grid_result(result, axes)

    def to_grid_adjoint(self, grid: Reals, product: Product = "weighted") -> Complexes:
        """Apply the adjoint of `to_grid` to fields on the grid; the result are spectral coefficients."""
        flat, axes = self._grid_fields(grid)
        ones = np.ones(len(self.grid.rows))
        result = self._analyse(self._stages_of(flat).plain, flat, factors=ones, twice=2 / weight_of(product))
        return self._spectral_result(result, axes)

    def wind(self, vorticity: Complexes, divergence: Complexes, out: Reals | None = None) -> tuple[Reals, Reals]:
        """Return the wind to the east and to the north on the grid (m/s), from vorticity and divergence (1/s).

        `out`: an array ``[2, ..., point]`` for both.
        """
        both, axes = self._spectral_pair(vorticity, divergence)
        out = checked(out, (2, *axes, self.grid.points), "grid points of the wind", precision_of(both).real_type)
        wind = np.concatenate(self.operators.wind(*_halves(both, 1)), axis=1)
        flat = out.reshape(both.shape[1], self.grid.points)
        self._synthesise(self._stages_of(wind).wide, wind, flat, factors=self._per_cosine)
        return out[0], out[1]

    def vorticity_divergence(self, u: Reals, v: Reals) -> tuple[Complexes, Complexes]:
        """Return the spectral coefficients of vorticity and divergence (1/s) of a wind on the grid (m/s)."""
        both, axes = self._grid_pair_fields(u, v)
        factors = self.fourier.quadrature * self._per_cosine
        wind = self._analyse(self._stages_of(both).wide, both, factors=factors)
        result = np.concatenate(self.operators.curl(*_halves(wind, 1)), axis=1)
        return self._spectral_pair_result(result, axes)

    def wind_adjoint(self, u: Reals, v: Reals, product: Product = "weighted") -> tuple[Complexes, Complexes]:
        """Apply the adjoint of `wind` to two fields on the grid; the results are spectral coefficients."""
        both, axes = self._grid_pair_fields(u, v)
        wind = self._analyse(self._stages_of(both).wide, both, factors=self._per_cosine, twice=2 / weight_of(product))
        result = np.concatenate(self.operators.wind_adjoint(*_halves(wind, 1)), axis=1)
        return self._spectral_pair_result(result, axes)

    def vorticity_divergence_adjoint(
        self, vorticity: Complexes, divergence: Complexes, product: Product = "weighted"
    ) -> tuple[Reals, Reals]:
        """Apply the adjoint of `vorticity_divergence` to spectral coefficients; the results are on the grid."""
        both, axes = self._spectral_pair(vorticity, divergence)
        wind = np.concatenate(self.operators.curl_adjoint(*_halves(both, 1)), axis=1)
        factors, twice = self.fourier.quadrature * self._per_cosine, 0.5 * weight_of(product)
        grid = self._synthesise(self._stages_of(wind).wide, wind, factors=factors, twice=twice)
        return self._grid_pair(grid, axes)

    def gradient(self, spectral: Complexes) -> tuple[Reals, Reals]:
        """Return the gradient to the east and to the north on the grid, per metre, of spectral coefficients."""
        flat, axes = self._spectral_fields(spectral)
        both = np.concatenate(self.operators.gradient(flat), axis=1)
        grid = self._synthesise(self._stages_of(both).wide, both, factors=self._per_cosine)
        return self._grid_pair(grid, axes)

    def gradient_adjoint(self, east: Reals, north: Reals, product: Product = "weighted") -> Complexes:
        """Apply the adjoint of `gradient` to two fields on the grid; the result are spectral coefficients."""
        both, axes = self._grid_pair_fields(east, north)
        wide = self._analyse(self._stages_of(both).wide, both, factors=self._per_cosine, twice=2 / weight_of(product))
        return self._spectral_result(self.operators.gradient_adjoint(*_halves(wide, 1)), axes)

    def laplacian(self, spectral: Complexes) -> Complexes:
        """Return the coefficients of the Laplacian, per square metre."""
        flat, axes = self._spectral_fields(spectral)
        return self._spectral_result(self.operators.laplacian(flat), axes)

    def inverse_laplacian(self, spectral: Complexes) -> Complexes:
        """Return the coefficients of the field without a mean that has this Laplacian, but for its mean."""
        flat, axes = self._spectral_fields(spectral)
        return self._spectral_result(self.operators.inverse_laplacian(flat), axes)

    # -- the two stages, with the array between them kept for the next call

    def _stages_of(self, fields: Any) -> _Stages:
        return self._stages(precision_of(fields))

    def _stages(self, precision: Precision) -> _Stages:
        if precision not in self._by_precision:
            how: dict[str, Any] = {"tables": self._tables, "threads": self._threads, "precision": precision}
            functions = LegendreFunctions(self._wide, **how)
            own, wide = (
                Legendre(each, tables=functions, threads=self._threads) for each in (self.truncation, self._wide)
            )
            self._by_precision[precision] = _Stages(own, wide)
        return self._by_precision[precision]

    def _analyse(self, legendre: Legendre, grid: Reals, out: Complexes | None = None, **factors: Any) -> Complexes:
        """Raises NotFiniteError where the fields are not finite: their means over the sphere are not, then."""
        between = self._coefficients(len(grid), legendre.precision)
        fourier = self.fourier.to_fourier(grid, between, **factors)
        spectral = legendre.to_spectral(fourier, out)
        if not np.isfinite(spectral[0]).all():
            _report(grid, "point")
        return spectral

    def _synthesise(self, legendre: Legendre, spectral: Complexes, out: Reals | None = None, **factors: Any) -> Reals:
        """Raises NotFiniteError where the coefficients are not finite: all points of the equator are not, then."""
        fourier = legendre.to_fourier(spectral, self._coefficients(spectral.shape[1], legendre.precision))
        grid = self.fourier.to_grid(fourier, out, **factors)
        if not np.isfinite(grid[:, self.grid.first[self.grid.half]]).all():
            _report(spectral.T, "coefficient")
        return grid

    def _coefficients(self, fields: int, precision: Precision) -> Complexes:
        dtype = precision.complex_type
        if self._between.shape[1] != fields or self._between.dtype != dtype:
            self._between = self._between[:, :0].copy()  # the former one is free before there is another
            needed = dtype.itemsize * self.fourier.coefficients * fields
            memory.require(f"the Fourier coefficients of {fields} fields", needed, "transform fewer at a time")
            self._between = np.empty((self.fourier.coefficients, fields), dtype)
        return self._between

    # -- shapes

    def _grid_fields(self, grid: Reals, precision: Precision | None = None) -> tuple[Reals, tuple[int, ...]]:
        dtype = (precision or precision_of(grid)).real_type
        array = array_of(grid, "grid points", dtype)
        if array.ndim < 1 or array.shape[-1] != self.grid.points:
            raise InputError(f"fields of shape {array.shape} on {self.grid.name}: (..., {self.grid.points}) is allowed")
        flat = array.reshape(int(np.prod(array.shape[:-1], dtype=int)), self.grid.points)
        return flat.astype(dtype, copy=False), array.shape[:-1]

    def _spectral_fields(
        self, spectral: Complexes, precision: Precision | None = None
    ) -> tuple[Complexes, tuple[int, ...]]:
        dtype = (precision or precision_of(spectral)).complex_type
        array, count = array_of(spectral, "spectral coefficients", dtype), self.truncation.coefficients
        if array.ndim < 1 or array.shape[0] != count:
            raise InputError(
                f"spectral coefficients of shape {array.shape} of {self.truncation!r}: ({count}, ...) is allowed"
            )
        flat = array.reshape(count, int(np.prod(array.shape[1:], dtype=int)))
        return flat.astype(dtype, copy=False), array.shape[1:]

    def _grid_pair_fields(self, first: Reals, second: Reals) -> tuple[Reals, tuple[int, ...]]:
        types = precision_of(first, second)
        (one, axes), (two, others) = self._grid_fields(first, types), self._grid_fields(second, types)
        _require_equal(axes, others)
        require((2, *one.shape), "both components of winds", types.real_type)
        return np.concatenate([one, two]), axes

    def _spectral_pair(self, first: Complexes, second: Complexes) -> tuple[Complexes, tuple[int, ...]]:
        types = precision_of(first, second)
        (one, axes), (two, others) = self._spectral_fields(first, types), self._spectral_fields(second, types)
        _require_equal(axes, others)
        require((2, *one.shape), "vorticity and divergence", types.complex_type)
        both = np.concatenate([one, two], axis=1)
        if not np.isfinite(both).all():
            _report(both.T, "coefficient")
        return both, axes

    def _grid_result(self, result: Reals, axes: tuple[int, ...]) -> Reals:
        return result.reshape(*axes, self.grid.points)

    def _spectral_result(self, result: Complexes, axes: tuple[int, ...]) -> Complexes:
        return result.reshape(len(result), *axes)

    def _grid_pair(self, result: Reals, axes: tuple[int, ...]) -> tuple[Reals, Reals]:
        first, second = _halves(result, 0)
        return self._grid_result(first, axes), self._grid_result(second, axes)

    def _spectral_pair_result(self, result: Complexes, axes: tuple[int, ...]) -> tuple[Complexes, Complexes]:
        first, second = _halves(result, 1)
        return self._spectral_result(first, axes), self._spectral_result(second, axes)


def _halves(both: Any, axis: int) -> tuple[Any, Any]:
    first, second = np.split(both, 2, axis=axis)
    return first, second


def weight_of(product: str) -> float:
    """Weight of a coefficient with m > 0."""
    if not isinstance(product, str) or product not in ("plain", "weighted"):
        raise InputError(f"product {quoted(product)} of an adjoint: plain and weighted are allowed")
    return 2.0 if product == "weighted" else 1.0


def _require_equal(axes: tuple[int, ...], others: tuple[int, ...]) -> None:
    if axes != others:
        raise InputError(f"two fields of other axes, {axes} and {others}: equal ones are allowed")


def _report(fields: Any, what: str) -> None:
    """Raise NotFiniteError with the first number that is not finite."""
    for field, values in enumerate(fields):
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise NotFiniteError(f"field {field} has {values[bad[0]]} at {what} {bad[0]}, and {bad.size - 1} more")
    raise NotFiniteError("the transform of finite numbers is not finite: they are too large")
