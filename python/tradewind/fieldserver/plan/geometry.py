"""Horizontal grids as output files describe them: each with the order of its points and their coordinates.

A whole field is an array [level][point]; the points of a grid of rows follow each other row by row.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from tradewind.base import memory
from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import MAX_EXTENT, real_number, whole_number
from tradewind.fieldserver.plan.map_projection import EARTH_RADIUS_M, ConeMap, PolarMap, RotatedSphere
from tradewind.layout.gaussian import gaussian_latitudes
from tradewind.layout.lists import ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Coordinate = tuple[tuple[str, ...], NDArray[Any], dict[str, str]]
    """Dimensions, values, attributes of the CF conventions."""

_BOX_DEGREES = 0.1
_BOX_NORTH = 80.0
_MANY = 2**24
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

    @property
    def grid_mapping(self) -> dict[str, Any]:
        """Attributes of the CF conventions' grid mapping; none where longitudes and latitudes are all there is."""
        return {}

    @property
    def spacing(self) -> float:
        """Degrees between neighbouring points at least, where they are known; else infinity."""
        return np.inf

    @property
    def grid_uuid(self) -> str | None:
        """UUID by which GRIB names a grid whose points it does not describe; None where there is none."""
        return None

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


def _require(numbers: int) -> None:
    """Raises InputError where memory does not suffice for the `numbers` of coordinates."""
    if numbers > _MANY:
        memory.require(f"a grid with {numbers} coordinates", 8 * numbers, "take a smaller one")


def _number(what: str, value: Any, unit: str = "degrees") -> float:
    """A coordinate as a number of Python. Raises InputError for what is none, or not finite."""
    return real_number(what, value, f"a number of {unit} is allowed")


_LATITUDE = {"standard_name": "latitude", "units": "degrees_north"}
_LONGITUDE = {"standard_name": "longitude", "units": "degrees_east"}


def _check_numbers(grid: Any, **units: str) -> None:
    """Keep the numbers of a grid as those of Python. `units`: of those that are not degrees. Raises InputError."""
    for each in fields(grid):
        value = getattr(grid, each.name)
        found = (
            whole_number(each.name, value, 1)
            if each.name in ("nx", "ny")
            else _number(each.name, value, units.get(each.name, "degrees"))
        )
        object.__setattr__(grid, each.name, found)


