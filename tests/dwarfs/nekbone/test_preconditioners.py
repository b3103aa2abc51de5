"""Preconditioners of the dwarf nekbone against matrices that are assembled, and by the iterations that they save."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("mpi4py.MPI")

from mpi4py import MPI

from tradewind.base.errors import InputError
from tradewind.dwarfs.nekbone import Nekbone
from tradewind.dwarfs.nekbone.preconditioner import precondition
from tradewind.dwarfs.nekbone.reference import SHIFT
from tradewind.dwarfs.nekbone.run import NekboneRun


def assembled(run: NekboneRun) -> sparse.csr_matrix:
    """The operator on all points of the brick, from what each element does to values that are 1 at one point."""
    count, volume = run.brick.count, run.brick.points**3
    blocks = np.empty((count, volume, volume))
    which, out = np.arange(count, dtype=np.int32), np.empty(run.brick.shape)
    for place in range(volume):
        unit = np.zeros((count, volume))
        unit[:, place] = 1
        run.operator.apply(which, unit.reshape(run.brick.shape), out, run.team)
        blocks[:, :, place] = out.reshape(count, volume)
    gather = copies(run)
    matrix = gather.T @ sparse.block_diag(list(blocks)) @ gather
    return matrix if run.dwarf.mass else matrix + SHIFT * sparse.identity(matrix.shape[0])


def copies(run: NekboneRun) -> sparse.csr_matrix:
    """The matrix [copy][point] that gives each copy the value of its point."""
    points = run.brick.ids().ravel() - 1
    return sparse.csr_matrix((np.ones(points.size), (np.arange(points.size), points)))


def applied(run: NekboneRun, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A residual at random that is 0 on the boundary, and what the preconditioner makes of it."""
    values = np.random.default_rng(seed).normal(size=copies(run).shape[1])[run.brick.ids() - 1]
    run.r[:] = values * run.brick.inside()
    precondition(run)
    return run.r.copy(), run.z.copy()


@pytest.mark.parametrize("mass", [False, True])
def test_jacobi_divides_by_the_diagonal_of_the_assembled_matrix(mass):
    request = Nekbone(1, elements=(2, 1, 2), nx1=4, deformation=0.15, mass=mass, preconditioner="jacobi")
    run = request.on(MPI.COMM_SELF)
    wanted = assembled(run).diagonal()[run.brick.ids() - 1]
    r, z = applied(run, 1)
    assert z * wanted == pytest.approx(r, rel=1e-13)
    assert run.squares.sum() == pytest.approx((run.brick.shares() * r * z).sum(), rel=1e-13)


@pytest.mark.parametrize("points", [3, 4, 6])
def test_schwarz_solves_in_each_subdomain_as_a_dense_matrix_does(points):
    """On cubes the operator of a subdomain is that of the assembled matrix between its points."""
    request = Nekbone(1, elements=(3, 2, 1), nx1=points, mass=True, preconditioner="schwarz")
    run = request.on(MPI.COMM_SELF)
    matrix, (x, y, z) = assembled(run).tocsr(), run.brick.indices()
    shape = [count * (points - 1) + 1 for count in run.brick.all_elements]
    inside = np.zeros(shape[::-1], bool)
    inside[1:-1, 1:-1, 1:-1] = True
    r, found = applied(run, 2)
    one_copy = np.zeros(matrix.shape[0])
    one_copy[run.brick.ids().ravel() - 1] = r.ravel()
    boxes = []
    for element in range(run.brick.count):
        box = np.zeros(shape[::-1], int)
        ranges = [np.arange(at[element, 0] - 1, at[element, -1] + 2) for at in (z, y, x)]
        kept = [each[(each >= 0) & (each < count)] for each, count in zip(ranges, shape[::-1], strict=True)]
        box[np.ix_(*kept)] = 1
        beyond = [(at < each[1]) | (at > each[-2]) for at, each in zip(np.indices(box.shape), ranges, strict=True)]
        box[np.sum(beyond, axis=0) > 1] *= 2  # edges beyond the element: they are solved for, and left out
        boxes.append((box * inside).ravel())
    weights = 1 / np.sqrt(np.maximum(1, np.sum([box == 1 for box in boxes], axis=0)))
    wanted = np.zeros_like(one_copy)
    for box in boxes:
        places = np.flatnonzero(box)
        right = np.where(box == 1, weights * one_copy, 0.0)[places]
        solved = np.linalg.solve(matrix[places][:, places].toarray(), right)
        wanted[places] += np.where(box[places] == 1, solved, 0.0)
    wanted = (weights * wanted)[run.brick.ids() - 1]
    assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_the_schwarz_preconditioner_is_symmetric_and_positive():
    request = Nekbone(1, elements=(2, 2, 2), nx1=5, deformation=0.2, preconditioner="schwarz")
    run = request.on(MPI.COMM_SELF)
    (r, z), (other, of_other) = (applied(run, seed) for seed in (3, 4))
    shares = run.brick.shares()
    assert (shares * r * of_other).sum() == pytest.approx((shares * other * z).sum(), rel=1e-12)
    assert (shares * r * z).sum() > 0


