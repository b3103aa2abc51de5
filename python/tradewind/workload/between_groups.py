"""A field on its way from the ranks of one group to those of another, like from a model to servers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tradewind import _core
from tradewind.base import memory
from tradewind.base.errors import InputError

BYTES_A_POINT = 64
"""Of memory, while the lists of all ranks are made."""
_NONE = np.zeros(0, np.int64)


def redistribution(before: _core.Blocks, after: _core.Blocks, *, source_first: bool = True) -> _core.Fetch:
    """Return the redistribution from a layout of one group to a layout of another, over the ranks of both.

    Each rank of the one group owns its part of the grid, x fastest, and wants nothing; each of the other wants its part
    and owns nothing. `source_first`: the group that sends has the lower ranks. It lists every point, so that the grid
    must fit the memory of this process.
    """
    points = [before.grid.points, after.grid.points]
    if points[0] != points[1]:
        raise InputError(f"a redistribution between grids of {points[0]} and {points[1]} points")
    count = int(np.prod(points[0], dtype=float))
    memory.require(f"a redistribution of {count} points", BYTES_A_POINT * count, "name a smaller grid")
    sent = [_ids(before, rank) for rank in range(before.ranks)]
    received = [_ids(after, rank) for rank in range(after.ranks)]
    nothing_sent, nothing_received = [_NONE] * after.ranks, [_NONE] * before.ranks
    if source_first:
        return _core.fetch_of_ids(sent + nothing_sent, nothing_received + received)
    return _core.fetch_of_ids(nothing_sent + sent, received + nothing_received)


def _ids(layout: _core.Blocks, rank: int) -> Any:
    """The global numbers of the points of a rank, x fastest, then y, then z."""
    nx, ny, _ = layout.grid.points
    x, y, z = (np.arange(begin, end, dtype=np.int64) for begin, end in zip(*layout.box(rank), strict=True))
    return (x[None, None, :] + nx * (y[None, :, None] + ny * z[:, None, None])).ravel()
