"""Halos of runs of cells that are numbered along a curve: each rank has a run, and rows of cells around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tradewind.base.errors import InputError
from tradewind.layout.halo_lists import HaloList, Ids
from tradewind.layout.icosahedral import Cells, Icosahedral


@dataclass(frozen=True)
class CellHalo:
    """Runs of equally many cells of an icosahedral grid, and `width` rows of cells around each.

    A row holds the cells that share an edge or a corner with those within it. The first (cells mod ranks) ranks have
    one cell more than the others. The array of a rank holds its own cells, then the halo, in ascending order of
    numbers. Raises InputError for more ranks than cells, and for a width below 0.
    """

    grid: Icosahedral
    ranks: int
    width: int

    def __post_init__(self) -> None:
        if not 1 <= self.ranks <= self.grid.cells:
            raise InputError(f"{self.ranks} ranks: 1..{self.grid.cells} are allowed, one for each cell")
        if self.width < 0:
            raise InputError(f"width {self.width}: 0 rows of cells and more are allowed")

    def _begin(self, rank: Ids) -> Ids:
        """Return the first cell of ranks."""
        size, longer = divmod(self.grid.cells, self.ranks)
        return rank * size + np.minimum(rank, longer)

    def owner(self, cell: Ids) -> Ids:
        """Return the ranks that own cells."""
        size, longer = divmod(self.grid.cells, self.ranks)
        return np.maximum(cell // (size + 1), (cell - longer) // size)

    def ids(self, rank: int) -> tuple[Ids, Ids]:
        """Return the numbers of a rank's own cells, and their places in its array."""
        begin, end = self._begin(np.array([rank, rank + 1])).tolist()
        return np.arange(begin, end), np.arange(end - begin)

    def numbers(self, owner: Ids, index: Ids) -> Ids:
        """Return the numbers in the whole grid of cells at places of the arrays of ranks, which own them."""
        return self._begin(owner) + index

    def edges(self, rank: int) -> tuple[Ids, Ids]:
        """Return the edges that a rank owns, and those of its own cells and its halo that other ranks own; ascending.

        The owner of an edge is that of the cell in its number, see `Icosahedral.edges`.
        """
        (halo,) = self.lists(rank, rank + 1)
        cells = np.concatenate([self.ids(rank)[0], self.numbers(halo.owner, halo.index)])
        edges = np.unique(self.grid.edges(cells))
        is_own = self.owner(edges // 3) == rank
        return edges[is_own], edges[~is_own]

    def lists(self, first: int, end: int) -> Iterator[HaloList]:
        """Yield the halos of the ranks from `first` to `end` - 1, in time and memory of their cells."""
        begin = self._begin(np.arange(first, end + 1))
        key = self._halo(first, end)
        rank, cell = np.divmod(key, self.grid.cells)
        owner = self.owner(cell)
        index, none = cell - self._begin(owner), np.zeros(len(cell), np.int64)
        cuts = np.searchsorted(rank, np.arange(first, end + 1))
        for k in range(end - first):
            own, part = int(begin[k + 1] - begin[k]), slice(cuts[k], cuts[k + 1])
            place = np.arange(own, own + cuts[k + 1] - cuts[k])
            yield HaloList(own + len(place), owner[part], index[part], place, none[part])

    def _halo(self, first: int, end: int) -> Ids:
        """Return rank x cells + cell of the halos of ranks, ascending."""
        cells = self.grid.cells
        inside = np.arange(*self._begin(np.array([first, end])).tolist())
        edge_of = self.owner(inside)
        found = ring = np.zeros(0, np.int64)
        for row in range(self.width):
            if row > 0:
                edge_of, inside = np.divmod(ring, cells)
            ring = np.setdiff1d(self._next_row(edge_of, inside, found), found, assume_unique=True)
            found = np.union1d(found, ring)
        return found

    def _next_row(self, rank: Ids, cell: Ids, within: Ids) -> Ids:
        """Return the keys of the cells beyond the outer edges of cells of ranks, and beyond the corners of these."""
        cells, found = self.grid.cells, []
        at = self.grid.places(cell)
        for edge in range(3):
            beyond = self.grid.numbers(self.grid.across(at, np.full(cell.shape, edge))[0])
            outer = self.owner(beyond) != rank
            outer[outer] = ~_is_in(rank[outer] * cells + beyond[outer], within)
            rim = Cells(at.face[outer], at.i[outer], at.j[outer], at.inverted[outer])
            around = self.grid.around(rim, np.full(rim.i.shape, edge))
            whose = np.broadcast_to(rank[outer], around.shape)
            found.append(_distinct((whose * cells + around)[self.owner(around) != whose]))
        return _distinct(np.concatenate(found))


def _distinct(keys: Ids) -> Ids:
    """Return keys in ascending order, each once; `np.unique` of NumPy 2 takes three times as long for as many."""
    keys = np.sort(keys)
    is_new = np.ones(keys.shape, bool)
    is_new[1:] = keys[1:] != keys[:-1]
    return keys[is_new]


def _is_in(keys: Ids, known: Ids) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return whether keys are among known ones, which ascend."""
    if not known.size:
        return np.zeros(keys.shape, bool)
    at = np.minimum(np.searchsorted(known, keys), known.size - 1)
    return np.asarray(known[at] == keys)
