"""Types of elements, and the bytes of points and arrays."""

from __future__ import annotations

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT
from tradewind.base.names import unknown

DTYPES = {"f4": 4, "f8": 8, "i4": 4, "i8": 8, "c8": 8, "c16": 16}
"""Element types by their NumPy names, with the bytes of one element."""


def point_bytes(fields: int, dtype: str) -> int:
    """Bytes of a grid point with `fields` fields of type `dtype`. Raises InputError with all problems."""
    problems = [] if dtype in DTYPES else [unknown("dtype", dtype, DTYPES)]
    if not 1 <= fields <= MAX_EXTENT:
        problems.append(f"fields {fields}: 1..{MAX_EXTENT} are allowed")
    if problems:
        raise InputError(*problems)
    return fields * DTYPES[dtype]


def counted_bytes(what: str, points: int, bytes_per_point: int) -> int:
    """The bytes of `points` points. Raises InputError, which begins with `what`, for more than 64 bits can count."""
    size = points * bytes_per_point
    if size > _core.max_bytes:
        raise InputError(f"{what}: {points} x {bytes_per_point} bytes; at most {_core.max_bytes} can be counted")
    return size
