"""Variables of NetCDF and Zarr as whole fields, unpacked, without missing values, the last time of several."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.memory import require

if TYPE_CHECKING:
    from tradewind.fieldserver.plan.field import Array

MAX_VALUES = 2**31
"""Values that a message or variable may claim to have."""
_MANY = 2**24
"""Values below which memory is not asked for."""
_COPIES, _DOUBLE = 2, 8
"""Copies of values while they are decoded, and bytes of each."""
_OF_PACKING = ("scale_factor", "add_offset")
_TIMES = ("time", "valid_time")
_LEVELS = ("lev", "plev", "hybrid", "pressure", "height", "isobaric", "model_level", "depth", "altitude")


def check_values(what: str, count: int) -> None:
    """Raises InputError where there are more values than may be, or than this computer has memory for."""
    if count > MAX_VALUES:
        raise InputError(f"{what} has {count} values: up to {MAX_VALUES} are allowed")
    if count > _MANY:
        require(what, _COPIES * count * _DOUBLE, "a computer with more, or a smaller field, is needed")


@dataclass(frozen=True)
class Variable:
    """A variable of a file: its dimensions by name, its attributes, and `values`, of which parts are read."""

    path: Path
    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attributes: Mapping[str, Any]
    values: Any
    is_there: Callable[[tuple[slice, ...]], bool] | None = None
    """Whether all of a part was written, where the file has that; None: a part without any value was not."""

    @property
    def is_field(self) -> bool:
        """Whether it may be a field: numbers of a time, or of two directions or more; coordinates of points are not."""
        of_numbers = np.issubdtype(self.dtype, np.floating) or np.issubdtype(self.dtype, np.integer)
        return bool(of_numbers and self.name not in self.dims and len(self.dims) > 1)

    @property
    def horizontal(self) -> dict[str, int]:
        """Dimensions of a level, the slowest first."""
        dims, shape = (self.dims[1:], self.shape[1:]) if self._is_timed else (self.dims, self.shape)
        first = 1 if _has_levels(dims) else 0
        return dict(zip(dims[first:], shape[first:], strict=True))

    @property
    def _is_timed(self) -> bool:
        return self.dims[:1] != () and self.dims[0] in _TIMES

    def all_values(self) -> Array:
        """All values in doubles, missing ones as NaN. Raises InputError where there are too many."""
        self._check_size(self.shape)
        return self._unpacked(np.asarray(self.values[...])).astype("f8")

    def decoded(self) -> Array:
        """The last time as [level][point], missing values as NaN. Raises InputError where it is too large."""
        timed = self._is_timed
        dims, shape = (self.dims[1:], self.shape[1:]) if timed else (self.dims, self.shape)
        times = self.shape[0] if timed else 1
        self._check_size(shape, times)
        last = np.asarray(self.values[times - 1] if timed else self.values[...])
        return self._unpacked(last).reshape(shape[0] if _has_levels(dims) else 1, -1)

    def levels_without_values(self, decoded: Array) -> list[int]:
        """Levels of the last time that were never written, of what `decoded` has returned."""
        time = [slice(self.shape[0] - 1, self.shape[0])] if self._is_timed else []
        levelled = len(self.horizontal) < len(self.dims) - len(time)
        found = []
        for level, values in enumerate(decoded):
            of_level = [slice(level, level + 1)] if levelled else []
            whole = (*time, *of_level, *(slice(0, size) for size in self.horizontal.values()))
            if np.isnan(values).all() if self.is_there is None else not self.is_there(whole):
                found.append(level)
        return found

    def _check_size(self, shape: tuple[int, ...], times: int = 1) -> None:
        if not times:
            raise InputError(f"{self.path}: variable {self.name} has no time: 1 or more are allowed")
        check_values(f"{self.path}: variable {self.name}", int(np.prod([int(n) for n in shape], dtype=float)))

    def _unpacked(self, values: Array) -> Array:
        scale, offset = (self._number(key) for key in _OF_PACKING)
        missing = [n for key in ("_FillValue", "missing_value") for n in self._numbers(key) if n == n]  # no NaN
        is_missing = np.isin(values, np.array(missing, values.dtype)) if missing else np.False_
        if scale is not None or offset is not None or not np.issubdtype(values.dtype, np.floating):
            values = values * (1.0 if scale is None else scale) + (0.0 if offset is None else offset)
        return np.where(is_missing, np.array(np.nan, values.dtype), values) if is_missing.any() else values

    def _number(self, key: str) -> float | None:
        found = self._numbers(key)
        return float(found[0]) if found else None

    def _numbers(self, key: str) -> list[Any]:
        """Return the numbers of an attribute: none where it is not there. Raises InputError for others."""
        value = self.attributes.get(key)
        if value is None:
            return []
        try:
            if isinstance(value, str | bytes):  # as xarray writes numbers with a point to Zarr
                found = np.frombuffer(base64.b64decode(value, validate=True), "<f8")
            else:
                found = np.asarray(value).ravel().astype("f8" if key in _OF_PACKING else self.dtype)
        except (TypeError, ValueError, binascii.Error):
            raise InputError(f"{self.path}: variable {self.name}: {key} {value!r}: a number is allowed") from None
        return list(found.tolist())


def _has_levels(dims: tuple[str, ...]) -> bool:
    """Whether the first of the dimensions beside time is that of levels."""
    return len(dims) > 2 or (len(dims) == 2 and (dims[0] == "z" or dims[0].startswith(_LEVELS)))
