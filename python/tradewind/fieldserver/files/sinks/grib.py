"""GRIB edition 2 by ecCodes: a message per level, of all grids.

Points of a row go to the east or along x (iScansNegatively 0), row after row (jPointsAreConsecutive 0), in the
direction of dy (jScansPositively); on a map rows follow each other along y, as ecCodes takes all. Both increments are
given. Vectors are those to the east and north (uvRelativeToGrid 0); on maps and rotated spheres a field whose
standard_name begins with "x_" or "y_" is along the axes of the grid (1). Earth is a sphere of 6371229 m
(shapeOfTheEarth 6), or of the radius of a map (1).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError
from tradewind.fieldserver.files.sinks.form import Form, Moment, PartFile, Place, Written
from tradewind.fieldserver.files.units import conversion, is_known, of_eccodes
from tradewind.fieldserver.plan.field import OutputField, Record, not_finite
from tradewind.fieldserver.plan.forms import SMALLEST_RATIO
from tradewind.fieldserver.plan.geometry import (
    Curvilinear,
    Gaussian,
    Geometry,
    Lambert,
    PolarStereographic,
    Projected,
    Regular,
    Rotated,
    Spectral,
    Unstructured,
)
from tradewind.fieldserver.plan.map_projection import EARTH_RADIUS_M

if TYPE_CHECKING:
    import eccodes

    from tradewind.fieldserver.plan.field import Array
    from tradewind.fieldserver.plan.plan_file import Request
else:
    eccodes = Deferred("eccodes")

BITS, PACKING = 16, "ccsds"
_LEVELS = {
    "model": "hybrid",
    "pressure": "isobaricInhPa",
    "surface": "surface",
    "height": "heightAboveGround",
}
_MICRO, _MILLI = 1e6, 1e3
_SPHERE, _SPHERE_OF_RADIUS, _DECIMALS = 6, 1, 2
"""shapeOfTheEarth: of 6371229 m; of a radius that a message has, in hundredths of a metre."""
_INCREMENTS, _ALONG = 0b00110000, 0b00001000
"""Bits of resolutionAndComponentFlags: both increments are given; vectors are along the axes of the grid."""
_ALONG_GRID = ("x_", "y_")
"""Beginnings of CF's names of such vectors."""
_SOUTH = 128
"""projectionCentreFlag of a map around the south pole."""
_LARGEST_STEP_M = 4e6
_DRIFT = 0.25
"""Part of a step that the last point of a row may be misplaced by where steps are whole millimetres."""
_SMALLEST_STEP = 1e-5
"""Degrees between points, which GRIB counts in millionths."""
_LARGEST = 1e30
"""Magnitude of values whose packing holds 32-bit floats: of some larger ones ecCodes ends the process."""
_TOO_HIGH = 10_000_000
_HOUR_S = 3600
_SECONDS, _HOURS = 13, 1
_MISSING = 2**31 - 1
UNKNOWN = (0, 191, 192)
"""Discipline, category and number of a field without any: those for local use."""


@dataclass(frozen=True)
class Template:
    """A message without values and level for a field, made once by each thread; later ones are copies of it.

    `scale` and `offset` make values in the units of its parameter of those of the field.
    """

    handle: int
    scale: float
    offset: float

    kept: ClassVar[threading.local] = threading.local()

    @classmethod
    def of(
        cls,
        field: OutputField,
        packing: str,
        bits: int | None,
        precision: str | None,
        start: datetime | None = None,
        centre: int | str | None = None,
    ) -> Template:
        """The template for a run that starts then. Its handle stays ours."""
        known: dict[Any, Template] = cls.kept.__dict__.setdefault("templates", {})
        key = (field, packing, bits, precision, start, centre)
        if key not in known:
            known[key] = _template(field, packing, bits, precision, centre)
            if start is not None:
                date, hour = int(start.strftime("%Y%m%d")), int(start.strftime("%H%M"))
                _set(known[key].handle, {"dataDate": date, "dataTime": hour, "second": start.second})
        return known[key]


