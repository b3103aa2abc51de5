"""Points in a circle, in rows, in levels, on a grid: the shapes that pictures of machines are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = tuple[float, float]
"""To the right and upward."""


def circle(count: int) -> list[Point]:
    """Points on a circle of radius 1, the first at the top, clockwise."""
    angles = [2 * math.pi * i / count for i in range(count)]
    return [(math.sin(angle), math.cos(angle)) for angle in angles]


def square(count: int, columns: int | None = None) -> list[Point]:
    """Points in rows from the top, within -1..1."""
    columns = columns or math.isqrt(count - 1) + 1
    rows = math.ceil(count / columns)
    widest = max(columns, rows) - 1 or 1
    return [
        ((2 * (i % columns) - columns + 1) / widest, (rows - 1 - 2 * (i // columns)) / widest) for i in range(count)
    ]


def levels(widths: Sequence[int]) -> list[Point]:
    """Rows of points, the first at the bottom, each as wide as the picture."""
    height = 1.2 / max(1, len(widths) - 1)
    return [((2 * w + 1) / n - 1, level * height - 0.6) for level, n in enumerate(widths) for w in range(n)]


def lattice(shape: Sequence[int]) -> list[Point]:
    """The points of an n-dimensional grid, within -1..1, dimension 0 first, each one along the shorter side so far.

    From the third dimension on each one repeats all before it, a little aslant, so that links do not hide each other.
    """
    points: list[Point] = [(0.0, 0.0)]
    for dimension, count in enumerate(shape):
        width, height = _extent(points, 0), _extent(points, 1)
        step = 1.0 if dimension < 2 else 1.5 * (1 + min(width, height))
        across = 0.0 if dimension < 2 else 0.35
        x, y = (step, across) if width <= height else (across, step)
        points = [(px + c * x, py + c * y) for c in range(count) for px, py in points]
    left, low = (min(p[axis] for p in points) for axis in (0, 1))
    width, height = _extent(points, 0), _extent(points, 1)
    widest = max(width, height) or 1.0
    return [((2 * (x - left) - width) / widest, (2 * (y - low) - height) / widest) for x, y in points]


def _extent(points: list[Point], axis: int) -> float:
    return max(p[axis] for p in points) - min(p[axis] for p in points)
