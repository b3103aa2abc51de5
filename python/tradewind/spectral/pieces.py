"""Wavenumbers of a transform, whole or in pieces by latitude, where one alone is too much for a set of ranks."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tradewind.base.errors import InputError, quoted
from tradewind.base.names import unknown
from tradewind.layout.lists import ids
from tradewind.spectral.balance import DEALS, deal, packed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tradewind.spectral.truncation import Truncation

    Numbers = NDArray[np.int64]

SPLIT = "split"
"""How wavenumbers are dealt where they may be cut."""
WAYS_TO_DEAL = (*DEALS, SPLIT)
EVEN_ENOUGH = 1.005
"""Largest load over the mean at which no further wavenumber is cut."""

MAX_SEARCHED = 2000
"""Sets among which pieces are packed by a search: it takes seconds for more, and cuts level what it would."""


class Lines(NamedTuple):
    """Lines of different lengths: places begin..end - 1 of each, and the set of ranks that owns it. [line]"""

    begin: Numbers
    end: Numbers
    owner: Numbers


class Piece(NamedTuple):
    """A wavenumber of a set, or some of its latitudes.

    Latitudes begin..end - 1 of a hemisphere and their mirror images; `part` of `parts`, from the pole to the equator.
    """

    m: int
    begin: int
    end: int
    owner: int
    part: int
    parts: int


class Pieces:
    """The pieces of all wavenumbers, by m and from the pole to the equator.

    `lists`: for each set of ranks its pieces (m, begin, end) of latitudes. A set that has a piece of a wavenumber
    computes with its latitudes: to spectral space *partial sums* for all degrees, which are added to those of the other
    pieces; back from all degrees. Of the result each piece owns as large a share of the degrees as of the latitudes, in
    the same order.
    """

    def __init__(self, truncation: Truncation, lists: Sequence[Sequence[tuple[int, int, int]]]) -> None:
        self.truncation = truncation
        found = sorted((m, begin, end, w) for w, own in enumerate(lists) for m, begin, end in own)
        by_m: list[list[tuple[int, int, int, int]]] = [[] for _ in range(truncation.degree + 1)]
        for each in found:
            by_m[each[0]].append(each)
        half = truncation.grid.half
        self.by_m: list[list[Piece]] = []
        for m, own in enumerate(by_m):
            edges = [int(truncation.row_begin[m]), *(end for _, _, end, _ in own)]
            if [begin for _, begin, _, _ in own] != edges[:-1] or edges[-1] != half:
                raise InputError(f"lists of wavenumbers: each of 0..{truncation.degree} once is allowed")
            self.by_m.append([Piece(*each, part, len(own)) for part, each in enumerate(own)])
        self._sets = len(lists)

    @cached_property
    def by_set(self) -> list[list[Piece]]:
        """The pieces of each set, by m. [w]"""
        found: list[list[Piece]] = [[] for _ in range(self._sets)]
        for own in self.by_m:
            for piece in own:
                found[piece.owner].append(piece)
        return found

    @property
    def is_split(self) -> bool:
        """Whether some wavenumber is in pieces."""
        return any(len(own) > 1 for own in self.by_m)

    def degrees_of(self, piece: Piece) -> range:
        """Return the degrees that the owner of a piece has in spectral space."""
        count, first = self.truncation.top + 1 - piece.m, int(self.truncation.row_begin[piece.m])
        every = self.truncation.grid.half - first
        ends = (piece.m + count * (latitude - first) // every for latitude in (piece.begin, piece.end))
        return range(*ends)

    def flops_of(self, piece: Piece) -> float:
        """Return the flops of the Legendre transform of a piece of a field."""
        return 4.0 * (self.truncation.top + 1 - piece.m) * (piece.end - piece.begin)

    @cached_property
    def rows(self) -> Lines:
        """Rows of each wavenumber from north to south: one line for a whole one, else those of the pieces."""
        every = len(self.truncation.grid.rows)
        lines = []
        for own in self.by_m:
            *others, last = own
            lines += [(piece.begin, piece.end, piece.owner) for piece in others]
            lines.append((last.begin, every - last.begin, last.owner))
            lines += [(every - piece.end, every - piece.begin, piece.owner) for piece in reversed(others)]
        return _lines(lines)

    @cached_property
    def degrees(self) -> Lines:
        """Degrees of each piece."""
        pieces = [piece for own in self.by_m for piece in own]
        return _lines([(d.start, d.stop, piece.owner) for piece in pieces if (d := self.degrees_of(piece)) is not None])

    @cached_property
    def sums(self) -> tuple[Lines, Lines]:
        """Partial sums, by the set that has computed them, and by the set that adds them.

        For each piece one line for each other piece of its wavenumber, with the degrees of that.
        """
        before, after = [], []
        for own in self.by_m:
            for piece in own:
                for other in own:
                    if other is not piece:
                        degrees = self.degrees_of(other)
                        before.append((degrees.start, degrees.stop, piece.owner))
                        after.append((degrees.start, degrees.stop, other.owner))
        return _lines(before), _lines(after)


def _lines(lines: list[tuple[int, int, int]]) -> Lines:
    begin, end, owner = np.array(lines, np.int64).reshape(-1, 3).T
    return Lines(np.ascontiguousarray(begin), np.ascontiguousarray(end), np.ascontiguousarray(owner))


def pieces_of(truncation: Truncation, dealt: str | Sequence[ArrayLike] | Pieces, sets: int) -> Pieces:
    """Return the pieces of wavenumbers as they are dealt: one of `WAYS_TO_DEAL`, lists for the sets, or pieces.

    Raises InputError for other names, and where a wavenumber is in none or in two of the lists.
    """
    if isinstance(dealt, Pieces):
        if dealt.truncation is not truncation or len(dealt.by_set) != sets:
            raise InputError(f"pieces of wavenumbers: those of {truncation!r} for {sets} sets are allowed")
        return dealt
    begin, half = truncation.row_begin.tolist(), truncation.grid.half
    pairs = half - truncation.row_begin
    flops = 4 * truncation.degrees_of(truncation.wavenumbers)
    if isinstance(dealt, str) and dealt == SPLIT:
        shares = cut(pairs, flops, sets)
        lists: list[list[tuple[int, int, int]]] = [[] for _ in range(sets)]
        for m, own in enumerate(shares):
            edges = begin[m] + np.concatenate([[0], np.cumsum([count for _, count in own])])
            for (w, _), (first, last) in zip(own, pairwise(edges.tolist()), strict=True):
                lists[w].append((m, first, last))
        return Pieces(truncation, lists)
    if isinstance(dealt, str):
        if dealt not in DEALS:
            raise InputError(unknown("way to deal wavenumbers", dealt, WAYS_TO_DEAL))
        dealt = deal(dealt, flops * pairs, sets)
    if (
        isinstance(dealt, bytes | bytearray | memoryview)
        or not hasattr(dealt, "__len__")
        or getattr(dealt, "shape", 0) == ()
    ):
        raise InputError(f"dealt {quoted(dealt)}: {', '.join(WAYS_TO_DEAL)}, or lists of wavenumbers, are allowed")
    if len(dealt) != sets:
        raise InputError(f"{len(dealt)} lists of wavenumbers: {sets}, one for each set, are allowed")
    whole = [ids("wavenumbers of a set", own).tolist() for own in dealt]
    if sorted(m for own in whole for m in own) != truncation.wavenumbers.tolist():
        raise InputError(f"lists of wavenumbers: each of 0..{truncation.degree} once is allowed")
    return Pieces(truncation, [[(m, begin[m], half) for m in own] for own in whole])


def cut(counts: ArrayLike, weights: ArrayLike, sets: int) -> list[list[tuple[int, int]]]:
    """Return for each item the sets that have a share of it, and how many of its `counts` parts each of them has.

    `weights`: of one part of each item. An item that is larger than the mean fills one set or several by itself; what
    is left of it is packed with the other items (`balance.packed`), or among more than `MAX_SEARCHED` sets dealt, the
    largest first to the set that has least (Graham 1969, doi:10.1137/0117039). Then the set with the largest load gives
    parts of its largest item, as many as it has above the mean, to the set in whose gap they fit best, until all are
    within `EVEN_ENOUGH` of the mean or nothing is gained: each time one set reaches the mean (as McNaughton 1959,
    doi:10.1287/mnsc.6.1.1, fills one after another).
    """
    counts, weights = np.asarray(counts, np.int64), np.asarray(weights, float)
    mean = float((counts * weights).sum()) / sets
    per_set = np.maximum(1, np.floor(mean / weights).astype(np.int64))
    full = np.where(counts * weights > EVEN_ENOUGH * mean, counts // per_set, 0)
    while full.sum() >= sets:  # one set or more is left for the rest
        full[np.flatnonzero(full)[-1]] -= 1
    left = counts - full * per_set
    filled = [{item: int(per_set[item])} for item in range(len(counts)) for _ in range(int(full[item]))]
    packed_items = np.flatnonzero(left)
    deal_rest = packed if sets <= MAX_SEARCHED or not filled else _largest_first
    shares: list[dict[int, int]] = filled + [
        {int(packed_items[place]): int(left[packed_items[place]]) for place in own}
        for own in deal_rest((left * weights)[packed_items], sets - len(filled))
    ]
    _level(shares, weights, mean, int(counts.sum()))
    found: list[list[tuple[int, int]]] = [[] for _ in counts]
    for w, own in enumerate(shares):
        for item, count in own.items():
            found[item].append((w, count))
    return found


def _largest_first(weights: NDArray[np.float64], sets: int) -> list[list[int]]:
    """Return items dealt from the largest on, each to the set with the smallest load."""
    found: list[list[int]] = [[] for _ in range(sets)]
    loads = [(0.0, w) for w in range(sets)]
    for item in np.argsort(-weights, kind="stable").tolist():
        load, w = loads[0]
        heapq.heapreplace(loads, (load + float(weights[item]), w))
        found[w].append(item)
    return found


def _level(shares: list[dict[int, int]], weights: NDArray[np.float64], mean: float, most: int) -> None:
    """Move parts from sets above the mean to others, in `most` steps at most."""
    loads = np.array([sum(weights[item] * count for item, count in own.items()) for own in shares])
    for _ in range(most):
        giver = int(loads.argmax())
        if loads[giver] <= EVEN_ENOUGH * mean:
            break
        own = shares[giver]
        item = max(own, key=lambda item: weights[item] * own[item])
        surplus, gaps = loads[giver] - mean, mean - loads
        fitting = np.flatnonzero(gaps >= surplus)
        taker = int(fitting[gaps[fitting].argmin()] if len(fitting) else gaps.argmax())
        wanted = min(np.ceil(surplus / weights[item]), max(1, np.floor(gaps[taker] / weights[item])))
        given = int(min(wanted, own[item]))
        if loads[taker] + given * weights[item] >= loads[giver]:
            break
        own[item] -= given
        if not own[item]:
            del own[item]
        shares[taker][item] = shares[taker].get(item, 0) + given
        loads[giver] -= given * weights[item]
        loads[taker] += given * weights[item]