@pytest.mark.parametrize("mass", [False, True])
def test_the_coarse_grid_solves_between_corners_as_a_dense_matrix_does(mass):
    """On deformed elements: the coarse matrix is made of the assembled one."""
    common = {"elements": (3, 2, 2), "nx1": 4, "deformation": 0.15, "mass": mass, "preconditioner": "schwarz"}
    found = []
    for coarse in (False, True):
        run = Nekbone(1, coarse=coarse, **common).on(MPI.COMM_SELF)
        r, z = applied(run, 5)
        found.append(z)
    lines = []
    for count in run.brick.all_elements:
        points = np.unique((np.arange(count)[:, None] + (1 + run.basis.nodes) / 2).round(12))
        units = np.eye(count + 1)[1:-1]
        lines.append(np.stack([np.interp(points, np.arange(count + 1), unit) for unit in units], axis=1))
    interpolation = np.kron(np.kron(lines[2], lines[1]), lines[0])
    right = np.zeros(len(interpolation))
    right[run.brick.ids().ravel() - 1] = r.ravel()
    matrix = interpolation.T @ (assembled(run) @ interpolation)
    wanted = (interpolation @ np.linalg.solve(matrix, interpolation.T @ right))[run.brick.ids() - 1]
    assert np.abs(found[1] - found[0] - wanted).max() < 1e-10 * np.abs(wanted).max()
    assert run.squares.sum() == pytest.approx((run.brick.shares() * r * found[1]).sum(), rel=1e-12)


def test_with_a_coarse_grid_iterations_do_not_grow_with_the_elements():
    """As of Lottes & Fischer 2005; without one they grow."""
    count = {
        (coarse, side): iterations(
            elements=(side,) * 3, nx1=5, side="global", preconditioner="schwarz", coarse=coarse, deformation=0.1
        )
        for coarse in (False, True)
        for side in (3, 6)
    }
    assert count[True, 6] <= count[True, 3] + 2
    assert count[False, 6] > count[False, 3] + 5
    assert count[True, 6] < 0.7 * count[False, 6]


def iterations(**options: object) -> int:
    run = Nekbone(1, mass=True, reduction=1e-8, **options).on(MPI.COMM_SELF)
    run.advance(1000)
    return run.diagnose().iterations


def test_schwarz_needs_fewer_iterations_and_they_grow_less_with_the_degree():
    """Without a preconditioner they grow as nx1 to the power of 1.5, from 5 to 10 points 2.8 times."""
    count = {
        (name, nx1): iterations(elements=(2, 2, 2), nx1=nx1, side="global", preconditioner=name)
        for name in ("none", "jacobi", "schwarz")
        for nx1 in (5, 10)
    }
    assert 2.4 < count["none", 10] / count["none", 5] < 3.2
    for nx1 in (5, 10):
        assert count["schwarz", nx1] < count["jacobi", nx1] / 3 < count["none", nx1] / 3
    assert count["schwarz", 10] < 2 * count["schwarz", 5]
    assert iterations(elements=(1, 1, 1), nx1=7, preconditioner="schwarz") == 1  # there it is the inverse


def test_what_has_no_coarse_grid():
    with pytest.raises(InputError) as error:
        Nekbone(1, coarse=True, elements=(1, 2, 2), sums="reproducible")
    assert list(error.value.problems) == [
        "coarse: preconditioner none has no coarse grid; preconditioner schwarz is allowed",
        "coarse: no corner of 1x2x2 elements lies inside; 2x2x2 or more are allowed",
        "coarse: its sum over ranks is plain; sums plain is allowed",
    ]
    with pytest.raises(InputError, match="preconditioner jacobi: strategy pipelined has none"):
        Nekbone(1, preconditioner="jacobi", strategy="pipelined")
    with pytest.raises(InputError, match="with mask nekbone the operator is not symmetric"):
        Nekbone(1, preconditioner="jacobi", mask="nekbone")
    with pytest.raises(InputError, match="elements of 2 points have no inner layer"):
        Nekbone(1, preconditioner="schwarz", nx1=2)


def test_a_preconditioned_solver_finds_the_known_solution():
    for name in ("jacobi", "schwarz"):
        request = Nekbone(
            1, elements=(2, 2, 2), nx1=8, deformation=0.1, mass=True, side="wave", preconditioner=name, reduction=1e-11
        )
        run = request.on(MPI.COMM_SELF)
        run.advance(200)
        assert run.diagnose().iterations < 100
        assert run.error() < 2e-5