def _template(
    field: OutputField, packing: str, bits: int | None, precision: str | None, centre: int | str | None
) -> Template:
    geometry = field.geometry
    sample = "sh_ml_grib2" if isinstance(geometry, Spectral) else "GRIB2"
    if isinstance(geometry, Gaussian):
        sample = "regular_gg_pl_grib2" if geometry.is_full else "reduced_gg_pl_grib2"
    handle = eccodes.codes_grib_new_from_samples(sample)
    try:
        _describe(handle, geometry, field)
        _pack(handle, geometry, packing, bits, precision)
        _name(handle, field)
        scale, offset = _conversion(handle, field)
        _sign(handle, centre)
    except eccodes.CodesInternalError as error:
        eccodes.codes_release(handle)
        raise InputError(f"field {field.name}: GRIB cannot describe it: {error}") from None
    except InputError:
        eccodes.codes_release(handle)
        raise
    return Template(int(handle), scale, offset)


def _micro(degrees: float) -> int:
    return round(degrees * _MICRO)


def _east(degrees: float) -> int:
    """A longitude in millionths of a degree, from 0 on."""
    return _micro(degrees) % _micro(360)


def _describe(handle: int, geometry: Geometry, field: OutputField) -> None:
    """Set the grid of a message, whose sample has one already."""
    if isinstance(geometry, Spectral):
        _set(handle, dict.fromkeys("JKM", geometry.truncation))
    elif isinstance(geometry, Gaussian):
        _describe_gaussian(handle, geometry)
    elif isinstance(geometry, Regular | Rotated):
        if isinstance(geometry, Rotated):
            _set(handle, {"gridType": "rotated_ll", **_as_projected(geometry, field)})
            pole = {
                "latitudeOfSouthernPole": _micro(-geometry.pole_latitude),
                "longitudeOfSouthernPole": _east(geometry.pole_longitude + 180),
            }
            _set(handle, pole | {"angleOfRotationInDegrees": 0})
        _set(handle, _of_rows(geometry))
    elif isinstance(geometry, Lambert | PolarStereographic):
        _set(handle, {"gridType": geometry.kind, **_as_projected(geometry, field), **_of_map(geometry)})
    else:
        assert isinstance(geometry, Unstructured | Curvilinear)
        _set(handle, {"gridType": "unstructured_grid", "shapeOfTheEarth": _SPHERE})
        if isinstance(geometry, Unstructured):
            numbers = geometry.grid_number, geometry.grid_in_reference
            _set(handle, dict(zip(("numberOfGridUsed", "numberOfGridInReference"), numbers, strict=True)))
        _set(handle, {"uuidOfHGrid": str(geometry.grid_uuid).replace("-", "")})
        _set(handle, {"numberOfDataPoints": geometry.points})


def _describe_gaussian(handle: int, geometry: Gaussian) -> None:
    latitude = float(np.asarray(geometry.coordinates()["latitude"][1])[0])
    longest = max(geometry.rows)
    keys = {
        "shapeOfTheEarth": _SPHERE,
        "N": geometry.half,
        "Nj": len(geometry.rows),
        "latitudeOfFirstGridPoint": _micro(latitude),
        "latitudeOfLastGridPoint": _micro(-latitude),
        "longitudeOfFirstGridPoint": 0,
        "longitudeOfLastGridPoint": _micro(360 - 360 / longest),
    }
    if geometry.is_full:
        keys |= {"Ni": longest, "iDirectionIncrement": _micro(360 / longest)}
    else:
        eccodes.codes_set_array(handle, "pl", list(geometry.rows))
    _set(handle, keys | {"numberOfDataPoints": geometry.points})


def _of_rows(geometry: Regular | Rotated) -> dict[str, Any]:
    return {
        "shapeOfTheEarth": _SPHERE,
        "Ni": geometry.nx,
        "Nj": geometry.ny,
        "longitudeOfFirstGridPoint": _east(geometry.longitude),
        "longitudeOfLastGridPoint": _east(geometry.longitude + (geometry.nx - 1) * geometry.dx),
        "latitudeOfFirstGridPoint": _micro(geometry.latitude),
        "latitudeOfLastGridPoint": _micro(geometry.latitude + (geometry.ny - 1) * geometry.dy),
        "iDirectionIncrement": _micro(geometry.dx),
        "jDirectionIncrement": _micro(abs(geometry.dy)),
        "jScansPositively": int(geometry.dy > 0),
    }


