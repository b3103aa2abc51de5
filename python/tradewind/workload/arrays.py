"""Known values for the arrays of an exchange, and the result that must come out, computed without any schedule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.base.deferred import Deferred
from tradewind.workload.registry import pattern_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:
    np, Array = Deferred("numpy"), Any

UNTOUCHED = -1
"""Stands where nothing may be written."""


class Arrays(ABC):
    """Values of the arrays of a pattern before and after, on a rank; each pattern's file has one of its own."""

    @staticmethod
    @abstractmethod
    def source(pattern: Any, rank: int, field: int, dtype: str) -> Array:
        """Return the array of a rank before the exchange."""

    @staticmethod
    @abstractmethod
    def expected(pattern: Any, rank: int, field: int, dtype: str) -> Array:
        """Return the array that a rank must have after the exchange."""

    @staticmethod
    @abstractmethod
    def expected_points(pattern: Any, rank: int) -> int:
        """Points of one field that the exchange writes on a rank."""

    @staticmethod
    def target(pattern: Any, rank: int, dtype: str) -> Array | None:
        """The array that a rank receives into; None where the pattern works in place."""
        return None if pattern.in_place else np.full(pattern.target_shape(rank), UNTOUCHED, dtype)


def arrays_of(pattern: _core.Pattern) -> type[Arrays]:
    """The known arrays of a pattern of the core."""
    found: type[Arrays] = pattern_named(pattern.name).arrays()
    return found


def numbers(ranges: Sequence[Array], points: Sequence[int], field: int, dtype: str) -> Array:
    """The global number of each grid point of ranges along x, y, z, plus the field's number; [z][y][x]."""
    x, y, z = ranges
    line = x.astype(np.int64)[None, None, :]
    column = y.astype(np.int64)[None, :, None] * points[0]
    level = z.astype(np.int64)[:, None, None] * (points[0] * points[1])
    return np.asarray(line + column + (level + field), dtype)


def ranges_of(box: Any) -> list[Array]:
    """The indices of a box along x, y, z."""
    return [np.arange(begin, end) for begin, end in zip(*box, strict=True)]
