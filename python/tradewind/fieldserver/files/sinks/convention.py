"""Names and attributes of variables after the CF conventions, for NetCDF and Zarr alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from tradewind.fieldserver.files.sinks.form import Moment
    from tradewind.fieldserver.plan.field import Array, OutputField
    from tradewind.fieldserver.plan.geometry import Coordinate, Geometry
    from tradewind.fieldserver.plan.plan_file import Request

CF = "CF-1.11"
SINCE = "seconds since "
_MAPPING = "crs"
"""Name of the variable whose attributes are the grid mapping."""
_LEVELS = {
    "model": {"standard_name": "model_level_number", "units": "1", "positive": "down"},
    "pressure": {"standard_name": "air_pressure", "units": "hPa", "positive": "down"},
    "surface": {"long_name": "surface", "units": "1"},
    "height": {"standard_name": "height", "units": "m", "positive": "up"},
}


@dataclass(frozen=True)
class Described:
    """A field as a variable: dimensions after time, attributes, and the coordinate variables that are new with it."""

    dims: dict[str, int]
    coordinates: dict[str, Coordinate]
    attributes: dict[str, Any]


class Names:
    """Names of the dimensions of a file: fields of one grid share theirs, and those of another get a number."""

    def __init__(self) -> None:
        self._taken: dict[Any, str] = {}
        self._beside: dict[Geometry, list[str]] = {}

    def described(self, field: OutputField) -> Described:
        """The variable of a field."""
        geometry = field.geometry
        level = self._name("level", (field.level_type, field.levels))
        own = {name: self._name(name, geometry) for name in geometry.dims}
        dims = {level: len(field.levels)} | {own[name]: size for name, size in geometry.dims.items()}
        coordinates: dict[str, Coordinate] = {level: ((level,), np.array(field.levels), _LEVELS[field.level_type])}
        if geometry not in self._beside:  # to compute those of a large grid for each field takes long
            found = {
                own.get(name) or self._name(name, geometry): (tuple(own[each] for each in over), values, attributes)
                for name, (over, values, attributes) in geometry.coordinates().items()
            }
            self._beside[geometry] = [name for name in found if name not in dims]
            coordinates |= found
            if mapping := geometry.grid_mapping:
                coordinates[self._name(_MAPPING, geometry)] = ((), np.array(0.0), mapping)
        attributes = {"long_name": field.long_name or field.name}
        if field.units:
            attributes["units"] = field.units
        if field.standard_name:
            attributes["standard_name"] = field.standard_name
        if beside := self._beside[geometry]:
            attributes["coordinates"] = " ".join(beside)
        if geometry.grid_mapping:
            attributes["grid_mapping"] = self._name(_MAPPING, geometry)
        return Described(dims, coordinates, attributes)

    def _name(self, name: str, what: Any) -> str:
        """The name, or that with a number where another thing has it."""
        if (name, what) not in self._taken:
            others = sum(1 for taken, _ in self._taken if taken == name)
            self._taken[name, what] = name if not others else f"{name}_{others + 1}"
        return self._taken[name, what]


def dtype_of(field: OutputField, request: Request) -> np.dtype[Any]:
    """The element type of a field in a file."""
    return np.dtype(request.precision or field.dtype)


def in_file(field: OutputField, values: Array, request: Request) -> Array:
    """Return values of levels as a file has them, in one piece. Raises InputError for those too large for its type."""
    dtype = dtype_of(field, request)
    try:
        with np.errstate(over="raise"):
            return np.ascontiguousarray(values, dtype)
    except FloatingPointError:
        wrong = int(np.count_nonzero((np.abs(values) > np.finfo(dtype).max) & np.isfinite(values)))
        raise InputError(f"field {field.name}: {wrong} values are too large for {dtype.name}") from None


def check_name(field: OutputField) -> None:
    """Raises InputError for the name of a field that files have for a coordinate."""
    described = Names().described(field)
    taken = {"time", "zarr.json", *described.coordinates, *described.dims}
    if re.sub(r"_\d+$", "", field.name) in taken:
        raise InputError(f"field {field.name!r}: NetCDF and Zarr have a coordinate of this name: another is needed")
    if "\\" in field.name:
        raise InputError(f"field {field.name!r}: Zarr takes a backslash for a folder: a name without is needed")


def time_attributes(when: Moment) -> dict[str, str]:
    """Attributes of the variable time."""
    return {
        "standard_name": "time",
        "units": f"{SINCE}{when.start.isoformat(sep=' ')}",
        "calendar": "proleptic_gregorian",
        "axis": "T",
    }
