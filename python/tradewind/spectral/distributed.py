"""The spherical-harmonics transform on many ranks: two stages of computing, and the exchanges between four layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradewind.base import memory
from tradewind.base.collective import (
    check_communicator,
    collective,
    collective_throughout,
    proceed,
    require_mpi,
    send_error,
)
from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import true_or_false
from tradewind.base.names import known_name
from tradewind.base.units import format_bytes
from tradewind.spectral.fourier import Fourier
from tradewind.spectral.on_device import DeviceFourier
from tradewind.spectral.operators import EARTH_RADIUS_M
from tradewind.spectral.precision import precision_named
from tradewind.spectral.stages import LegendreStages
from tradewind.spectral.transform import weight_of
from tradewind.spectral.winds import WIND_VARIABLES, PerCosine

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind import _core
    from tradewind.spectral.distribution import Distribution

    Reals = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]
    Product = Literal["plain", "weighted"]

EXCHANGES = ("rows", "wavenumbers", "columns", "sums")
"""Names of the exchanges: from points to rows, from rows to wavenumbers, from wavenumbers to columns; and all back.
Where wavenumbers are split also of partial sums, before columns."""

Exchange = Callable[[], Any]
MakeArray = Callable[["_core.Redistribution", str, str], Any]
"""(pattern, element type, name of its exchange) -> this rank's array that the pattern sends from."""
MakeExchange = Callable[[str, bool, "_core.Redistribution", Any, Any], Exchange]
"""(name, whether it is the way back, pattern, source, target) -> what carries it out, collectively."""


