"""Grids of tiles of nx x ny points whose edges meet otherwise than in a plane: tripolar grids and cubed spheres.

`canonical` gives the point that a place beyond the edges of a tile means, in closed form; nothing is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError
from tradewind.base.names import known_name

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Points of a grid, or places beyond the edges of its tiles; all arrays have one shape."""

    tile: Ids
    x: Ids
    y: Ids
    turns: Ids
    """Quarter turns, counterclockwise, from the directions x and y at the place asked for to those of this tile."""
    exists: NDArray[np.bool_]
    """Whether the place is a point of the grid at all: beyond a closed edge and at the corner of a cube it is not."""


class Tiles(Protocol):
    """A grid of tiles, as halos see it."""

    @property
    def tiles(self) -> int:
        """Number of tiles."""

    @property
    def points(self) -> tuple[int, int]:
        """Points of a tile along x and y."""

    @property
    def rows(self) -> int:
        """Rows of a tile that hold points of their own: all, or all but the last one."""

    def canonical(self, tile: Ids, x: Ids, y: Ids) -> Places:
        """Return the points that places mean; x and y may lie beyond the tile, as far as it has points."""


PIVOTS = ("T", "F")
STAGGERED = {"t": (0, 0), "u": (1, 0), "v": (0, 1), "f": (1, 1)}
"""Points of a C grid -> half steps along x and y from the cell's centre: t its centre, u its east, v its north face, f
its north-east corner."""


@dataclass(frozen=True)
class Tripolar:
    """A grid that is periodic along x and folded at its north edge, as ORCA of NEMO: the fold joins two poles on land.

    Points are those without copies: NEMO's arrays had two columns and one row more until version 4.0. The fold turns
    the grid by half a circle about a pivot in its last row: the point T of the first cell (pivot "T": the last row of T
    points then holds each point twice, x and -x mod nx), or the point F at its corner (pivot "F"). So what lies k rows
    beyond the fold is k rows within it, in reversed order (NEMO reference manual, North Pole folding,
    doi:10.5281/zenodo.1464816). The directions x and y are turned by half a circle, too: a model changes the sign of
    the components of vectors there.

    `point`: t, u, v or f of the C grid. Raises InputError for an unknown pivot or point and for less than 2 x 2 points.
    """

    nx: int
    ny: int
    pivot: str = "T"
    point: str = "t"
    tiles: int = 1

    def __post_init__(self) -> None:
        known_name("pivot", self.pivot, PIVOTS)
        known_name("point", self.point, STAGGERED)
        if min(self.nx, self.ny) < 2:
            raise InputError(f"a tripolar grid of {self.nx} x {self.ny} points: 2 x 2 and more are allowed")

    @property
    def points(self) -> tuple[int, int]:
        """Points along x and y."""
        return self.nx, self.ny

    @property
    def rows(self) -> int:
        """Rows up to the fold: v and f points of the last row lie beyond a fold with the pivot T."""
        return self.ny - (self.pivot == "T" and STAGGERED[self.point][1])

    def canonical(self, tile: Ids, x: Ids, y: Ids) -> Places:
        """Return the points that places mean: beyond the fold their images, south of the first row none."""
        east, north = STAGGERED[self.point]
        folded = y >= self.rows
        is_f = self.pivot == "F"
        x = np.where(folded, -is_f - east - x, x) % self.nx
        y = np.where(folded, 2 * (self.ny - 1) + is_f - north - y, y)
        return Places(tile, x, y, np.where(folded, 2, 0), y >= 0)


_EVEN = {
    "east": (1, "west", False),
    "north": (2, "west", True),
    "west": (-2, "north", True),
    "south": (-1, "north", False),
}
_ODD = {
    "east": (2, "south", True),
    "north": (1, "south", False),
    "west": (-1, "east", False),
    "south": (-2, "east", True),
}
"""Edge of a tile -> which tile it meets (how many further on), at which edge, and whether in reversed order."""
_FRAMES = np.array(
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
        [[0, 0, 1], [-1, 0, 0], [0, -1, 0]],
        [[-1, 0, 0], [0, 0, -1], [0, -1, 0]],
        [[0, -1, 0], [0, 0, -1], [1, 0, 0]],
        [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
    ]
)
"""For each tile the direction from the centre of the cube to it, and its directions x and y, in space."""
_SIDES = ("east", "north", "west", "south")
"""Edges of a tile, counterclockwise: the place in this order is a number of quarter turns."""


