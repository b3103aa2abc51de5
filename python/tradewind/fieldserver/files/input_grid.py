"""Horizontal grids of input files, and what of them differs from the grid of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from tradewind.base.errors import InputError
from tradewind.fieldserver.plan.geometry import (
    Curvilinear,
    Gaussian,
    Geometry,
    Lambert,
    PolarStereographic,
    Rotated,
    Spectral,
    Unstructured,
    is_computed,
)
from tradewind.layout.gaussian import gaussian_latitudes

if TYPE_CHECKING:
    from tradewind.fieldserver.files.decoding import Variable
    from tradewind.fieldserver.plan.field import Array

_MILLIDEGREE = 1.001e-3
"""Degrees that two equal points may differ by: GRIB of edition 1 counts thousandths, some writers cut off the rest."""
_OF_SPACING = 0.25
"""Part of the distance of two points that they may differ by at most."""
_PROJECTED = ("lambert", "polar_stereographic", "rotated_ll")
_NORTH = ("degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN")
_EAST = ("degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE")
_NAMES = {"latitude": ("latitude", "lat"), "longitude": ("longitude", "lon")}
_UNITS = {"latitude": _NORTH, "longitude": _EAST}


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Degrees of the points of a level in the order of the values; None where a file does not have them.

    Both arrays broadcast to `shape`: of rows they are a column of latitudes and a row of longitudes.
    """

    shape: tuple[int, ...]
    latitudes: Array | None
    longitudes: Array | None

    @property
    def has_rows(self) -> bool:
        """Whether points of one row have one latitude, and there are two rows or more."""
        return len(self.shape) == 2 and self.latitudes is not None and self.latitudes.shape == (self.shape[0], 1)

    @property
    def runs_southward(self) -> bool | None:
        """Whether its rows run from north to south; None where there are no two."""
        if not self.has_rows or self.shape[0] < 2:
            return None
        assert self.latitudes is not None
        return bool(self.latitudes[0, 0] > self.latitudes[-1, 0])

    def in_line(self) -> Coordinates:
        """The same with a latitude and a longitude for each point."""

        def each(values: Array | None) -> Array | None:
            return None if values is None else np.broadcast_to(values, self.shape).ravel()

        return Coordinates((int(np.prod(self.shape)),), each(self.latitudes), each(self.longitudes))

    def at(self, number: int) -> str:
        """A point in words."""
        known = (("latitude", self.latitudes), ("longitude", self.longitudes))
        place = np.unravel_index(number, self.shape)
        return ", ".join(
            f"{what} {float(np.broadcast_to(values, self.shape)[place]):.9g}"
            for what, values in known
            if values is not None
        )

    def __str__(self) -> str:
        points = int(np.prod(self.shape))
        count = " x ".join(map(str, reversed(self.shape)))
        return f"{count} points from {self.at(0)} to {self.at(points - 1)}"


@dataclass(frozen=True)
class Other:
    """A grid of a type of GRIB whose points are not known here."""

    kind: str


@dataclass(frozen=True)
class Named:
    """A grid whose points are elsewhere, and which has a UUID; empty where it has none."""

    uuid: str


Stated = Gaussian | Spectral | Coordinates | Named | Other
"""A grid as a file has it."""


def grid_problem(there: Stated, geometry: Geometry) -> str:
    """Return what of the grid of a file differs from that of a model, in words; empty where nothing known does."""
    if isinstance(there, Spectral) or isinstance(geometry, Spectral):
        return _spectral_problem(there, geometry)
    if isinstance(there, Named):
        return _name_problem(there.uuid, geometry)
    if isinstance(there, Other):
        is_of_map = there.kind in _PROJECTED and geometry.kind == there.kind
        if isinstance(geometry, Unstructured | Curvilinear) or is_of_map:
            return ""  # on an Earth of another shape, or one that edition 1 does not state
        return f"it has a grid of type {there.kind}, or a part of one, and the model's is {geometry.kind}"
    if isinstance(there, Gaussian) and isinstance(geometry, Gaussian):
        return _rows_problem(there.rows, geometry.rows)
    mine, its = coordinates_of(geometry), there if isinstance(there, Coordinates) else coordinates_of(there)
    ways = its.runs_southward, mine.runs_southward
    if None not in ways and ways[0] is not ways[1]:
        words = ("south to north", "north to south")
        return (
            f"its rows run from {words[bool(ways[0])]}, and those of the model's grid from {words[bool(ways[1])]}: "
            "reverse them, or describe the grid as the file has it"
        )
    number = _first_apart(its, mine, _tolerance(geometry))
    if number is None:
        return ""
    return (
        f"point {number} of its grid is at {its.at(number)}, and that of the model's grid at {mine.at(number)}: the "
        f"file has {its}, the model {mine}"
    )


