"""The Helmholtz operator of sound waves over hills: factors of the 15 points of its stencil, and of its columns.

    A phi = sigma phi - s^2 / J (d_x F + d_y G + d_z (g F + e G + kappa (phi_z / J + mu phi)))
    F = J kappa (phi_x + g phi_z),    G = J kappa (phi_y + e phi_z)

in terrain-following coordinates (Gal-Chen & Somerville 1975, doi:10.1016/0021-9991(75)90037-6): z from 0 at the ground
to 1 at the top, J = top - hill the thickness, g = -(1 - z) hill_x / J and e = -(1 - z) hill_y / J the slopes of levels,
which are the cross terms. s is how far sound goes in a time step, kappa its squared speed over the reference's, and mu
the stratification; with the one-sided differences of the lowest and highest levels it makes A non-symmetric. Nothing
flows through ground and top. Fluxes lie on faces, phi in the middle of cells: second order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from tradewind.mpi.library import Array

HERE, BELOW, ABOVE = range(3)
OWN, WEST, EAST, SOUTH, NORTH = range(0, 15, 3)
"""Places of the factors: those of a column begin with that of the point's own level."""
STENCIL, COLUMN = 15, 3
BLOCK = 8
"""Points of a row whose factors lie together."""
SOUND_M_PER_S, STRATIFICATION_PER_M = 340.0, 1e-5
"""Reference speed of sound; N^2 / g of the standard atmosphere."""

Box = tuple[Sequence[int], Sequence[int]]
"""Global indices (x, y, z) of the first points of a rank, and of those behind its last ones."""


@dataclass(frozen=True)
class Atmosphere:
    """A doubly periodic area with a hill in its middle, and air over it."""

    grid: tuple[int, int, int]
    spacing_m: float
    top_m: float
    hill_m: float
    step_s: float
    sigma: float

    @property
    def sound_m(self) -> float:
        """s: meters that sound goes in a time step."""
        return SOUND_M_PER_S * self.step_s

    def at(self, x: Array, y: Array, z: Array) -> Ground:
        """The coefficients at indices along x and y, and at heights 0..1, which NumPy broadcasts to [z][y][x]."""
        turn_x, turn_y = (2 * np.pi / points * index for points, index in zip(self.grid, (x, y), strict=False))
        # Sines and cosines of single indices, so that their bits do not depend on what else an array holds.
        (sin_x, cos_x), (sin_y, cos_y) = _waves(turn_x), _waves(turn_y)
        wave_x, wave_y = (2 * np.pi / (points * self.spacing_m) for points in self.grid[:2])
        quarter = self.hill_m / 4
        thickness = self.top_m - quarter * (1 - cos_x) * (1 - cos_y)
        fall = -(1 - z) / thickness
        return Ground(
            thickness,
            fall * (quarter * wave_x * sin_x * (1 - cos_y)),
            fall * (quarter * wave_y * sin_y * (1 - cos_x)),
            1 - 0.25 * z + 0.1 * (1 - z) * sin_x * cos_y,
        )


@dataclass(frozen=True)
class Ground:
    """J (m), the slopes g and e, and kappa, at some places."""

    thickness: Array
    slope_x: Array
    slope_y: Array
    kappa: Array


def _waves(turns: Array) -> tuple[Array, Array]:
    """Sines and cosines."""
    flat = turns.reshape(-1).tolist()
    sines, cosines = ([f(turn) for turn in flat] for f in (math.sin, math.cos))
    return np.array(sines).reshape(turns.shape), np.array(cosines).reshape(turns.shape)


def stencil(air: Atmosphere, box: Box) -> Array:
    """Return the factors [z][y][15][x] of a rank's points."""
    (x0, y0, _), (x1, y1, nz) = box
    x, y, z = np.arange(x0, x1)[None, None, :], np.arange(y0, y1)[None, :, None], np.arange(nz)[:, None, None]
    middle = (z + 0.5) / nz
    factors = np.zeros((nz, y1 - y0, STENCIL, x1 - x0))
    own = air.at(x, y, middle)
    faces_x = air.at(np.arange(x0, x1 + 1)[None, None, :] - 0.5, y, middle)
    faces_y = air.at(x, np.arange(y0, y1 + 1)[None, :, None] - 0.5, middle)
    per_thickness = 1 / own.thickness
    _add_sides(factors, faces_x, faces_x.slope_x, air, per_thickness, nz, axis=2)
    _add_sides(factors, faces_y, faces_y.slope_y, air, per_thickness, nz, axis=1)
    _add_levels(factors, air.at(x, y, np.arange(1, nz)[:, None, None] / nz), air, per_thickness, nz)
    factors[:, :, OWN + HERE] += air.sigma
    return factors


