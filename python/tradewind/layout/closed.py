"""Layouts beside blocks: bands of a grid, wavenumbers by levels, whole fields on a few ranks.

Each has a closed form: who owns a point is computed, and nothing is stored for a rank. Two of them, or one of them and
blocks, make a transposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Self

from tradewind import _core
from tradewind.base import memory
from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError
from tradewind.base.extents import whole_number
from tradewind.layout.display import ShownGrid, ShownLayout
from tradewind.layout.lists import ids, listed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
else:
    np = Deferred("numpy")

even = _core.Parts.even
BYTES_PER_LISTED_POINT = 60
"""Memory while lists are made in one process (57 were measured)."""
BYTES_PER_FETCHED_POINT = 110
"""Memory while a fetch is made of lists in one process (86 to 99 were measured, 2e6 and 8e6 points)."""
ON_RANKS = "on MPI ranks each can make its own part, see tradewind.points.redistribution"


class ReducedGrid(_core.Grid, ShownGrid):
    """A grid whose rows have different numbers of points, as reduced Gaussian grids have: its points lie along x.

    `rows`: points of each row, from the north; `nz`: levels. Point i of row j is point ``sum(rows[:j]) + i`` along x,
    and y has one point. Raises InputError for no rows and for a row without points.
    """

    def __init__(self, rows: ArrayLike, nz: int = 1) -> None:
        lengths = ids("rows of a reduced grid", rows)
        if not lengths.size or lengths.min() < 1:
            raise InputError("rows of a reduced grid: a list of the points of each row, 1 or more, is allowed")
        super().__init__(int(lengths.sum()), 1, whole_number("levels", nz))
        self.rows = lengths

    def __repr__(self) -> str:
        """Return the numbers of rows, points and levels."""
        points, _, levels = self.points
        return f"<ReducedGrid: {len(self.rows):,} rows of {points:,} points together, {levels} levels>"

    @classmethod
    def octahedral(cls, n: int, nz: int = 1) -> Self:
        """Return the grid O<n>: 2 n rows, row i from a pole with 20 + 4 i points.

        Malardel et al. 2016, ECMWF Newsletter 146. Raises InputError for n below 1.
        """
        if n < 1:
            raise InputError(f"octahedral grid O{n}: O1 and more are allowed")
        half = 20 + 4 * np.arange(n)
        return cls(np.concatenate([half, half[::-1]]), nz)


def _sets(ranks: int, level_sets: int, what: str) -> int:
    """Number of ranks that share a set of levels."""
    if level_sets < 1 or ranks < 1 or ranks % level_sets:
        raise InputError(f"{what} on {ranks} ranks: {level_sets} sets of levels do not divide the ranks evenly")
    return ranks // level_sets


def cuts(weights: ArrayLike, parts: int) -> Numbers:
    """Return where to cut a sequence so that the parts have weights as equal as whole entries allow.

    The result has parts + 1 entries: part p is ``[cuts[p]:cuts[p + 1]]``, which may be empty.
    """
    ends = np.concatenate([[0.0], np.cumsum(np.asarray(weights, dtype=float))])
    wanted = ends[-1] * np.arange(1, parts) / parts
    nearest = np.searchsorted((ends[:-1] + ends[1:]) / 2, wanted)
    return np.concatenate([[0], nearest, [len(ends) - 1]]).astype(np.int64)


class Bands(_core.Product, ShownLayout):
    """Bands of a grid from north to south, by all ranks or by the ranks of each set of levels.

    `grid`: a `ReducedGrid` or a `Grid`. `shared`: bands have equal numbers of points, and a row may be shared by
    several ranks; the points of a rank follow each other along x, and its array has the shape (nz, 1, points). Else
    bands are whole rows; `weights`, one for each row, are what is made as equal as it goes: the points of the rows
    unless given. `level_sets`: number of sets of ranks that share the levels; rank i + j * bands has band i and
    set j. A rank may own nothing. Raises InputError where the sets do not divide the ranks.
    """

    def __init__(
        self,
        grid: _core.Grid,
        ranks: int,
        *,
        shared: bool = True,
        weights: ArrayLike | None = None,
        level_sets: int = 1,
    ) -> None:
        bands = _sets(ranks, level_sets, "bands")
        nx, ny, nz = grid.points
        rows = grid.rows if isinstance(grid, ReducedGrid) else np.full(ny, nx, np.int64)
        weights = rows if weights is None else np.asarray(weights, dtype=float)
        if weights.shape != rows.shape or not (weights >= 0).all():
            raise InputError(f"weights of bands: one number for each of {len(rows)} rows, 0 or more, is allowed")
        levels = even(nz, level_sets)
        if shared:
            parts, directions = [even(nx * ny, bands), even(1, 1), levels], (0, -1, 1)
            grid = _core.Grid(nx * ny, 1, nz)
        elif isinstance(grid, ReducedGrid):
            first = np.concatenate([[0], np.cumsum(rows)])
            along = _core.Parts.cut(np.ascontiguousarray(first[cuts(weights, bands)]))
            parts, directions = [along, even(1, 1), levels], (0, -1, 1)
        else:
            parts, directions = [even(nx, 1), _core.Parts.cut(cuts(weights, bands)), levels], (-1, 0, 1)
        super().__init__(grid, parts, directions, 0, ranks, "bands" if shared else "bands of whole rows")


def snake(count: int, sets: int) -> list[Numbers]:
    """Deal 0..count-1 to sets to and fro, as ecTrans deals wavenumbers: 0 1 2 2 1 0 0 1 2 ..."""
    around = np.arange(count) % (2 * sets)
    owner = np.minimum(around, 2 * sets - 1 - around)
    return [np.flatnonzero(owner == k) for k in range(sets)]


class Wavenumbers(_core.Product, ShownLayout):
    """Lists of wavenumbers, which lie along x, by sets of levels along z; y (rows or degrees) stays whole.

    `lists`: for each set of ranks its wavenumbers, ascending in its array whatever their order here; each number of
    0..nx-1 is in one list. `level_sets`: rank i + j * len(lists) has list i and set j of the levels. `snake` deals as
    ecTrans does. Raises InputError for a number that is missing, strange or in two lists.
    """

    def __init__(self, grid: _core.Grid, lists: Sequence[ArrayLike], *, level_sets: int = 1) -> None:
        nx, ny, nz = grid.points
        owner = np.full(nx, -1, np.int32)
        for number, wavenumbers in enumerate(lists):
            for m in np.asarray(wavenumbers, dtype=np.int64).tolist():
                if not 0 <= m < nx:
                    raise InputError(f"list {number} has wavenumber {m}: 0..{nx - 1} are allowed")
                if owner[m] >= 0:
                    raise InputError(f"wavenumber {m} is in list {owner[m]} and in list {number}: one is allowed")
                owner[m] = number
        if (owner < 0).any():
            raise InputError(f"wavenumber {int(np.argmin(owner))} is in none of the {len(lists)} lists")
        along = _core.Parts.dealt(owner, len(lists))
        parts = [along, even(ny, 1), even(nz, level_sets)]
        super().__init__(grid, parts, (0, -1, 1), 0, len(lists) * level_sets, "wavenumbers")


class Whole(_core.Product, ShownLayout):
    """Whole fields, or whole levels: those along z are dealt one by one to the last `servers` of all ranks.

    The other ranks own nothing. `servers` None: all ranks. Raises InputError for fewer servers than 1 or more than
    there are ranks.
    """

    def __init__(self, grid: _core.Grid, ranks: int, servers: int | None = None) -> None:
        servers = ranks if servers is None else servers
        if not 1 <= servers <= ranks:
            raise InputError(f"whole fields on {servers} servers: 1..{ranks} are allowed among {ranks} ranks")
        nx, ny, nz = grid.points
        dealt = _core.Parts.dealt((np.arange(nz) % servers).astype(np.int32), servers)
        super().__init__(grid, [even(nx, 1), even(ny, 1), dealt], (-1, -1, 0), ranks - servers, ranks, "whole fields")


class Placed(_core.Product, ShownLayout):
    """A layout on the ranks from `first` on, of `ranks` in all; the others own nothing.

    Raises InputError where the ranks are too few.
    """

    def __init__(self, layout: _core.Blocks | _core.Product, first: int, ranks: int) -> None:
        super().__init__(_core.Product(layout).placed(first, ranks))


def on_one_grid(before: _core.Layout, after: _core.Layout) -> tuple[_core.Product, _core.Product]:
    """Return two layouts as products over one grid; where one has all rows in one, the other is seen so, too.

    Raises InputError for layouts of different grids, and where such rows are divided along x by the other layout.
    """
    products = [_product(layout) for layout in (before, after)]
    volumes = [int(np.prod(product.grid.points)) for product in products]
    if list(products[0].grid.points) != list(products[1].grid.points) and volumes[0] == volumes[1]:
        try:
            products = [product if product.grid.points[1] == 1 else product.in_one_row() for product in products]
        except InputError as error:
            raise InputError(f"{error}; go by a layout with whole rows, or name the points (tw.Lists)") from None
    return products[0], products[1]


def _product(layout: _core.Layout) -> _core.Product:
    if isinstance(layout, _core.Product):
        return layout
    if isinstance(layout, _core.Blocks):
        return _core.Product(layout)
    raise InputError(f"{layout!r} is no layout that has a closed form")


def indices(layout: _core.Blocks | _core.Product, rank: int) -> list[Numbers]:
    """Return the coordinates of a rank's array along x, y and z, in the order of the array."""
    part = (product := _product(layout)).part_of(rank)
    if part is None:
        return [np.empty(0, np.int64)] * 3
    if product.lines is not None:
        boxes = product.boxes(rank)
        along = {box[0][2]: box[1][2] for box in boxes}
        runs = [product.parts(0).runs(part[0]), [(0, 1)], sorted(along.items())]
    else:
        runs = [product.parts(axis).runs(part[axis]) for axis in range(3)]
    return [np.fromiter(chain(*(range(*run) for run in direction)), np.int64) for direction in runs]


