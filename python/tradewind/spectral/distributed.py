"""The spherical-harmonics transform on many ranks: two stages of computing, and the exchanges between four layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradewind.base import memory
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.units import format_bytes
from tradewind.spectral.fourier import Fourier
from tradewind.spectral.legendre import Legendre

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind import _core
    from tradewind.spectral.distribution import Distribution

    Reals = NDArray[np.float64]
    Complexes = NDArray[np.complex128]
    Product = Literal["plain", "weighted"]

EXCHANGES = ("rows", "wavenumbers", "columns")
"""Names of the exchanges: from points to rows, from rows to wavenumbers, from wavenumbers to columns; and all back."""

Exchange = Callable[[], Any]
MakeArray = Callable[["_core.Redistribution", str, str], Any]
"""(pattern, element type, name of its exchange) -> this rank's array that the pattern sends from."""
MakeExchange = Callable[[str, bool, "_core.Redistribution", Any, Any], Exchange]
"""(name, whether it is the way back, pattern, source, target) -> what carries it out, collectively."""


class DistributedTransform:
    """The transform on the ranks of a communicator, one of which this process is.

    `distribution`: who owns what, for as many ranks as there are. `methods`: by name of an exchange (`EXCHANGES`) the
    options of its plans, such as ``{"wavenumbers": {"algorithm": "bruck"}}``, see `tradewind.mpi.plan`; what is open is
    chosen at run time. `options`: those of all plans. `tables`, `threads`: as of `SpectralTransform`.

    The arrays of this rank, which each method reads or fills:

    - `points` ``float64 [field][point]``: its band of grid points, all fields
    - `rows` ``float64 [field][point]``: whole rows, the fields of its levels
    - `fourier`, `wavenumbers` ``complex128 [m, row][field]``: Fourier coefficients by rows, and by wavenumbers
    - `spectral` ``complex128 [m, n][field]``: coefficients of its wavenumbers, the fields of its levels
    - `columns` ``complex128 [m, n][field]``: coefficients of its wavenumbers and degrees, all fields

    Collective, as all its methods are. Raises InputError; PlanError.
    """

    def __init__(
        self,
        distribution: Distribution,
        comm: MPI.Intracomm,
        *,
        methods: Mapping[str, Mapping[str, Any]] | None = None,
        tables: bool = True,
        threads: int = 1,
        **options: Any,
    ) -> None:
        given = dict(methods or {})
        if strange := [name for name in given if name not in EXCHANGES]:
            raise InputError(unknown("exchange of a transform", strange[0], EXCHANGES))
        if comm.Get_size() != distribution.ranks:
            raise InputError(f"{comm.Get_size()} ranks, and a distribution for {distribution.ranks}")

        def make(name: str, back: bool, pattern: _core.Redistribution, source: Any, target: Any) -> Exchange:
            from tradewind.mpi.planning import plan

            return plan(pattern, comm, source, target, **(options | dict(given.get(name, {}))))

        self._set_up(distribution, comm.Get_rank(), make, tables=tables, threads=threads)

    @classmethod
    def made_by(
        cls,
        distribution: Distribution,
        rank: int,
        make: MakeExchange,
        array: MakeArray | None = None,
        *,
        tables: bool = True,
        threads: int = 1,
    ) -> DistributedTransform:
        """Return one whose exchanges are made by a function, in the order of `EXCHANGES`, each forth and back.

        `array` makes its arrays, where they must lie in memory of a kind.
        """
        made = cls.__new__(cls)
        made._set_up(distribution, rank, make, array, tables=tables, threads=threads)
        return made

    def _set_up(
        self,
        distribution: Distribution,
        rank: int,
        make: MakeExchange,
        array: MakeArray | None = None,
        *,
        tables: bool,
        threads: int,
    ) -> None:
        self.distribution, self.rank = distribution, rank
        tabled = distribution.table_bytes(rank) if tables else 0
        memory.require(
            f"rank {rank} of a transform, with {format_bytes(tabled)} of Legendre functions,",
            distribution.array_bytes(rank) + tabled,
            "take more nodes, or fewer levels" + (", or no tables" if tables else ""),
        )
        d, t = distribution, distribution.truncation
        self._fourier = Fourier(t, d.rows_of(rank), threads=threads)
        self._legendre = Legendre(t, d.wavenumbers_of(rank), tables=tables, threads=threads)
        patterns = {"rows": d.to_rows(), "wavenumbers": d.to_wavenumbers(), "columns": d.to_columns()}
        between = {}
        for name, pattern in patterns.items():
            dtype = "f8" if name == "rows" else "c16"
            ends = (pattern, reversed_pattern(pattern))
            between[name] = [self._array(each, dtype, name, array) for each in ends]
        self.points: Reals
        self.rows: Reals
        self.fourier: Complexes
        self.wavenumbers: Complexes
        self.spectral: Complexes
        self.columns: Complexes
        self.points, self.rows = between["rows"]
        self.fourier, self.wavenumbers = between["wavenumbers"]
        self.spectral, self.columns = between["columns"]
        self._exchanges: dict[tuple[str, bool], Exchange] = {}
        for name, (before, after) in between.items():
            self._exchanges[name, False] = make(name, False, patterns[name], before, after)
            self._exchanges[name, True] = make(name, True, reversed_pattern(patterns[name]), after, before)

    def _array(self, pattern: _core.Redistribution, dtype: str, name: str, make: MakeArray | None) -> Any:
        """This rank's array [z][x] that a pattern sends from."""
        nz, _, nx = pattern.source_shape(self.rank)
        return np.zeros((nz, nx), dtype) if make is None else make(pattern, dtype, name).reshape(nz, nx)

    # The parts, for those who time them or do something in between.

    def exchange(self, name: str, *, back: bool = False) -> None:
        """Carry out one of `EXCHANGES`, or the way back."""
        self._exchanges[name, back]()

    def transform_rows(self, **factors: Any) -> None:
        """Compute `fourier` from `rows`; `factors` as of `Fourier.to_fourier`."""
        self._fourier.to_fourier(self.rows, self.fourier, **factors)

    def transform_rows_back(self, **factors: Any) -> None:
        """Compute `rows` from `fourier`; `factors` as of `Fourier.to_grid`."""
        self._fourier.to_grid(self.fourier, self.rows, **factors)

    def transform_wavenumbers(self) -> None:
        """Compute `spectral` from `wavenumbers`."""
        self._legendre.to_spectral(self.wavenumbers, self.spectral)

    def transform_wavenumbers_back(self) -> None:
        """Compute `wavenumbers` from `spectral`."""
        self._legendre.to_fourier(self.spectral, self.wavenumbers)

    # The transforms.

    def to_spectral(self, **factors: Any) -> Complexes:
        """Compute `spectral` from `points`, the direct transform, and return it."""
        self.exchange("rows")
        self.transform_rows(**factors)
        self.exchange("wavenumbers")
        self.transform_wavenumbers()
        return self.spectral

    def to_grid(self, **factors: Any) -> Reals:
        """Compute `points` from `spectral`, the inverse transform, and return them."""
        self.transform_wavenumbers_back()
        self.exchange("wavenumbers", back=True)
        self.transform_rows_back(**factors)
        self.exchange("rows", back=True)
        return self.points

    def to_columns(self) -> Complexes:
        """Bring all fields of a coefficient together: `columns` from `spectral`."""
        self.exchange("columns")
        return self.columns

    def from_columns(self) -> Complexes:
        """Deal the fields again: `spectral` from `columns`."""
        self.exchange("columns", back=True)
        return self.spectral

    def to_spectral_adjoint(self, product: Product = "weighted") -> Reals:
        """Compute `points` from `spectral` by the adjoint of `to_spectral`; products as of `SpectralTransform`."""
        return self.to_grid(factors=self._fourier.quadrature, twice=0.5 * _weight(product))

    def to_grid_adjoint(self, product: Product = "weighted") -> Complexes:
        """Compute `spectral` from `points` by the adjoint of `to_grid`."""
        return self.to_spectral(factors=np.ones(len(self._fourier.rows)), twice=2 / _weight(product))

    # The part of the whole that this rank has.

    def own_points(self) -> slice:
        """Return the grid points of `points`, in the order of the grid."""
        runs = self.distribution.points.boxes(self.rank)
        return slice(runs[0][0][0], runs[0][1][0]) if runs else slice(0, 0)

    def own_coefficients(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return m and n of each coefficient of `spectral`."""
        return _numbers(self.distribution.wavenumbers_of(self.rank), range(self.distribution.truncation.top + 1))

    def own_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return m and n of each coefficient of `columns`."""
        return _numbers(self.distribution.wavenumbers_of(self.rank), self.distribution.degrees_of(self.rank))


def reversed_pattern(pattern: _core.Redistribution) -> _core.Redistribution:
    """Return the way back of a redistribution, which is its adjoint."""
    return type(pattern)(pattern.to_layout, pattern.from_layout)


def _numbers(wavenumbers: NDArray[np.int64], degrees: range) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lines = [np.arange(max(m, degrees.start), max(m, degrees.stop)) for m in wavenumbers.tolist()]
    lengths = [len(line) for line in lines]
    return np.repeat(wavenumbers, lengths), np.concatenate([np.arange(0), *lines])


def _weight(product: str) -> float:
    if product not in ("plain", "weighted"):
        raise InputError(f"product {product!r} of an adjoint: plain and weighted are allowed")
    return 2.0 if product == "weighted" else 1.0
