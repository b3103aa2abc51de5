"""GRIB edition 2 by ecCodes: regular, full and reduced Gaussian grids, and spherical harmonics; a message per level."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

import eccodes
import numpy as np

from tradewind.base.errors import InputError
from tradewind.fieldserver.field import OutputField, Record, not_finite
from tradewind.fieldserver.geometry import Gaussian, Geometry, Regular, Spectral
from tradewind.fieldserver.sinks.form import Form, Moment, PartFile, Place, Written

if TYPE_CHECKING:
    from tradewind.fieldserver.field import Array
    from tradewind.fieldserver.plan_file import Request

BITS, PACKING = 16, "ccsds"
_LEVELS = {
    "model": "hybrid",
    "pressure": "isobaricInhPa",
    "surface": "surface",
    "height": "heightAboveGround",
}
_MICRO = 1e6
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


class Template:
    """A message without values and level for a field, made once by each thread; later ones are copies of it."""

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
    ) -> int:
        """The handle, for a run that starts then. It stays ours."""
        known: dict[Any, int] = cls.kept.__dict__.setdefault("handles", {})
        key = (field, packing, bits, precision, start, centre)
        if key not in known:
            known[key] = _template(field, packing, bits, precision, centre)
            if start is not None:
                date, hour = int(start.strftime("%Y%m%d")), int(start.strftime("%H%M"))
                _set(known[key], {"dataDate": date, "dataTime": hour, "second": start.second})
        return known[key]


def _template(
    field: OutputField, packing: str, bits: int | None, precision: str | None, centre: int | str | None
) -> int:
    geometry = field.geometry
    sample = "sh_ml_grib2" if isinstance(geometry, Spectral) else "GRIB2"
    if isinstance(geometry, Gaussian):
        sample = "regular_gg_pl_grib2" if geometry.is_full else "reduced_gg_pl_grib2"
    handle = eccodes.codes_grib_new_from_samples(sample)
    try:
        _describe(handle, geometry)
        _pack(handle, geometry, packing, bits, precision)
        _name(handle, field)
        _sign(handle, centre)
    except eccodes.CodesInternalError as error:
        eccodes.codes_release(handle)
        raise InputError(f"field {field.name}: GRIB cannot describe it: {error}") from None
    except InputError:
        eccodes.codes_release(handle)
        raise
    return int(handle)


def _describe(handle: int, geometry: Geometry) -> None:
    """Set the grid of a message."""
    if isinstance(geometry, Regular):
        east = geometry.longitude + (geometry.nx - 1) * geometry.dx
        south = geometry.latitude + (geometry.ny - 1) * geometry.dy
        keys: dict[str, Any] = {
            "Ni": geometry.nx,
            "Nj": geometry.ny,
            "longitudeOfFirstGridPoint": round(geometry.longitude % 360 * _MICRO),
            "longitudeOfLastGridPoint": round(east % 360 * _MICRO),
            "latitudeOfFirstGridPoint": round(geometry.latitude * _MICRO),
            "latitudeOfLastGridPoint": round(south * _MICRO),
            "iDirectionIncrement": round(geometry.dx * _MICRO),
            "jDirectionIncrement": round(abs(geometry.dy) * _MICRO),
            "jScansPositively": int(geometry.dy > 0),
        }
    elif isinstance(geometry, Gaussian):
        latitude = float(np.asarray(geometry.coordinates()["latitude"][1])[0])
        longest = max(geometry.rows)
        keys = {
            "N": geometry.half,
            "Nj": len(geometry.rows),
            "latitudeOfFirstGridPoint": round(latitude * _MICRO),
            "latitudeOfLastGridPoint": round(-latitude * _MICRO),
            "longitudeOfFirstGridPoint": 0,
            "longitudeOfLastGridPoint": round((360 - 360 / longest) * _MICRO),
        }
        if geometry.is_full:
            keys |= {"Ni": longest, "iDirectionIncrement": round(360 / longest * _MICRO)}
        else:
            eccodes.codes_set_array(handle, "pl", list(geometry.rows))
        keys["numberOfDataPoints"] = geometry.points
    else:
        assert isinstance(geometry, Spectral)
        keys = dict.fromkeys("JKM", geometry.truncation)
    _set(handle, keys)


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
    if not _are_within(values, largest):
        at = f"field {field.name}, level {level:g}"
        if wrong := not_finite(values):
            raise InputError(f"{at}: {wrong} values are not finite; GRIB takes none of them")
        wrong = int(np.count_nonzero(np.abs(values) > largest))
        raise InputError(
            f"{at}: {wrong} values are of magnitudes above {largest:g}, which packings of GRIB do not hold"
        )
    handle = eccodes.codes_clone(Template.of(field, packing, bits, precision, when.start, centre))
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
    """Whether all values are numbers of magnitudes up to the largest, in two passes without memory."""
    return bool(values.min() >= -largest and values.max() <= largest)


def _grid_problem(geometry: Geometry, packing: str) -> str:
    """Return what GRIB cannot describe of a grid; empty where it can."""
    if not isinstance(geometry, Regular | Gaussian | Spectral):
        return (
            f"GRIB cannot describe a grid that is {geometry.kind}; regular, gaussian and spectral are allowed, others "
            "go to netcdf or zarr"
        )
    if isinstance(geometry, Spectral) and packing == "ieee":
        return "GRIB has no packing 'ieee' for spectral coefficients; 'simple' and 'ccsds' (complex) are allowed"
    if isinstance(geometry, Regular) and min(geometry.dx, abs(geometry.dy)) < _SMALLEST_STEP:
        return f"GRIB counts millionths of a degree: a grid of steps of {_SMALLEST_STEP:g} degrees or more is allowed"
    if isinstance(geometry, Regular) and (geometry.nx - 1) * geometry.dx >= 360:
        return (
            f"GRIB cannot describe a grid that goes round the Earth more than once: {geometry.nx} points every "
            f"{geometry.dx:g} degrees; less than 360 degrees from the first to the last one are allowed"
        )
    return ""


class Grib(Form):
    """A file of messages, in the order in which fields are written."""

    def __init__(self, place: Place, path: str, when: Moment, compression: int) -> None:
        super().__init__(place, path, when, compression)
        self._file = PartFile(place.folder / path, durable=place.durable)

    @staticmethod
    def check(field: OutputField, request: Request) -> None:
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
        pairs = zip(record.places, record.values, strict=True)
        return [Record(record.field, record.step, (place,), values[None]) for place, values in pairs]

    def prepare(self, record: Record, request: Request) -> list[bytes]:
        packing = request.sink.packing or PACKING
        how: dict[str, Any] = {"packing": packing, "bits": request.bits, "precision": request.precision}
        how["centre"] = request.sink.centre
        levels = (record.field.levels[place] for place in record.places)
        pairs = zip(levels, record.values, strict=True)
        return [message(record.field, level, values, self.when, **how) for level, values in pairs]

    def append(self, record: Record, request: Request, prepared: list[bytes]) -> None:
        for each in prepared:
            self._file.write(each)

    def finish(self) -> list[Written]:
        self._file.finish()
        return [Written(self.path, self._file.bytes, self._file.whole_sum())]

    def abort(self) -> None:
        self._file.abort()