def _add_sides(
    factors: Array, faces: Ground, slope: Array, air: Atmosphere, per_thickness: Array, nz: int, axis: int
) -> None:
    """Add what flows through the faces along x (axis 2) or y (axis 1)."""
    through = air.sound_m**2 / air.spacing_m * faces.thickness * faces.kappa
    straight, slanted = through / air.spacing_m, through * slope * (nz / 4)
    before, after = (slice(None, -1), slice(1, None))
    cut = (lambda part: (slice(None), slice(None), part)) if axis == 2 else (lambda part: (slice(None), part))
    first, last = (WEST, EAST) if axis == 2 else (SOUTH, NORTH)
    for neighbour, part, sign in ((first, before, 1.0), (last, after, -1.0)):
        flow, lean = straight[cut(part)] * per_thickness, sign * slanted[cut(part)] * per_thickness
        factors[:, :, OWN + HERE] += flow
        factors[:, :, neighbour + HERE] -= flow
        for column in (OWN, neighbour):
            _add_derivative(factors, column, lean)


def _add_derivative(factors: Array, column: int, factor: Array) -> None:
    """Add a factor times twice the difference of a column along z, to one side on the lowest and highest levels."""
    here, below, above = (factors[:, :, column + place] for place in (HERE, BELOW, ABOVE))
    below[1:-1] -= factor[1:-1]
    above[1:-1] += factor[1:-1]
    for level, sign, near, far in ((0, 1.0, above, below), (-1, -1.0, below, above)):
        here[level] -= sign * 3 * factor[level]
        near[level] += sign * 4 * factor[level]
        far[level] -= sign * factor[level]


def _add_levels(factors: Array, faces: Ground, air: Atmosphere, per_thickness: Array, nz: int) -> None:
    """Add what flows through the faces between levels."""
    s2, kappa = air.sound_m**2, faces.kappa
    metric = faces.thickness * (faces.slope_x**2 + faces.slope_y**2) + 1 / faces.thickness
    straight = s2 * nz**2 * kappa * metric * per_thickness
    lifted = s2 * STRATIFICATION_PER_M * (nz / 2) * kappa * per_thickness
    cross = s2 * (nz / (4 * air.spacing_m)) * kappa * faces.thickness * per_thickness
    lower, upper = factors[:-1], factors[1:]  # the levels below and above each face
    lower[:, :, OWN + HERE] += straight - lifted
    lower[:, :, OWN + ABOVE] -= straight + lifted
    upper[:, :, OWN + HERE] += straight + lifted
    upper[:, :, OWN + BELOW] -= straight - lifted
    for slope, first, last in ((faces.slope_x, WEST, EAST), (faces.slope_y, SOUTH, NORTH)):
        for neighbour, sign in ((first, -1.0), (last, 1.0)):
            lean = sign * cross * slope
            lower[:, :, neighbour + HERE] -= lean
            lower[:, :, neighbour + ABOVE] -= lean
            upper[:, :, neighbour + HERE] += lean
            upper[:, :, neighbour + BELOW] += lean


def columns(factors: Array) -> Array:
    """Return the factors [z][y][3][x] of the columns' tridiagonal systems, of a stencil's.

    Raises InputError for a column that has no solution.
    """
    nz, ny, _, nx = factors.shape
    found = np.zeros((nz, ny, COLUMN, nx))
    here, below, above = (factors[:, :, OWN + place] for place in (HERE, BELOW, ABOVE))
    upper = np.zeros((ny, nx))
    for z in range(nz):
        lower = below[z] if z else np.zeros_like(upper)
        pivot = here[z] - lower * upper
        if not (np.abs(pivot) > 1e-14 * np.abs(here[z])).all():
            y, x = (int(i) for i in np.argwhere(~(np.abs(pivot) > 1e-14 * np.abs(here[z])))[0])
            raise InputError(f"preconditioner: the column at (x, y) = ({x}, {y}) of a rank is singular at level {z}")
        upper = above[z] / pivot if z + 1 < nz else np.zeros_like(upper)
        found[z] = np.stack([lower, 1 / pivot, upper], axis=1)
    return found


def blocked(factors: Array, *, rows_first: bool = False, precision: str = "f8") -> Array:
    """Return factors [z][y][number][x] as the compiled loops read them: [z][y][x / 8][number][x % 8].

    `rows_first`: in memory all levels of a row follow each other, as the columns want it. `precision`: element type,
    to which doubles are rounded once.
    """
    nz, ny, count, nx = factors.shape
    blocks = -(-nx // BLOCK)
    whole = np.zeros((ny, nz, blocks, count, BLOCK) if rows_first else (nz, ny, blocks, count, BLOCK), precision)
    found = whole.swapaxes(0, 1) if rows_first else whole
    for part in range(blocks):
        points = factors[:, :, :, part * BLOCK : (part + 1) * BLOCK]
        found[:, :, part, :, : points.shape[3]] = points
    return found