def _as_projected(geometry: Projected, field: OutputField) -> dict[str, Any]:
    """Keys of the Earth, of increments and of vectors."""
    is_along_grid = field.standard_name.startswith(_ALONG_GRID)
    return {"shapeOfTheEarth": _SPHERE, "resolutionAndComponentFlags": _INCREMENTS | _ALONG * is_along_grid}


def _of_map(geometry: Lambert | PolarStereographic) -> dict[str, Any]:
    keys = {
        "Nx": geometry.nx,
        "Ny": geometry.ny,
        "latitudeOfFirstGridPoint": _micro(geometry.latitude),
        "longitudeOfFirstGridPoint": _east(geometry.longitude),
        "Dx": round(geometry.dx * _MILLI),
        "Dy": round(geometry.dy * _MILLI),
        "jScansPositively": 1,
    }
    if geometry.radius != EARTH_RADIUS_M:
        keys |= {
            "shapeOfTheEarth": _SPHERE_OF_RADIUS,
            "scaleFactorOfRadiusOfSphericalEarth": _DECIMALS,
            "scaledValueOfRadiusOfSphericalEarth": round(geometry.radius * 10**_DECIMALS),
        }
    if isinstance(geometry, Lambert):
        return keys | {
            "LoV": _east(geometry.orientation),
            "LaD": _micro(geometry.parallel),
            "Latin1": _micro(geometry.parallel),
            "Latin2": _micro(geometry.second_parallel),
            "projectionCentreFlag": 0 if geometry.parallel > 0 else _SOUTH,
            "latitudeOfSouthernPole": _micro(-90),
            "longitudeOfSouthernPole": 0,
        }
    return keys | {
        "orientationOfTheGrid": _east(geometry.orientation),
        "LaD": _micro(geometry.true_latitude),
        "projectionCentreFlag": 0 if geometry.true_latitude > 0 else _SOUTH,
    }


def _conversion(handle: int, field: OutputField) -> tuple[float, float]:
    """Return scale and offset from the units of a field to those of its parameter. Raises InputError."""
    if field.grib is None or not field.units:
        return 1.0, 0.0
    wanted = of_eccodes(str(eccodes.codes_get(handle, "units")))
    found = conversion(field.units, wanted)
    theirs = f"field {field.name}: units {field.units!r}: those of GRIB's {field.grib!r} are {wanted!r}"
    if found is None:
        raise InputError(f"{theirs}: units that convert to them are allowed")
    if field.units != wanted and is_known(wanted) and not is_known(field.units):
        raise InputError(f"{theirs}, and UDUNITS knows no others of that name: units that convert to them are allowed")
    if found[1] and isinstance(field.geometry, Spectral):
        raise InputError(f"{theirs}: spectral coefficients are converted to units with the same zero alone")
    return found


def _pack(handle: int, geometry: Geometry, packing: str, bits: int | None, precision: str | None) -> None:
    if isinstance(geometry, Spectral):
        kind = {"simple": "spectral_simple", "ccsds": "spectral_complex", "ieee": "spectral_ieee"}[packing]
        if kind == "spectral_complex":
            subset = min(20, geometry.truncation)
            _set(handle, {"packingType": kind, "JS": subset, "KS": subset, "MS": subset, "unpackedSubsetPrecision": 1})
            _set(handle, {"bitsPerValue": bits or BITS})
            return
        _set(handle, {"packingType": kind})
    else:
        _set(handle, {"packingType": f"grid_{packing}"})
    if packing == "ieee":
        _set(handle, {"precision": 2 if precision == "f8" else 1})
    else:
        _set(handle, {"bitsPerValue": bits or BITS})


def _name(handle: int, field: OutputField) -> None:
    """Set what the field is, and the kind of its levels."""
    _set(handle, {"typeOfLevel": _LEVELS[field.level_type]})
    if isinstance(field.grib, str):
        try:
            _set(handle, {"shortName": field.grib})
        except eccodes.CodesInternalError:
            raise InputError(f"field {field.name}: grib = {field.grib!r}: ecCodes knows no such short name") from None
        found = eccodes.codes_get(handle, "typeOfLevel")
        if field.level_type != "surface" and found != _LEVELS[field.level_type]:
            raise InputError(
                f"field {field.name}: the short name {field.grib!r} is of level type {found}, and the field of "
                f"{field.level_type!r}: level_type 'surface' is allowed, or [discipline, category, number] for the name"
            )
        return
    discipline, category, number = field.grib or UNKNOWN
    _set(handle, {"discipline": discipline, "parameterCategory": category, "parameterNumber": number})


