"""A linear semi-implicit time step in spectral space: layers of shallow water on a rotating sphere.

Of each layer l: vorticity, divergence and geopotential, zeta, D and phi. A layer's geopotential is lifted by what flows
together in each layer below and above it, by a symmetric matrix G, so that full columns are needed:

    d zeta / dt = 2 Omega i m / (n (n + 1)) zeta        Rossby-Haurwitz waves
    d D / dt    = n (n + 1) / a^2 phi                   gravity waves
    d phi / dt  = - G D

for the coefficient (m, n). Rotation moves the vorticity alone: then there is a solution in closed form. All is without
dimensions: zeta and D times a / c, phi over c^2, G over c^2, with c the speed of the fastest gravity wave. The step is
the trapezoidal rule, as in semi-implicit models, so each wave turns by 2 arctan(omega dt / 2) in a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.spectral.threads import split_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]

VARIABLES = ("vorticity", "divergence", "geopotential")
RADIUS_M, ROTATION_PER_S, SPEED_M_PER_S = 6371229.0, 7.292e-5, 300.0
"""Radius and rotation of the Earth, and the speed of the fastest gravity waves."""
_ZETA, _D, _PHI = range(3)


def coupling(levels: int) -> Reals:
    """Return G, symmetric, with positive eigenvalues of which the largest is 1: as of layers upon each other."""
    layer = np.arange(levels)
    g = levels - np.maximum(layer[:, None], layer[None, :]).astype(float)
    largest: float = np.linalg.eigvalsh(g)[-1]
    return np.asarray(g / largest)


class LinearStep:
    """The step of some coefficients (m, n) with all their fields, ``[m, n][level, variable]``.

    Fields are ``complex128``, or ``complex64``, which are computed in single precision with factors that are rounded
    once.

    It works in the vertical modes, the eigenvectors of G, where nothing but numbers is to be divided by. `order`: the
    levels as they lie in memory, ascending unless given. `threads` share out the coefficients of a step. `module`:
    the array module of the device on which fields lie that `__call__` takes.
    """

    def __init__(
        self,
        m: Numbers,
        n: Numbers,
        levels: int,
        dt_s: float,
        order: Numbers | None = None,
        threads: int = 1,
        module: Any = np,
    ) -> None:
        self._module = module
        self.levels, self._n, self._threads = levels, n, threads
        speeds, modes = np.linalg.eigh(coupling(levels))
        self._modes: Reals = modes if order is None else np.ascontiguousarray(modes[order])
        self._speed2: Reals = speeds.astype(np.float64)  # of each mode, squared
        self._half = dt_s / 2 * SPEED_M_PER_S / RADIUS_M
        per_n = np.divide(1.0, n * (n + 1.0), out=np.zeros(len(n)), where=n > 0)
        self._rossby: Reals = np.asarray(dt_s * ROTATION_PER_S * m * per_n, np.float64)  # omega dt / 2
        self._laplacian: Reals = (n * (n + 1.0))[:, None]
        implicit = self._half**2 * self._laplacian * self._speed2
        self._keep: Reals = (1 - implicit) / (1 + implicit)
        self._gain: Reals = 2 * self._half * self._laplacian / (1 + implicit)
        if module is not np:
            for name in ("_modes", "_speed2", "_rossby", "_keep", "_gain"):
                setattr(self, name, module.asarray(getattr(self, name)))

    def modes_of(self, columns: Complexes) -> Complexes:
        """Return the fields by vertical mode in place of levels: ``[m, n][mode, variable]``."""
        return self._mixed(columns, self._modes.T)

    def levels_of(self, modes: Complexes, out: Complexes | None = None) -> Complexes:
        """Return the fields by levels."""
        return self._mixed(modes, self._modes, out)

    def _mixed(self, fields: Complexes, matrix: Reals, out: Complexes | None = None) -> Complexes:
        shape = (len(fields), self.levels, 2 * len(VARIABLES))
        out = self._module.empty_like(fields) if out is None else out
        real = fields.real.dtype
        self._module.matmul(_in(real, matrix), fields.view(real).reshape(shape), out=out.view(real).reshape(shape))
        return out

    def __call__(self, columns: Complexes, out: Complexes) -> None:
        """Compute the fields a time step later."""

        def work(some: slice) -> None:
            modes = self.modes_of(columns[some]).reshape(-1, self.levels, len(VARIABLES))
            alpha, real = 1j * self._rossby[some, None], modes.real.dtype
            modes[:, :, _ZETA] *= ((1 + alpha) / (1 - alpha)).astype(modes.dtype)
            before, keep, gain = modes[:, :, _D].copy(), _in(real, self._keep[some]), _in(real, self._gain[some])
            modes[:, :, _D] = keep * before + gain * modes[:, :, _PHI]
            modes[:, :, _PHI] -= _in(real, self._half * self._speed2) * (before + modes[:, :, _D])
            self.levels_of(modes.reshape(-1, columns.shape[1]), out[some])

        if self._module is not np:
            work(slice(None))  # blocks are for caches of the host
            return
        split_blocks(self._threads, len(columns), 4 * columns.itemsize * columns.shape[1], work)

    def solution(self, initial: Complexes, steps: int) -> Complexes:
        """Return the fields some steps after the initial ones, in closed form: each wave has turned by its angle."""
        modes = self.modes_of(initial).reshape(len(initial), self.levels, len(VARIABLES))
        modes[:, :, _ZETA] *= np.exp(2j * steps * np.arctan(self._rossby))[:, None]
        root = np.sqrt(self._laplacian)
        speed = np.sqrt(self._speed2)
        angle = 2 * steps * np.arctan(self._half * root * speed)
        d, phi = modes[:, :, _D].copy(), modes[:, :, _PHI] * root / speed
        modes[:, :, _D] = np.cos(angle) * d + np.sin(angle) * phi
        turned = np.cos(angle) * phi - np.sin(angle) * d
        waves = self._n > 0
        modes[waves, :, _PHI] = turned[waves] * (speed / root[waves])
        return self.levels_of(modes.reshape(initial.shape))

    def energy(self, columns: Complexes, m: Numbers) -> float:
        """Return the sum over these coefficients of kinetic and potential energy, which a step conserves."""
        modes = self.modes_of(columns).reshape(len(columns), self.levels, len(VARIABLES))
        squares = np.abs(modes) ** 2
        waves = self._n > 0
        kinetic = (squares[waves, :, _ZETA] + squares[waves, :, _D]) / self._laplacian[waves]
        twice = np.where(m > 0, 2.0, 1.0)[:, None]
        potential = twice * squares[:, :, _PHI] / self._speed2
        return float((twice[waves] * kinetic).sum() + potential.sum()) / 2


def _in(real: Any, factors: Reals) -> Reals:
    """Return factors in the precision of the fields."""
    return factors.astype(real, copy=False)


def initial(m: Numbers, n: Numbers, levels: int) -> Complexes:
    """Return fields to begin with: all wavenumbers, falling with n, and a Rossby-Haurwitz wave (m = 4, n = 5)."""
    level, variable = np.divmod(np.arange(levels * len(VARIABLES)), len(VARIABLES))
    turns = 0.7548776662 * m[:, None] + 0.5698402910 * n[:, None] + 0.6180339887 * level + 0.3247179572 * variable
    phases = np.exp(2j * np.pi * turns)
    fields = phases * ((1 + n / 4.0) ** -3)[:, None]
    fields[m == 0] = fields[m == 0].real
    fields[np.ix_(n == 0, variable != _PHI)] = 0  # vorticity and divergence have no mean
    fields[np.ix_((m == 4) & (n == 5), variable == _ZETA)] += 1.0
    return np.asarray(fields)


def reference_step(columns: Complexes, n: Numbers, m: Numbers, levels: int, dt_s: float) -> Complexes:
    """Return the fields a step later by dense equations for each coefficient: other code than `LinearStep`."""
    size = len(VARIABLES) * levels
    speed, g = SPEED_M_PER_S / RADIUS_M, coupling(levels)
    zeta, d, phi = (np.arange(levels) * len(VARIABLES) + number for number in range(3))
    found = np.empty_like(columns)
    for degree in np.unique(n):
        tendency = np.zeros((size, size))
        tendency[d, phi] = speed * degree * (degree + 1)
        tendency[np.ix_(phi, d)] = -speed * g
        own = np.flatnonzero(n == degree)
        explicit, implicit = np.eye(size) + dt_s / 2 * tendency, np.eye(size) - dt_s / 2 * tendency
        found[own] = np.linalg.solve(implicit, explicit @ columns[own].T).T
        frequency = 2j * ROTATION_PER_S * m[own] / (degree * (degree + 1)) if degree else np.zeros(len(own))
        turn = ((1 + dt_s / 2 * frequency) / (1 - dt_s / 2 * frequency))[:, None]
        found[np.ix_(own, zeta)] = columns[np.ix_(own, zeta)] * turn
    return found