@dataclass(frozen=True)
class CubedSphere:
    """Six tiles of n x n cells on the faces of a cube, numbered as those of FV3 (Putman & Lin 2007,
    doi:10.1016/j.jcp.2007.07.022): each edge of a tile is that of one other tile.

    Across an edge the directions x and y may turn by a quarter of a circle; a model turns the components of vectors by
    `turns` there. Three tiles meet at each corner: what lies beyond both edges of a tile is no cell. Raises InputError
    for less than one cell.
    """

    n: int
    tiles: int = 6

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"a cubed sphere of {self.n} x {self.n} cells per tile: 1 x 1 and more are allowed")

    @property
    def points(self) -> tuple[int, int]:
        """Cells of a tile along x and y."""
        return self.n, self.n

    @property
    def rows(self) -> int:
        """Rows of a tile: all."""
        return self.n

    def element_ids(self, cell: Ids, points: int) -> Ids:
        """Return ids of the points of cells as spectral elements, [..., y, x], with `points` along each direction.

        Points that elements share, also those of different tiles, have one id: it is made of their places on a cube of
        n (points - 1) intervals, so that a `tradewind.GatherScatter` of them sums up what elements have in common, as
        HOMME does (Dennis et al. 2012, doi:10.1177/1094342011428142). Cells are numbered x + n (y + n tile). Raises
        InputError for less than 2 points.
        """
        if points < 2:
            raise InputError(f"{points} points of an element along each direction: 2 or more are allowed")
        intervals = self.n * (points - 1)
        tile, place = np.divmod(np.asarray(cell), self.n**2)
        y, x = np.divmod(place, self.n)
        along = np.arange(points)
        right = 2 * (x[..., None, None] * (points - 1) + along) - intervals
        up = 2 * (y[..., None, None] * (points - 1) + along[:, None]) - intervals
        outward, to_right, upward = np.moveaxis(_FRAMES[tile], -2, 0)[..., None, None, :]
        at = (outward * intervals + right[..., None] * to_right + up[..., None] * upward + intervals) // 2
        side = intervals + 1
        return np.asarray(1 + at[..., 0] + side * (at[..., 1] + side * at[..., 2]))

    def canonical(self, tile: Ids, x: Ids, y: Ids) -> Places:
        """Return the cells that places mean; up to n cells beyond one edge of a tile are cells of the next one."""
        n = self.n
        shape = np.broadcast_shapes(np.shape(tile), np.shape(x), np.shape(y))
        tile, x, y = (np.ravel(each) for each in np.broadcast_arrays(tile, x, y))
        beyond = (x >= n, y >= n, x < 0, y < 0)
        exists = sum(side.astype(int) for side in beyond) <= 1
        depth = (x - n, y - n, -1 - x, -1 - y)
        found = np.stack([tile, x, y, np.zeros(tile.shape, np.int64)])
        for number, side in enumerate(_SIDES):
            for parity, edges in enumerate((_EVEN, _ODD)):
                at = np.flatnonzero(beyond[number] & exists & (tile % 2 == parity))
                further, met, reversed_order = edges[side]
                along = (y if side in ("east", "west") else x)[at]
                if reversed_order:
                    along = n - 1 - along
                inward = depth[number][at]
                across = inward if met in ("west", "south") else n - 1 - inward
                new_x, new_y = (across, along) if met in ("east", "west") else (along, across)
                # Going on through the edge `met` leads inward, against that edge's own direction.
                turns = (number - (_SIDES.index(met) + 2)) % 4
                found[:, at] = (tile[at] + further) % 6, new_x, new_y, np.full(at.shape, turns)
        tile, x, y, turned = (each.reshape(shape) for each in found)
        return Places(tile, x, y, turned, np.asarray(exists).reshape(shape))
