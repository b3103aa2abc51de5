"""Lines of contiguous points that a redistribution moves: the messages of a code that packs nothing."""

from __future__ import annotations

from functools import cache

import numpy as np

from tradewind import _core
from tradewind.layout.names import blocks


@cache
def lines_sent(grid: tuple[int, int, int], split: tuple[int, int], before: str, after: str) -> int:
    """Count the lines of the rank that sends the most to other ranks, from one layout to another.

    A line is contiguous in both arrays, [z][y][x]: along x, and on along y where a block has all x of both arrays, and
    on along z where it has all y as well.
    """
    whole = _core.Grid(*grid)
    sources, targets = (_boxes(blocks(whole, split, layout)) for layout in (before, after))
    return max(_lines_of(source, rank, targets) for rank, source in enumerate(sources))


def _boxes(layout: _core.Blocks) -> np.ndarray:
    """[rank][x, y, z][begin, end]"""
    return np.array([layout.box(rank) for rank in range(layout.ranks)]).swapaxes(1, 2)


def _lines_of(source: np.ndarray, rank: int, targets: np.ndarray) -> int:
    begins, ends = np.maximum(source[:, 0], targets[:, :, 0]), np.minimum(source[:, 1], targets[:, :, 1])
    points = np.maximum(ends - begins, 0)  # [receiver][x, y, z]
    all_of_both = (points == source[:, 1] - source[:, 0]) & (points == targets[:, :, 1] - targets[:, :, 0])
    x_whole, y_whole = all_of_both[:, 0], all_of_both[:, 1]
    lines = np.where(x_whole, np.where(y_whole, 1, points[:, 2]), points[:, 1] * points[:, 2])
    lines[points.prod(axis=1) == 0] = 0
    lines[rank] = 0
    return int(lines.sum())