def _check_rows(grid: Regular | Rotated) -> None:
    """Raises InputError for rows beyond a pole, and for invalid steps."""
    last = grid.latitude + (grid.ny - 1) * grid.dy
    if max(abs(grid.latitude), abs(last)) > 90 + _ROUNDED or grid.dx <= 0 or grid.dy == 0:
        raise InputError(
            f"a grid of {grid.nx} x {grid.ny} points every {grid.dx:g} x {grid.dy:g} degrees from latitude "
            f"{grid.latitude:g}: latitudes -90..90 and steps to the east are allowed"
        )


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
        _check_numbers(self)
        _check_rows(self)

    @classmethod
    def box(cls, nx: int, ny: int) -> Regular:
        """Return a box around 0 N for a plane that is nowhere on the Earth: a tenth of a degree per point or less."""
        nx, ny = whole_number("nx", nx, 1), whole_number("ny", ny, 1)
        step = min(_BOX_DEGREES, 360.0 / nx, 2 * _BOX_NORTH / ny)
        return cls(nx, ny, 0.0, -step * (ny - 1) / 2, step, step)

    @property
    def points(self) -> int:
        """Number of points."""
        return self.nx * self.ny

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions in files, the slowest first, and their sizes."""
        return {"latitude": self.ny, "longitude": self.nx}

    @property
    def spacing(self) -> float:
        """The smaller distance of two points, in degrees."""
        return min(self.dx, abs(self.dy))

    def coordinates(self) -> dict[str, Coordinate]:
        """Return the coordinates of files: name -> (dimensions, values, attributes)."""
        _require(self.nx + self.ny)
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
        rows = ids("points of a row", self.rows)
        if rows.size and rows.min() < 1:
            raise InputError(f"points of a row {rows.min()}: a whole number, 1 or more, is allowed")
        object.__setattr__(self, "rows", tuple(rows.tolist()))
        if not self.rows or len(self.rows) % 2:
            raise InputError("rows of a Gaussian grid: an even number of rows with 1 point or more each is allowed")

    @classmethod
    def octahedral(cls, n: int) -> Gaussian:
        """Return the grid O<n>."""
        n = whole_number("rows of a hemisphere", n, 1, MAX_EXTENT)
        _require(2 * n)
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
        """Number of points."""
        return sum(self.rows)

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions in files, the slowest first, and their sizes."""
        if self.is_full:
            return {"latitude": len(self.rows), "longitude": self.rows[0]}
        return {"point": self.points}

    def coordinates(self) -> dict[str, Coordinate]:
        """Return the coordinates of files: name -> (dimensions, values, attributes)."""
        _require(2 * self.points)
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
        """Number of values: real and imaginary parts of all coefficients."""
        return (self.truncation + 1) * (self.truncation + 2)

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions in files and their sizes."""
        return {"coefficient": self.points}

    def coordinates(self) -> dict[str, Coordinate]:
        """Return the wavenumbers of the values: name -> (dimensions, values, attributes)."""
        _require(2 * self.points)
        m = np.repeat(np.arange(self.truncation + 1), np.arange(self.truncation + 1, 0, -1))
        n = np.concatenate([np.arange(k, self.truncation + 1) for k in range(self.truncation + 1)])
        return {
            "zonal_wavenumber": (("coefficient",), np.repeat(m, 2).astype(float), {"units": "1"}),
            "total_wavenumber": (("coefficient",), np.repeat(n, 2).astype(float), {"units": "1"}),
        }


@dataclass(frozen=True, eq=False)
class Projected(Geometry):
    """A grid of nx x ny points with equal steps on a plane map of the sphere, or on a rotated sphere.

    Point i + nx j is i steps dx and j steps dy from the first one; dy < 0: rows run against the y axis. Earth is a
    sphere.
    """

    nx: int
    ny: int
    longitude: float
    latitude: float
    dx: float
    dy: float

    names: ClassVar[tuple[str, str]] = ("y", "x")
    """Names of the dimensions, the slower first."""
    axes: ClassVar[tuple[dict[str, str], dict[str, str]]] = (
        {"standard_name": "projection_y_coordinate", "units": "m", "axis": "Y"},
        {"standard_name": "projection_x_coordinate", "units": "m", "axis": "X"},
    )
    """Attributes of the coordinates along them."""

    @property
    @abstractmethod
    def map(self) -> ConeMap | PolarMap | RotatedSphere:
        """From coordinates of the grid to longitude and latitude."""

    @property
    @abstractmethod
    def origin(self) -> tuple[float, float]:
        """Coordinates x, y of the first point."""

    @property
    def points(self) -> int:
        """Number of points."""
        return self.nx * self.ny

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions in files, the slowest first, and their sizes."""
        return dict(zip(self.names, (self.ny, self.nx), strict=True))

    @cached_property
    def _coordinates(self) -> dict[str, Coordinate]:
        _require(4 * self.points)
        first = self.origin
        x, y = first[0] + self.dx * np.arange(self.nx), first[1] + self.dy * np.arange(self.ny)
        longitude, latitude = np.broadcast_arrays(*self.map.inverse(x[None, :], y[:, None]))
        return {
            self.names[0]: ((self.names[0],), y, self.axes[0]),
            self.names[1]: ((self.names[1],), x, self.axes[1]),
            "latitude": (self.names, latitude, _LATITUDE),
            "longitude": (self.names, longitude, _LONGITUDE),
        }

    def coordinates(self) -> dict[str, Coordinate]:
        """Return the coordinates of files: name -> (dimensions, values, attributes)."""
        return self._coordinates


