"""Gravity waves on a doubly periodic plane: what the dwarfs of limited areas have in common.

Of each vertical mode l, with wind (u, v) and geopotential phi of a layer of shallow water that rests but for its waves:

    d u / dt = - d phi / dx        d v / dt = - d phi / dy        d phi / dt = - g_l (d u / dx + d v / dy)

All is without dimensions: winds over c and phi over c^2, lengths over the distance of grid points, with c the speed of
the fastest wave; g_l are the squared speeds of the modes, the largest 1. A step of the trapezoidal rule, as in
semi-implicit models, turns a wave by theta: tan(theta / 2) = s sqrt(g_l) K, with s = c dt / (2 dx) and K the size of
its wavenumber, as in the derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradewind.dwarfs.waves.linear_step import SPEED_M_PER_S, coupling

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals = NDArray[np.float64]

WAVES = ((0, 0), (1, 0), (0, 2), (2, 1), (-1, 3), (3, 2))
"""(m, n) of the waves to begin with, in wavelengths per length of the area along x and y."""


def mode_speeds(levels: int) -> Reals:
    """Return the squared speeds of the vertical modes, the largest, 1, first: of layers that rest upon each other."""
    return np.asarray(np.linalg.eigvalsh(coupling(levels))[::-1].copy())


def half_step(step_s: float, spacing_m: float) -> float:
    """Return s = c dt / (2 dx)."""
    return SPEED_M_PER_S * step_s / (2 * spacing_m)


def differences(count: int, numbers: ArrayLike) -> Reals:
    """Return K of wavenumbers on `count` points for differences between neighbours, as of a staggered grid."""
    return np.asarray(2 * np.sin(np.pi * np.asarray(numbers, float) / count))


def derivatives(count: int, numbers: ArrayLike) -> Reals:
    """Return K of wavenumbers on `count` points for exact derivatives: what `differences` come near to."""
    return np.asarray(2 * np.pi * np.asarray(numbers, float) / count)


Symbol = Callable[[int, "ArrayLike"], "Reals"]
SYMBOLS: dict[str, Symbol] = {"differences": differences, "derivatives": derivatives}


@dataclass(frozen=True)
class StandingWaves:
    """Waves that stand, each of amplitude 1 / number of waves, in each vertical mode at phases of its own.

    `staggered`: u and v lie half a point to the east and to the north of phi, as on the C grid.
    """

    points: tuple[int, int]
    s: float
    symbol: Symbol
    staggered: bool
    waves: tuple[tuple[int, int], ...] = WAVES

    def at(self, steps: int, mode: int, speed2: float, y: Reals, x: Reals) -> tuple[Reals, Reals, Reals]:
        """Return u, v, phi of a mode after some steps; y and x are indices of points, which NumPy broadcasts."""
        found = [np.zeros(np.broadcast_shapes(y.shape, x.shape)) for _ in range(3)]
        nx, ny = self.points
        half = 0.5 if self.staggered else 0.0
        for number, (m, n) in enumerate(self.waves):
            kx, ky = float(self.symbol(nx, m)), float(self.symbol(ny, n))
            size = math.hypot(kx, ky)
            turned = steps * 2 * math.atan(self.s * math.sqrt(speed2) * size)
            phase = 2 * math.pi * ((0.6180339887 * mode + 0.7548776662 * number) % 1.0)
            amplitude = 1 / len(self.waves)

            def angle(north: float, east: float, m: int = m, n: int = n, phase: float = phase) -> Reals:
                return np.asarray(2 * np.pi * (m * (x + east) / nx + n * (y + north) / ny) + phase)

            if size:
                speed = amplitude * math.sin(turned) / (math.sqrt(speed2) * size)
                found[0] += kx * speed * np.sin(angle(0.0, half))
                found[1] += ky * speed * np.sin(angle(half, 0.0))
            found[2] += amplitude * math.cos(turned) * np.cos(angle(0.0, 0.0))
        return found[0], found[1], found[2]


def nearest_to_square(ranks: int, fits: Callable[[tuple[int, int]], bool]) -> tuple[int, int] | None:
    """Return the split CX x CY of ranks that fits and is nearest to a square, CX the larger; None where none fits."""
    divisors = [a for a in range(1, math.isqrt(ranks) + 1) if ranks % a == 0]
    pairs = [pair for a in reversed(divisors) for pair in ((ranks // a, a), (a, ranks // a))]
    return next(filter(fits, pairs), None)
