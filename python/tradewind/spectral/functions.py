"""Legendre functions of some wavenumbers: kept in compact tables, or computed when they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base import memory
from tradewind.base.errors import InputError
from tradewind.base.extents import true_or_false
from tradewind.spectral.precision import DOUBLE, Precision
from tradewind.spectral.threads import checked_threads, split_work
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Doubles = NDArray[np.float64]
    Reals = NDArray[np.floating[Any]]

BLOCK = 2**18
"""Numbers of a block of functions without tables, which is multiplied while it is in the processor's caches.

2 MiB: from 2**16 to 2**21 no other size was faster beyond what repeats differ."""
_LANES = 32
"""Latitudes that are computed side by side, see src/kernel/spectral/legendre.cpp."""
_SMALLEST_SINGLE = 2.0**-60
"""Functions below it are 0 in single precision: their products with coefficients would be denormal numbers, which are
slow, and are below the rounding of a field by far."""


class LegendreFunctions:
    """P(n, m)(sin phi) of some wavenumbers, at latitudes of one hemisphere whose rows keep m, to a truncation's top.

    `truncation`, `wavenumbers`, `latitudes_of`: as in `Legendre`. `tables`: the functions are kept in `table_bytes` of
    memory; without them they are computed in blocks of some latitudes or some degrees, in `scratch_bytes` of each
    thread. `threads` compute the tables. Functions of a wavenumber or a block are those of even n - m, then those of
    odd n - m, each ``float64 [degree][latitude]`` from the pole to the equator; their bits do not depend on the block.
    `precision`: single has ``float32``, doubles that are rounded once.

    `begin` [k], `end` [k]: the latitudes of a wavenumber are begin..end - 1 from the pole. `first` [k]: the one with
    which its functions begin; at those nearer to the pole all are below 2^-100 (8e-31, see
    src/kernel/spectral/legendre.hpp), so that taking them as 0 changes a field by less than 2^-100 times the sum of its
    coefficients. `latitudes` [k]: their number.

    Raises InputError for a wavenumber that is not kept or listed twice, and where memory does not suffice for tables.
    """

    def __init__(
        self,
        truncation: Truncation,
        wavenumbers: ArrayLike | None = None,
        *,
        latitudes_of: Sequence[tuple[int, int]] | None = None,
        tables: bool = True,
        threads: int = 1,
        precision: Precision = DOUBLE,
    ) -> None:
        self.precision = precision
        self.truncation, threads, tables = truncation, checked_threads(threads), true_or_false("tables", tables)
        every = truncation.wavenumbers
        self.wavenumbers: Numbers = every if wavenumbers is None else np.asarray(wavenumbers, dtype=np.int64)
        if self.wavenumbers.ndim != 1 or not np.isin(self.wavenumbers, every).all():
            raise InputError(f"wavenumbers of a Legendre stage: numbers of 0..{truncation.degree} are allowed")
        if len(np.unique(self.wavenumbers)) < len(self.wavenumbers):
            raise InputError("wavenumbers of a Legendre stage: each once is allowed")
        gaussian = truncation.grid.gaussian
        negligible = [_core.negligible_latitudes(gaussian, int(m), truncation.top) for m in self.wavenumbers]
        self.begin, self.end = self._latitudes(latitudes_of)
        self.first: Numbers = np.clip(np.array(negligible, dtype=np.int64), self.begin, self.end)
        self.latitudes: Numbers = self.end - self.first
        self._degrees: Numbers = truncation.degrees_of(self.wavenumbers)
        self._start: Numbers = np.concatenate([[0], np.cumsum(self.latitudes * self._degrees)])
        self.table_bytes = precision.real_type.itemsize * int(self._start[-1])
        fit = np.maximum(BLOCK // self._degrees // _LANES * _LANES, _LANES)
        self._some_latitudes: Numbers = np.minimum(fit, self.latitudes)
        fit = np.maximum(BLOCK // np.maximum(self.latitudes, 1) // 2 * 2, 2)
        self._some_degrees: Numbers = np.minimum(fit, self._degrees)
        sizes = np.maximum(self._some_latitudes * self._degrees, self._some_degrees * self.latitudes)
        self.scratch_bytes = 8 * int(sizes.max(initial=0))
        self._tables = self._computed(threads) if tables else None

    def _latitudes(self, given: Sequence[tuple[int, int]] | None) -> tuple[Numbers, Numbers]:
        """Return the first latitude of each wavenumber, and the one before which it ends."""
        kept, half = self.truncation.row_begin[self.wavenumbers], self.truncation.grid.half
        if given is None:
            return kept, np.full(len(kept), half)
        begin, end = np.array(given, np.int64).reshape(-1, 2).T
        if len(begin) != len(kept) or (begin < kept).any() or (end < begin).any() or (end > half).any():
            raise InputError("latitudes of a Legendre stage: for each wavenumber some that keep it are allowed")
        return begin, end

    @property
    def has_tables(self) -> bool:
        """Whether the functions are kept in memory."""
        return self._tables is not None

    def of(self, k: int, top: int) -> tuple[Reals, Reals]:
        """Return P(n, m) of the k-th wavenumber for even and for odd n - m, n <= top, from the tables."""
        assert self._tables is not None
        functions = self._tables[self._start[k] : self._start[k + 1]].reshape(self._degrees[k], self.latitudes[k])
        even, wanted = (int(self._degrees[k]) + 1) // 2, top + 1 - int(self.wavenumbers[k])
        return functions[: (wanted + 1) // 2], functions[even : even + wanted // 2]

    def by_latitude(self, k: int, top: int, scratch: Doubles | None) -> Iterator[tuple[int, int, tuple[Reals, Reals]]]:
        """Yield blocks of latitudes of the k-th wavenumber: first, one after the last, and P(n, m) there, n <= top.

        `scratch`: memory of this thread, from `scratch`, which the next block overwrites.
        """
        latitudes, first = int(self.latitudes[k]), int(self.first[k])
        if scratch is None:
            yield 0, latitudes, self.of(k, top)
            return
        recurrence, degrees = self._recurrence(k, top), top + 1 - int(self.wavenumbers[k])
        some = max(1, int(self._some_latitudes[k]))
        for begin in range(0, latitudes, some):
            end = min(begin + some, latitudes)
            recurrence.start(first + begin, first + end)
            yield begin, end, self._next(recurrence, degrees, end - begin, scratch)

    def by_degree(self, k: int, top: int, scratch: Doubles | None) -> Iterator[tuple[int, int, tuple[Reals, Reals]]]:
        """Yield blocks of degrees of the k-th wavenumber: first, one after the last, and P(n, m) at all latitudes.

        Degrees are counted from m, and the first is even. `scratch`: as of `by_latitude`.
        """
        degrees = top + 1 - int(self.wavenumbers[k])
        if scratch is None:
            yield 0, degrees, self.of(k, top)
            return
        recurrence, some = self._recurrence(k, top), int(self._some_degrees[k])
        recurrence.start(int(self.first[k]), int(self.end[k]))
        for begin in range(0, degrees, some):
            end = min(begin + some, degrees)
            yield begin, end, self._next(recurrence, end - begin, int(self.latitudes[k]), scratch)

    def _recurrence(self, k: int, top: int) -> _core.LegendreRecurrence:
        return _core.LegendreRecurrence(self.truncation.grid.gaussian, int(self.wavenumbers[k]), top)

    def scratch(self) -> Doubles | None:
        """Return memory for one thread, None where there are tables."""
        return np.empty(self.scratch_bytes // 8) if self._tables is None else None

    def _computed(self, threads: int) -> Reals:
        memory.require(
            f"tables of Legendre functions of {self.truncation!r}", self.table_bytes, "tables=False computes them anew"
        )
        tables: Reals = np.empty(int(self._start[-1]), self.precision.real_type)

        def work(places: range) -> None:
            grid, top = self.truncation.grid, self.truncation.top
            for k in places:
                m, first, end = int(self.wavenumbers[k]), int(self.first[k]), int(self.end[k])
                own = tables[self._start[k] : self._start[k + 1]]
                values: Any = own if self.precision == DOUBLE else np.empty(len(own))
                _core.legendre(grid.gaussian, first, m, top, values, end)
                if values is not own:
                    own[:] = self._rounded(values)

        split_work(threads, len(self.wavenumbers), work)
        return tables

    def _next(
        self, recurrence: _core.LegendreRecurrence, degrees: int, latitudes: int, scratch: Doubles
    ) -> tuple[Reals, Reals]:
        values = scratch[: degrees * latitudes]
        recurrence.next(degrees, values)
        functions, even = self._rounded(values).reshape(degrees, latitudes), (degrees + 1) // 2
        return functions[:even], functions[even:]

    def _rounded(self, values: Doubles) -> Reals:
        """Return functions in the precision of the tables."""
        if self.precision == DOUBLE:
            return values
        return np.where(np.abs(values) < _SMALLEST_SINGLE, 0.0, values).astype(self.precision.real_type)
