"""Subdomains of the additive Schwarz preconditioner: their one-dimensional problems, kinds and layers.

A subdomain is an element and, beyond each of its sides, the first layer of inner points of the element there: m = n + 2
points along each direction. Its operator is taken as that of a brick with the element's mean lengths, so that it is
diagonal in products of the eigenvectors of three small problems (fast diagonalisation). As of Nek5000: Fischer, Miller
& Tufo 2000, doi:10.1007/978-1-4612-1176-1_7; Lottes & Fischer 2005, doi:10.1007/s10915-004-4787-3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tradewind.dwarfs.nekbone.spectral_elements import Basis, Ids, Part, Triple, Values

SIDES = 6


@dataclass(frozen=True)
class LineProblems:
    """Problems A s = lambda B s on m points of a line, by kind; B is diagonal."""

    vectors: Values
    """[kind][point][mode], with S^T B S = 1; 0 for points that do not exist or lie on the boundary."""
    values: Values
    """[kind][mode]; 1 for modes of such points, which have no part in anything."""


def line_problem(basis: Basis, left: float, middle: float, right: float) -> tuple[Values, Values]:
    """Return eigenvectors [point][mode] and eigenvalues of the problem of three elements in a row, of some lengths.

    Of the outer elements there is the point next to the one in the middle; a length of 0 is that of no element: the end
    of the middle one is on the boundary, where the solution is 0.
    """
    n = len(basis.nodes)
    stiffness = basis.derivative.T @ (basis.weights[:, None] * basis.derivative)
    matrix, mass = np.zeros((n + 2, n + 2)), np.zeros(n + 2)
    for length, at, own in (
        (middle, np.arange(1, n + 1), np.arange(n)),
        (left, np.array([0, 1]), np.array([n - 2, n - 1])),
        (right, np.array([n, n + 1]), np.array([0, 1])),
    ):
        if length:
            matrix[np.ix_(at, at)] += 2 / length * stiffness[np.ix_(own, own)]
            mass[at] += length / 2 * basis.weights[own]
    inner = np.arange(0 if left else 2, n + 2 if right else n)
    root = 1 / np.sqrt(mass[inner])
    found, modes = np.linalg.eigh(root[:, None] * matrix[np.ix_(inner, inner)] * root)
    vectors, values = np.zeros((n + 2, n + 2)), np.ones(n + 2)
    vectors[np.ix_(inner, inner)] = root[:, None] * modes
    values[inner] = found
    return vectors, values


def mean_lengths(part: Part, element_ids: Ids, deformation: float) -> Values:
    """Return the mean lengths [element][3] of the edges of some elements along each direction."""
    corners = part.vertices(deformation, element_ids)
    found = []
    for axis in range(3):
        low = [q for q in range(8) if not q >> axis & 1]
        high = [q | 1 << axis for q in low]
        found.append(np.linalg.norm(corners[:, high] - corners[:, low], axis=-1).mean(axis=1))
    return np.stack(found, axis=1)


def line_problems(part: Part, basis: Basis, deformation: float) -> tuple[LineProblems, Ids]:
    """Return the problems of a rank's subdomains, and the kind [element][3] of each along x, y, z."""
    strides = np.cumprod([1, *part.all_elements[:2]])
    own = mean_lengths(part, part.element_ids, deformation)
    lengths = np.zeros((part.count, 3, 3))
    for axis in range(3):
        lengths[:, axis, 1] = own[:, axis]
        for side, to in ((0, -1), (1, 1)):
            there = (part.open >> (2 * axis + side) & 1).astype(bool)
            beyond = part.element_ids[there] + to * strides[axis]
            lengths[there, axis, 2 * side] = mean_lengths(part, beyond, deformation)[:, axis]
    kinds, which = np.unique(lengths.reshape(-1, 3), axis=0, return_inverse=True)
    made = [line_problem(basis, *kind) for kind in kinds]
    problems = LineProblems(np.stack([vectors for vectors, _ in made]), np.stack([values for _, values in made]))
    return problems, which.reshape(-1, 3)


def layer_ids(part: Part, *, elsewhere: bool = False) -> Ids:
    """Return ids of the layers' values [element][side][point]: the same for both elements of a side; 0 where closed.

    `elsewhere`: 0 also where the element beyond is the rank's own.
    """
    square = part.points**2
    strides = np.cumprod([1, *part.all_elements[:2]])
    total = int(np.prod(part.all_elements))
    ids = np.zeros((part.count, SIDES, square), np.int64)
    for side in range(SIDES):
        axis, high = divmod(side, 2)
        there = (part.open >> side & 1).astype(bool)
        if elsewhere:
            beyond = [1, 1, 1]
            beyond[2 - axis] = 2 * high
            there &= part.apart.reshape(-1, 27)[:, np.ravel_multi_index(beyond, (3, 3, 3))]
        lower = part.element_ids[there] - (0 if high else strides[axis])
        ids[there, side] = 1 + (axis * total + lower)[:, None] * square + np.arange(square)
    return ids


def unknowns(all_elements: Triple) -> int:
    """Return the number of unknowns of a coarse grid: corners inside a brick of elements."""
    return int(np.prod([count - 1 for count in all_elements]))


def subdomain_flops(nx1: int) -> float:
    """Flops of the solution of a subdomain, per point of its element: six products with small matrices, a division."""
    m = nx1 + 2
    return (12 * m**4 + 3 * m**3) / nx1**3
