"""The loops of the dwarf helmholtz: the operator beside a sparse matrix, columns beside SciPy, sums beside fsum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.helmholtz import reference
from tradewind.dwarfs.helmholtz.operator import Atmosphere, blocked, columns, stencil

TEAM = _core.Team(1)


def problem(grid=(9, 7, 5), hill_m=2500.0, step_s=15.0) -> Atmosphere:
    return Atmosphere(grid, 1500.0, 18000.0, hill_m, step_s, 0.7)


def factors_of(air: Atmosphere):
    return stencil(air, ((0, 0, 0), air.grid))


def field_of(air: Atmosphere, seed: int = 1):
    nx, ny, nz = air.grid
    return np.random.default_rng(seed).normal(size=(nz, ny, nx))


def with_halo(field):
    return np.pad(field, ((0, 0), (1, 1), (1, 1)), mode="wrap")


@pytest.mark.parametrize("grid", [(9, 7, 5), (3, 3, 3), (1, 8, 4), (40, 2, 11)])
@pytest.mark.parametrize("hill_m", [0.0, 6000.0])
def test_the_operator_is_that_of_a_sparse_matrix(grid, hill_m):
    air = problem(grid, hill_m)
    field, factors = field_of(air), factors_of(air)
    out, again = np.full_like(field, np.nan), np.full_like(field, np.nan)
    factors = blocked(factors)
    _core.helmholtz(with_halo(field), factors, out, TEAM)
    wanted = (reference.matrix(air) @ field.reshape(-1)).reshape(field.shape)
    assert np.abs(out - wanted).max() < 1e-14 * np.abs(wanted).max()
    # Rows in parts, and levels on threads, have the same bits.
    for rows in (slice(0, 1), slice(1, 2), slice(2, grid[1])):
        around = slice(rows.start, rows.stop + 2)
        _core.helmholtz(with_halo(field)[:, around], factors[:, rows], again[:, rows], _core.Team(3))
    assert (out == again).all()


def test_the_matrix_is_anisotropic_and_not_symmetric():
    for hill_m, apart in ((0.0, 1e-4), (2500.0, 5e-2)):
        matrix = reference.matrix(problem((6, 5, 40), hill_m)).toarray()
        assert np.abs(matrix - matrix.T).max() > apart * np.abs(matrix).max()
        middle = matrix[20 * 30 + 15].reshape(40, 5, 6)[:, 2]  # of the point (3, 2), level 20
        assert middle[20, 3] > 1
        assert middle[[19, 21], 3].max() < -0.3 * middle[20, 3]
        assert middle[20, [2, 4]].min() > -0.1 * middle[20, 3]


def test_a_part_has_the_factors_of_the_whole():
    air = problem()
    whole = factors_of(air)
    part = stencil(air, ((2, 3, 0), (7, 6, 5)))
    assert (part == whole[:, 3:6, :, 2:7]).all()


@pytest.mark.parametrize("grid", [(9, 7, 5), (300, 2, 3), (1, 1, 40)])
def test_columns_are_solved_as_scipy_does(grid):
    air = problem(grid)
    factors = factors_of(air)
    solver = blocked(columns(factors), rows_first=True)
    right, minus, plus = (field_of(air, seed) for seed in (1, 2, 3))
    plain, more, again = (np.empty_like(right) for _ in range(3))
    _core.solve_columns(right, solver, plain, TEAM)
    _core.solve_columns(right, solver, more, TEAM, minus, plus)
    _core.solve_columns(right, solver, again, _core.Team(3))
    assert (plain == again).all()
    for y in range(grid[1]):
        for x in range(0, grid[0], 37):
            here, below, above = (factors[:, y, place, x] for place in range(3))
            bands = np.array([[0.0, *above[:-1]], here, [*below[1:], 0.0]])
            for found, wanted in (
                (plain[:, y, x], scipy.linalg.solve_banded((1, 1), bands, right[:, y, x])),
                (
                    more[:, y, x] - plus[:, y, x],
                    scipy.linalg.solve_banded((1, 1), bands, right[:, y, x] - minus[:, y, x]),
                ),
            ):
                assert np.abs(found - wanted).max() < 1e-13 * max(1.0, np.abs(wanted).max())


def test_a_singular_column_is_said():
    factors = np.zeros((4, 2, 15, 3))
    factors[:, :, 0] = 1.0
    factors[2, 1, 0, 2] = 0.0
    with pytest.raises(InputError, match=r"the column at \(x, y\) = \(2, 1\) of a rank is singular at level 2"):
        columns(factors)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda a: _core.helmholtz(a, np.zeros((4, 3, 1, 15, 8)), np.zeros((4, 3, 5)), TEAM), "one point more"),
        (lambda a: _core.helmholtz(with_halo(a), np.zeros((4, 3, 1, 14, 8)), a.copy(), TEAM), "15 of each point"),
        (lambda a: _core.helmholtz(with_halo(a)[:2], np.zeros((2, 3, 1, 15, 8)), a[:2].copy(), TEAM), "2 levels: 3"),
        (lambda a: _core.solve_columns(a, np.zeros((4, 3, 1, 3, 8)), a[:3].copy(), TEAM), "factors: 3 of each point"),
        (lambda a: _core.solve_columns(a[:, :2], np.zeros((4, 3, 1, 3, 8)), a.copy(), TEAM), "arrays of one shape"),
        (lambda a: _core.products([(a, a[1:])], TEAM), "arrays of one shape"),
        (lambda a: _core.products([(a, a[:, :, ::2])], TEAM), "adjacent along x"),
        (lambda a: _core.combine(a, [], TEAM), "0 terms: 1..8"),
        (lambda a: _core.combine(a, [(1.0, a)] * 9, TEAM), "9 terms: 1..8"),
        (lambda a: _core.combine(a, [(1.0, a[1:])], TEAM), "arrays of one shape"),
    ],
)
def test_what_cannot_be_is_said(call, expected):
    with pytest.raises(InputError, match=expected):
        call(np.zeros((4, 3, 5)))
