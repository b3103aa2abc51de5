"""Winds over a plane and over the sphere, and where the air of a point has been: the truth of semi-Lagrangian steps.

Coordinates (x, y) are those of a `Lattice`. Solid-body rotation and cosine bell: Williamson et al. 1992, test 1
(doi:10.1016/S0021-9991(05)80016-6). Deformational flow: Nair & Lauritzen 2010, case 4 (doi:10.1016/j.jcp.2010.08.014);
its two bells: Lauritzen et al. 2012 (doi:10.5194/gmd-5-887-2012). Swirl: LeVeque 1996 (doi:10.1137/0733033).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tradewind.dwarfs.semi_lagrangian.lattice import RADIUS_M

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

ROTATION_S = 12 * 86400.0
"""Seconds of a rotation of the sphere, and of the deformational flow until all is back."""
BELL_HEIGHT, BELL_RADIUS = 1000.0, 1 / 3
HILL_WIDTH = 5.0
"""The hill is exp(-5 r2), r the straight distance in radii."""
_DEFORMATION = 10 + 2 * np.pi
_SWIRL_TIMES = 1.5


class Lattice(Protocol):
    """The columns of a grid as flows know them: `tradewind.dwarfs.semi_lagrangian.lattice.Lattice`, or others."""

    @property
    def sphere(self) -> bool:
        """Whether they lie on a sphere."""

    @property
    def nx(self) -> int:
        """Columns of the longest row."""

    @property
    def ny(self) -> int:
        """Number of rows."""

    @property
    def spacing_m(self) -> float:
        """Meters between points of a plane, or rows of a sphere."""

    def longitudes(self, x: Any) -> Reals:
        """Return radians of coordinates."""

    def latitudes(self, y: Any) -> Reals:
        """Return radians of coordinates."""

    def coordinates(self, longitude: Reals, latitude: Reals) -> tuple[Reals, Reals]:
        """Return the coordinates (x, y) of places on a sphere."""


@dataclass(frozen=True)
class Wind:
    """A wind (u, v) in m/s of at most `speed` along either direction, over a lattice."""

    lattice: Lattice
    flow: str
    speed: float
    alpha: float

    @property
    def steady(self) -> bool:
        """Whether it does not change with time."""
        return self.flow in ("uniform", "rotation")

    @property
    def period_s(self) -> float:
        """Seconds after which everything is where it was."""
        lattice = self.lattice
        if self.flow == "rotation":
            return float(2 * np.pi * RADIUS_M / self.speed)
        if self.flow == "deformation":
            return float(_DEFORMATION * RADIUS_M / self.speed)
        return _SWIRL_TIMES * min(lattice.nx, lattice.ny) * lattice.spacing_m / self.speed

    def at(self, x: Any, y: Any, t: float) -> tuple[Reals, Reals]:
        """(u, v) at points (x, y), t seconds after the start."""
        return _FLOWS[self.flow](self, np.asarray(x, np.float64), np.asarray(y, np.float64), t)

    def components(self, x: Reals, y: Reals, t: float) -> Reals:
        """Components as trajectories take them: u, v in m/s, or the Cartesian ones over the radius in 1/s."""
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        u, v = self.at(x, y, t)
        if not self.lattice.sphere:
            return np.stack([u, v])
        return _cartesian(self.lattice.longitudes(x), self.lattice.latitudes(y), u, v) / RADIUS_M

    def growth(self, dt: float) -> float:
        """Return by which factor a wind extrapolated over `dt`, and averaged with it, can be faster than `speed`."""
        return 1.0 if self.steady else float(1 + np.pi * dt / (2 * self.period_s))

    def starts(self, x: Reals, y: Reals, t: float, share: float = 1.0) -> Reals:
        """Return where the air of points (x, y) at time t was at the start: [x, y][...], or unit vectors [3][...].

        `share` of the wind blows. A rotation and a uniform wind are undone exactly, others by the Runge-Kutta method of
        order 4 in short steps.
        """
        lattice = self.lattice
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        if self.flow == "uniform":
            way = self.speed * share * t / lattice.spacing_m
            return np.stack([x - way * np.cos(self.alpha), y - way * np.sin(self.alpha)])
        place = np.stack([x, y])
        if lattice.sphere:
            place = _unit(lattice.longitudes(x), lattice.latitudes(y))
        if self.flow == "rotation":
            return _turned(place, self.alpha, -2 * np.pi * share * t / self.period_s)
        steps = int(np.ceil(256 * t / self.period_s)) if t > 0 else 0
        for i in range(steps):
            place = self._back(place, t * (1 - i / steps), t / steps, share)
        return place

    def _back(self, place: Reals, t: float, dt: float, share: float) -> Reals:
        """Return where the air of places at time t was dt before."""

        def rate(at: Reals, when: float) -> Reals:
            lattice = self.lattice
            if not lattice.sphere:
                return share * self.components(at[0], at[1], when) / lattice.spacing_m
            longitude, latitude = np.arctan2(at[1], at[0]), np.arctan2(at[2], np.hypot(at[0], at[1]))
            return share * self.components(*lattice.coordinates(longitude, latitude), when)

        a = rate(place, t)
        b = rate(place - dt / 2 * a, t - dt / 2)
        c = rate(place - dt / 2 * b, t - dt / 2)
        d = rate(place - dt * c, t - dt)
        moved = place - dt / 6 * (a + 2 * b + 2 * c + d)
        return moved / np.sqrt((moved**2).sum(axis=0)) if self.lattice.sphere else moved


def _unit(longitude: Reals, latitude: Reals) -> Reals:
    return np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)])


def _cartesian(longitude: Reals, latitude: Reals, u: Reals, v: Reals) -> Reals:
    """The vector u to the east, v to the north."""
    east = np.stack([-np.sin(longitude), np.cos(longitude), np.zeros_like(longitude)])
    north = np.stack([-np.sin(latitude) * np.cos(longitude), -np.sin(latitude) * np.sin(longitude), np.cos(latitude)])
    return np.asarray(u * east + v * north)


def _turned(place: Reals, alpha: float, angle: float) -> Reals:
    """Unit vectors turned about the axis of a rotation."""
    axis = np.array([-np.sin(alpha), 0.0, np.cos(alpha)])
    along = np.tensordot(axis, place, 1)
    across = np.moveaxis(np.cross(axis, np.moveaxis(place, 0, -1)), -1, 0)
    return np.asarray(
        np.cos(angle) * place + np.sin(angle) * across + (1 - np.cos(angle)) * along * _along(axis, place)
    )


def _along(axis: Reals, place: Reals) -> Reals:
    return axis.reshape(3, *[1] * (place.ndim - 1))


def _uniform(wind: Wind, x: Reals, y: Reals, t: float) -> tuple[Reals, Reals]:
    one = np.ones(np.broadcast_shapes(x.shape, y.shape))
    return wind.speed * np.cos(wind.alpha) * one, wind.speed * np.sin(wind.alpha) * one


def _swirl(wind: Wind, x: Reals, y: Reals, t: float) -> tuple[Reals, Reals]:
    nx, ny = wind.lattice.nx, wind.lattice.ny
    a, b = np.pi * x / nx, np.pi * y / ny
    now = wind.speed * np.cos(np.pi * t / wind.period_s) / max(1.0, ny / nx)
    u = now * np.sin(a) ** 2 * np.sin(2 * b)
    return u, -now * ny / nx * np.sin(b) ** 2 * np.sin(2 * a)


def _rotation(wind: Wind, x: Reals, y: Reals, t: float) -> tuple[Reals, Reals]:
    longitude, latitude = wind.lattice.longitudes(x), wind.lattice.latitudes(y)
    cos, sin = np.cos(wind.alpha), np.sin(wind.alpha)
    u = wind.speed * (np.cos(latitude) * cos + np.cos(longitude) * np.sin(latitude) * sin)
    return u, -wind.speed * np.sin(longitude) * sin * np.ones_like(latitude)


def _deformation(wind: Wind, x: Reals, y: Reals, t: float) -> tuple[Reals, Reals]:
    period = wind.period_s
    longitude, latitude = wind.lattice.longitudes(x) - 2 * np.pi * t / period, wind.lattice.latitudes(y)
    strength, mean = 10 * RADIUS_M / period * np.cos(np.pi * t / period), 2 * np.pi * RADIUS_M / period
    u = strength * np.sin(longitude) ** 2 * np.sin(2 * latitude) + mean * np.cos(latitude)
    return u, strength * np.sin(2 * longitude) * np.cos(latitude)


_FLOWS: dict[str, Callable[[Wind, Reals, Reals, float], tuple[Reals, Reals]]] = {
    "uniform": _uniform,
    "swirl": _swirl,
    "rotation": _rotation,
    "deformation": _deformation,
}
FLOWS = {
    "plane": ("uniform", "swirl"),
    "sphere": ("rotation", "deformation"),
    "octahedral": ("rotation", "deformation"),
}
"""The flows of each geometry, the default first."""
SPEEDS = {
    "uniform": 50.0,
    "swirl": 50.0,
    "rotation": 2 * np.pi * RADIUS_M / ROTATION_S,
    "deformation": _DEFORMATION * RADIUS_M / ROTATION_S,
}
"""Default speed in m/s."""


def _distance(lattice: Lattice, start: Reals, centre: tuple[float, float]) -> Reals:
    """Straight distance from a centre: on the sphere (longitude, latitude), in radii; on a plane in shares of its
    sides, half a shorter side being 1."""
    if lattice.sphere:
        middle = _unit(*(np.asarray(angle) for angle in centre))
        return np.asarray(np.sqrt(((start - _along(middle, start)) ** 2).sum(axis=0)))
    nx, ny = lattice.nx, lattice.ny
    x = (start[0] - centre[0] * nx + nx / 2) % nx - nx / 2
    y = (start[1] - centre[1] * ny + ny / 2) % ny - ny / 2
    return np.asarray(np.hypot(x, y) / (min(nx, ny) / 2))


def _two(lattice: Lattice) -> list[tuple[float, float]]:
    return [(5 * np.pi / 6, 0.0), (7 * np.pi / 6, 0.0)] if lattice.sphere else [(0.25, 0.5), (0.75, 0.5)]


def _middle(lattice: Lattice) -> tuple[float, float]:
    return (3 * np.pi / 2, 0.0) if lattice.sphere else (0.5, 0.5)


def _cosine(lattice: Lattice, start: Reals, centre: tuple[float, float], radius: float) -> Reals:
    """A cosine bell of height 1, whose slope is not smooth at its foot; on the sphere along great circles."""
    away = _distance(lattice, start, centre)
    if lattice.sphere:
        away = 2 * np.arcsin(np.minimum(1.0, away / 2))
    return np.where(away < radius, (1 + np.cos(np.pi * np.minimum(away / radius, 1))) / 2, 0.0)


def bell(lattice: Lattice, start: Reals) -> Reals:
    """The cosine bell of Williamson's test 1."""
    return BELL_HEIGHT * _cosine(lattice, start, _middle(lattice), BELL_RADIUS if lattice.sphere else 1 / 2)


