"""The flows that MPDATA takes tracers along, as fluxes through faces, and where they have brought the air from.

- `rotation`: solid-body rotation, or a uniform wind on a flat mesh, see `frame.advection`; with a mountain the same in
  three dimensions, above calm air, on levels that the mountain lifts (Schaer et al. 2002).
- `deformation`: the reversing deformational flow of Nair & Lauritzen 2010 (doi:10.1016/j.jcp.2010.08.014), case 4, in
  a rotation, as in Lauritzen et al. 2012 (doi:10.5194/gmd-5-887-2012): after 12 days all is back.
- `overturning`: rotation, and in it cells of rising and sinking air, which reverse: the Hadley-like circulation of test
  1-2 of DCMIP 2012 (Kent, Ullrich & Jablonowski 2014, doi:10.1002/qj.2208), in three dimensions: back after a day.

Fluxes are differences of stream functions along faces, and what flows down through the polygon between two levels is
what their differences around it leave: nothing but rounding is made or lost, on any mesh and any ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.dwarfs.frame.advection import DAY_S, FLUXES, ROTATION_S, stream_fluxes
from tradewind.dwarfs.mpdata import air

if TYPE_CHECKING:
    from tradewind.layout.median_dual import MedianDual
    from tradewind.layout.mesh_rows import Reals

COURANT_LIMIT = 1.0
"""Share of a node's volume that may flow out of it in a step: beyond it the upwind scheme makes negative values."""
GAUGE_LIMIT = 0.7071
"""The same on a flat mesh with the infinite gauge and no limiter: beyond the root of 1/2 the shortest waves grow."""
FLOWS = ("rotation", "deformation", "overturning")
DEFORMATION = 10.0
"""Radii per period: speed of the deforming part."""
OVERTURNING_S, OVERTURNING_M_S, CELLS = DAY_S, 0.15, 5
"""Period of the overturning flow, its largest speed upward, and its cells from pole to pole."""
_SAMPLES = 48
"""Times of a period at which the Courant number of a flow is taken."""
_GAUSS = np.polynomial.legendre.leggauss(3)


@dataclass(frozen=True)
class Terms:
    """Values [row][level] as a sum of terms: a weight by time, times a number by row, times one by level."""

    rows: Reals
    """[row][term]"""
    levels: Reals
    """[term][level]"""

    def at(self, weights: Reals) -> Reals:
        """Return the values; the compiled loop adds them up in this order, too."""
        total = np.zeros((len(self.rows), self.levels.shape[1]))
        for term, weight in enumerate(weights):
            total += (weight * self.rows[:, term])[:, None] * self.levels[term]
        return total