class _PlaneMap(Projected):
    """A map in metres, whose first point is given by its longitude and latitude on the Earth."""

    radius: float
    map: ConeMap | PolarMap

    @property
    def origin(self) -> tuple[float, float]:
        x, y = self.map.forward(self.longitude, self.latitude)
        return float(x), float(y)

    @property
    def spacing(self) -> float:
        return float(np.degrees(min(self.dx, abs(self.dy)) / self.radius))

    def _check(self, parallels: str, *, are_right: bool) -> None:
        """Raises InputError for numbers that make no map. `parallels`: those that are not right, in words."""
        if not are_right or abs(self.latitude) >= 90:
            raise InputError(
                f"a {self.kind} map with {parallels} from latitude {self.latitude:g}: parallels of one hemisphere, off "
                "the equator, and a first point off the poles are allowed"
            )
        if self.dx <= 0 or self.dy == 0 or self.radius <= 0:
            raise InputError(
                f"a grid of {self.nx} x {self.ny} points every {self.dx:g} x {self.dy:g} m on a sphere of radius "
                f"{self.radius:g} m: steps along x of more than 0, along y of other than 0, and a radius of more than "
                "0 are allowed"
            )


_METRES = {"dx": "metres", "dy": "metres", "radius": "metres"}


@dataclass(frozen=True, eq=False)
class Lambert(_PlaneMap):
    """A grid on Lambert's conformal map, from the point at `longitude`, `latitude` on, with steps in metres.

    `orientation`: the meridian along which y runs; `parallel`, `second_parallel`: where lengths are true (the second
    is the first one where it is absent). `radius` of the Earth in metres.
    """

    orientation: float
    parallel: float
    second_parallel: Any = None
    radius: float = EARTH_RADIUS_M

    kind: ClassVar[str] = "lambert"

    def __post_init__(self) -> None:
        if self.second_parallel is None:
            object.__setattr__(self, "second_parallel", self.parallel)
        _check_numbers(self, **_METRES)
        both = self.parallel, self.second_parallel
        is_right = both[0] * both[1] > 0 and max(map(abs, both)) < 90
        self._check(f"parallels {both[0]:g} and {both[1]:g}", are_right=is_right)

    @property
    def map(self) -> ConeMap:  # type: ignore[override]
        """The map between longitudes, latitudes and the plane."""
        return ConeMap(self.orientation, self.parallel, self.second_parallel, self.radius)

    @property
    def grid_mapping(self) -> dict[str, Any]:
        """Attributes of the CF grid mapping."""
        both = [self.parallel, self.second_parallel]
        return {
            "grid_mapping_name": "lambert_conformal_conic",
            "standard_parallel": both[0] if both[0] == both[1] else both,
            "longitude_of_central_meridian": self.orientation,
            "latitude_of_projection_origin": self.parallel,
            "false_easting": 0.0,
            "false_northing": 0.0,
            "earth_radius": self.radius,
        }


@dataclass(frozen=True, eq=False)
class PolarStereographic(_PlaneMap):
    """A grid on the stereographic map around a pole, from the point at `longitude`, `latitude` on, steps in metres.

    `orientation`: the meridian along which y and latitude increase; `true_latitude`: where lengths are true, in the
    hemisphere of the pole. `radius` of the Earth in metres.
    """

    orientation: float
    true_latitude: float
    radius: float = EARTH_RADIUS_M

    kind: ClassVar[str] = "polar_stereographic"

    def __post_init__(self) -> None:
        _check_numbers(self, **_METRES)
        self._check(f"true latitude {self.true_latitude:g}", are_right=0 < abs(self.true_latitude) <= 90)

    @property
    def map(self) -> PolarMap:  # type: ignore[override]
        """The map between longitudes, latitudes and the plane."""
        return PolarMap(self.orientation, self.true_latitude, self.radius)

    @property
    def grid_mapping(self) -> dict[str, Any]:
        """Attributes of the CF grid mapping."""
        return {
            "grid_mapping_name": "polar_stereographic",
            "straight_vertical_longitude_from_pole": self.orientation,
            "latitude_of_projection_origin": 90.0 * self.map.side,
            "standard_parallel": self.true_latitude,
            "false_easting": 0.0,
            "false_northing": 0.0,
            "earth_radius": self.radius,
        }