def _spectral_problem(there: Stated, geometry: Geometry) -> str:
    if isinstance(there, Spectral) and isinstance(geometry, Spectral):
        if there.truncation == geometry.truncation:
            return ""
        return f"it has truncation {there.truncation}, and the model {geometry.truncation}"
    if isinstance(there, Spectral):
        known = coordinates_of(geometry)
        if known.latitudes is None and known.longitudes is None:
            return ""
        return f"it has coefficients of spherical harmonics, and the model's grid is {geometry.kind}"
    return "it has points of a grid, and the model asks for coefficients of spherical harmonics"


def _name_problem(there: str, geometry: Geometry) -> str:
    """Compare UUIDs that somebody has given.

    One that was computed from coordinates says nothing about another one: they differ by the rounding of a point, too.
    """
    mine = geometry.grid_uuid
    if mine is None or not there or there == mine or is_computed(there) or is_computed(mine):
        return ""
    return f"the UUID of its grid is {there}, and that of the model's grid {mine}"


def _rows_problem(there: Sequence[int], mine: Sequence[int]) -> str:
    if there == mine:
        return ""
    if len(there) != len(mine):
        return f"it has {len(there)} rows of a Gaussian grid, and the model's grid {len(mine)}"
    row = next(row for row, (one, other) in enumerate(zip(there, mine, strict=True)) if one != other)
    return f"row {row} of its Gaussian grid has {there[row]} points, and that of the model's grid {mine[row]}"


def coordinates_of(geometry: Geometry) -> Coordinates:
    """The points of a geometry, as far as it knows them."""
    sizes, known = geometry.dims, geometry.coordinates()

    def spread(name: str) -> Array | None:
        if name not in known:
            return None
        over, values, _ = known[name]
        return values.reshape([size if dim in over else 1 for dim, size in sizes.items()])

    return Coordinates(tuple(sizes.values()), spread("latitude"), spread("longitude"))


def _tolerance(geometry: Geometry) -> float:
    return min(_MILLIDEGREE, _OF_SPACING * geometry.spacing)


def _first_apart(there: Coordinates, mine: Coordinates, tolerance: float) -> int | None:
    """The number of the first point that is not in the same place; those that one side does not know are."""
    if there.shape != mine.shape:
        there, mine = there.in_line(), mine.in_line()
    wrong = []
    if there.latitudes is not None and mine.latitudes is not None:
        wrong.append(np.abs(there.latitudes - mine.latitudes) > tolerance)
    if there.longitudes is not None and mine.longitudes is not None:
        apart = np.abs((there.longitudes - mine.longitudes + 180) % 360 - 180)
        if apart.shape == mine.shape and mine.latitudes is not None:
            apart *= np.cos(np.radians(mine.latitudes))  # a pole has any longitude
        wrong.append(apart > tolerance)
    if not any(each.any() for each in wrong):
        return None
    return int(np.argmax(np.broadcast_to(wrong[0] if len(wrong) == 1 else wrong[0] | wrong[1], mine.shape)))


def grid_of_message(handle: int, points: int) -> Stated | None:
    """The grid of a message of GRIB with `values` values; None where it does not have the places of its points.

    The points are computed here, as ecCodes ends the process where what a message has of them does not fit.
    """
    import eccodes

    def number(key: str) -> Any:
        return eccodes.codes_get(handle, key)

    kind = str(number("gridType"))
    if kind == "unstructured_grid":  # its points are in another file
        found = UUID(eccodes.codes_get(handle, "uuidOfHGrid", str))
        return Named(str(found) if found.int else "")
    if kind == "sh":
        return Spectral(number("J"))
    try:
        if kind == "reduced_gg":
            return _reduced(number, tuple(eccodes.codes_get_array(handle, "pl"))) or Other(kind)
        if kind in _PROJECTED:
            return _projected(number, kind, points) or Other(kind)
        is_known = kind in ("regular_ll", "regular_gg") and not number("alternativeRowScanning")
        return (_lines(number, kind, points) if is_known else None) or Other(kind)
    except (eccodes.CodesInternalError, InputError):
        return Other(kind)


def _reduced(number: Any, rows: tuple[int, ...]) -> Gaussian | None:
    """A whole reduced Gaussian grid from the north and longitude 0; None for another one."""
    turned = any(number(key) for key in ("iScansNegatively", "jScansPositively", "jPointsAreConsecutive"))
    if turned or len(rows) != 2 * number("N") or min(rows) < 1:
        return None
    east, cell = number("longitudeOfLastGridPointInDegrees"), 360 / max(rows)
    is_whole = number("longitudeOfFirstGridPointInDegrees") == 0 and abs(east + cell - 360) <= _OF_SPACING * cell
    return Gaussian(rows) if is_whole else None