class Wind:
    """Fluxes on a mesh, or on a rank's part of one whose own nodes are the first of the nodes of its dual."""

    def __init__(self, dwarf: Any, mesh: MedianDual) -> None:
        self._mesh, self._edges = mesh, mesh.edges
        self.own, levels = len(mesh.volume), dwarf.levels
        self.steady: bool = dwarf.flow == "rotation"
        self.mass: Reals | None = None
        """[own node][level], in three dimensions."""
        self.across, self.down = Terms(np.zeros((0, 0)), np.zeros((0, 0))), None
        """Fluxes through the faces of edges, and, in three dimensions, down through the lower faces of levels."""
        self._period_s = OVERTURNING_S if dwarf.flow == "overturning" else ROTATION_S
        self._over: tuple[Reals, Reals] | None = None
        if dwarf.flow == "deformation":
            self.across = Terms(_deforming(mesh), np.ones((4, levels)))
        elif dwarf.flow == "overturning":
            plain = air.interfaces(np.zeros(1), levels)[0]
            self.mass = mesh.volume[:, None] * air.layer_masses(np.zeros(1), levels)
            turning = _overturning(mesh)
            height = np.sin(np.pi * plain / air.TOP_M)
            height[[0, -1]] = 0.0
            rows = np.stack([stream_fluxes(mesh, 0.0), turning], axis=1)
            self.across = Terms(rows, np.stack([np.diff(air.mass_above(plain)), -np.diff(height)]))
            self.down = Terms(self._leaving(turning)[:, None] * [0.0, 1.0], np.stack([0 * height[1:], height[1:]]))
        elif dwarf.mountain > 0:
            heights = air.ground(mesh.x[: self.own], mesh.y[: self.own], dwarf.mountain)
            self.mass = mesh.volume[:, None] * air.layer_masses(heights, levels)
            self._over = self._lifted(stream_fluxes(mesh, dwarf.alpha), dwarf.mountain, levels)
        else:
            self.across = Terms(FLUXES[dwarf.fluxes](mesh, dwarf.alpha)[:, None], dwarf.level_speeds[None])

    def weights(self, t: float) -> Reals:
        """Return the weights of the terms at a time in s."""
        if self.steady:
            return np.ones(1)
        now = np.cos(np.pi * t / self._period_s)
        if self.down is not None:
            return np.array([1.0, now])
        turned = 4 * np.pi * t / self._period_s
        return np.array([1.0, now, -now * np.cos(turned), -now * np.sin(turned)])

    def at(self, t: float) -> tuple[Reals, Reals | None]:
        """Return the fluxes across and down at a time in s, [edge][level] and [own node][level]."""
        if self._over is not None:
            return self._over
        weights = self.weights(t)
        return self.across.at(weights), None if self.down is None else self.down.at(weights)

    def outflow_rates(self) -> Reals:
        """Return the largest share of each own node's volume, or of one of its masses, that flows out per second."""
        times = [0.0] if self.steady else np.arange(_SAMPLES + 1) / _SAMPLES * self._period_s
        rates = np.zeros(self.own)
        for t in times:
            across, down = self.at(t)
            out = self._outward(across[:, :1] if self.mass is None else across)
            if down is not None:
                out += np.maximum(down, 0)
                out[:, 1:] += np.maximum(-down[:, :-1], 0)
            inverse = 1 / (self._mesh.volume[:, None] if self.mass is None else self.mass)
            rates = np.maximum(rates, (out * inverse).max(axis=1))
        return rates

    def _outward(self, fluxes: Reals) -> Reals:
        total = np.zeros((len(self._mesh.x), fluxes.shape[1]))
        outward = np.stack([np.maximum(fluxes, 0), np.maximum(-fluxes, 0)], axis=1)
        np.add.at(total, self._edges.ravel(), outward.reshape(-1, fluxes.shape[1]))
        return total[: self.own]

    def _leaving(self, fluxes: Reals) -> Reals:
        """Sums of what flows out of each own node through its faces, less what flows in."""
        total = np.zeros((len(self._mesh.x), *fluxes.shape[1:]))
        np.add.at(total, self._edges.ravel(), np.stack([fluxes, -fluxes], axis=1).reshape(-1, *fluxes.shape[1:]))
        return total[: self.own]

    def _lifted(self, fluxes: Reals, mountain: float, levels: int) -> tuple[Reals, Reals]:
        """The fluxes of a horizontal flow on levels over a mountain.

        Through each face flows the flow times the mass between two levels; what has no way out of a level along it
        comes from the level above.
        """
        mesh = self._mesh
        heights = air.ground(mesh.corner_x, mesh.corner_y, mountain)
        above = air.moving_mass_above(air.interfaces(heights, levels))
        down_to = fluxes[:, None] * (above[mesh.corners[:, 0]] + above[mesh.corners[:, 1]]) / 2
        down = -self._leaving(down_to)[:, 1:]
        down[:, -1] = 0.0
        return np.diff(down_to, axis=1), down