@dataclass(frozen=True, eq=False)
class Rotated(Projected):
    """A grid of longitudes and latitudes, with steps in degrees, of a sphere whose north pole is moved.

    `longitude`, `latitude`: those of the first point on the moved sphere; `pole_longitude`, `pole_latitude`: where its
    north pole is, as CF has it (the south pole that GRIB has is opposite).
    """

    pole_longitude: float
    pole_latitude: float

    kind: ClassVar[str] = "rotated"
    names: ClassVar[tuple[str, str]] = ("rlat", "rlon")
    axes: ClassVar[tuple[dict[str, str], dict[str, str]]] = (
        {"standard_name": "grid_latitude", "units": "degrees", "axis": "Y"},
        {"standard_name": "grid_longitude", "units": "degrees", "axis": "X"},
    )

    def __post_init__(self) -> None:
        _check_numbers(self)
        _check_rows(self)
        if abs(self.pole_latitude) > 90:
            raise InputError(f"pole_latitude {self.pole_latitude:g}: -90..90 is allowed")

    @property
    def map(self) -> RotatedSphere:
        """The rotation between geographical and rotated coordinates."""
        return RotatedSphere(self.pole_longitude, self.pole_latitude)

    @property
    def origin(self) -> tuple[float, float]:
        """Rotated longitude and latitude of the first point, in degrees."""
        return self.longitude, self.latitude

    @property
    def spacing(self) -> float:
        """The smaller distance of two points, in degrees."""
        return min(self.dx, abs(self.dy))

    @property
    def grid_mapping(self) -> dict[str, Any]:
        """Attributes of the CF grid mapping."""
        return {
            "grid_mapping_name": "rotated_latitude_longitude",
            "grid_north_pole_latitude": self.pole_latitude,
            "grid_north_pole_longitude": self.pole_longitude,
            "north_pole_grid_longitude": 0.0,
            "earth_radius": EARTH_RADIUS_M,
        }


_OF_TRADEWIND = b"twgr"
"""Beginning of the UUIDs that are computed from coordinates."""
_MICRO = 1e6
_TURN = 360_000_000
"""Millionths of a degree of a circle."""
_GRID_NUMBERS = {"grid_number": 2**24 - 1, "grid_in_reference": 2**8 - 1}


def is_computed(grid_uuid: str) -> bool:
    """Whether a UUID was computed here from the coordinates of a grid: then other points have another one."""
    return uuid.UUID(grid_uuid).bytes.startswith(_OF_TRADEWIND)


def _uuid_of(longitudes: NDArray[np.float64], latitudes: NDArray[np.float64]) -> str:
    """Return the UUID, of version 8, of points by their coordinates in millionths of a degree."""
    summed = hashlib.sha256((np.rint(longitudes * _MICRO) % _TURN).astype("<i8").tobytes())
    summed.update(np.rint(latitudes * _MICRO).astype("<i8").tobytes())
    found = bytearray(_OF_TRADEWIND + summed.digest()[:12])
    found[6], found[8] = 0x80 | found[6] & 0x0F, 0x80 | found[8] & 0x3F
    return str(uuid.UUID(bytes=bytes(found)))