class DistributedTransform:
    """The transform on the ranks of a communicator, one of which this process is.

    `distribution`: who owns what, for as many ranks as there are. `methods`: by name of an exchange (`EXCHANGES`) the
    options of its plans, such as ``{"wavenumbers": {"algorithm": "bruck"}}``, see `tradewind.mpi.plan`; what is open is
    chosen at run time. `options`: those of all plans. `tables`, `threads`: as of `SpectralTransform`. `winds`: the
    first two variables of each level are vorticity and divergence in `spectral`, and the wind, u and v, in `points`;
    `radius`: of the sphere, metres. `precision`: "f8", or "f4" with ``float32`` and ``complex64`` in all arrays, tables
    and messages.

    The arrays of this rank, which each method reads or fills:

    - `points` ``float64 [field][point]``: its band of grid points, all fields
    - `rows` ``float64 [field][point]``: whole rows, the fields of its levels
    - `fourier`, `wavenumbers` ``complex128 [m, row][field]``: Fourier coefficients by rows, and by wavenumbers
    - `spectral` ``complex128 [m, n][field]``: coefficients of its wavenumbers, the fields of its levels
    - `columns` ``complex128 [m, n][field]``: coefficients of its wavenumbers and degrees, all fields

    Made by all ranks together. `to_spectral`, `to_grid`, their adjoints, `to_columns` and `from_columns` are called by
    all ranks, too. Each begins with an agreement, less than a hundredth of a transform of few levels: a call that is
    wrong on one rank, or differs from that of the others, is an error on all. Memory that a rank cannot get in the
    course of a transform, and a wrong call of one of the parts, which do not agree, such as ``exchange("columns")`` of
    `to_columns`, is an error on that rank alone: the others wait for its messages as long as `watchdog_s` of the plans
    allows. Raises InputError; PlanError.
    """

    @collective_throughout
    def __init__(
        self,
        distribution: Distribution,
        comm: MPI.Intracomm,
        *,
        methods: Mapping[str, Mapping[str, Any]] | None = None,
        tables: bool = True,
        threads: int = 1,
        winds: bool = False,
        radius: float = EARTH_RADIUS_M,
        precision: str = "f8",
        **options: Any,
    ) -> None:
        from tradewind.spectral.distribution import Distribution

        check_communicator(comm)
        if not isinstance(distribution, Distribution):
            raise InputError(f"distribution {quoted(distribution)}: a tradewind.spectral.Distribution is allowed")
        if comm.Get_size() != distribution.ranks:
            raise InputError(f"{comm.Get_size()} ranks, and a distribution for {distribution.ranks}")
        chosen = {name: options | given for name, given in _methods(methods).items()}

        def make(name: str, back: bool, pattern: _core.Redistribution, source: Any, target: Any) -> Exchange:
            from tradewind.mpi.planning import plan

            return plan(pattern, comm, source, target, **chosen.get(name, options))

        self._comm = comm
        self._agree(f"a transform, winds {quoted(winds)}, radius {quoted(radius)}, precision {quoted(precision)}")
        how: dict[str, Any] = {"tables": tables, "threads": threads, "winds": winds, "radius": radius}
        self._set_up(distribution, comm.Get_rank(), make, **how, precision=precision)

    _comm: MPI.Intracomm | None = None
    """None where a function makes the exchanges: then all ranks are taken to make the same calls."""

    def send_error(self, problem: str) -> None:
        """Send the other ranks the error that keeps this one from the call that they make; they raise PlanError."""
        if self._comm is not None:
            require_mpi()
            send_error(self._comm, problem)

    def _agree(self, call: str) -> None:
        if self._comm is not None:
            proceed(self._comm, call)

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
        winds: bool = False,
        radius: float = EARTH_RADIUS_M,
        precision: str = "f8",
        module: Any = None,
    ) -> DistributedTransform:
        """Return one whose exchanges are made by a function, in the order of `Distribution.patterns`, forth and back.

        `array` makes its arrays, where they must lie in memory of a kind; `module`: the array module of the device on
        which they lie. There it has neither winds nor adjoints, and needs tables.
        """
        made = cls.__new__(cls)
        how: dict[str, Any] = {"tables": tables, "threads": threads, "winds": winds, "radius": radius}
        made._set_up(distribution, rank, make, array, **how, precision=precision, module=module)
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
        winds: bool,
        radius: float,
        precision: str,
        module: Any = None,
    ) -> None:
        self.distribution, self.rank, self.precision = distribution, rank, precision_named(precision)
        tables, winds = true_or_false("tables", tables), true_or_false("winds", winds)
        variables = distribution.variables
        if winds and variables < WIND_VARIABLES:
            raise InputError(f"winds of {variables} variables: two or more are allowed, the first two are the wind")
        needs: dict[str, Any] = {"winds": winds, "precision": self.precision}
        tabled = distribution.table_bytes(rank, **needs) if tables else 0
        memory.require(
            f"rank {rank} of a transform, with {format_bytes(tabled)} of Legendre functions,",
            distribution.array_bytes(rank, **needs) + tabled,
            "take more nodes, or fewer levels" + (", or no tables" if tables else ""),
        )
        d, t = distribution, distribution.truncation
        self._fourier: Any = Fourier(t, d.rows_of(rank), threads=threads)
        own = d.pieces_of(rank)
        wind_of = variables if winds else None
        how: dict[str, Any] = {"tables": tables, "threads": threads, "radius": radius, "precision": self.precision}
        self._stages = LegendreStages(d.pieces, own, winds=wind_of, **how)
        self._per_cosine = PerCosine(self._fourier, variables) if winds else None
        if module is not None:
            self._fourier = DeviceFourier(self._fourier, self.precision, module)
            self._stages.move_to(module)
        patterns = d.patterns()
        between = {}
        for name, pattern in patterns.items():
            dtype = self.precision.real if name == "rows" else self.precision.complex
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
        empty = np.empty if module is None else module.empty
        none: Complexes = empty((0, self.spectral.shape[1]), self.spectral.dtype)
        self._sent: Complexes
        self._received: Complexes
        self._sent, self._received = between.get("sums", (none, none))
        self._partial: Complexes = empty((self._stages.partial_sums, self.spectral.shape[1]), self.spectral.dtype)
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
        """Carry out one of `EXCHANGES`, or the way back; none of partial sums where there are none."""
        known_name("exchange of a transform", name, EXCHANGES)
        back = true_or_false("back", back)
        if name != "sums" or self.is_split:
            self._exchanges[name, back]()

    @property
    def is_split(self) -> bool:
        """Whether some wavenumbers are split, so that partial sums are exchanged."""
        return self.distribution.pieces.is_split

    def transform_rows(self, **factors: Any) -> None:
        """Compute `fourier` from `rows`; `factors` as of `Fourier.to_fourier`."""
        self._fourier.to_fourier(self.rows, self.fourier, **factors)
        if self._per_cosine is not None:
            self._per_cosine.coefficients(self.fourier)

    def transform_rows_back(self, **factors: Any) -> None:
        """Compute `rows` from `fourier`; `factors` as of `Fourier.to_grid`."""
        self._fourier.to_grid(self.fourier, self.rows, **factors)
        if self._per_cosine is not None:
            self._per_cosine.points(self.rows)

    def transform_wavenumbers(self, *, adjoint: bool = False, gradient: bool = False) -> None:
        """Compute `spectral` from `wavenumbers`, of split ones partial sums.

        `adjoint`: as the transpose of `transform_wavenumbers_back`, which is another map where there are winds.
        `gradient`: as the transpose of what that does for a gradient.
        """
        self._stages.to_spectral(self.wavenumbers, self.spectral, self._partial, adjoint=adjoint, gradient=gradient)
        self._stages.take_apart(self._partial, self.spectral, self._sent)

    def add_sums(self) -> None:
        """Add the partial sums of others to `spectral`."""
        self._stages.add(self._received, self.spectral)

    def spread_sums(self) -> None:
        """Copy the degrees of `spectral` that others need, the transpose of `add_sums`."""
        self._stages.spread(self.spectral, self._received)

    def transform_wavenumbers_back(self, *, adjoint: bool = False, gradient: bool = False) -> None:
        """Compute `wavenumbers` from `spectral`, of split ones with what others have sent.

        `adjoint`: as the transpose of `transform_wavenumbers`. `gradient`: of the first variable of each level, in
        place of the wind.
        """
        self._stages.put_together(self._sent, self.spectral, self._partial)
        self._stages.to_fourier(self.spectral, self.wavenumbers, self._partial, adjoint=adjoint, gradient=gradient)

    # The transforms.

    @collective
    def to_spectral(self) -> Complexes:
        """Compute `spectral` from `points`, the direct transform, and return it. Collective."""
        self._agree("to_spectral")
        return self._analyse()

    @collective
    def to_grid(self) -> Reals:
        """Compute `points` from `spectral`, the inverse transform, and return them. Collective."""
        self._agree("to_grid")
        return self._synthesise()

    @collective
    def gradient(self) -> Reals:
        """Compute the gradient of the first variable of each level, to the east and north in place of the wind.

        Per metre; the second variable of `spectral` is not read. Of a transform with `winds`. Collective.
        """
        self._require_winds()
        self._agree("gradient")
        return self._synthesise(gradient=True)

    @collective
    def gradient_adjoint(self, product: Product = "weighted") -> Complexes:
        """Compute the first variable of `spectral` from the wind of `points` by the adjoint of `gradient`.

        The second variable is 0. Collective.
        """
        twice = 2 / weight_of(product)
        self._require_winds()
        self._agree(f"gradient_adjoint, {product}")
        ones = np.ones(len(self._fourier.rows))
        return self._analyse(gradient=True, factors=ones, twice=twice)

    def _require_winds(self) -> None:
        if self._per_cosine is None:
            raise InputError("a gradient of a transform without winds: one with winds=True is allowed")

    def _analyse(self, *, adjoint: bool = False, gradient: bool = False, **factors: Any) -> Complexes:
        self.exchange("rows")
        self.transform_rows(**factors)
        self.exchange("wavenumbers")
        self.transform_wavenumbers(adjoint=adjoint, gradient=gradient)
        self.exchange("sums")
        self.add_sums()
        return self.spectral

    def _synthesise(self, *, adjoint: bool = False, gradient: bool = False, **factors: Any) -> Reals:
        self.spread_sums()
        self.exchange("sums", back=True)
        self.transform_wavenumbers_back(adjoint=adjoint, gradient=gradient)
        self.exchange("wavenumbers", back=True)
        self.transform_rows_back(**factors)
        self.exchange("rows", back=True)
        return self.points

    @collective
    def to_columns(self) -> Complexes:
        """Bring all fields of a coefficient together: `columns` from `spectral`. Collective."""
        self._agree("to_columns")
        self.exchange("columns")
        return self.columns

    @collective
    def from_columns(self) -> Complexes:
        """Deal the fields again: `spectral` from `columns`. Collective."""
        self._agree("from_columns")
        self.exchange("columns", back=True)
        return self.spectral

    @collective
    def to_spectral_adjoint(self, product: Product = "weighted") -> Reals:
        """Compute `points` from `spectral` by the adjoint of `to_spectral`; products as of `SpectralTransform`.

        Collective.
        """
        twice = 0.5 * weight_of(product)
        self._agree(f"to_spectral_adjoint, {product}")
        return self._synthesise(adjoint=True, factors=self._fourier.quadrature, twice=twice)

    @collective
    def to_grid_adjoint(self, product: Product = "weighted") -> Complexes:
        """Compute `spectral` from `points` by the adjoint of `to_grid`. Collective."""
        twice = 2 / weight_of(product)
        self._agree(f"to_grid_adjoint, {product}")
        ones = np.ones(len(self._fourier.rows))
        return self._analyse(adjoint=True, factors=ones, twice=twice)

    # The part of the whole that this rank has.

    def own_points(self) -> slice:
        """Return the grid points of `points`, in the order of the grid."""
        runs = self.distribution.points.boxes(self.rank)
        return slice(runs[0][0][0], runs[0][1][0]) if runs else slice(0, 0)

    def own_coefficients(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return m and n of each coefficient of `spectral`."""
        return self._numbers(range(self.distribution.truncation.top + 1))

    def own_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return m and n of each coefficient of `columns`."""
        return self._numbers(self.distribution.degrees_of(self.rank))

    def _numbers(self, degrees: range) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return m and n of this rank's coefficients with some degrees."""
        lines = []
        for piece in self.distribution.pieces_of(self.rank):
            own = self.distribution.pieces.degrees_of(piece)
            n = np.arange(max(own.start, degrees.start), max(own.start, degrees.start, min(own.stop, degrees.stop)))
            lines.append(np.stack([np.full(len(n), piece.m), n]))
        m, n = np.concatenate([np.empty((2, 0), np.int64), *lines], axis=1)
        return m, n


def reversed_pattern(pattern: _core.Redistribution) -> _core.Redistribution:
    """Return the way back of a redistribution, which is its adjoint."""
    return type(pattern)(pattern.to_layout, pattern.from_layout)


def _methods(methods: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """Return the options of plans by name of an exchange. Raises InputError."""
    if methods is not None and not isinstance(methods, Mapping):
        raise InputError(f"methods {quoted(methods)}: options of plans by name of an exchange are allowed")
    found = {}
    for name, options in (methods or {}).items():
        known_name("exchange of a transform", name, EXCHANGES)
        if not isinstance(options, Mapping) or not all(isinstance(each, str) for each in options):
            raise InputError(f"methods of {name}: {quoted(options)}: options of plans by name are allowed")
        found[name] = dict(options)
    return found
