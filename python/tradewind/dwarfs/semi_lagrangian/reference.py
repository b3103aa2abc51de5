"""A semi-Lagrangian step of the whole grid in NumPy alone, which the compiled loops are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.dwarfs.semi_lagrangian.options import SemiLagrangianOptions

    Reals = NDArray[np.float64]

SNAP = 1e-10
"""Points as near as this to a grid line lie on it."""

CURVATURE = (1.0, 1 / 12, 7 / 240, 23 / 1680, 5351 / 725760, 137387 / 31933440)
"""Series of tan(x) / x by p = (2 x cos x)^2: how much longer a way along an angle 2 x is than half the sum of winds."""


class Reference:
    """Steps of a dwarf, each from its own time on."""

    def __init__(self, dwarf: SemiLagrangianOptions) -> None:
        self.dwarf, self.lattice = dwarf, dwarf.lattice
        self.nx, self.ny, self.nz = dwarf.grid

    def step(self, whole: Any, t: float) -> Any:
        """The whole field [tracer, z][y][x] a step after the time t."""
        at = self.departures(t)
        tracers = whole.astype(np.float64).reshape(-1, self.nz, self.ny, self.nx)
        return np.concatenate([self.interpolated(each, at) for each in tracers]).astype(whole.dtype)

    def departures(self, t: float) -> list[Reals]:
        """Coordinates x, y, z of all departure points, each [z][y][x]."""
        dwarf, wind, dt = self.dwarf, self.dwarf.flow_wind, self.dwarf.dt
        x, y = dwarf.all_columns().coordinates
        now = dwarf.winds_at(wind, x, y, t).astype(np.float64)
        before = now if wind.steady else dwarf.winds_at(wind, x, y, t - dt).astype(np.float64)
        later = (2 * now - before).astype(dwarf.precision).astype(np.float64)
        at = self._departed(2 * now)
        for _ in range(dwarf.iterations):
            at = self._departed(now + np.stack([self._linear(each, at) for each in later]))
        return at

    def _departed(self, sums: Reals) -> list[Reals]:
        half = self.dwarf.dt / 2
        z, y, x = np.meshgrid(*(np.arange(n, dtype=np.float64) for n in (self.nz, self.ny, self.nx)), indexing="ij")
        if self.dwarf.lift > 0:
            z = np.clip(snapped(z - half * sums[-1]), 0, self.nz - 1)
        if not self.lattice.sphere:
            scale = half / self.lattice.spacing_m
            return [snapped(x - scale * sums[0]), snapped(y - scale * sums[1]), z]
        longitude, latitude = self.lattice.longitudes(x), self.lattice.latitudes(y)
        place = [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
        longer = np.polyval(CURVATURE[::-1], half**2 * (sums[:3] ** 2).sum(axis=0))
        a, b, c = (at - longer * half * each for at, each in zip(place, sums[:3], strict=True))
        columns = np.arctan2(b, a) * self.nx / (2 * np.pi)
        rows = np.arctan2(c, np.hypot(a, b)) * self.ny / np.pi + (self.ny / 2 - 0.5)
        return [snapped(columns), snapped(rows), z]

    def _column(self, field: Reals, x: Any, y: Any, z: Any) -> Reals:
        """Values at columns that go on beyond the grid."""
        if not self.lattice.sphere:
            return np.asarray(field[z, y % self.ny, x % self.nx])
        south, north = y < 0, y >= self.ny
        row = np.where(south, -1 - y, np.where(north, 2 * self.ny - 1 - y, y))
        return np.asarray(field[z, row, (x + np.where(south | north, self.nx // 2, 0)) % self.nx])

    def _cell(self, at: list[Reals]) -> tuple[list[Any], list[Reals]]:
        low = [np.floor(each).astype(np.int64) for each in at]
        if self.dwarf.lift > 0:
            low[2] = np.minimum(low[2], self.nz - 2)
        return low, [each - begin for each, begin in zip(at, low, strict=True)]

    def _linear(self, field: Reals, at: list[Reals]) -> Reals:
        (x, y, z), (fx, fy, fz) = self._cell(at)

        def level(k: Any) -> Reals:
            south = (1 - fx) * self._column(field, x, y, k) + fx * self._column(field, x + 1, y, k)
            north = (1 - fx) * self._column(field, x, y + 1, k) + fx * self._column(field, x + 1, y + 1, k)
            return np.asarray((1 - fy) * south + fy * north)

        return level(z) if self.dwarf.lift == 0 else (1 - fz) * level(z) + fz * level(z + 1)

    def interpolated(self, field: Reals, at: list[Reals]) -> Reals:
        """A field [z][y][x] at departure points."""
        (_, _, z), (_, _, fz) = self._cell(at)
        if self.dwarf.lift == 0:
            value = self._level(field, at, z, inner=True)
            corners = [z]
        else:
            bottom, top = z == 0, z == self.nz - 2
            third = np.where(bottom, 2, np.where(top, z - 2, z - 1))
            fourth = np.where(bottom, 3, np.where(top, z - 1, z + 2))
            wz = cubic(fz, (0, 1, third - z, fourth - z))
            levels = ((z, True), (z + 1, True), (third, False), (fourth, False))
            value = np.asarray(sum(wz[i] * self._level(field, at, k, inner) for i, (k, inner) in enumerate(levels)))
            corners = [z, z + 1]
        if self.dwarf.limiter:
            around = [each for k in corners for each in self._nearest(field, at, k)]
            value = np.clip(value, np.min(around, axis=0), np.max(around, axis=0))
        return value

    def _level(self, field: Reals, at: list[Reals], k: Any, inner: bool) -> Reals:
        """Values of levels k at departure points; an outer level is taken linearly by a stencil that is not full."""
        (x, y, _), (fx, fy, _) = self._cell(at)
        full = self.dwarf.stencil == "cubic"
        wx, wy = cubic(fx, (-1, 0, 1, 2)), cubic(fy, (-1, 0, 1, 2))

        def row(j: int, by_cubic: bool) -> Reals:
            weights: list[Any] = wx if by_cubic else [0.0, 1 - fx, fx, 0.0]
            return np.asarray(sum(weights[i] * self._column(field, x + i - 1, y + j - 1, k) for i in range(4)))

        if inner or full:
            return np.asarray(sum(wy[j] * row(j, full or j in (1, 2)) for j in range(4)))
        return np.asarray((1 - fy) * row(1, False) + fy * row(2, False))

    def _nearest(self, field: Reals, at: list[Reals], k: Any) -> list[Reals]:
        """Values of levels k at the four columns around each departure point."""
        (x, y, _), _ = self._cell(at)
        return [self._column(field, x + i, y + j, k) for i in (0, 1) for j in (0, 1)]


def snapped(at: Reals) -> Reals:
    """Coordinates, those on a grid line that are as near to it as `SNAP`."""
    nearest = np.floor(at + 0.5)
    return np.where(np.abs(at - nearest) < SNAP, nearest, at)


def cubic(t: Any, nodes: Any) -> list[Any]:
    """Weights of Lagrange's polynomials at t."""
    found = []
    for i, own in enumerate(nodes):
        weight = np.ones_like(t)
        for j, other in enumerate(nodes):
            if j != i:
                weight = weight * (t - other) / (own - other)
        found.append(weight)
    return found
