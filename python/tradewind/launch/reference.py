"""Known values for the arrays of an exchange, and the answer that must come out, computed without any schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tradewind import _core

Array = NDArray[Any]

UNTOUCHED = -1
"""Stands where nothing may be written."""

_CYCLE = 97  # sums over ranks stay small whole numbers, which every element type adds without rounding


def numbers(ranges: Sequence[Array], points: Sequence[int], field: int, dtype: str) -> Array:
    """The global number of each grid point of ranges along x, y, z, plus the field's number; [z][y][x]."""
    x, y, z = ranges
    line = x.astype(np.int64)[None, None, :]
    column = y.astype(np.int64)[None, :, None] * points[0]
    level = z.astype(np.int64)[:, None, None] * (points[0] * points[1])
    return np.asarray(line + column + (level + field), dtype)


def _ranges(box: Any) -> list[Array]:
    return [np.arange(begin, end) for begin, end in zip(*box, strict=True)]


def source(pattern: _core.Pattern, rank: int, field: int, dtype: str) -> Array:
    """What a rank's array holds before the exchange."""
    if isinstance(pattern, _core.AllReduce):
        return ((np.arange(pattern.count) + rank + field) % _CYCLE).astype(dtype)
    if isinstance(pattern, _core.Transpose):
        layout = pattern.from_layout
        return numbers(_ranges(layout.box(rank)), layout.grid.points, field, dtype)
    if isinstance(pattern, _core.Fetch):
        return _mesh_numbers(pattern, np.full(pattern.source_shape(rank)[2], rank), None, field, dtype)
    assert isinstance(pattern, _core.Halo)
    w, layout = pattern.width, pattern.layout
    array = np.full(pattern.source_shape(rank), UNTOUCHED, dtype)
    inner = numbers(_ranges(layout.box(rank)), layout.grid.points, field, dtype)
    array[:, w : w + inner.shape[1], w : w + inner.shape[2]] = inner
    return array


def _mesh_numbers(fetch: _core.Fetch, owner: Array, index: Array | None, field: int, dtype: str) -> Array:
    """The number of each point, counted over the arrays of all ranks, and so on level by level; [z][y][point]."""
    counts = np.array([fetch.source_shape(rank)[2] for rank in range(fetch.ranks)], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(counts)])
    points = first[owner] + (np.arange(len(owner)) if index is None else index)
    inner, outer = fetch.levels
    levels = np.arange(outer * inner).reshape(outer, inner, 1) * first[-1]
    return np.asarray(points + levels + field, dtype)


def target(pattern: _core.Pattern, rank: int, dtype: str) -> Array | None:
    """The array that a rank receives into; None where the pattern works in place."""
    return None if pattern.in_place else np.full(pattern.target_shape(rank), UNTOUCHED, dtype)


def answer(pattern: _core.Pattern, rank: int, field: int, dtype: str, periodic: str = "") -> Array:
    """What a rank must hold after the exchange."""
    if isinstance(pattern, _core.AllReduce):
        values = np.arange(pattern.count) + field
        # A rank counts as its remainder: whole cycles of ranks all add the same.
        cycles, rest = divmod(pattern.ranks, _CYCLE)
        total = sum(((values + r) % _CYCLE for r in range(rest)), np.zeros_like(values))
        return np.asarray(total + cycles * (_CYCLE * (_CYCLE - 1) // 2), dtype)
    if isinstance(pattern, _core.Transpose):
        layout = pattern.to_layout
        return numbers(_ranges(layout.box(rank)), layout.grid.points, field, dtype)
    if isinstance(pattern, _core.Fetch):
        owner, index, place, _ = pattern.list_of(rank)
        array = np.full(pattern.target_shape(rank), UNTOUCHED, dtype)
        array[:, :, place] = _mesh_numbers(pattern, owner, index, field, dtype)
        return array
    assert isinstance(pattern, _core.Halo)
    layout, w = pattern.layout, pattern.width
    (x0, y0, z0), (x1, y1, z1) = layout.box(rank)
    nx, ny, _ = layout.grid.points
    x, y = np.arange(x0 - w, x1 + w), np.arange(y0 - w, y1 + w)
    inside_x = np.full(x.size, True) if "x" in periodic else (x >= 0) & (x < nx)
    inside_y = np.full(y.size, True) if "y" in periodic else (y >= 0) & (y < ny)
    array = numbers([x % nx, y % ny, np.arange(z0, z1)], layout.grid.points, field, dtype)
    array[:, :, ~inside_x] = UNTOUCHED
    array[:, ~inside_y, :] = UNTOUCHED
    return array


def answer_points(pattern: _core.Pattern, rank: int, periodic: str = "") -> int:
    """Points of one field that the exchange writes on a rank."""
    if isinstance(pattern, _core.AllReduce):
        return int(pattern.count)
    if isinstance(pattern, _core.Transpose):
        return int(np.prod(pattern.target_shape(rank)))
    if isinstance(pattern, _core.Fetch):
        return len(pattern.list_of(rank)[0]) * pattern.levels[0] * pattern.levels[1]
    assert isinstance(pattern, _core.Halo)
    layout, w = pattern.layout, pattern.width
    (x0, y0, z0), (x1, y1, z1) = layout.box(rank)
    nx, ny, _ = layout.grid.points
    wide = x1 - x0 + 2 * w if "x" in periodic else min(x1 + w, nx) - max(x0 - w, 0)
    high = y1 - y0 + 2 * w if "y" in periodic else min(y1 + w, ny) - max(y0 - w, 0)
    return int((wide * high - (x1 - x0) * (y1 - y0)) * (z1 - z0))
