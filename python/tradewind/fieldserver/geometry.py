"""Horizontal grids as output files describe them: each with the order of its points and their coordinates.

A whole field is an array [level][point]; the points of a grid of rows follow each other row by row.
"""

from __future__ import annotations

import base64
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.extents import whole_number
from tradewind.layout.gaussian import gaussian_latitudes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Coordinate = tuple[tuple[str, ...], NDArray[Any], dict[str, str]]
    """Dimensions, values, attributes of the CF conventions."""

_BOX_DEGREES = 0.1
_BOX_NORTH = 80.0
_ROUNDED = 1e-9
"""Degrees beyond a pole that come from rounding."""


@dataclass(frozen=True, eq=False)
class Geometry(ABC):
    """The horizontal grid of a field."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def points(self) -> int:
        """Values of one level."""

    @property
    @abstractmethod
    def dims(self) -> dict[str, int]:
        """Dimensions of one level by name, the slowest first."""

    @abstractmethod
    def coordinates(self) -> dict[str, Coordinate]:
        """Coordinate variables by name."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, which can go to other processes as JSON; arrays as base64 of doubles."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"kind": self.kind} | {
            name: base64.b64encode(value.tobytes()).decode() if isinstance(value, np.ndarray) else value
            for name, value in own.items()
        }

    @cached_property
    def digest(self) -> str:
        """A checksum of it, by which geometries are compared: the points of a mesh are many."""
        return hashlib.sha256(json.dumps(self.as_dict()).encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Geometry) and self.digest == other.digest)


def _degrees(what: str, value: Any) -> float:
    """A coordinate as a number of Python. Raises InputError for what is none, or not finite."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if isinstance(value, str) or not np.isfinite(found):
        raise InputError(f"{what} {value!r}: a number of degrees is allowed")
    return found


_LATITUDE = {"standard_name": "latitude", "units": "degrees_north"}
_LONGITUDE = {"standard_name": "longitude", "units": "degrees_east"}


@dataclass(frozen=True, eq=False)
class Regular(Geometry):
    """A grid of nx longitudes and ny latitudes: point i + nx j at (longitude + i dx, latitude + j dy), in degrees."""

    nx: int
    ny: int
    longitude: float = 0.0
    latitude: float = 0.0
    dx: float = 1.0
    dy: float = 1.0

    kind: ClassVar[str] = "regular"

    def __post_init__(self) -> None:
        for name in ("nx", "ny"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 1))
        for name in ("longitude", "latitude", "dx", "dy"):
            object.__setattr__(self, name, _degrees(name, getattr(self, name)))
        last = self.latitude + (self.ny - 1) * self.dy
        if max(abs(self.latitude), abs(last)) > 90 + _ROUNDED or self.dx <= 0 or self.dy == 0:
            raise InputError(
                f"a grid of {self.nx} x {self.ny} points every {self.dx:g} x {self.dy:g} degrees from latitude "
                f"{self.latitude:g}: latitudes -90..90 and steps to the east are allowed"
            )

    @classmethod
    def box(cls, nx: int, ny: int) -> Regular:
        """Return a box around 0 N for a plane, which GRIB cannot describe: a tenth of a degree per point or less."""
        step = min(_BOX_DEGREES, 360.0 / nx, 2 * _BOX_NORTH / ny)
        return cls(nx, ny, 0.0, -step * (ny - 1) / 2, step, step)

    @property
    def points(self) -> int:
        return self.nx * self.ny

    @property
    def dims(self) -> dict[str, int]:
        return {"latitude": self.ny, "longitude": self.nx}

    def coordinates(self) -> dict[str, Coordinate]:
        longitude = self.longitude + self.dx * np.arange(self.nx)
        latitude = self.latitude + self.dy * np.arange(self.ny)
        return {
            "latitude": (("latitude",), latitude, _LATITUDE),
            "longitude": (("longitude",), longitude, _LONGITUDE),
        }


@dataclass(frozen=True, eq=False)
class Gaussian(Geometry):
    """A Gaussian grid, full or reduced: `rows` points of each row from the north, each from longitude 0 eastward."""

    rows: tuple[int, ...]

    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "rows", tuple(whole_number("points of a row", n, 1) for n in np.asarray(self.rows).ravel())
        )
        if not self.rows or len(self.rows) % 2:
            raise InputError("rows of a Gaussian grid: an even number of rows with 1 point or more each is allowed")

    @classmethod
    def octahedral(cls, n: int) -> Gaussian:
        """Return the grid O<n>."""
        half = [20 + 4 * i for i in range(n)]
        return cls((*half, *reversed(half)))

    @property
    def half(self) -> int:
        """Rows of a hemisphere: GRIB's N."""
        return len(self.rows) // 2

    @property
    def is_full(self) -> bool:
        """All rows have as many points."""
        return len(set(self.rows)) == 1

    @property
    def points(self) -> int:
        return sum(self.rows)

    @property
    def dims(self) -> dict[str, int]:
        if self.is_full:
            return {"latitude": len(self.rows), "longitude": self.rows[0]}
        return {"point": self.points}

    def coordinates(self) -> dict[str, Coordinate]:
        latitudes = np.asarray(np.degrees(gaussian_latitudes(self.half)), "f8")
        if self.is_full:
            longitude = np.arange(self.rows[0]) * (360.0 / self.rows[0])
            return {
                "latitude": (("latitude",), latitudes, _LATITUDE),
                "longitude": (("longitude",), longitude, _LONGITUDE),
            }
        rows = np.array(self.rows)
        within = np.arange(self.points) - np.repeat(np.cumsum(rows) - rows, rows)
        longitude = 360.0 * within / np.repeat(rows, rows)
        return {
            "latitude": (("point",), np.repeat(latitudes, rows), _LATITUDE),
            "longitude": (("point",), longitude, _LONGITUDE),
        }


