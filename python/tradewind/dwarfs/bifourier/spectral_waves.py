"""A linear semi-implicit time step of bi-Fourier coefficients: layers of shallow water on a plane.

Of each layer u, v and phi, as in `tradewind.dwarfs.waves.plane_waves`; a layer's geopotential is lifted by what flows
together in each layer below and above it, by a symmetric matrix G, so that full columns are needed. The trapezoidal
rule turns each wave by 2 arctan(s sqrt(g) K), with g an eigenvalue of G.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.dwarfs.waves.linear_step import coupling
from tradewind.dwarfs.waves.plane_waves import SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tradewind.mpi.library import Array

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Complexes = NDArray[np.complex128]

_VARIABLES = 3
_U, _V, _PHI = range(_VARIABLES)


def slopes(points: int, numbers: Numbers, symbols: str) -> Complexes:
    """Return what a derivative multiplies coefficients by: i k, or for differences that of the point after, staggered.

    The derivative back, of a divergence, is minus its conjugate.
    """
    k = SYMBOLS[symbols](points, numbers)
    shift = np.exp(1j * np.pi * np.asarray(numbers) / points) if symbols == "differences" else 1.0
    return np.asarray(1j * k * shift)


class SpectralWaves:
    """The step of some coefficients (m, n) with all their fields, ``[m, n][variable, level]``.

    `grid`: (nx, ny); `s`: c dt / (2 dx); `symbols`: a name of `plane_waves.SYMBOLS`. A step is a compiled loop in the
    precision of the fields; the solution and the energy are of doubles.
    """

    def __init__(self, grid: tuple[int, int], m: Numbers, n: Numbers, levels: int, s: float, symbols: str) -> None:
        self.levels, self.s = levels, s
        speeds, modes = np.linalg.eigh(coupling(levels))
        self._modes: Reals = np.ascontiguousarray(modes)
        self._speed2: Reals = speeds.astype(np.float64)  # of each mode, squared
        self._slopes: Complexes = np.stack([slopes(grid[0], m, symbols), slopes(grid[1], n, symbols)], 1)
        self._along, self._across = self._slopes[:, :1], self._slopes[:, 1:]
        self._k2: Reals = np.abs(self._along) ** 2 + np.abs(self._across) ** 2
        self._twice: Reals = np.where(m > 0, 2.0, 1.0)[:, None]

    def _modes_of(self, columns: Complexes) -> Complexes:
        """Return the fields ``[m, n][mode][variable]``."""
        by_level = columns.reshape(len(columns), _VARIABLES, self.levels).swapaxes(1, 2)
        return _mixed(self._modes.T, np.ascontiguousarray(by_level))

    def _columns_of(self, modes: Complexes) -> Complexes:
        by_level = _mixed(self._modes, modes)
        return np.ascontiguousarray(by_level.swapaxes(1, 2)).reshape(len(modes), -1)

    def _divergence(self, modes: Complexes) -> Complexes:
        return np.asarray(-np.conj(self._along) * modes[:, :, _U] - np.conj(self._across) * modes[:, :, _V])

    def __call__(self, columns: Sequence[Array], stepped: Sequence[Array], team: _core.Team) -> None:
        """Compute the fields a time step later, which lie in batches ``[m, n][1][field]``. Raises InputError."""
        _core.step_layers(list(columns), list(stepped), self._modes, self._speed2, self._slopes, self.s, team)

    def solution(self, initial: Complexes, steps: int) -> Complexes:
        """Return the fields some steps after the initial ones, in closed form: each wave has turned by its angle."""
        modes, k, speed = self._modes_of(initial), np.sqrt(self._k2), np.sqrt(self._speed2)
        moving = k > 0
        inverse = np.divide(1.0, k, out=np.zeros_like(k), where=moving)
        angle = 2 * steps * np.arctan(self.s * k * speed)
        before, phi = self._divergence(modes) * inverse, modes[:, :, _PHI] / speed
        after = np.where(moving, np.cos(angle) * before + np.sin(angle) * phi, before)
        modes[:, :, _PHI] = speed * (np.cos(angle) * phi - np.sin(angle) * before)
        turned = (after - before) * inverse
        modes[:, :, _U] -= self._along * turned
        modes[:, :, _V] -= self._across * turned
        return self._columns_of(modes)

    def energy(self, columns: Complexes) -> float:
        """Return the sum over these coefficients of kinetic and potential energy, which a step conserves."""
        squares = np.abs(self._modes_of(columns)) ** 2
        total = squares[:, :, _U] + squares[:, :, _V] + squares[:, :, _PHI] / self._speed2
        return float((self._twice * total).sum()) / 2


def _mixed(matrix: Reals, fields: Complexes) -> Complexes:
    reals = fields.view(np.float64).reshape(*fields.shape[:2], 2 * _VARIABLES)
    return np.asarray(np.matmul(matrix, reals).view(np.complex128))
