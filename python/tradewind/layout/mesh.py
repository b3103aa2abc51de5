"""Meshes to try a fetch on: who owns which points, and the halo that a stencil needs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.base import memory
from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError
from tradewind.layout.names import LISTED, MESHES
from tradewind.layout.regions import Regions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tradewind.layout.halo_lists import Divided

    Ids = NDArray[np.int64]
else:
    np = Deferred("numpy")

BYTES_A_POINT = 70
"""Bytes per point while a mesh is made in one process (52 to 70 were measured for both meshes, 4e5 to 7e6 points)."""
BYTES_A_LISTED_POINT, BYTES_A_RANK = 130, 8_000
"""The same of a mesh whose halos are listed: per point of a halo, and per rank."""
RANKS_AT_ONCE, CELLS_AT_ONCE = 1000, 2_000_000
"""Ranks whose halos are found together, and their own points: fewer take longer, more need more memory."""
BYTES_A_CELL = 180
"""Bytes per own cell of ranks whose halos are found together, where these are found from their cells."""


def lonlat(layout: _core.Blocks, width: int, periodic: str = "") -> tuple[list[Ids], list[Ids]]:
    """The columns of a grid as an unstructured mesh: by rank its own ids, and those `width` around them.

    Column (x, y) is point x + nx y. A point that lies in the halo several times, across a seam, is wanted so often.
    """
    nx, ny, _ = layout.grid.points
    owned, wanted = [], []
    for rank in range(layout.ranks):
        (x0, y0, _), (x1, y1, _) = layout.box(rank)
        x, y = np.arange(x0 - width, x1 + width), np.arange(y0 - width, y1 + width)
        number = y[:, None] % ny * nx + x[None, :] % nx
        own = (y[:, None] >= y0) & (y[:, None] < y1) & (x >= x0) & (x < x1)
        there = np.full(number.shape, True)
        if "x" not in periodic:
            there &= (x >= 0) & (x < nx)
        if "y" not in periodic:
            there &= ((y >= 0) & (y < ny))[:, None]
        owned.append(number[own])
        wanted.append(number[there & ~own])
    return owned, wanted


def octahedral_points(rows: int) -> int:
    """Return the number of points of an octahedral grid with an even number of rows."""
    return rows * (rows + 18)


def octahedral_problems(rows: int, ranks: int) -> list[str]:
    """Return why there is no octahedral grid of this many rows, or why this many ranks cannot share it."""
    if rows < 2 or rows % 2:
        return [f"{rows} rows: an even number of 2 or more is allowed, like 2560 of O1280"]
    if ranks > (maximum := octahedral_points(rows)):
        return [f"{ranks} ranks: 1..{maximum} are allowed for the points of {rows} rows"]
    return []


def octahedral(rows: int, ranks: int, width: int) -> tuple[list[Ids], list[Ids]]:
    """The points of an octahedral reduced Gaussian grid of `rows` rows, in compact parts, as equal as possible.

    Row i from a pole has 20 + 4 i points (Malardel et al. 2016, ECMWF Newsletter 146), counted row by row from the
    north. Ranks share them as the weather centres do, see `Regions`.
    Wanted are, by rank, the points within `width` steps along rows (which are circles) and between neighbouring rows,
    where a step goes to the two points next to the same longitude. Raises InputError for an odd number of rows, and for
    more ranks than points.
    """
    if problems := octahedral_problems(rows, ranks):
        raise InputError(*problems)
    half = 20 + 4 * np.arange(rows // 2)
    lengths = np.concatenate([half, half[::-1]])
    divided = Regions(lengths, ranks)
    rings = _core.RowRings(lengths)
    owned = [divided.own(rank) for rank in range(ranks)]
    return owned, [rings.around(own, width) for own in owned]


def divided(mesh: str, grid: tuple[int, int], split: tuple[int, int], width: int) -> Divided:
    """Return a mesh whose halos are listed, divided among ranks. `grid`: points along x and y, see `NamedGrid`.

    Raises InputError for a grid, a split or a width that does not fit.
    """
    from tradewind.layout.block_halo import BlockHalo
    from tradewind.layout.cell_halo import CellHalo
    from tradewind.layout.icosahedral import FACES, Icosahedral
    from tradewind.layout.tiles import CubedSphere, Tripolar

    nx, ny = grid
    if mesh == "icosahedral":
        divisions = math.isqrt(nx * ny // FACES)
        if FACES * divisions**2 != nx * ny:
            raise InputError(f"an icosahedral grid of {nx * ny} cells: 20 n^2 are allowed, like 20971520 of R2B9")
        return CellHalo(Icosahedral(divisions), math.prod(split), width)
    if mesh == "cubed-sphere":
        if ny != CubedSphere.tiles * nx:
            raise InputError(f"a cubed sphere of {nx} x {ny} cells: six tiles one after another, n x 6n, are allowed")
        return BlockHalo(CubedSphere(nx), split, width)
    return BlockHalo(Tripolar(nx, ny, "F" if mesh == "tripolar-f" else "T"), split, width)


def halo_points(own: float, width: int) -> float:
    """Estimate the points of the halo of a rank that has `own` points."""
    return 2 * ((math.sqrt(own) + 2 * width) ** 2 - own)


def listed_halo(mesh: Divided) -> _core.Fetch:
    """Return the halos of all ranks as one fetch within arrays, which can be verified and simulated."""
    counts: list[int] = []
    lists = []
    at_once = max(1, min(RANKS_AT_ONCE, CELLS_AT_ONCE // len(mesh.ids(0)[0])))
    for first in range(0, mesh.ranks, at_once):
        for each in mesh.lists(first, min(first + at_once, mesh.ranks)):
            counts.append(each.points)
            lists.append((each.owner, each.index, each.place, each.points))
    return _core.Fetch(counts, lists, True)


def halo_of(
    mesh: str, grid: tuple[int, int, int], split: tuple[int, int], width: int, periodic: str = ""
) -> _core.Fetch:
    """The unstructured halo of a mesh over all its ranks, with the levels of the grid.

    Of `octahedral` the number of rows is that of the grid along y. Raises InputError for an unknown mesh, and for a
    grid, a split or a width that does not fit it.
    """
    return _flat_halo_of(mesh, grid[:2], split, width, periodic).with_levels((1, grid[2]))


@lru_cache(maxsize=4)
def _flat_halo_of(mesh: str, grid: tuple[int, int], split: tuple[int, int], width: int, periodic: str) -> _core.Fetch:
    """Make the halo of one level; cached, as cases of a study differ in levels and networks more than in meshes."""
    ranks = split[0] * split[1]
    if mesh == "octahedral":
        points = octahedral_points(grid[1])
        reached = min(points, (math.sqrt(points / ranks) + 2 * width) ** 2)
    else:
        points = grid[0] * grid[1]
        reached = (grid[0] / split[0] + 2 * width) * (grid[1] / split[1] + 2 * width)
    needed = BYTES_A_POINT * ranks * reached
    if mesh in LISTED:
        needed = BYTES_A_RANK * ranks + BYTES_A_LISTED_POINT * ranks * halo_points(points / ranks, width)
    if mesh == "icosahedral":
        needed += BYTES_A_CELL * max(points / ranks, min(points, CELLS_AT_ONCE))
    memory.require(
        f"a mesh of {points} points with a halo of {width}",
        needed,
        "name a smaller grid or width, or another computer",
    )
    if mesh in LISTED:
        return listed_halo(divided(mesh, grid, split, width))
    if mesh == "lonlat":
        owned, wanted = lonlat(_core.Blocks(_core.Grid(*grid, 1), split), width, periodic)
    elif mesh == "octahedral":
        owned, wanted = octahedral(grid[1], ranks, width)
    else:
        raise InputError(f"mesh {mesh!r}: {', '.join(MESHES)} are allowed")
    return _core.fetch_of_ids(owned, wanted)