@dataclass(frozen=True, eq=False)
class Spectral(Geometry):
    """Coefficients of spherical harmonics, triangular truncation T: for m = 0..T, n = m..T the real, then the
    imaginary part, as GRIB has them: (T + 1) (T + 2) numbers."""

    truncation: int

    kind: ClassVar[str] = "spectral"

    def __post_init__(self) -> None:
        object.__setattr__(self, "truncation", whole_number("truncation", self.truncation, 1))

    @property
    def points(self) -> int:
        return (self.truncation + 1) * (self.truncation + 2)

    @property
    def dims(self) -> dict[str, int]:
        return {"coefficient": self.points}

    def coordinates(self) -> dict[str, Coordinate]:
        m = np.repeat(np.arange(self.truncation + 1), np.arange(self.truncation + 1, 0, -1))
        n = np.concatenate([np.arange(k, self.truncation + 1) for k in range(self.truncation + 1)])
        return {
            "zonal_wavenumber": (("coefficient",), np.repeat(m, 2).astype(float), {"units": "1"}),
            "total_wavenumber": (("coefficient",), np.repeat(n, 2).astype(float), {"units": "1"}),
        }


@dataclass(frozen=True, eq=False)
class Unstructured(Geometry):
    """Points in the order of their numbers; `longitudes` and `latitudes` in degrees where they are known.

    Both are kept as arrays of doubles, or None.
    """

    count: int
    longitudes: Any = None
    latitudes: Any = None

    kind: ClassVar[str] = "unstructured"

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", whole_number("number of points", self.count, 1))
        for name in ("longitudes", "latitudes"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else _doubles(name, given, self.count))

    @property
    def points(self) -> int:
        return self.count

    @property
    def dims(self) -> dict[str, int]:
        return {"point": self.count}

    def coordinates(self) -> dict[str, Coordinate]:
        found: dict[str, Coordinate] = {}
        for name, values, said in (("latitude", self.latitudes, _LATITUDE), ("longitude", self.longitudes, _LONGITUDE)):
            if values is not None:
                found[name] = (("point",), values, said)
        return found


def _doubles(name: str, given: Any, count: int) -> NDArray[np.float64] | None:
    """Coordinates, or None for a list of none; read-only. Raises InputError."""
    try:
        values = np.frombuffer(base64.b64decode(given)) if isinstance(given, str) else np.array(given, "f8")
    except (TypeError, ValueError):
        raise InputError(f"{name}: numbers, one for each of {count} points, are allowed") from None
    if values.size == 0:
        return None
    if values.shape != (count,):
        raise InputError(f"{values.size} {name} of {count} points: one for each, or none, is allowed")
    if not np.isfinite(values).all():
        raise InputError(f"{name}: point {int(np.argmin(np.isfinite(values)))} has {values[~np.isfinite(values)][0]}")
    values.flags.writeable = False
    return values


KINDS: dict[str, type[Geometry]] = {each.kind: each for each in (Regular, Gaussian, Spectral, Unstructured)}


_MADE: WeakValueDictionary[Geometry, Geometry] = WeakValueDictionary()


def from_dict(values: Mapping[str, Any]) -> Geometry:
    """The geometry of `Geometry.as_dict`, also after a way through JSON, which makes tuples lists.

    Geometries that are equal are one object, so that all fields of a mesh have its points once.
    """
    own = {key: tuple(value) if key == "rows" else value for key, value in values.items() if key != "kind"}
    made = KINDS[values["kind"]](**own)
    return _MADE.setdefault(made, made)
