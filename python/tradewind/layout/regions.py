"""Reduced grids in regions of equal area, as the weather centres divide them: who owns which points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
else:
    np = Deferred("numpy")


def regions(count: int) -> list[int]:
    """Return the regions per band of a sphere, from the north, for `count` regions of equal area, as round as can be.

    The partition of Leopardi (2006), "A partition of the unit sphere into regions of equal area and small diameter",
    Electronic Transactions on Numerical Analysis 25: two caps, and collars between them about as high as a region is
    wide. Raises InputError for no regions.
    """
    if count < 1:
        raise InputError(f"{count} regions: 1 or more are allowed")
    if count <= 2:
        return [1] * count
    cap = np.arccos(1 - 2 / count)  # colatitude where it ends
    collars = max(1, round((np.pi - 2 * cap) / np.sqrt(4 * np.pi / count)))
    heights = np.cos(np.linspace(cap, np.pi - cap, collars + 1))
    reached = np.cumsum((heights[:-1] - heights[1:]) * count / 2)  # regions down to the end of each collar
    ends = np.floor(reached + 0.5 + 1e-9).astype(int)  # halves go up, also where they are a little less
    return [1, *np.diff(ends, prepend=0).tolist(), 1]


@dataclass(frozen=True)
class _Band:
    """Points that follow one another, cut along the meridians into the parts of some ranks."""

    start: int
    """Its first point."""
    first_row: int
    part: Ids
    """[point of the band]: its part."""
    begin: Ids
    """[row][part]: first column."""
    count: Ids
    """[row][part]: number of columns."""
    before: Ids
    """[row][part]: points of the part in earlier rows."""


class Regions:
    """The points of a reduced grid, counted row by row, in as many compact parts as ranks, as equal as possible.

    Bands of `regions`, each of which is cut along the meridians. `lengths`: points of each row, which lie evenly from
    longitude 0 on. A band is divided when it is first asked for. Raises InputError for more ranks than points.
    """

    def __init__(self, lengths: Ids, ranks: int) -> None:
        self.lengths = np.asarray(lengths, np.int64)
        self.first: Ids = np.concatenate([[0], np.cumsum(self.lengths)])
        """[row]: its first point, and the number of all."""
        points = int(self.first[-1])
        if ranks > points:
            raise InputError(f"{ranks} ranks: 1..{points} are allowed for the points of {len(self.lengths)} rows")
        self.cuts: Ids = points * np.arange(ranks + 1) // ranks
        """[rank]: points of the ranks before it."""
        self._rank: Ids = np.concatenate([[0], np.cumsum(regions(ranks))])  # [band]: its first
        self._bands: dict[int, _Band] = {}

    def counts(self) -> Ids:
        """Return the number of points of each rank."""
        return np.diff(self.cuts)

    def pieces(self, rank: int) -> tuple[Ids, Ids, Ids]:
        """Return the rows of a rank, and its first column and the number of columns in each."""
        at = int(np.searchsorted(self._rank, rank, side="right")) - 1
        band, part = self._band(at), rank - self._rank[at]
        inside = np.flatnonzero(band.count[:, part])
        return band.first_row + inside, band.begin[inside, part], band.count[inside, part]

    def own(self, rank: int) -> Ids:
        """Return the points of a rank, ascending."""
        rows, begin, count = self.pieces(rank)
        behind = np.cumsum(count)
        return np.repeat(self.first[rows] + begin - (behind - count), count) + np.arange(int(count.sum()))

    def owners(self, points: Ids) -> tuple[Ids, Ids]:
        """Return the owner of each point, and its place among the points of the owner."""
        owner, index = np.empty_like(points), np.empty_like(points)
        row = np.searchsorted(self.first, points, side="right") - 1
        bands = np.searchsorted(self.cuts[self._rank], points, side="right") - 1
        for at in np.unique(bands):
            here, band = bands == at, self._band(int(at))
            part, line = band.part[points[here] - band.start], row[here] - band.first_row
            owner[here] = self._rank[at] + part
            column = points[here] - self.first[row[here]]
            index[here] = band.before[line, part] + column - band.begin[line, part]
        return owner, index

    def _band(self, at: int) -> _Band:
        if at not in self._bands:
            self._bands[at] = self._divided(self._rank[at], self._rank[at + 1])
        return self._bands[at]

    def _divided(self, low: int, high: int) -> _Band:
        """Divide the band of the ranks low..high - 1."""
        start, end = int(self.cuts[low]), int(self.cuts[high])
        point = np.arange(start, end)
        row = np.searchsorted(self.first, point, side="right") - 1
        column = point - self.first[row]
        order = np.lexsort((row, column / self.lengths[row]))
        parts = high - low
        part = np.empty(end - start, np.int64)
        part[order] = np.repeat(np.arange(parts), np.diff(self.cuts[low : high + 1]))
        first_row, rows = int(row[0]), int(row[-1] - row[0]) + 1
        count = np.bincount((row - first_row) * parts + part, minlength=rows * parts).reshape(rows, parts)
        begin = np.cumsum(count, axis=1) - count
        begin[0] += column[0]
        return _Band(start, first_row, part, begin, count, np.cumsum(count, axis=0) - count)