def _sign(handle: int, centre: int | str | None) -> None:
    """Set who has made the message, after its name: with a centre of its own ecCodes takes names to mean other ones."""
    if centre is None:
        return
    try:
        _set(handle, {"centre": centre})
    except eccodes.CodesInternalError:
        raise InputError(
            f"centre = {centre!r}: ecCodes knows no such centre; its abbreviation, like 'eswi', or the number of WMO's "
            "common code table C-11 is allowed"
        ) from None


def _set(handle: int, keys: Mapping[str, Any]) -> None:
    for key, value in keys.items():
        eccodes.codes_set(handle, key, value)


def message(
    field: OutputField,
    level: float,
    values: Array,
    when: Moment,
    *,
    packing: str = PACKING,
    bits: int | None = None,
    precision: str | None = None,
    centre: int | str | None = None,
) -> bytes:
    """Return a field's level [point] as a message. Raises InputError for values that it cannot hold."""
    largest = float(np.finfo("f8").max) if packing == "ieee" and precision == "f8" else _LARGEST
    template = Template.of(field, packing, bits, precision, when.start, centre)
    if (template.scale, template.offset) != (1.0, 0.0):
        values = np.asarray(values, "f8") * template.scale + template.offset
    if not _are_within(values, largest):
        at = f"field {field.name}, level {level:g}"
        if wrong := not_finite(values):
            raise InputError(f"{at}: {wrong} values are not finite; GRIB takes none of them")
        wrong = int(np.count_nonzero(np.abs(values) > largest))
        raise InputError(
            f"{at}: {wrong} values are of magnitudes above {largest:g}, which packings of GRIB do not hold"
        )
    handle = eccodes.codes_clone(template.handle)
    try:
        hours = when.seconds % _HOUR_S == 0
        ahead = round(when.seconds / _HOUR_S) if hours else round(when.seconds)
        if ahead >= _MISSING:
            raise InputError(f"{when.seconds:g} s from the start: GRIB counts up to {_MISSING - 1} hours or seconds")
        _set(handle, {"indicatorOfUnitOfTimeRange": _HOURS if hours else _SECONDS, "forecastTime": ahead})
        if field.level_type != "surface":
            eccodes.codes_set(handle, "level", round(level))
        eccodes.codes_set_values(handle, np.ascontiguousarray(values, dtype="f8").ravel())
        return bytes(eccodes.codes_get_message(handle))
    except eccodes.CodesInternalError as error:
        raise InputError(f"field {field.name}, level {level:g}: {error}") from None
    finally:
        eccodes.codes_release(handle)


def _are_within(values: Array, largest: float) -> bool:
    """Whether all values are numbers of magnitudes up to the largest, in two passes without memory.

    They are compared as doubles: NumPy would make an infinite float32 of a limit that is a double.
    """
    return bool(float(values.min()) >= -largest and float(values.max()) <= largest)


def _grid_problem(geometry: Geometry, packing: str) -> str:
    """Return what GRIB cannot describe of a grid; empty where it can."""
    if isinstance(geometry, Unstructured | Curvilinear) and geometry.grid_uuid is None:
        return (
            "GRIB names an unstructured grid by its UUID: Unstructured with longitudes and latitudes, or with uuid, is "
            "allowed"
        )
    if isinstance(geometry, Spectral) and packing == "ieee":
        return "GRIB has no packing 'ieee' for spectral coefficients; 'simple' and 'ccsds' (complex) are allowed"
    if isinstance(geometry, Regular | Rotated) and min(geometry.dx, abs(geometry.dy)) < _SMALLEST_STEP:
        return f"GRIB counts millionths of a degree: a grid of steps of {_SMALLEST_STEP:g} degrees or more is allowed"
    if isinstance(geometry, Regular | Rotated) and (geometry.nx - 1) * geometry.dx >= 360:
        return (
            f"GRIB cannot describe a grid that goes round the Earth more than once: {geometry.nx} points every "
            f"{geometry.dx:g} degrees; less than 360 degrees from the first to the last one are allowed"
        )
    if isinstance(geometry, Lambert | PolarStereographic):
        if geometry.dy < 0:
            return "readers of GRIB differ on rows that run against the y axis of a map: dy of more than 0 is allowed"
        for count, step in ((geometry.nx, geometry.dx), (geometry.ny, geometry.dy)):
            if abs(round(step * _MILLI) / _MILLI - step) * (count - 1) > _DRIFT * step or step > _LARGEST_STEP_M:
                return (
                    f"GRIB counts millimetres: {count} points every {step:.9g} m are not where it has them; steps of "
                    f"whole millimetres up to {_LARGEST_STEP_M:g} m are allowed"
                )
    return ""


