"""The coarse grid of the additive Schwarz preconditioner: trilinear functions between the corners of all elements.

To z = M^-1 r comes P A0^-1 P^T r: P interpolates from corners to points, A0 = P^T A P (Lottes & Fischer 2005,
doi:10.1007/s10915-004-4787-3). The right-hand side is summed over ranks while subdomains are solved; then every rank
solves the whole problem by the same sparse factors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.collective import proceed
from tradewind.dwarfs.frame.step import kernel
from tradewind.dwarfs.nekbone.loops import Run
from tradewind.dwarfs.nekbone.reference import SHIFT
from tradewind.dwarfs.nekbone.schwarz import unknowns
from tradewind.dwarfs.nekbone.spectral_elements import Basis, Ids, Part, Values

if TYPE_CHECKING:
    from tradewind.dwarfs.nekbone.request import NekboneRequest

CORNERS = 8
FILL, GROWTH = 1.5, 1.55
"""Numbers of a triangular factor: FILL unknowns^GROWTH, measured from 343 to 17576 unknowns on cubes, within 5 %."""


def corner_unknowns(part: Part) -> Ids:
    """Return the unknowns [element][corner] of a rank's elements; -1 for corners on the boundary."""
    number, inside = np.zeros((part.count, CORNERS), np.int64), np.ones((part.count, CORNERS), bool)
    stride = 1
    for axis, (at, count) in enumerate(zip(part.places, part.all_elements, strict=True)):
        place = at[:, None] + (np.arange(CORNERS) >> axis & 1)
        inside &= (place > 0) & (place < count)
        number += stride * (place - 1)
        stride *= count - 1
    return np.where(inside, number, -1)


def corner_functions(basis: Basis) -> Values:
    """Return the values [corner][k][j][i] of the functions that are 1 at a corner, 0 at others, and trilinear."""
    ends = np.stack([1 - basis.nodes, 1 + basis.nodes]) / 2
    return np.stack([np.einsum("k,j,i->kji", ends[q >> 2], ends[q >> 1 & 1], ends[q & 1]) for q in range(CORNERS)])


def solution_flops(dwarf: NekboneRequest) -> float:
    """Flops of the solution, per unknown: two triangular factors, each number multiplied and added."""
    return float(4 * FILL * unknowns(dwarf.all_elements) ** (GROWTH - 1))


@kernel(2 * CORNERS + 1, 2)
def restrict(run: Run, which: Any) -> None:
    """The right-hand side of this rank's elements."""
    run.coarse.restrict(run.r)


@kernel(solution_flops, once=True)
def solve_coarse(run: Run, which: Any) -> None:
    """Solve the coarse problem, as every rank does."""
    run.coarse.solve()


@kernel(2 * CORNERS + 3, 3, once=True)
def interpolate(run: Run, which: Any) -> None:
    """Add the coarse solution to z; r z."""
    run.coarse.add(run.z)
    run.elements.dot(run.r, run.z, run.squares, run.team)


class CoarseGrid:
    """The coarse problem on a rank; `sum` is what is summed over ranks."""

    def __init__(self, run: Run) -> None:
        """Assemble and factorise the problem of all ranks. Collective."""
        part: Part = run.brick
        corners = corner_unknowns(part)
        self._functions = corner_functions(run.basis)
        self._places, self._inside = corners[corners >= 0], corners >= 0
        self._shares = part.shares().astype(run.dwarf.precision)
        self._flat = self._functions.reshape(CORNERS, -1).astype(run.dwarf.precision)
        own = self._element_matrices(run)
        proceed(run.comm)
        parts = run.comm.allgather((corners, own))
        self.count = unknowns(part.all_elements)
        self.sum = np.zeros(self.count, run.dwarf.precision)
        self._factors = _factorised(self.count, *(np.concatenate(each) for each in zip(*parts, strict=True)))
        self._found = np.zeros_like(corners, run.dwarf.precision)

    def _element_matrices(self, run: Run) -> Values:
        """The operator of each element between its corners, [element][corner][corner]."""
        shape, which = run.brick.shape, np.arange(run.brick.count, dtype=np.int32)
        found = np.empty((shape[0], CORNERS, CORNERS))
        out = np.empty(shape, run.dwarf.precision)
        for corner, values in enumerate(self._functions):
            field = np.ascontiguousarray(np.broadcast_to(values, shape), run.dwarf.precision)
            run.operator.apply(which, field, out, run.team)
            found[:, :, corner] = np.einsum("pkji,ekji->ep", self._functions, out, optimize=True)
        if run.mass is None:  # what is added after the sum over elements: each point counts once
            functions, shares = self._functions, run.brick.shares()
            found += SHIFT * np.einsum("pkji,qkji,ekji->epq", functions, functions, shares, optimize=True)
        return (found + np.swapaxes(found, 1, 2)) / 2

    def restrict(self, r: Any) -> None:
        """Compute P^T r of this rank's elements."""
        own = (self._shares * r).reshape(len(r), -1) @ self._flat.T
        self.sum[:] = np.bincount(self._places, own[self._inside], minlength=self.count)

    def solve(self) -> None:
        """Solve for the sum, and keep the values at this rank's corners."""
        self._found[self._inside] = self._factors.solve(self.sum.astype(np.float64))[self._places]

    def add(self, z: Any) -> None:
        """Interpolate the solution, and add it."""
        z += (self._found @ self._flat).reshape(z.shape)


def _factorised(count: int, corners: Ids, matrices: Values) -> Any:
    """The factors of the assembled problem; corners [element][corner], matrices [element][corner][corner]."""
    from scipy import sparse  # here, as all commands import this module
    from scipy.sparse.linalg import splu

    rows = np.broadcast_to(corners[:, :, None], matrices.shape)
    columns = np.broadcast_to(corners[:, None, :], matrices.shape)
    kept = (rows >= 0) & (columns >= 0)
    matrix = sparse.csc_matrix((matrices[kept], (rows[kept], columns[kept])), shape=(count, count))
    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
