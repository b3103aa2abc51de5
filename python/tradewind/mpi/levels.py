"""The arrays of a fetch: one direction over points, the others over levels, inside or outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from tradewind.mpi.fields import Array, Described

_MAX_DIMENSIONS = 3


class EqualLevels(NamedTuple):
    """The fields of a plan, all with equal levels."""

    sources: list[Array]
    targets: list[Array]
    axis: int
    """That over points, of a fetch."""
    split: list[tuple[int, int]]
    """The levels, along y and z, of the source fields that were split; none where the fields are as they were given."""


def with_equal_levels(
    pattern: _core.Pattern, rank: int, sources: list[Array], targets: list[Array], dims: str, axis: int
) -> EqualLevels:
    """Return the fields of a plan with equal levels.

    Where fields of a fetch, or of a halo of a grid of one level, have other numbers of levels than that, each level of
    each field is one of its own: all travel in one message. Raises InputError where an array of a fetch has other
    points than its rank, and where a source field has other levels than its target field.
    """
    if pattern.has_levels:
        return _of_fetch(pattern, rank, sources, targets, axis)
    z = dims.index("z")
    if not _has_layers(pattern, sources, z):
        return EqualLevels(sources, targets, axis, [])
    split = _layers(sources, z)
    return EqualLevels(
        split, split if targets is sources else _layers(targets, z), axis, [(1, array.shape[z]) for array in sources]
    )


def _of_fetch(pattern: _core.Pattern, rank: int, sources: list[Array], targets: list[Array], axis: int) -> EqualLevels:
    found = []
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
            found.append(_without(array.shape, place))
    for number, (one, other) in enumerate(zip(found[: len(sources)], found[len(sources) :], strict=False)):
        if one != other:
            raise InputError(
                f"target field {number} has the levels {other}, source field {number} {one}: both have the same"
            )
    if len(set(found)) == 1:
        return EqualLevels(sources, targets, axis, [])
    split = [level for array in sources for level in _levels(array, axis)]
    if not split:
        raise InputError(f"fields of shapes {[array.shape for array in sources]}: one level or more is allowed")
    there = split if targets is sources else [level for array in targets for level in _levels(array, axis)]
    return EqualLevels(split, there, -1, [levels_of(array, axis) for array in sources])


def _has_layers(pattern: _core.Pattern, arrays: list[Array], z: int) -> bool:
    """Return whether a halo of a grid of one level has a field of another number of levels."""
    if not isinstance(pattern, _core.Halo) or pattern.layout.grid.points[2] != 1:
        return False
    return all(array.ndim == _MAX_DIMENSIONS for array in arrays) and any(array.shape[z] != 1 for array in arrays)


def _layers(arrays: list[Array], z: int) -> list[Array]:
    """Return each level of the fields of a halo as a field of its own."""
    return [array[(slice(None),) * z + (slice(k, k + 1),)] for array in arrays for k in range(array.shape[z])]


def levels_of(array: Array, axis: int) -> tuple[int, int]:
    """Return the levels of a field of a fetch, along y and z."""
    outer = _without(array.shape, axis % array.ndim)
    return (1 if len(outer) < 2 else outer[1], outer[0] if outer else 1)


def _levels(array: Array, axis: int) -> list[Array]:
    """Return each level of a field as an array over points."""
    outside = np.moveaxis(array, axis, -1)
    return [outside[place] for place in np.ndindex(outside.shape[:-1])]


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
