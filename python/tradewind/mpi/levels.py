"""The arrays of a fetch: one direction over points, the others over levels, inside or outside of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from tradewind.mpi.fields import Array, Described

_MAX_DIMENSIONS = 3


def levels_of(
    pattern: _core.Pattern, rank: int, sources: Sequence[Array], targets: Sequence[Array], axis: int
) -> tuple[int, int]:
    """The levels of all fields of a fetch, along y and z.

    Raises InputError where two fields have different ones, and where an array has other points than its rank.
    """
    wanted: tuple[int, ...] | None = None
    for what, arrays, shape in (
        ("source", sources, pattern.source_shape(rank)),
        ("target", targets, pattern.target_shape(rank)),
    ):
        for number, array in enumerate(arrays):
            place = _checked_axis(what, number, array, axis)
            if array.shape[place] != shape[2]:
                raise InputError(
                    f"{what} field {number} has the shape {array.shape}, {array.shape[place]} points along axis "
                    f"{axis}, but rank {rank} of the {pattern.describe()} has {shape[2]} in its {what} array"
                )
            levels = _without(array.shape, place)
            if wanted is not None and levels != wanted:
                raise InputError(
                    f"{what} field {number} has the levels {levels}, source field 0 {wanted}: all have the same"
                )
            wanted = levels
    outer = wanted or ()
    return (1 if len(outer) < 2 else outer[1], outer[0] if outer else 1)


def described_points(array: Array, axis: int) -> Described:
    """Points along x, inner levels along y, outer ones along z."""
    place = axis % array.ndim
    shape, strides = array.shape, array.strides
    outer, inner = (*_without(shape, place), 1, 1)[:2]
    outer_stride, inner_stride = (*_without(strides, place), array.nbytes, array.nbytes)[:2]
    return array, (shape[place], inner, outer), (strides[place], inner_stride, outer_stride)


def _without(values: tuple[int, ...], place: int) -> tuple[int, ...]:
    return values[:place] + values[place + 1 :]


def _checked_axis(what: str, number: int, array: Array, axis: int) -> int:
    if not 1 <= array.ndim <= _MAX_DIMENSIONS:
        raise InputError(f"{what} field {number} has the shape {array.shape}: one to three dimensions are allowed")
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        raise InputError(f"axis {axis!r}: the number of a dimension is allowed, -1 is the last one")
    if not -array.ndim <= axis < array.ndim:
        raise InputError(f"axis {axis}: {what} field {number} has {array.ndim} dimensions")
    return axis % array.ndim
