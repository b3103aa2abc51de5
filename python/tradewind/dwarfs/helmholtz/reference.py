"""The Helmholtz problem of the whole grid as a sparse matrix of SciPy, and its solution: other code than the dwarf's.

The matrix is a product of matrices of differences and means, and of diagonal ones of what stands between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import VerificationError
from tradewind.dwarfs.helmholtz.operator import STRATIFICATION_PER_M

if TYPE_CHECKING:
    from tradewind.dwarfs.helmholtz.operator import Atmosphere, Ground
    from tradewind.mpi.library import Array

DIRECT = 5000
"""Unknowns that are solved for directly; more, by iterations."""
_RTOL = 1e-13


def matrix(air: Atmosphere) -> Any:
    """Return A as a sparse matrix; unknowns are numbered as in [z][y][x]."""
    from scipy import sparse

    nx, ny, nz = air.grid
    one = {points: sparse.identity(points, format="csr") for points in (nx, ny, nz, nz - 1)}

    def around(points: int, before: float, after: float) -> Any:
        """From points to the faces behind them, around the circle."""
        step = sparse.csr_matrix((np.ones(points), (np.arange(points), (np.arange(points) + 1) % points)))
        return before * one[points] + after * step

    def of(z: Any, y: Any, x: Any) -> Any:
        return sparse.kron(z, sparse.kron(y, x, format="csr"), format="csr")

    def diagonal(values: Array, levels: int = nz) -> Any:
        return sparse.diags(np.broadcast_to(values, (levels, ny, nx)).reshape(-1).copy())

    def up(before: float, after: float) -> Any:
        """From levels to the faces between them."""
        return sparse.diags([float(before), float(after)], [0, 1], shape=(nz - 1, nz), format="csr")

    x, y, z = np.arange(nx), np.arange(ny)[:, None], (np.arange(nz)[:, None, None] + 0.5) / nz
    sides: tuple[tuple[Ground, Callable[[float, float], Any], str], ...] = (
        (air.at(x + 0.5, y, z), lambda a, b: of(one[nz], one[ny], around(nx, a, b)), "slope_x"),
        (air.at(x, y + 0.5, z), lambda a, b: of(one[nz], around(ny, a, b), one[nx]), "slope_y"),
    )
    centred = np.eye(nz, k=1) - np.eye(nz, k=-1)
    centred[0, :3], centred[-1, -3:] = (-3, 4, -1), (1, -4, 3)
    along_z = of(sparse.csr_matrix(nz / 2 * centred), one[ny], one[nx])
    between = air.at(x, y, np.arange(1, nz)[:, None, None] / nz)
    mean, slope = of(up(0.5, 0.5), one[ny], one[nx]), of(up(-nz, nz), one[ny], one[nx])
    divergence = 0
    rise = diagonal(between.kappa / between.thickness, nz - 1) @ slope
    rise = rise + diagonal(between.kappa * STRATIFICATION_PER_M, nz - 1) @ mean
    for faces, along, name in sides:
        gradient = along(-1 / air.spacing_m, 1 / air.spacing_m)
        flow = gradient + diagonal(getattr(faces, name)) @ along(0.5, 0.5) @ along_z
        divergence = divergence - gradient.T @ diagonal(faces.thickness * faces.kappa) @ flow
        lean, half = getattr(between, name), along(0.5, 0.5).T
        there = diagonal(lean, nz - 1) @ slope + mean @ half @ gradient
        rise = rise + diagonal(between.thickness * between.kappa * lean, nz - 1) @ there
    divergence = divergence - slope.T @ rise
    own = air.at(x, y, z)
    return (
        air.sigma * sparse.identity(nx * ny * nz) - air.sound_m**2 * diagonal(1 / own.thickness) @ divergence
    ).tocsc()


@lru_cache(maxsize=1)
def _problem(air: Atmosphere) -> tuple[Any, Any]:
    """The matrix by rows, and the solution of its columns, from its own diagonals."""
    from scipy.sparse import linalg

    nx, ny, nz = air.grid
    found, plane = matrix(air).tocsr(), nx * ny
    pivots = found.diagonal().reshape(nz, plane)
    below, above = (found.diagonal(offset).reshape(nz - 1, plane) for offset in (-plane, plane))
    factors = np.empty_like(above)
    for k in range(nz - 1):
        factors[k] = below[k] / pivots[k]
        pivots[k + 1] -= factors[k] * above[k]

    def columns(right: Array) -> Array:
        solved = right.reshape(nz, plane).copy()
        for k in range(1, nz):
            solved[k] -= factors[k - 1] * solved[k - 1]
        solved[-1] /= pivots[-1]
        for k in range(nz - 2, -1, -1):
            solved[k] = (solved[k] - above[k] * solved[k + 1]) / pivots[k]
        return solved.reshape(-1)

    return found, linalg.LinearOperator(found.shape, columns, dtype=np.float64)


def solve(air: Atmosphere, right: Array) -> Array:
    """Return the solution for a right-hand side [z][y][x]. Raises VerificationError where SciPy finds none."""
    from scipy.sparse import linalg

    if right.size <= DIRECT:
        return np.asarray(linalg.spsolve(matrix(air), right.reshape(-1)).reshape(right.shape))
    problem, columns = _problem(air)
    b, apart = right.reshape(-1), np.inf
    for solver, more in ((linalg.bicgstab, {"maxiter": 500}), (linalg.gmres, {"maxiter": 50, "restart": 40})):
        found, _ = solver(problem, b, rtol=_RTOL, M=columns, **more)
        apart = float(np.linalg.norm(problem @ found - b) / np.linalg.norm(b))
        if apart <= 100 * _RTOL:
            return np.asarray(found.reshape(right.shape))
    raise VerificationError(f"reference: SciPy's bicgstab and gmres end with a residual of {apart:.1e}")


def step(air: Atmosphere, whole: Array) -> Array:
    """Return the fields before and at a time, [field, z][y][x], a step later."""
    before, now = whole[: air.grid[2]], whole[air.grid[2] :]
    return np.concatenate([now, solve(air, air.sigma * (2 * now - before))])
