"""Halos of blocks on grids of tiles: each rank has a block of one tile, in an array with `width` points around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text
from tradewind.layout.halo_lists import HaloList, Ids
from tradewind.layout.tiles import Tiles


@dataclass(frozen=True)
class BlockHalo:
    """Blocks on the tiles of a grid, and the halo around each: rank i + cx j has column i and row j of the blocks.

    `split` (cx, cy): ranks along x and y, where the tiles lie one after another along y, so that each has cy / tiles
    rows of blocks. The first (points mod parts) parts of a tile along a direction have one point more than the others.
    The array of a rank has the shape (rows + 2 width, columns + 2 width). Raises InputError for a split that leaves
    blocks without points or does not end with the tiles, and for a halo wider than the tiles.
    """

    tiles: Tiles
    split: tuple[int, int]
    width: int

    def __post_init__(self) -> None:
        if problems := split_problems(self.tiles, self.split):
            raise InputError(*problems)
        if not 0 <= self.width <= (limit := min(*self.tiles.points, self.tiles.rows) - 1):
            raise InputError(
                f"width {self.width}: 0..{limit} are allowed on tiles of {extents_text(self.tiles.points)}"
            )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.split[0] * self.split[1]

    @property
    def _parts(self) -> tuple[int, int]:
        """Blocks of a tile along x and y."""
        return self.split[0], self.split[1] // self.tiles.tiles

    def _block(self, rank: Ids) -> tuple[Ids, Ids, Ids, Ids, Ids]:
        """Return tile, first x and y, and points along x and y, of the blocks of ranks."""
        (nx, ny), (cx, cy) = self.tiles.points, self._parts
        column, row = rank % cx, rank // cx
        (x, x_end), (y, y_end) = ((_begin(n, parts, i), _begin(n, parts, i + 1))
                                  for n, parts, i in ((nx, cx, column), (ny, cy, row % cy)))  # fmt: skip
        return row // cy, x, y, x_end - x, y_end - y

    def shape(self, rank: int) -> tuple[int, int]:
        """Return the shape of a rank's array of one level, halo included."""
        *_, nx, ny = self._block(np.asarray(rank))
        return int(ny) + 2 * self.width, int(nx) + 2 * self.width

    def ids(self, rank: int) -> tuple[Ids, Ids]:
        """Return the numbers x + nx (y + ny tile) of a rank's own points, and their places in its array."""
        (tile, x, y, nx, ny), w = self._block(np.asarray(rank)), self.width
        rows = np.arange(max(0, min(int(ny), self.tiles.rows - int(y))))[:, None]
        columns = np.arange(int(nx))
        numbers = x + columns + self.tiles.points[0] * (y + rows + self.tiles.points[1] * tile)
        return numbers.ravel(), ((rows + w) * (nx + 2 * w) + columns + w).ravel()

    def numbers(self, owner: Ids, index: Ids) -> Ids:
        """Return the numbers in the whole grid of points at places of the arrays of ranks, which own them."""
        tile, x, y, nx, _ = self._block(owner)
        row, column = np.divmod(index, nx + 2 * self.width)
        return x + column - self.width + self.tiles.points[0] * (y + row - self.width + self.tiles.points[1] * tile)

    def lists(self, first: int, end: int) -> Iterator[HaloList]:
        """Yield the halos of the ranks from `first` to `end` - 1, in time and memory of their points."""
        rank = np.arange(first, end)
        tile, x, y, nx, ny = self._block(rank)
        own_rows = np.clip(self.tiles.rows - y, 0, ny)
        shapes, kind = np.unique(np.stack([nx, ny, own_rows], axis=1), axis=0, return_inverse=True)
        found: list[HaloList | None] = [None] * len(rank)
        for number, (columns, rows, own) in enumerate(shapes):
            at = np.flatnonzero(kind.ravel() == number)
            right, up = self._frame(columns, rows, own)
            halos = self._around(tile[at, None], x[at, None] + right, y[at, None] + up)
            place = (up + self.width) * (columns + 2 * self.width) + right + self.width
            points = int((columns + 2 * self.width) * (rows + 2 * self.width))
            for i, (owner, index, turns, exists) in zip(at, halos, strict=True):
                found[i] = HaloList(points, owner[exists], index[exists], place[exists], turns[exists])
        yield from (each for each in found if each is not None)

    def _frame(self, columns: int, rows: int, own: int) -> tuple[Ids, Ids]:
        """Return the places around a block, row by row, from its first point: `own` of its rows have its own points."""
        w = self.width
        up, right = (each.ravel() for each in np.mgrid[-w : rows + w, -w : columns + w])
        around = (up < 0) | (up >= own) | (right < 0) | (right >= columns)
        return right[around], up[around]

    def _around(self, tile: Ids, x: Ids, y: Ids) -> Iterator[tuple[Ids, ...]]:
        """Yield owners, places in their arrays, turns, and whether there is a point, for each row of places."""
        meant = self.tiles.canonical(*np.broadcast_arrays(tile, x, y))
        (nx, ny), (cx, cy), w = self.tiles.points, self._parts, self.width
        column, row = _part(nx, cx, meant.x), _part(ny, cy, meant.y)
        owner = column + cx * (row + cy * meant.tile)
        wide = nx // cx + (column < nx % cx) + 2 * w
        index = (meant.y - _begin(ny, cy, row) + w) * wide + meant.x - _begin(nx, cx, column) + w
        return zip(owner, index, meant.turns, meant.exists, strict=True)


def split_problems(tiles: Tiles, split: tuple[int, int]) -> list[str]:
    """Return why a split does not fit a grid of tiles."""
    (nx, ny), count = tiles.points, tiles.tiles
    if min(split) < 1 or split[1] % count:
        return [f"split {extents_text(split)}: a multiple of {count} ranks along y is allowed, the same on each tile"]
    if split[0] > nx or split[1] > ny * count:
        return [f"split {extents_text(split)}: up to {nx} x {ny * count} ranks are allowed, one for each point"]
    return []


def _begin(points: int, parts: int, part: Ids) -> Ids:
    """Return the first point of a part; the first (points mod parts) parts have one more than the others."""
    return part * (points // parts) + np.minimum(part, points % parts)


def _part(points: int, parts: int, point: Ids) -> Ids:
    """Return the part that has a point."""
    size, longer = divmod(points, parts)
    reached = longer * (size + 1)
    return np.where(point < reached, point // (size + 1), longer + (point - reached) // size)
