"""Who owns what in a transform on many ranks: grid points, rows, wavenumbers, full columns.

    ranks = W x V: rank p has the wavenumber set w = p // V and the level set v = p % V

    points        bands of equal numbers of grid points by all ranks, a row may be shared; all fields
      | to_rows
    rows          whole rows by w, fields by v; FFT
      | to_wavenumbers
    wavenumbers   lists of wavenumbers by w, fields by v; Legendre transform
      | to_columns
    columns       the same lists by w, degrees by v; all fields

Where wavenumbers are split, several sets compute with latitudes of one, and add what they have computed (`to_sums`)
before columns: then a set has degrees of it, too (`tradewind.spectral.pieces`).

The two middle ones and columns lie in memory as `tradewind.spectral` has it: fields innermost, of each wavenumber the
rows that keep it, or its degrees, one after another. This is the distribution of ecTrans (Barros et al. 1995, "The IFS
model: A parallel production weather code"), but for what is made even.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import MAX_EXTENT, largest_product, true_or_false, whole_number
from tradewind.layout.closed import cuts
from tradewind.layout.lists import ids
from tradewind.layout.names import SPECTRAL
from tradewind.spectral.balance import even_cuts, imbalance
from tradewind.spectral.pieces import SPLIT, Pieces, pieces_of
from tradewind.spectral.precision import DOUBLE, Precision

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tradewind.spectral.pieces import Lines, Piece
    from tradewind.spectral.truncation import Truncation

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

LEAST_LEVEL_SETS = 4
"""Level sets that ecTrans takes where they fit."""
WIND_SCRATCH = 12
"""Complex numbers per coefficient that are in memory at a time while winds are made of vorticity and divergence."""
_even, _cut = _core.Parts.even, _core.Parts.cut


def default_level_sets(ranks: int, levels: int, max_sets: int | None = None) -> int:
    """Return the number V of level sets: the smallest of 4 or more that divides the ranks with V <= ranks / V.

    Where there is none, of the divisors the one that makes W x V nearest to a square, V the smaller. No more sets than
    there are levels, and where that can be, no more than `max_sets` sets of wavenumbers.
    """
    divisors = [v for v in range(1, min(ranks, levels) + 1) if ranks % v == 0]
    few_sets = [v for v in divisors if max_sets is None or ranks // v <= max_sets]
    fitting = [v for v in few_sets if v <= ranks // v]
    if not fitting:
        return (few_sets or divisors[-1:])[0]
    return next((v for v in fitting if v >= LEAST_LEVEL_SETS), fitting[-1])


class Distribution:
    """The four layouts of a transform on W x V ranks, and the loads of each rank.

    `truncation`: grid and wavenumbers, see `Truncation`. `levels`, `variables`: fields are levels times variables,
    those of a level one after another; a set of levels has all variables of each of its levels. `levels` may be a list
    with the number of each set, which may be 0. `level_sets`: V, see `default_level_sets`. `dealt`: how wavenumbers go
    to sets, a name of `balance.DEALS`, lists of them, or "split": as packed, and where that leaves sets uneven
    wavenumbers are cut into pieces of latitudes. `shared`: bands of grid points have equal numbers of points, else they
    are whole rows.

    `pieces`: the wavenumbers of all sets; `lists` [w] those of each set, ascending; `row_cuts` [w + 1] rows of each
    set, of equal FFT flops as far as whole rows allow; `degree_cuts` [v + 1]; `level_cuts` [v + 1]. Raises InputError
    where V does not divide the ranks, and where there are more sets than levels, rows or wavenumbers, or more ranks
    than points.
    """

    def __init__(
        self,
        truncation: Truncation,
        ranks: int,
        *,
        levels: int | Sequence[int] = 1,
        variables: int = 1,
        level_sets: int | None = None,
        dealt: str | Sequence[ArrayLike] | Pieces = "packed",
        shared: bool = True,
    ) -> None:
        from tradewind.spectral.truncation import Truncation

        if not isinstance(truncation, Truncation):
            raise InputError(f"truncation {quoted(truncation)}: a tradewind.spectral.Truncation is allowed")
        shared = true_or_false("shared", shared)
        levels_of_sets = None if isinstance(levels, Integral) else ids("levels of sets", levels)
        levels = int(levels if levels_of_sets is None else levels_of_sets.sum())  # type: ignore[arg-type]
        counts = (("ranks", ranks), ("levels", levels), ("variables", variables))
        ranks, levels, variables = (whole_number(what, count, 1, MAX_EXTENT) for what, count in counts)
        self.truncation, self.ranks, self.levels, self.variables = truncation, ranks, levels, variables
        self._split = dealt.is_split if isinstance(dealt, Pieces) else isinstance(dealt, str) and dealt == SPLIT
        maximum = self._max_sets
        if level_sets is None:
            level_sets = default_level_sets(ranks, levels, maximum)
        self.level_sets = whole_number("level sets", level_sets, 1, MAX_EXTENT)
        self.shared = shared
        if ranks % self.level_sets:
            raise InputError(f"{self.level_sets} level sets on {ranks} ranks: a divisor of the ranks is allowed")
        self.sets = ranks // self.level_sets
        if levels_of_sets is None:
            self._check(self.levels)
            levels_of_sets = np.diff(-(-levels * np.arange(self.level_sets + 1) // self.level_sets))
        else:
            self._check(len(levels_of_sets))
            if len(levels_of_sets) != self.level_sets or (levels_of_sets < 0).any():
                raise InputError(f"levels of {len(levels_of_sets)} sets: 0 or more of each of {self.level_sets}")
        self.pieces = pieces_of(truncation, dealt, self.sets)
        self.lists: list[Numbers] = [np.array([piece.m for piece in own], np.int64) for own in self.pieces.by_set]
        self.level_cuts: Numbers = np.concatenate([[0], np.cumsum(levels_of_sets)])
        self.row_cuts = even_cuts(self.row_flops, self.sets)
        degrees = np.arange(truncation.top + 1)
        # Entry n: how many wavenumbers have degree n.
        self.degree_cuts = even_cuts(np.minimum(degrees, truncation.degree) + 1, self.level_sets)

    @property
    def _max_sets(self) -> int:
        """Each set has a row, and a wavenumber unless these are split."""
        rows = len(self.truncation.grid.rows)
        return rows if self._split else int(min(rows, self.truncation.degree + 1))

    def _check(self, most_level_sets: int) -> None:
        rows, maximum = len(self.truncation.grid.rows), self._max_sets
        problems = []
        if self.level_sets > most_level_sets:
            problems.append(
                f"{self.level_sets} level sets of {self.levels} levels: 1..{self.levels} are allowed, as each has one"
            )
        elif self.sets > maximum:
            largest, _ = largest_product(self.ranks, (self.levels, maximum))
            problems.append(
                f"{self.ranks} ranks are {self.sets} sets of wavenumbers x {self.level_sets} of levels: there are "
                f"{self.truncation.degree + 1} wavenumbers and {rows} rows, so up to {maximum} sets are allowed; the "
                f"most ranks that work are {largest}, with up to {self.levels} "
                "level sets"
            )
        if self.ranks > self.truncation.grid.points:
            problems.append(f"{self.ranks} ranks, {self.truncation.grid.points} grid points: each rank has one or more")
        if problems:
            raise InputError(*problems)

    # Places of a rank.

    def set_of(self, rank: int) -> tuple[int, int]:
        """Return the wavenumber set w and the level set v of a rank."""
        return divmod(rank, self.level_sets)

    def rows_of(self, rank: int) -> Numbers:
        """Return the rows that a rank transforms by FFT."""
        w, _ = self.set_of(rank)
        return np.arange(self.row_cuts[w], self.row_cuts[w + 1])

    def wavenumbers_of(self, rank: int) -> Numbers:
        """Return the wavenumbers of a rank, ascending."""
        return self.lists[self.set_of(rank)[0]]

    def pieces_of(self, rank: int) -> list[Piece]:
        """Return the wavenumbers of a rank, ascending, with those of its latitudes that it computes with."""
        return self.pieces.by_set[self.set_of(rank)[0]]

    def levels_of(self, rank: int) -> range:
        """Return the levels of a rank while it transforms."""
        v = self.set_of(rank)[1]
        return range(self.level_cuts[v], self.level_cuts[v + 1])

    def degrees_of(self, rank: int) -> range:
        """Return the degrees of a rank that has full columns."""
        v = self.set_of(rank)[1]
        return range(self.degree_cuts[v], self.degree_cuts[v + 1])

    @property
    def fields(self) -> int:
        """Levels times variables."""
        return self.levels * self.variables

    # Layouts.

    @cached_property
    def points(self) -> _core.Product:
        """Grid points: x points, z fields."""
        along = self._point_parts
        grid = _core.Grid(self.truncation.grid.points, 1, self.fields)
        return _core.Product(grid, [along, _even(1, 1), _even(self.fields, 1)], (1, -1, -1), 0, self.ranks, "points")

    @cached_property
    def rows(self) -> _core.Product:
        """Whole rows: x points, z fields."""
        along = _cut(np.ascontiguousarray(self.truncation.grid.first[self.row_cuts]))
        grid = _core.Grid(self.truncation.grid.points, 1, self.fields)
        return _core.Product(grid, [along, _even(1, 1), self._fields], (1, -1, 0), 0, self.ranks, "rows")

    @cached_property
    def fourier(self) -> _core.Product:
        """Fourier coefficients of whole rows: x fields, z of each wavenumber the rows that keep it."""
        lines = self.pieces.rows
        every = _even(len(lines.owner), 1)
        return self._in_lines([self._fields, _cut(self.row_cuts), every], (0, 1, -1), lines, "rows")

    @cached_property
    def wavenumbers(self) -> _core.Product:
        """Fourier coefficients of lists of wavenumbers: the same, all rows that keep them, or those of their pieces."""
        lines = self.pieces.rows
        rows = _even(len(self.truncation.grid.rows), 1)
        return self._in_lines([self._fields, rows, self._owned(lines)], (0, -1, 1), lines, "wavenumbers")

    @cached_property
    def spectral(self) -> _core.Product:
        """Spectral coefficients of lists of wavenumbers: x fields, z of each wavenumber its degrees."""
        return self._by_set(self.pieces.degrees, "wavenumbers")

    @cached_property
    def columns(self) -> _core.Product:
        """Spectral coefficients with all fields: the same lists, of each wavenumber some degrees."""
        lines = self.pieces.degrees
        parts = [_even(self.fields, 1), _cut(self.degree_cuts), self._owned(lines)]
        return self._in_lines(parts, (-1, 0, 1), lines, "columns")

    @property
    def _fields(self) -> _core.Parts:
        return _cut(self.level_cuts * self.variables)

    @property
    def _point_parts(self) -> _core.Parts:
        grid = self.truncation.grid
        return (
            _even(grid.points, self.ranks)
            if self.shared
            else _cut(np.ascontiguousarray(grid.first[cuts(grid.rows, self.ranks)]))
        )

    def _owned(self, lines: Lines) -> _core.Parts:
        return _core.Parts.dealt(lines.owner.astype(np.int32), self.sets)

    def _by_set(self, lines: Lines, name: str) -> _core.Product:
        degrees = _even(self.truncation.top + 1, 1)
        return self._in_lines([self._fields, degrees, self._owned(lines)], (0, -1, 1), lines, name)

    def _in_lines(
        self, parts: list[_core.Parts], coordinates: tuple[int, int, int], lines: Lines, name: str
    ) -> _core.Product:
        grid = _core.Grid(self.fields, parts[1].points, len(lines.owner))
        return _core.Product(grid, parts, coordinates, 0, self.ranks, name).in_lines(lines.begin, lines.end)

    # Patterns.

    def to_rows(self) -> _core.Redistribution:
        """Grid points from bands to whole rows."""
        return _core.Redistribution(self.points, self.rows)

    def to_wavenumbers(self) -> _core.Redistribution:
        """Fourier coefficients from rows to wavenumbers."""
        return _core.Redistribution(self.fourier, self.wavenumbers)

    def to_sums(self) -> _core.Redistribution | None:
        """Partial sums of split wavenumbers to those who add them; None where there are none."""
        if not self.pieces.is_split:
            return None
        before, after = self.pieces.sums
        return _core.Redistribution(self._by_set(before, "partial sums"), self._by_set(after, "sums"))

    def to_columns(self) -> _core.Redistribution:
        """Spectral coefficients from levels to degrees."""
        return _core.Redistribution(self.spectral, self.columns)

    def patterns(self) -> dict[str, _core.Redistribution]:
        """Return the exchanges of a transform by name, in the order in which they follow each other."""
        sums = self.to_sums()
        return {
            "rows": self.to_rows(),
            "wavenumbers": self.to_wavenumbers(),
            **({} if sums is None else {"sums": sums}),
            "columns": self.to_columns(),
        }

    def array_bytes(self, rank: int, *, winds: bool = False, precision: Precision = DOUBLE) -> int:
        """Return the bytes of a rank's arrays: one in each layout, partial sums, and what `winds` need beside them."""
        real, number = precision.real_type.itemsize, precision.complex_type.itemsize
        shapes = [(real, self.points), (real, self.rows), (number, self.fourier), (number, self.wavenumbers)]
        shapes += [(number, self.spectral), (number, self.columns)]
        total = sum(size * math.prod(layout.shape(rank)) for size, layout in shapes)
        fields, top = len(self.levels_of(rank)) * self.variables, self.truncation.top
        if winds:  # all coefficients with a degree more, and those of u and v some times more
            own = sum(top + 2 - piece.m for piece in self.pieces_of(rank))
            total += number * own * (fields + WIND_SCRATCH * len(self.levels_of(rank)))
        if (sums := self.to_sums()) is not None:
            own = sum(top + 1 - piece.m for piece in self.pieces_of(rank) if piece.parts > 1)
            ends = math.prod(sums.source_shape(rank)) + math.prod(sums.target_shape(rank))
            total += number * (own * fields + ends)
        return total

    def table_bytes(self, rank: int, *, winds: bool = False, precision: Precision = DOUBLE) -> int:
        """Return the most bytes that a rank's tables of Legendre functions take; for `winds` to one degree more."""
        top = self.truncation.top + winds
        functions = sum((piece.end - piece.begin) * (top + 1 - piece.m) for piece in self.pieces_of(rank))
        return precision.real_type.itemsize * functions

    # Loads of a field: what is to be even.

    @property
    def row_flops(self) -> Reals:
        """Flops of the FFT of each row of a field: 2.5 L log2 L of a real row of L points. [row]"""
        lengths = self.truncation.grid.rows
        return np.asarray(2.5 * lengths * np.log2(lengths), np.float64)

    @property
    def wavenumber_flops(self) -> Reals:
        """Flops of the Legendre transform of each wavenumber of a field. [m]

        Two matrix products of half the degrees and half the rows each, two reals, a multiplication and an addition.
        """
        t = self.truncation
        return 2.0 * t.degrees_of(t.wavenumbers) * (t.row_end - t.row_begin)

    def loads(self) -> dict[str, Reals]:
        """Return what each rank has, by name: points, FFT flops, wavenumbers, Legendre flops, coefficients of columns.

        Each counts its levels. [rank]
        """
        w, v = np.divmod(np.arange(self.ranks), self.level_sets)
        fields = np.diff(self.level_cuts)[v] * self.variables
        by_set = [sum(map(self.pieces.flops_of, own)) for own in self.pieces.by_set]
        row_flops = np.concatenate([[0], np.cumsum(self.row_flops)])[self.row_cuts]
        points = np.array([self._point_parts.width(rank) for rank in range(self.ranks)])
        lines = self.pieces.degrees
        columns = np.zeros((self.sets, self.level_sets))
        for part, (low, high) in enumerate(pairwise(self.degree_cuts.tolist())):
            own = np.clip(high, lines.begin, lines.end) - np.clip(low, lines.begin, lines.end)
            np.add.at(columns[:, part], lines.owner, own)
        return {
            "points": points * float(self.fields),
            "fft_flops": np.diff(row_flops)[w] * fields,
            "wavenumbers": np.array([len(own) for own in self.lists], dtype=float)[w] * fields,
            "legendre_flops": np.array(by_set)[w] * fields,
            "columns": columns[w, v] * self.fields,
        }

    def imbalances(self) -> dict[str, float]:
        """Return of each of the loads the largest over the mean."""
        return {name: imbalance(load) for name, load in self.loads().items()}


@lru_cache(maxsize=4)
def _octahedral(rows: int, levels: int, split: tuple[int, int]) -> Distribution:
    from tradewind.spectral.truncation import Truncation

    if rows < 2 or rows % 2:
        raise InputError(f"octahedral grid of {rows} rows: an even number of rows, 2 or more, is allowed")
    return Distribution(Truncation(f"O{rows // 2}"), math.prod(split), levels=levels, level_sets=split[0])


def exchange_between(rows: int, levels: int, split: tuple[int, int], before: str, after: str) -> _core.Redistribution:
    """Return the exchange between two layouts of a transform by their names, on an octahedral grid of `rows` rows.

    `split`: level sets and wavenumber sets, V x W. `before`, `after`: two of points, rows, wavenumbers and columns that
    follow each other. Raises InputError.
    """
    distribution = _octahedral(rows, levels, split)
    if SPECTRAL.index(after) > SPECTRAL.index(before):
        pattern: _core.Redistribution = getattr(distribution, f"to_{after}")()
        return pattern
    forth: _core.Redistribution = getattr(distribution, f"to_{before}")()
    return _core.Redistribution(forth.to_layout, forth.from_layout)