class Grib(Form):
    """A file of messages, in the order in which fields are written."""

    title: ClassVar[str] = "GRIB"
    package: ClassVar[str] = "eccodes"
    keys: ClassVar[frozenset[str]] = frozenset({"packing", "bits", "centre"})
    instead: ClassVar[Mapping[str, str]] = {"compression": f"GRIB has packing = {PACKING!r}"}
    whole_seconds: ClassVar[bool] = True

    def __init__(self, place: Place, path: str, when: Moment, compression: int) -> None:
        super().__init__(place, path, when, compression)
        self._file = PartFile(place.folder, path, durable=place.durable)

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions of the libraries that write these files, by name."""
        return super().versions() | {"the library ecCodes": eccodes.codes_get_api_version()}

    @staticmethod
    def problems(sink: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the key and the text of each mistake in the table of a sink."""
        is_ieee = sink.get("packing") == "ieee"
        if is_ieee and "bits" in sink:
            yield "bits", "packing 'ieee' has no bits: say precision = 'f4' or 'f8'"
        if not is_ieee and "precision" in sink:
            yield "precision", "precision belongs to packing 'ieee' of grib2; others have bits"

    @staticmethod
    def bits_per_value(sink: Any, bits: int | None, precision: str | None, dtype: str) -> float:
        """Return the least number of bits of a value in a file."""
        width: float = 8 * int((precision or "f4")[1:]) if sink.packing == "ieee" else bits or BITS
        return width if sink.packing == "simple" else width * SMALLEST_RATIO

    @staticmethod
    def check(field: OutputField, request: Request) -> None:
        """Raise InputError for a field that GRIB cannot hold."""
        packing = request.sink.packing or PACKING
        if problem := _grid_problem(field.geometry, packing):
            raise InputError(f"field {field.name}: {problem}")
        if field.level_type == "surface" and len(field.levels) > 1:
            raise InputError(f"field {field.name}: {len(field.levels)} levels of the surface: GRIB has one")
        wrong = [level for level in field.levels if not (0 <= level < _TOO_HIGH and level == round(level))]
        if wrong and field.level_type != "surface":
            raise InputError(
                f"field {field.name}, level {wrong[0]:g}: GRIB takes whole numbers below {_TOO_HIGH}, pressure in hPa"
            )
        Template.of(field, packing, request.bits, request.precision, centre=request.sink.centre)

    def pieces(self, record: Record) -> list[Record]:
        """Return a record per level: each is a message."""
        pairs = zip(record.places, record.values, strict=True)
        return [Record(record.field, record.step, (place,), values[None]) for place, values in pairs]

    def prepare(self, record: Record, request: Request) -> list[bytes]:
        """Return the messages of a record, encoded."""
        packing = request.sink.packing or PACKING
        how: dict[str, Any] = {"packing": packing, "bits": request.bits, "precision": request.precision}
        how["centre"] = request.sink.centre
        levels = (record.field.levels[place] for place in record.places)
        pairs = zip(levels, record.values, strict=True)
        return [message(record.field, level, values, self.when, **how) for level, values in pairs]

    def append(self, record: Record, request: Request, prepared: list[bytes]) -> None:
        """Append messages to the file. Raises OSError."""
        for each in prepared:
            self._file.write(each)

    def finish(self) -> list[Written]:
        """Publish the file, and return its name, bytes and checksum."""
        self._file.finish()
        return [Written(self.path, self._file.bytes, self._file.whole_sum())]

    def abort(self) -> None:
        """Remove what was written."""
        self._file.abort()