def _projected(number: Any, kind: str, points: int) -> Coordinates | None:
    """A whole grid of a map of a sphere, or of a rotated one, whose rows run along x; None for another one."""
    if any(number(key) for key in ("iScansNegatively", "jPointsAreConsecutive", "alternativeRowScanning")):
        return None
    if number("Nx") * number("Ny") != points:
        return None
    first = number("longitudeOfFirstGridPointInDegrees"), number("latitudeOfFirstGridPointInDegrees")
    way = 1 if number("jScansPositively") else -1
    if kind == "rotated_ll":
        if number("angleOfRotationInDegrees"):
            return None
        pole = number("longitudeOfSouthernPoleInDegrees") - 180, -number("latitudeOfSouthernPoleInDegrees")
        last = number("longitudeOfLastGridPointInDegrees"), number("latitudeOfLastGridPointInDegrees")
        # Increments are rounded, and the last point is not where they lead.
        across, up = (last[0] - first[0]) % 360 or 360.0, last[1] - first[1]
        steps = across / max(number("Nx") - 1, 1), up / max(number("Ny") - 1, 1) or way
        return coordinates_of(Rotated(number("Nx"), number("Ny"), *first, *steps, *pole))
    if number("earthIsOblate") or number("editionNumber") == 1:  # which knows one sphere alone
        return None
    radius = {"radius": number("radius")}
    grid = (number("Nx"), number("Ny"), *first, number("DxInMetres"), way * number("DyInMetres"))
    if kind == "lambert":
        parallels = number("Latin1InDegrees"), number("Latin2InDegrees")
        return coordinates_of(Lambert(*grid, number("LoVInDegrees"), *parallels, **radius))
    side = -1 if number("southPoleOnProjectionPlane") else 1
    true = side * abs(number("LaDInDegrees"))
    return coordinates_of(PolarStereographic(*grid, number("orientationOfTheGridInDegrees"), true, **radius))


def _lines(number: Any, kind: str, points: int) -> Coordinates | None:
    """A grid of latitudes and longitudes, from its first point to its last one; None for a part of a Gaussian grid."""
    nx, ny = number("Ni"), number("Nj")
    if nx < 1 or ny < 1 or nx * ny != points or (kind == "regular_gg" and ny != 2 * number("N")):
        return None
    begin, end = (number(f"longitudeOf{which}GridPointInDegrees") for which in ("First", "Last"))
    first, last = (number(f"latitudeOf{which}GridPointInDegrees") for which in ("First", "Last"))
    way = -1 if number("iScansNegatively") else 1
    longitudes = begin + way * ((way * (end - begin)) % 360 or 360.0) * np.arange(nx) / max(nx - 1, 1)
    latitudes = np.linspace(first, last, ny)
    if kind == "regular_gg":
        latitudes = np.degrees(gaussian_latitudes(ny // 2))[:: -1 if number("jScansPositively") else 1]
    if number("jPointsAreConsecutive"):
        return Coordinates((nx, ny), latitudes[None, :], longitudes[:, None])
    return Coordinates((ny, nx), latitudes[:, None], longitudes[None, :])


def grids_of_variables(fields: Iterable[Variable], others: Sequence[Variable]) -> dict[str, Coordinates]:
    """The points of variables by the coordinates beside them; those without any are left out.

    Variables with the same coordinates share what is read of them. Raises InputError for coordinates of other sizes.
    """
    made: dict[tuple[Any, ...], Coordinates] = {}
    found = {}
    for field in fields:
        beside = {what: _coordinate(field, what, others) for what in _NAMES}
        names = [each.name for each in beside.values() if each is not None]
        if not names:
            continue
        key = (*field.horizontal.items(), *names)
        if key not in made:
            degrees = (_degrees(field, what, each) for what, each in beside.items())
            made[key] = Coordinates(tuple(field.horizontal.values()), *degrees)
        found[field.name] = made[key]
    return found


def _coordinate(field: Variable, what: str, others: Iterable[Variable]) -> Variable | None:
    """The variable that has the latitudes or longitudes of a field: that which it names, or the only one."""
    fitting = [each for each in others if each.dims and set(each.dims) <= set(field.horizontal) and _is(each, what)]
    listed = field.attributes.get("coordinates")
    named = listed.split() if isinstance(listed, str) else []
    for each in fitting:
        if each.name in named or each.name in field.horizontal:
            return each
    return fitting[0] if len(fitting) == 1 else None


def _is(variable: Variable, what: str) -> bool:
    attributes = variable.attributes
    if not np.issubdtype(variable.dtype, np.number):
        return False
    if "standard_name" in attributes:
        return str(attributes["standard_name"]) == what
    return str(attributes.get("units")) in _UNITS[what] or variable.name.lower() in _NAMES[what]


def _degrees(field: Variable, what: str, variable: Variable | None) -> Array | None:
    """The degrees of a coordinate, so that they broadcast to the points of a field."""
    if variable is None:
        return None
    sizes = field.horizontal
    if variable.shape != (wanted := tuple(sizes[name] for name in variable.dims)):
        raise InputError(
            f"{field.path}: {what} {variable.name} has {variable.shape} values, and field {field.name} {wanted} points"
        )
    order = sorted(range(len(wanted)), key=lambda axis: list(sizes).index(variable.dims[axis]))
    values = variable.all_values().transpose(order)
    if str(variable.attributes.get("units")).startswith("rad"):
        values = np.degrees(values)
    return values.reshape([size if name in variable.dims else 1 for name, size in sizes.items()])
