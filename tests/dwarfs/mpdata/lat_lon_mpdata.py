"""MPDATA on a grid of longitudes and latitudes in NumPy, by the formulas of the published reversing deformational flow.

Other code than the dwarf's: arrays [latitude][longitude] from the south, differences along both directions, no mesh.
Infinite gauge, two passes, limiter: "Mg2No" of Waruszewski et al. 2018 (doi:10.1016/j.jcp.2018.01.005). The radius of
the sphere is 1, and the period 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
PERIOD = 5.0


def east(q: Reals) -> Reals:
    """Return the values one longitude further."""
    return np.roll(q, -1, 1)


def west(q: Reals) -> Reals:
    """Return the values one longitude before."""
    return np.roll(q, 1, 1)


def over_poles(q: Reals) -> Reals:
    """Return values with a row more beyond each pole: those half a circle away."""
    half = q.shape[1] // 2
    return np.vstack([np.roll(q[:1], half, 1), q, np.roll(q[-1:], half, 1)])


@dataclass(frozen=True)
class LatLonMpdata:
    """A step and a run on `rows` latitudes and twice as many longitudes."""

    rows: int
    compact: bool = True
    """Whether the corrective flux takes the time derivative from differences across its face (Smolarkiewicz 1984), or
    from the mean of the divergences of the upwind fluxes at both points, as the dwarf does."""
    limiter: bool = True

    @cached_property
    def width(self) -> float:
        """Radians between points, in both directions."""
        return math.pi / self.rows

    @cached_property
    def x(self) -> Reals:
        """Longitudes [1][longitude]."""
        return np.arange(2 * self.rows)[None] * self.width

    @cached_property
    def y(self) -> Reals:
        """Latitudes [latitude][1]."""
        return (np.arange(self.rows)[:, None] + 0.5) * self.width - math.pi / 2

    @cached_property
    def volume(self) -> Reals:
        """Area of the cell of each point."""
        return np.asarray(np.cos(self.y) * self.width**2 * np.ones_like(self.x))

    def hills(self) -> Reals:
        """Return two Gaussian hills on the equator."""
        total = np.zeros((self.rows, 2 * self.rows))
        for x0 in (5 * math.pi / 6, 7 * math.pi / 6):
            apart = (np.cos(self.y) * np.cos(self.x) - math.cos(x0)) ** 2
            apart = apart + (np.cos(self.y) * np.sin(self.x) - math.sin(x0)) ** 2 + np.sin(self.y) ** 2
            total += 0.95 * np.exp(-5 * apart)
        return total

    def flow(self, t: float) -> tuple[Reals, Reals]:
        """Return the flow through the eastern faces and, a row more, through the southern ones, at their middles."""
        now, turned = math.cos(math.pi * t / PERIOD), 2 * math.pi * t / PERIOD
        u = 10 * np.sin(self.x + self.width / 2 - turned) ** 2 * np.sin(2 * self.y) * now
        u = u + 2 * math.pi * np.cos(self.y)
        face = np.arange(self.rows + 1)[:, None] * self.width - math.pi / 2
        v = 10 * np.sin(2 * (self.x - turned)) * np.cos(face) ** 2 * now
        v[[0, -1]] = 0.0
        return u / PERIOD * self.width, v / PERIOD * self.width

    def divergence(self, fx: Reals, fy: Reals) -> Reals:
        """Return what flows out of each cell, per volume."""
        return np.asarray((fx - west(fx) + fy[1:] - fy[:-1]) / self.volume)

    def upwind(self, q: Reals, cx: Reals, cy: Reals) -> tuple[Reals, Reals]:
        """Return the upwind fluxes."""
        around = over_poles(q)
        fx = np.maximum(cx, 0) * q + np.minimum(cx, 0) * east(q)
        return fx, np.maximum(cy, 0) * around[:-1] + np.minimum(cy, 0) * around[1:]

    def correction(self, before: Reals, q: Reals, cx: Reals, cy: Reals) -> tuple[Reals, Reals]:
        """Return the corrective fluxes; `q`: after the upwind pass."""
        around = over_poles(q)
        if not self.compact:
            divergence = self.divergence(*self.upwind(before, cx, cy))
            beyond = over_poles(divergence)
            fx = np.abs(cx) / 2 * (east(q) - q) - cx / 4 * (divergence + east(divergence))
            return fx, np.abs(cy) / 2 * np.diff(around, axis=0) - cy / 4 * (beyond[:-1] + beyond[1:])
        volumes = over_poles(self.volume)
        volume_x, volume_y = (self.volume + east(self.volume)) / 2, (volumes[:-1] + volumes[1:]) / 2
        across_x = (cy[1:] + cy[:-1] + east(cy[1:] + cy[:-1])) / 4
        along = np.vstack([cx[:1], cx, cx[-1:]])
        across_y = (along[1:] + along[:-1] + west(along[1:] + along[:-1])) / 4
        north = around + east(around)
        dy = (north[2:] - north[:-2]) / 4
        both = around[1:] + around[:-1]
        dx = (east(both) - west(both)) / 4
        fx = np.abs(cx) / 2 * (1 - np.abs(cx) / volume_x) * (east(q) - q) - cx * across_x / (2 * volume_x) * dy
        fy = (
            np.abs(cy) / 2 * (1 - np.abs(cy) / volume_y) * np.diff(around, axis=0) - cy * across_y / (2 * volume_y) * dx
        )
        fy[[0, -1]] = 0.0
        return fx, fy

    def limited(self, before: Reals, q: Reals, fx: Reals, fy: Reals) -> tuple[Reals, Reals]:
        """Return the corrective fluxes without new extremes."""

        def extreme(values: Reals, of: np.ufunc) -> Reals:
            around = over_poles(values)
            return np.asarray(of.reduce([values, east(values), west(values), around[2:], around[:-2]]))

        high, low = extreme(np.maximum(before, q), np.maximum), extreme(np.minimum(before, q), np.minimum)
        east_out, north_out, east_in, north_in = (np.maximum(f, 0) for f in (fx, fy, -fx, -fy))
        comes = west(east_out) + east_in + north_out[:-1] + north_in[1:]
        goes = east_out + west(east_in) + north_out[1:] + north_in[:-1]
        tiny = np.finfo(float).tiny
        with np.errstate(over="ignore"):
            into, out = (high - q) * self.volume / (comes + tiny), (q - low) * self.volume / (goes + tiny)
        share_x = np.where(fx > 0, np.minimum(out, east(into)), np.minimum(into, east(out)))
        into, out = over_poles(into), over_poles(out)
        share_y = np.where(fy > 0, np.minimum(out[:-1], into[1:]), np.minimum(into[:-1], out[1:]))
        return fx * np.minimum(share_x, 1), fy * np.minimum(share_y, 1)

    def step(self, q: Reals, cx: Reals, cy: Reals) -> Reals:
        """Return the field after a step; what flows through faces in it is `cx` and `cy`."""
        after = q - self.divergence(*self.upwind(q, cx, cy))
        fluxes = self.correction(q, after, cx, cy)
        if self.limiter:
            fluxes = self.limited(q, after, *fluxes)
        return np.asarray(after - self.divergence(*fluxes))

    def courant(self, u: Reals, v: Reals) -> float:
        """Return the Courant number per time, as published: of velocities at points."""
        return float(((np.abs(u + west(u)) + np.abs(v[1:] + v[:-1])) / (2 * self.volume)).max())

    def run(self, steps: int | None = None, courant: float = 0.8) -> tuple[int, float]:
        """Return the number of steps of a period, and the l2 norm of the error after it.

        `steps`: all of one length; otherwise each has the length of this Courant number in its middle, as published.
        """
        start = q = self.hills()
        t, dt, taken = 0.0, PERIOD / (steps or 1000), 0
        while t < PERIOD * (1 - 1e-12):
            if steps is None:
                for _ in range(4):
                    dt = courant / self.courant(*self.flow(t + dt / 2))
                dt = min(dt, PERIOD - t)
            u, v = self.flow(t + dt / 2)
            q, t, taken = self.step(q, u * dt, v * dt), t + dt, taken + 1
        error = (self.volume * (q - start) ** 2).sum() / (self.volume * start**2).sum()
        return taken, math.sqrt(error)
