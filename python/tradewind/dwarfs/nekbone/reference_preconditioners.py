"""The preconditioners of the dwarf nekbone on a whole brick in NumPy and SciPy, by other ways than on ranks.

Subdomains are boxes of the grid of all points: no layers travel, and no element has copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.dwarfs.nekbone.schwarz import mean_lengths
from tradewind.dwarfs.nekbone.spectral_elements import Basis, Brick, Ids, Values

if TYPE_CHECKING:
    from scipy import sparse

Preconditioner = Callable[[Values], Values]


def jacobi(ids: Ids, local_diagonal: Values, shift: float) -> Preconditioner:
    """Return the division by the assembled diagonal; `shift` is added to it after the sum over elements."""
    diagonal = np.bincount(ids.ravel(), local_diagonal.ravel())[ids] + shift
    return lambda r: r / diagonal


def local_diagonal(derivative: Values, metric: Values) -> Values:
    """Return the diagonal [element][k][j][i] of D^T G D in each element; metric [element][k][j][i][3][3]."""
    n = len(derivative)
    unit = np.eye(n)
    found = np.zeros(metric.shape[:4])
    # The derivatives along i, j, k of the polynomial that is 1 at a point are rows of D on the lines through it.
    for a in range(3):
        for b in range(3):
            left, right = ([derivative if axis == own else unit for own in range(3)] for axis in (a, b))
            x, y, z = (one * other for one, other in zip(left, right, strict=True))
            found += np.einsum("mi,nj,ok,eonm->ekji", x, y, z, metric[..., a, b], optimize=True)
    return found


def coarse_correction(whole: Brick, basis: Basis, metric: Values, mass: Values) -> Preconditioner:
    """Return P (P^T A P)^-1 P^T, with P on the grid of all points; metric [element][k][j][i][3][3], mass of a point."""
    from scipy import sparse  # here, as all commands import this module
    from scipy.sparse.linalg import factorized

    axes = [_interpolation(basis, count) for count in whole.all_elements]
    matrix = sparse.kron(sparse.kron(axes[2], axes[1]), axes[0]).tocsr()  # [point][corner inside]
    ids = whole.ids().ravel() - 1
    copies = matrix[ids]
    by, unit = sparse.csr_matrix(basis.derivative), sparse.identity(whole.points)
    along = [sparse.kron(sparse.kron(unit, unit), by), sparse.kron(sparse.kron(unit, by), unit)]
    along.append(sparse.kron(sparse.kron(by, unit), unit))
    slopes = [sparse.kron(sparse.identity(whole.count), each) @ copies for each in along]
    problem = copies.T @ sparse.diags(mass.ravel()) @ copies
    for a in range(3):
        for b in range(3):
            problem = problem + slopes[a].T @ sparse.diags(metric[..., a, b].ravel()) @ slopes[b]
    solve = factorized(problem.tocsc())

    def correct(r: Values) -> Values:
        grid = np.zeros(matrix.shape[0])
        grid[ids] = r.ravel()
        return np.asarray((matrix @ solve(matrix.T @ grid))[ids].reshape(r.shape))

    return correct


def _interpolation(basis: Basis, count: int) -> sparse.csr_matrix:
    """Values at the points of a line of elements of the functions that are 1 at a corner inside, [point][corner]."""
    from scipy import sparse

    n = len(basis.nodes)
    places = np.concatenate([at + (1 + basis.nodes[: n - 1]) / 2 for at in range(count)] + [[float(count)]])
    return sparse.csr_matrix(np.maximum(0, 1 - np.abs(places[:, None] - np.arange(1, count))))


class Schwarz:
    """The additive Schwarz method on boxes of the grid of all points."""

    def __init__(self, whole: Brick, basis: Basis, deformation: float, shift: float) -> None:
        self._points = [count * (whole.points - 1) + 1 for count in whole.all_elements]
        self._ids = whole.ids()
        n, elements = whole.points, np.unravel_index(whole.element_ids, whole.all_elements[::-1])
        lengths = mean_lengths(whole, whole.element_ids, deformation)
        by_place = lengths.reshape(*whole.all_elements[::-1], 3)
        self._at, self._vectors, self._values = [], [], []
        for axis in range(3):
            place = elements[2 - axis]
            # The grid has a margin of one point; a box begins a point before its element.
            self._at.append(place[:, None] * (n - 1) + np.arange(n + 2))
            made = [
                _line(basis, np.moveaxis(by_place[..., axis], 2 - axis, 0), int(at), axis, (int(z), int(y), int(x)))
                for at, z, y, x in zip(place, *elements, strict=True)
            ]
            self._vectors.append(np.stack([vectors for vectors, _ in made]))
            self._values.append(np.stack([values for _, values in made]))
        outer = np.zeros(n + 2, bool)
        outer[[0, -1]] = True
        outside = outer[:, None, None].astype(int) + outer[:, None] + outer
        self._kept = outside < 2  # without edges and corners beyond the element
        x, y, z = self._values
        self._sums = shift + z[:, :, None, None] + y[:, None, :, None] + x[:, None, None, :]
        self._weights = 1 / np.sqrt(self._add(np.ones((whole.count, n + 2, n + 2, n + 2)) * self._kept))

    def __call__(self, r: Values) -> Values:
        """Return z = M^-1 r, both [element][k][j][i]."""
        weights = self._weights.ravel()[self._ids - 1]
        grid = np.zeros(int(np.prod(self._points)))
        grid[self._ids.ravel() - 1] = (weights * r).ravel()
        x, y, z = self._boxes()
        boxes = np.pad(grid.reshape(self._points[::-1]), 1)[z, y, x] * self._kept
        vx, vy, vz = self._vectors
        modes = np.einsum("ekc,ejb,eia,ekji->ecba", vz, vy, vx, boxes, optimize=True) / self._sums
        solved = np.einsum("ekc,ejb,eia,ecba->ekji", vz, vy, vx, modes, optimize=True) * self._kept
        return np.asarray(self._add(solved).ravel()[self._ids - 1] * weights)

    def _boxes(self) -> tuple[Ids, Ids, Ids]:
        x, y, z = self._at
        return x[:, None, None, :], y[:, None, :, None], z[:, :, None, None]

    def _add(self, boxes: Values) -> Values:
        """Return the sum of boxes on the grid [z][y][x]."""
        grid = np.zeros([count + 2 for count in self._points[::-1]])
        x, y, z = self._boxes()
        np.add.at(grid, (z, y, x), boxes)
        return grid[1:-1, 1:-1, 1:-1]


def _line(basis: Basis, lengths: Values, at: int, axis: int, place: tuple[int, int, int]) -> tuple[Values, Values]:
    """Return modes and eigenvalues of the line through three elements; `lengths` [place along the axis][...]."""
    from scipy.linalg import eigh

    n = len(basis.nodes)
    across: tuple[Any, ...] = (slice(None), *(place[each] for each in range(3) if each != 2 - axis))
    row = lengths[across]
    size = 3 * (n - 1) + 1
    matrix, mass = np.zeros((size, size)), np.zeros(size)
    there = np.zeros(size, bool)
    for part, element in enumerate(range(at - 1, at + 2)):
        if 0 <= element < len(row):
            points = slice(part * (n - 1), part * (n - 1) + n)
            half = row[element] / 2
            matrix[points, points] += basis.derivative.T @ np.diag(basis.weights / half) @ basis.derivative
            mass[points] += basis.weights * half
            there[points] = True
    # The points of the subdomain, without those on the ends of the brick.
    if at == 0:
        there[n - 1] = False
    if at == len(row) - 1:
        there[2 * (n - 1)] = False
    box = np.arange(n - 2, 2 * n)
    inner = np.flatnonzero(there[box])
    chosen = box[inner]
    values, modes = eigh(matrix[np.ix_(chosen, chosen)], np.diag(mass[chosen]))
    vectors, found = np.zeros((n + 2, n + 2)), np.ones(n + 2)
    vectors[np.ix_(inner, inner)] = modes
    found[inner] = values
    return vectors, found