@dataclass(frozen=True, eq=False)
class Curvilinear(Geometry):
    """A grid of nx x ny points at any place: point i + nx j at longitudes[j][i], latitudes[j][i], in degrees.

    Both are kept as arrays of doubles, in line.
    """

    nx: int
    ny: int
    longitudes: Any
    latitudes: Any

    kind: ClassVar[str] = "curvilinear"

    def __post_init__(self) -> None:
        for name in ("nx", "ny"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 1))
        for name in ("longitudes", "latitudes"):
            values = _doubles(name, getattr(self, name), self.points, (self.ny, self.nx))
            if values is None:
                raise InputError(f"{name}: a curvilinear grid of {self.nx} x {self.ny} points needs one for each")
            object.__setattr__(self, name, values)

    @property
    def points(self) -> int:
        """Number of points."""
        return self.nx * self.ny

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions in files, the slowest first, and their sizes."""
        return {"y": self.ny, "x": self.nx}

    def coordinates(self) -> dict[str, Coordinate]:
        """Return the coordinates of files: name -> (dimensions, values, attributes)."""
        shape = self.ny, self.nx
        return {
            "latitude": (("y", "x"), self.latitudes.reshape(shape), _LATITUDE),
            "longitude": (("y", "x"), self.longitudes.reshape(shape), _LONGITUDE),
        }

    @cached_property
    def grid_uuid(self) -> str:
        """UUID of the grid, from its coordinates."""
        return _uuid_of(self.longitudes, self.latitudes)


@dataclass(frozen=True, eq=False)
class Unstructured(Geometry):
    """Points in the order of their numbers; `longitudes` and `latitudes` in degrees where they are known.

    Both are kept as arrays of doubles, or None. GRIB names the grid by `uuid`, which is computed from the coordinates
    where it is absent, and where somebody has numbered it by `grid_number`, and its kind of points by
    `grid_in_reference`.
    """

    count: int
    longitudes: Any = None
    latitudes: Any = None
    uuid: str | None = None
    grid_number: int = 0
    grid_in_reference: int = 0

    kind: ClassVar[str] = "unstructured"

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", whole_number("number of points", self.count, 1))
        for name in ("longitudes", "latitudes"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else _doubles(name, given, self.count))
        for name, largest in _GRID_NUMBERS.items():
            if whole_number(name, getattr(self, name)) > largest:
                raise InputError(f"{name} {getattr(self, name)}: 0..{largest} is allowed")
        if self.uuid is not None:
            try:
                object.__setattr__(self, "uuid", str(uuid.UUID(self.uuid if isinstance(self.uuid, str) else "")))
            except ValueError:
                raise InputError(f"uuid {quoted(self.uuid)}: 32 hexadecimal digits are allowed") from None

    @property
    def points(self) -> int:
        """Number of points."""
        return self.count

    @property
    def dims(self) -> dict[str, int]:
        """Dimension in files and its size."""
        return {"point": self.count}

    def coordinates(self) -> dict[str, Coordinate]:
        """Return the known coordinates: name -> (dimensions, values, attributes)."""
        found: dict[str, Coordinate] = {}
        both = ("latitude", self.latitudes, _LATITUDE), ("longitude", self.longitudes, _LONGITUDE)
        for name, values, attributes in both:
            if values is not None:
                found[name] = (("point",), values, attributes)
        return found

    @cached_property
    def grid_uuid(self) -> str | None:
        """UUID of the grid: the given one, or that of its coordinates; None without both."""
        if self.uuid is not None or self.longitudes is None or self.latitudes is None:
            return self.uuid
        return _uuid_of(self.longitudes, self.latitudes)


def _doubles(name: str, given: Any, count: int, shape: tuple[int, ...] | None = None) -> NDArray[np.float64] | None:
    """Coordinates in line, or None for a list of none; read-only. They may have a shape. Raises InputError."""
    try:
        _require(len(given) if hasattr(given, "__len__") else 0)
        values = np.frombuffer(base64.b64decode(given)) if isinstance(given, str) else np.asarray(given)
        if values.shape == shape:
            values = values.ravel()
        if values.shape == (count,):
            values = np.array(values, "f8")
    except (TypeError, ValueError):
        raise InputError(f"{name}: numbers, one for each of {count} points, are allowed") from None
    if values.size == 0:
        return None
    if shape is not None and values.ndim > 1:
        raise InputError(f"{name} of {values.shape}: {shape} is allowed")
    if values.shape != (count,):
        raise InputError(f"{values.size} {name} of {count} points: one for each, or none, is allowed")
    if not np.isfinite(values).all():
        raise InputError(f"{name}: point {int(np.argmin(np.isfinite(values)))} has {values[~np.isfinite(values)][0]}")
    values.flags.writeable = False
    return values


KINDS: dict[str, type[Geometry]] = {
    each.kind: each
    for each in (Regular, Gaussian, Spectral, Lambert, PolarStereographic, Rotated, Curvilinear, Unstructured)
}


_MADE: WeakValueDictionary[Geometry, Geometry] = WeakValueDictionary()


def from_dict(values: Mapping[str, Any]) -> Geometry:
    """The geometry of `Geometry.as_dict`, also after a way through JSON, which makes tuples lists.

    Geometries that are equal are one object, so that all fields of a mesh have its points once.
    """
    own = {key: tuple(value) if key == "rows" else value for key, value in values.items() if key != "kind"}
    made = KINDS[values["kind"]](**own)
    return _MADE.setdefault(made, made)
