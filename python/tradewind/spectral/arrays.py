"""Arrays that are handed to a transform: their shapes and element types."""

from __future__ import annotations

from typing import Any

import numpy as np

from tradewind.base.errors import InputError


def fields_of(values: Any, places: int, what: str, dtype: Any, *, points_last: bool = False) -> tuple[Any, int]:
    """Return an array of fields as the compiled loops want it, and the number of fields.

    The shape is (places, fields), or (fields, places) with `points_last`. Raises InputError for another shape, and for
    numbers that the element type cannot hold.
    """
    array = np.asarray(values)
    axis = 1 if points_last else 0
    if array.ndim != 2 or array.shape[axis] != places:
        wanted = f"(fields, {places})" if points_last else f"({places}, fields)"
        raise InputError(f"{what} of shape {array.shape}: {wanted} is allowed")
    if not np.can_cast(array.dtype, dtype, "safe"):
        raise InputError(f"{what} of type {array.dtype}: {np.dtype(dtype)} is allowed")
    return np.ascontiguousarray(array, dtype=dtype), array.shape[1 - axis]


def checked(out: Any, shape: tuple[int, ...], what: str, dtype: Any) -> Any:
    """Return the array for a result: a new one or the caller's. Raises InputError for one that cannot be written."""
    if out is None:
        return np.empty(shape, dtype)
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype
    if not fits or not out.flags.c_contiguous or not out.flags.writeable:
        raise InputError(f"out, {what}: a contiguous array of {np.dtype(dtype)} of shape {shape} is allowed")
    return out
