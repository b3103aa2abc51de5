"""Fields as a model defines them in Python, and its arrays of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import real_number
from tradewind.base.names import unknown
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.geometry import Geometry
from tradewind.fieldserver.server.handover import ids_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tradewind.fieldserver.server.handover import Array, Numbers
    from tradewind.mpi.library import _mpi

MAX_LEVELS = 1_000_000
_ARGUMENTS = ("name", "geometry", "levels", "dtype")
"""Keys of a field that are arguments of `FieldServer.define`."""


@dataclass(frozen=True)
class Described:
    """A field as this rank alone describes it: in a layout, or `own` points of each level."""

    field: OutputField
    layout: _core.Product | None
    own: Numbers | None
    axis: int

    def define(self, side: _mpi.FieldServer) -> None:
        """Define it on all ranks of the model. Collective."""
        own, geometry = self.field.as_dict(), self.field.geometry
        name = own.pop("geometry")
        side.define(
            self.field.name,
            self.layout,
            self.own,
            geometry.points,
            self.field.dtype,
            list(self.field.levels),
            1 if self.own is not None and self.axis == 0 else 0,
            [(key, json.dumps(value)) for key, value in own.items()],
            name,
            "" if side.knows_geometry(name) else json.dumps(geometry.as_dict()),
        )

    def shape(self, side: _mpi.FieldServer) -> tuple[int, ...]:
        """Return the shape of this rank's array, when it is defined."""
        x, y, z = side.shape(self.field.name)
        if self.own is None:
            return (z, y, x)
        return (x, y) if self.axis == 0 else (y, x)


def described_field(
    name: str,
    where: _core.Layout | ArrayLike,
    geometry: Geometry,
    levels: Sequence[float] | None,
    dtype: Any,
    axis: Any,
    attributes: Mapping[str, Any],
    rank: int,
) -> Described:
    """Return a field of the arguments of `FieldServer.define`, on a rank of the model. Raises InputError."""
    shown = name if isinstance(name, str) else quoted(name)
    if not isinstance(geometry, Geometry):
        raise InputError(
            f"field {shown}: geometry {quoted(geometry)}: one of tradewind.fieldserver.plan.geometry is allowed"
        )
    if isinstance(axis, bool) or not isinstance(axis, Integral) or int(axis) not in (-1, 0, 1):
        raise InputError(f"field {shown}: axis {quoted(axis)}: 0, 1 or -1 is allowed")
    known = [each for each in OutputField.__dataclass_fields__ if each not in _ARGUMENTS]
    if problems := [f"field {shown}: {unknown('key', each, known)}" for each in attributes if each not in known]:
        raise InputError(*problems)
    given = None if levels is None else _levels(shown, levels)
    layout = None
    if isinstance(where, _core.Blocks | _core.Product):
        layout = where if isinstance(where, _core.Product) else _core.Product(where)
    own = None
    if layout is None or layout.lines is not None:  # which has no description for other ranks
        layout, own = None, ids_of(where, rank)
    lying = layout.grid.points[2] if layout is not None else 1
    numbers = tuple(map(float, range(1, lying + 1))) if given is None else given
    return Described(OutputField(name, geometry, numbers, _element(dtype), **attributes), layout, own, int(axis))


def _levels(name: str, levels: Any) -> tuple[float, ...]:
    """Return the numbers of levels. Raises InputError for what is no list of them, or too long a one."""
    try:
        count = len(levels)
    except TypeError:
        raise InputError(f"field {name}: levels {quoted(levels)}: a list of numbers is allowed") from None
    if count > MAX_LEVELS:
        raise InputError(f"field {name}: {count} levels: up to {MAX_LEVELS} are allowed")
    return tuple(real_number(f"field {name}: level", each) for each in levels)


def _element(dtype: Any) -> str:
    """Return an element type by its short name, where it has one."""
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        return dtype if isinstance(dtype, str) else quoted(dtype)
    return found.str[1:] if found.isnative and found.kind == "f" else str(dtype)


def fitting_array(name: str, dtype: str, wanted: tuple[int, ...], values: Array) -> Array:
    """Return an array in the shape `wanted`. Raises InputError for one that is not this rank's part of a field."""
    if not isinstance(values, np.ndarray):
        raise InputError(f"field {name}: {type(values)!r}: an array of NumPy is allowed")
    if values.shape == wanted and values.dtype == dtype and type(values) is np.ndarray:
        return values
    fits = _without_ones(values.shape) in (_without_ones(wanted), _without_ones((math.prod(wanted),)))
    if not fits or values.dtype != dtype:
        given = f"{values.shape} of {values.dtype}"
        raise InputError(f"field {name}: {given}: {wanted} of {dtype} is this rank's part")
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"field {name}: an array without a mask is allowed, like values.filled(numpy.nan)")
    return values.reshape(wanted)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)
