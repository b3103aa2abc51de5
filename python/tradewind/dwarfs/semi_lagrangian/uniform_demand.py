"""Columns that ranks fetch on demand in a uniform wind, in closed form.

All departure points are as far from their arrival points, so the stencils of a block are a rectangle, but for its four
corners where stencils have none. Along each axis it is pieces of the parts that it lies in.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from tradewind.dwarfs.semi_lagrangian.lattice import MARGIN

if TYPE_CHECKING:
    from tradewind import _core


@dataclass(frozen=True)
class Piece:
    """Columns of a part that lie one after another along an axis."""

    part: int
    begin: int
    """From the part's first column."""
    count: int
    first: bool
    """Whether it begins with the first column of the rectangle."""
    last: bool


def widths(layout: _core.Blocks) -> tuple[list[int], list[int]]:
    """Columns of each part along x, and rows along y."""
    cx, cy = layout.split
    x = [layout.box(i) for i in range(cx)]
    y = [layout.box(cx * j) for j in range(cy)]
    return [end[0] - begin[0] for begin, end in x], [end[1] - begin[1] for begin, end in y]


def pieces(parts: list[int], shift: int, reach: str) -> list[list[Piece]]:
    """For each part along an axis the pieces that its stencils lie in; columns that come again are named once."""
    begins = [0]
    for width in parts:
        begins.append(begins[-1] + width)
    points = begins[-1]
    before, after = MARGIN[reach]
    found = []
    for part, width in enumerate(parts):
        low, high = begins[part] + shift - before, begins[part] + width + shift + after
        if high - low >= points:  # all around
            found.append([Piece(i, 0, each, False, False) for i, each in enumerate(parts)])
            continue
        mine = []
        at = low
        while at < high:
            inside = at % points
            owner = _part_of(begins, inside)
            count = min(high - at, begins[owner + 1] - inside)
            mine.append(Piece(owner, inside - begins[owner], count, at == low, at + count == high))
            at += count
        found.append(mine)
    return found


def _part_of(begins: list[int], point: int) -> int:
    return bisect_right(begins, point) - 1


def demanded(layout: _core.Blocks, shift: tuple[int, int], reach: str) -> list[tuple[int, int, int, int]]:
    """Return (owner, rank that needs them, columns, bytes of the list) of all ranks.

    `shift`: cells (x, y) to departure points.
    """
    x, y = widths(layout)
    return _demanded(tuple(x), tuple(y), shift, reach)


@lru_cache(maxsize=2)  # of the winds and of the tracers; a million ranks have 0.8 GB each
def _demanded(
    x: tuple[int, ...], y: tuple[int, ...], shift: tuple[int, int], reach: str
) -> list[tuple[int, int, int, int]]:
    cx = len(x)
    along_x, along_y = pieces([*x], shift[0], reach), pieces([*y], shift[1], reach)
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    found = []
    for j, rows in enumerate(along_y):
        for i, columns in enumerate(along_x):
            rank = i + cx * j
            wanted: dict[int, list[tuple[Piece, Piece]]] = {}
            for row in rows:
                for column in columns:
                    owner = column.part + cx * row.part
                    if owner != rank:
                        wanted.setdefault(owner, []).append((column, row))
            for owner, rectangles in wanted.items():
                width = x[owner % cx]
                key = (width, *(value for each in rectangles for piece in each for value in _values(piece)))
                if key not in known:
                    known[key] = _size(rectangles, width, reach == "quasi-cubic")
                if known[key][0]:
                    found.append((owner, rank, *known[key]))
    return found


def _values(piece: Piece) -> tuple[int, int, int, int]:
    return piece.begin, piece.count, piece.first, piece.last


def _size(rectangles: list[tuple[Piece, Piece]], width: int, no_corners: bool) -> tuple[int, int]:
    """Columns, and bytes of the list, of rectangles of a part that is so wide: ascending runs of places, each length
    with how many it has, and how many lengths there are, 8 bytes each."""
    indices: set[int] = set()
    for column, row in rectangles:
        for k in range(row.count):
            edge = no_corners and ((row.first and k == 0) or (row.last and k == row.count - 1))
            begin = column.begin + (1 if edge and column.first else 0)
            end = column.begin + column.count - (1 if edge and column.last else 0)
            indices.update(range((row.begin + k) * width + begin, (row.begin + k) * width + end))
    lengths: dict[int, int] = {}
    run = 0
    places = sorted(indices)
    for here, following in pairwise([*places, -1]):
        run += 1
        if following != here + 1:
            lengths[run] = lengths.get(run, 0) + 1
            run = 0
    return len(places), 8 * (sum(lengths.values()) + 2 * len(lengths) + 1) if places else 0
