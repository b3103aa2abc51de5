"""Arrays that are handed to a transform: their shapes and element types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tradewind.base import memory
from tradewind.base.errors import InputError, quoted


def array_of(values: Any, what: str, dtype: Any) -> Any:
    """Return what is given as an array. Raises InputError for numbers that the element type cannot hold."""
    if not isinstance(values, np.ndarray) and hasattr(values, "__len__"):
        require((len(values),), what, dtype)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(f"{what}: {quoted(values)}: an array of {np.dtype(dtype)} is allowed") from None
    if not np.can_cast(array.dtype, dtype, "safe"):
        raise InputError(f"{what} of type {array.dtype}: {np.dtype(dtype)} is allowed")
    if array.dtype != dtype or not array.flags.c_contiguous:
        require(array.shape, f"copy of {what}", dtype)
    return array


def fields_of(values: Any, places: int, what: str, dtype: Any, *, points_last: bool = False) -> tuple[Any, int]:
    """Return an array of fields as the compiled loops want it, and the number of fields.

    The shape is (places, fields), or (fields, places) with `points_last`. Raises InputError for another shape, and for
    numbers that the element type cannot hold.
    """
    array = array_of(values, what, dtype)
    axis = 1 if points_last else 0
    if array.ndim != 2 or array.shape[axis] != places:
        wanted = f"(fields, {places})" if points_last else f"({places}, fields)"
        raise InputError(f"{what} of shape {array.shape}: {wanted} is allowed")
    return np.ascontiguousarray(array, dtype=dtype), array.shape[1 - axis]


def checked(out: Any, shape: tuple[int, ...], what: str, dtype: Any) -> Any:
    """Return the array for a result: a new one or the caller's. Raises InputError for one that cannot be written."""
    if out is None:
        return new_array(shape, what, dtype)
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype
    if not fits or not out.flags.c_contiguous or not out.flags.writeable:
        raise InputError(f"out, {what}: a contiguous array of {np.dtype(dtype)} of shape {shape} is allowed")
    return out


_LARGE = 2**28
"""Bytes of an array from which on memory is asked for before it is taken."""


def new_array(shape: tuple[int, ...], what: str, dtype: Any) -> Any:
    """Return an array that is not filled. Raises InputError where memory does not suffice for it."""
    require(shape, what, dtype)
    return np.empty(shape, dtype)


def require(shape: tuple[int, ...], what: str, dtype: Any) -> None:
    """Raises InputError where memory does not suffice for an array."""
    needed = math.prod(shape) * np.dtype(dtype).itemsize
    if needed > _LARGE:
        memory.require(f"an array of shape {shape}, {what},", needed, "transform fewer fields at a time")
