"""Legendre functions of some wavenumbers: kept in compact tables, or computed when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base import memory
from tradewind.base.errors import InputError
from tradewind.base.extents import true_or_false
from tradewind.spectral.threads import checked_threads, share_out
from tradewind.spectral.truncation import Truncation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]


class LegendreFunctions:
    """P(n, m)(sin phi) of some wavenumbers, at latitudes of one hemisphere whose rows keep m, to a truncation's top.

    `truncation`, `wavenumbers`, `latitudes_of`: as in `Legendre`. `tables`: the functions are kept in `table_bytes` of
    memory; without them a thread that asks for a wavenumber needs `scratch_bytes`. `threads` compute the tables. For
    each wavenumber they have even n - m, then odd n - m, each ``float64 [degree][latitude]`` from the pole to the
    equator.

    `begin` [k], `end` [k]: the latitudes of a wavenumber are begin..end - 1 from the pole. `first` [k]: the one with
    which its functions begin; at those nearer to the pole all are below 2^-100 (8e-31, see src/kernel/legendre.hpp), so
    that taking them as 0 changes a field by less than 2^-100 times the sum of its coefficients. `latitudes` [k]: their
    number.

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
    ) -> None:
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
        self.table_bytes = 8 * int(self._start[-1])
        self.scratch_bytes = 8 * int(np.diff(self._start).max(initial=0))
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

    def of(self, k: int, top: int, scratch: Reals | None) -> tuple[Reals, Reals]:
        """Return P(n, m) of the k-th wavenumber for even and for odd n - m, n <= top, each [degree][latitude].

        `scratch`: memory of this thread, from `scratch`.
        """
        if self._tables is not None:
            values = self._tables[self._start[k] : self._start[k + 1]]
        else:
            assert scratch is not None
            values = scratch[: self._start[k + 1] - self._start[k]]
            self._compute(k, values)
        functions = values.reshape(self._degrees[k], self.latitudes[k])
        even, wanted = (int(self._degrees[k]) + 1) // 2, top + 1 - int(self.wavenumbers[k])
        return functions[: (wanted + 1) // 2], functions[even : even + wanted // 2]

    def scratch(self) -> Reals | None:
        """Return memory for one thread, None where there are tables."""
        return np.empty(self.scratch_bytes // 8) if self._tables is None else None

    def _computed(self, threads: int) -> Reals:
        memory.require(
            f"tables of Legendre functions of {self.truncation!r}", self.table_bytes, "tables=False computes them anew"
        )
        tables = np.empty(int(self._start[-1]))

        def work(places: range) -> None:
            for k in places:
                self._compute(k, tables[self._start[k] : self._start[k + 1]])

        share_out(threads, len(self.wavenumbers), work)
        return tables

    def _compute(self, k: int, values: Reals) -> None:
        m, truncation = int(self.wavenumbers[k]), self.truncation
        _core.legendre(truncation.grid.gaussian, int(self.first[k]), m, truncation.top, values, int(self.end[k]))