def _deforming(mesh: MedianDual) -> Reals:
    """Differences [edge][term] of the stream functions of rotation, and of the parts of the deforming flow.

    10 R2/T sin2(x - 2 pi t/T) cos2(y) cos(pi t/T), with sin2 by the addition theorem.
    """
    x, y = mesh.corner_x, mesh.corner_y
    size = DEFORMATION * mesh.radius**2 / ROTATION_S * np.cos(y) ** 2 / 2
    terms = np.stack([size, size * np.cos(2 * x), size * np.sin(2 * x)], axis=1)
    differences = terms[mesh.corners[:, 1]] - terms[mesh.corners[:, 0]]
    return np.concatenate([stream_fluxes(mesh, 0.0)[:, None], differences], axis=1)


def _overturning(mesh: MedianDual) -> Reals:
    """The integral [edge] along each face of what the overturning flow takes south, over its share by height."""
    total = np.zeros(len(mesh.edges))
    for dx, begin, end in mesh.halves():
        for place, weight in zip(*_GAUSS, strict=True):
            y = (begin + end) / 2 + place * (end - begin) / 2
            north = -(mesh.radius**2) * OVERTURNING_M_S / CELLS * np.cos(y) ** 2 * np.sin(CELLS * y)
            total -= weight / 2 * north * dx
    return total


def overturned(y: Reals, z: Reals, t: float, steps: int = 96) -> tuple[Reals, Reals]:
    """Latitudes and heights at the start of what the overturning flow has brought to y and z by a time in s."""

    def velocity(y: Reals, z: Reals, t: float) -> tuple[Reals, Reals]:
        size = OVERTURNING_M_S * np.cos(np.pi * t / OVERTURNING_S) / CELLS / np.exp(-z / air.SCALE_HEIGHT_M)
        angle = np.pi * z / air.TOP_M
        north = -size * np.pi / air.TOP_M * np.cos(y) * np.sin(CELLS * y) * np.cos(angle)
        up = -2 * np.sin(CELLS * y) * np.sin(y) + CELLS * np.cos(y) * np.cos(CELLS * y)
        return north, size * up * np.sin(angle)

    y, z = _traced(velocity, (y, z), t, steps)
    return y, z


def deformed(x: Reals, y: Reals, t: float, steps: int = 240) -> tuple[Reals, ...]:
    """Unit vectors at the start of what the deforming flow has brought to longitudes and latitudes by a time in s."""

    def velocity(px: Reals, py: Reals, pz: Reals, t: float) -> tuple[Reals, ...]:
        x, cosine = np.arctan2(py, px), np.hypot(px, py)
        shifted, now = x - 2 * np.pi * t / ROTATION_S, np.cos(np.pi * t / ROTATION_S)
        east = DEFORMATION * np.sin(shifted) ** 2 * 2 * pz * cosine * now + 2 * np.pi * cosine
        north = DEFORMATION * np.sin(2 * shifted) * cosine * now
        along, up = -north * pz, north * cosine
        return tuple(
            each / ROTATION_S
            for each in (-east * np.sin(x) + along * np.cos(x), east * np.cos(x) + along * np.sin(x), up)
        )

    start = (np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y))
    return start if _is_back(t, ROTATION_S) else _traced(velocity, start, t, steps)


def _is_back(t: float, period_s: float) -> bool:
    """Whether a time is a multiple of the period, after which all is where it was, but for rounding."""
    return abs(t / period_s - round(t / period_s)) < 1e-9


def _traced(velocity: Any, places: tuple[Reals, ...], t: float, steps: int) -> tuple[Reals, ...]:
    """Places at time 0 of what is at places at a time, by the classical Runge-Kutta method."""
    if t == 0:
        return places
    step = -t / steps
    for number in range(steps):
        now = t + number * step
        one = velocity(*places, now)
        two = velocity(*(p + step / 2 * v for p, v in zip(places, one, strict=True)), now + step / 2)
        three = velocity(*(p + step / 2 * v for p, v in zip(places, two, strict=True)), now + step / 2)
        four = velocity(*(p + step * v for p, v in zip(places, three, strict=True)), now + step)
        places = tuple(
            p + step / 6 * (a + 2 * b + 2 * c + d) for p, a, b, c, d in zip(places, one, two, three, four, strict=True)
        )
    return places