def own_ids(layout: _core.Layout, rank: int) -> Numbers:
    """Return the numbers of a rank's points in the order of its array: x + nx (y + ny z), or those of its list."""
    if isinstance(layout, _core.Lists):
        return np.asarray(layout.ids(rank))
    x, y, z = indices(_product(layout), rank)
    nx, ny, _ = layout.grid.points
    return (x + nx * (y[:, None] + ny * z[:, None, None])).ravel()


class Lists(_core.Lists, ShownLayout):
    """The points of each rank as a list of their numbers, in the order of its array: a mesh, or any distribution.

    `ids`: by rank; each number from 0 to one less than there are points is owned once. Raises InputError for a number
    that is missing, strange or owned twice, and where memory does not suffice for all lists in this process.
    """

    def __init__(self, ids: Sequence[ArrayLike]) -> None:
        lists = listed("ids", ids)
        points = sum(map(len, lists))
        memory.require(f"lists of {points} points", BYTES_PER_LISTED_POINT * points, ON_RANKS)
        super().__init__(lists)


def wanted_ids(before: _core.Layout, after: _core.Layout) -> tuple[list[Numbers], list[Numbers]]:
    """Return what a fetch from one layout to another takes: by rank the numbers before, and those after.

    Raises InputError for layouts of different numbers of points or ranks, and where memory does not suffice for a fetch
    of all points in this process.
    """
    if before.ranks != after.ranks:
        raise InputError(
            f"transpose: {before.ranks} ranks before and {after.ranks} after; the two layouts must have the same number"
        )
    points = [int(np.prod(layout.grid.points)) for layout in (before, after)]
    if points[0] != points[1]:
        raise InputError(f"transpose: {points[0]} points before and {points[1]} after: the same points are allowed")
    needed = BYTES_PER_FETCHED_POINT * points[0]
    memory.require(f"a transposition of {points[0]} points by lists", needed, ON_RANKS)
    ranks = range(before.ranks)
    return [own_ids(before, rank) for rank in ranks], [own_ids(after, rank) for rank in ranks]
