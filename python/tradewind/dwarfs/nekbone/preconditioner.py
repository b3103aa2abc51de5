"""Preconditioners of the dwarf nekbone on MPI ranks: their arrays, loops and exchanges.

Jacobi divides by the diagonal of the assembled operator. The additive Schwarz method solves on overlapping subdomains
(`schwarz`), between two exchanges of layers, and sums over elements. Weights before and after, the root of the inverse
number of subdomains that have a point, keep it symmetric, as conjugate gradients need it. A coarse grid is added to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.dwarfs.frame.step import kernel
from tradewind.dwarfs.nekbone.coarse import CoarseGrid, interpolate, restrict, solve_coarse
from tradewind.dwarfs.nekbone.loops import Run, sum_over_elements
from tradewind.dwarfs.nekbone.reference import SHIFT
from tradewind.dwarfs.nekbone.schwarz import SIDES, layer_ids, line_problems, subdomain_flops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.dwarfs.frame.step import Step
    from tradewind.dwarfs.nekbone.spectral_elements import Values

SUBDOMAINS: dict[str, Any] = {"f4": _core.SingleSubdomains, "f8": _core.Subdomains}


def local_diagonal(run: Run) -> Values:
    """Return the diagonal of the operator of each element alone, [element][k][j][i]."""
    shape, by = run.brick.shape, run.basis.derivative
    factors = np.empty((shape[0], SIDES, *shape[1:]))
    run.elements.factors(factors, run.team)
    xx, xy, xz, yy, yz, zz = (factors[:, row] for row in range(SIDES))
    squares, own = by**2, by.diagonal()
    found: Values = np.einsum("mi,ekjm->ekji", squares, xx)
    found += np.einsum("mj,ekmi->ekji", squares, yy)
    found += np.einsum("mk,emji->ekji", squares, zz)
    i, j, k = own, own[:, None], own[:, None, None]
    found += 2 * (i * j * xy + i * k * xz + j * k * yz)
    return found if run.mass is None else found + SHIFT * run.mass


@kernel(3, 4)
def divide_by_diagonal(run: Run, which: NDArray[np.int32]) -> None:
    """The Jacobi preconditioner, and its r z."""
    run.elements.scale(run.scale, run.r, run.r, run.z, run.squares, run.team)


@kernel(lambda dwarf: 6 / dwarf.nx1, lambda dwarf: 18 / dwarf.nx1)
def take_layers(run: Run, which: NDArray[np.int32]) -> None:
    """The layers of the weighted residual that subdomains of other elements have, too."""
    run.subdomains.take_layers(run.r, run.layers, run.team)


@kernel(lambda dwarf: subdomain_flops(dwarf.nx1), lambda dwarf: 3 + 12 / dwarf.nx1, once=True)
def solve_subdomains(run: Run, which: NDArray[np.int32]) -> None:
    """Solve on all subdomains."""
    run.subdomains.solve(run.r, run.layers, run.z, run.team)


@kernel(lambda dwarf: 6 / dwarf.nx1, lambda dwarf: 18 / dwarf.nx1, once=True)
def add_layers(run: Run, which: NDArray[np.int32]) -> None:
    """Add what subdomains of other elements have found for the layers of this rank's."""
    run.subdomains.add_layers(run.layers, run.z, run.team)


@kernel(3, 4, once=True)
def weigh_solutions(run: Run, which: NDArray[np.int32]) -> None:
    """Weigh the sums of the subdomains' solutions; r z."""
    run.elements.scale(run.scale, run.z, run.r, run.z, run.squares, run.team)


def precondition(step: Step) -> None:
    """Compute z = M^-1 r, and the parts of r z."""
    if step.dwarf.preconditioner == "jacobi":
        step.compute(divide_by_diagonal, points="all", label="preconditioner")
    elif step.dwarf.preconditioner == "schwarz":
        if step.dwarf.coarse:
            step.compute(restrict, points="all", label="coarse right-hand side")
            step.start("coarse", "coarse", "start of coarse sum")
        step.compute(take_layers, points="all", label="layers")
        step.exchange("layers", "layers", "exchange of layers")
        step.compute(solve_subdomains, points="all", label="subdomains")
        step.exchange("layers", "layers", "exchange of solutions")
        step.compute(add_layers, points="all", label="sum of layers")
        sum_over_elements(step, "preconditioner, ", vector="z")
        step.compute(weigh_solutions, points="all", label="preconditioner")
        if step.dwarf.coarse:
            step.wait("coarse", "coarse sum")
            step.compute(solve_coarse, points="coarse", label="coarse solution")
            step.compute(interpolate, points="all", label="interpolation")


def make_preconditioner(run: Run) -> None:
    """Make what the preconditioner of a run needs, in arrays that plans of the run exchange. Collective."""
    if run.dwarf.preconditioner == "jacobi":
        run.scale = _inverse_diagonal(run)
    elif run.dwarf.preconditioner == "schwarz":
        problems, kinds = line_problems(run.brick, run.basis, run.dwarf.deformation)
        precision = run.dwarf.precision
        tables = (problems.vectors, np.swapaxes(problems.vectors, 1, 2), problems.values)
        vectors, transposed, values = (np.ascontiguousarray(each, precision) for each in tables)
        flat = kinds.ravel().astype(np.int32)
        run.scale = np.ones(run.brick.shape, precision)
        made = SUBDOMAINS[precision]
        run.subdomains = made(run.elements, flat, vectors, transposed, values, run.dwarf.schwarz_shift, run.scale)
        run.scale[:] = 1 / np.sqrt(_subdomains_of_points(run))
        if run.dwarf.coarse:
            run.coarse = CoarseGrid(run)
            run.add_sum("coarse", run.coarse.sum)


def _inverse_diagonal(run: Run) -> Any:
    run.w[:] = local_diagonal(run)
    run.sum_copies("w")
    whole = run.w.astype(np.float64) + (SHIFT if run.mass is None else 0.0)
    return np.ascontiguousarray(1 / whole, run.dwarf.precision)


def _subdomains_of_points(run: Run) -> Values:
    """Return the number of subdomains that have each point: what they would return if each returned 1."""
    run.layers[:] = (layer_ids(run.brick) > 0).reshape(run.layers.shape)
    run.z[:] = 1
    run.subdomains.add_layers(run.layers, run.z, run.team)
    run.sum_copies("z")
    return np.asarray(run.z, np.float64).copy()
