"""Maps of a sphere, and its rotation: from coordinates of a grid, in metres or degrees, to longitude and latitude."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

EARTH_RADIUS_M = 6371229.0
"""Radius of the Earth in GRIB's shapeOfTheEarth 6, which is the default of all projections."""


def _wrapped(degrees: Any) -> Any:
    """Return angles in -180..180."""
    return (degrees + 180.0) % 360.0 - 180.0


def _half_colatitude(latitude: Any) -> Any:
    """Return the tangent of half the distance from the north pole."""
    return np.tan((90.0 - np.asarray(latitude)) * (np.pi / 360))


@dataclass(frozen=True)
class ConeMap:
    """Lambert's conformal map: a cone that cuts the sphere at two parallels of one hemisphere, or touches it at one.

    The y axis is the meridian `orientation`; the origin lies on it at the first parallel.
    """

    orientation: float
    parallel: float
    second_parallel: float
    radius: float

    @cached_property
    def _opening(self) -> float:
        """Angle on the map per angle of longitude; negative in the southern hemisphere."""
        first, second = np.radians((self.parallel, self.second_parallel))
        if abs(first - second) < 1e-9:
            return float(np.sin(first))
        tangents = _half_colatitude((self.parallel, self.second_parallel))
        return float(np.log(np.cos(first) / np.cos(second)) / np.log(tangents[0] / tangents[1]))

    @cached_property
    def _scale(self) -> float:
        n = self._opening
        return float(self.radius * np.cos(np.radians(self.parallel)) / (n * _half_colatitude(self.parallel) ** n))

    def _distance(self, latitude: Any) -> Any:
        """Return the distance from the apex of the cone, negative where that is the south pole."""
        return self._scale * _half_colatitude(latitude) ** self._opening

    def forward(self, longitude: Any, latitude: Any) -> Pair:
        """Return x and y in metres."""
        angle = self._opening * np.radians(_wrapped(longitude - self.orientation))
        distance = self._distance(latitude)
        return distance * np.sin(angle), self._distance(self.parallel) - distance * np.cos(angle)

    def inverse(self, x: Any, y: Any) -> Pair:
        """Return longitude and latitude in degrees."""
        n, side = self._opening, np.sign(self._opening)
        down = self._distance(self.parallel) - y
        angle = np.arctan2(side * x, side * down)
        with np.errstate(divide="ignore"):  # a pole
            tangent = (np.hypot(x, down) / abs(self._scale)) ** (1 / n)
        return _wrapped(self.orientation + np.degrees(angle) / n), 90.0 - np.degrees(2 * np.arctan(tangent))


@dataclass(frozen=True)
class PolarMap:
    """The stereographic map around a pole, that of the hemisphere of `true_latitude`, where lengths are true.

    The y axis is the meridian `orientation`, along which latitude increases; the origin is the pole.
    """

    orientation: float
    true_latitude: float
    radius: float

    @property
    def side(self) -> float:
        """1 of the north pole, -1 of the south pole."""
        return 1.0 if self.true_latitude > 0 else -1.0

    @property
    def _scale(self) -> float:
        return float(self.radius * (1 + np.sin(np.radians(abs(self.true_latitude)))))

    def forward(self, longitude: Any, latitude: Any) -> Pair:
        """Return x and y in metres."""
        angle = np.radians(longitude - self.orientation)
        distance = self._scale * _half_colatitude(self.side * latitude)
        return distance * np.sin(angle), -self.side * distance * np.cos(angle)

    def inverse(self, x: Any, y: Any) -> Pair:
        """Return longitude and latitude in degrees."""
        angle = np.arctan2(x, -self.side * y)
        from_pole = np.degrees(2 * np.arctan(np.hypot(x, y) / self._scale))
        return _wrapped(self.orientation + np.degrees(angle)), self.side * (90.0 - from_pole)


@dataclass(frozen=True)
class RotatedSphere:
    """Longitudes and latitudes of a sphere whose north pole is moved to a longitude and latitude."""

    pole_longitude: float
    pole_latitude: float

    def inverse(self, x: Any, y: Any) -> Pair:
        """Return longitude and latitude, in degrees, of those on the moved sphere."""
        east, north, pole = np.radians(x), np.radians(y), np.radians(self.pole_latitude)
        height = np.sin(pole) * np.sin(north) + np.cos(pole) * np.cos(north) * np.cos(east)
        away = np.cos(pole) * np.sin(north) - np.sin(pole) * np.cos(north) * np.cos(east)
        aside = -np.cos(north) * np.sin(east)
        longitude = _wrapped(self.pole_longitude + np.degrees(np.arctan2(aside, away)))
        return longitude, np.degrees(np.arctan2(height, np.hypot(away, aside)))