def hill(lattice: Lattice, start: Reals) -> Reals:
    """A Gaussian hill of height 1, smooth everywhere but, on a plane, at the edge of its image."""
    width = HILL_WIDTH if lattice.sphere else 4 * HILL_WIDTH
    return np.exp(-width * _distance(lattice, start, _middle(lattice)) ** 2)


def hills(lattice: Lattice, start: Reals) -> Reals:
    """The two Gaussian hills of Nair & Lauritzen."""
    width = HILL_WIDTH if lattice.sphere else 8 * HILL_WIDTH
    away = (_distance(lattice, start, centre) for centre in _two(lattice))
    return np.asarray(0.95 * sum(np.exp(-width * each**2) for each in away))


def bells(lattice: Lattice, start: Reals) -> Reals:
    """The two cosine bells of Lauritzen et al.: from 0.1 around them to 1."""
    return np.asarray(0.1 + 0.9 * sum(_cosine(lattice, start, centre, 1 / 2) for centre in _two(lattice)))


def uniform(lattice: Lattice, start: Reals) -> Reals:
    """The same everywhere."""
    return np.ones(start.shape[1:])


TRACERS: dict[str, Callable[[Lattice, Reals], Reals]] = {
    "bell": bell,
    "bells": bells,
    "hill": hill,
    "hills": hills,
    "uniform": uniform,
}


def risen_from(height: Reals, levels: int, lift: float, t: float) -> Reals:
    """Return where the air at some heights, 0..levels - 1, was t seconds before in the vertical wind of `rising`."""
    top = levels - 1
    angle = np.pi * np.asarray(height, np.float64) / (2 * top)
    return np.asarray(2 * top / np.pi * np.arctan2(np.sin(angle) * np.exp(-np.pi * lift * t / top), np.cos(angle)))


def rising(levels: int, lift: float) -> Reals:
    """The vertical wind of each level in levels per second: none at the bottom and at the top, `lift` between them."""
    wind: Reals = lift * np.sin(np.pi * np.arange(levels) / (levels - 1))
    wind[[0, -1]] = 0.0
    return wind


def profile(height: Reals, levels: int) -> Reals:
    """Share of a tracer at each height where the wind lifts."""
    return np.asarray((1 + np.cos(np.pi * height / (levels - 1))) / 2)
