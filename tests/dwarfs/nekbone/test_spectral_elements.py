"""Spectral elements: points, geometry, and the compiled loops against NumPy and against Nekbone's own numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.nekbone.reference import SHIFT, ReferenceNekbone, gather_scatter
from tradewind.dwarfs.nekbone.spectral_elements import Brick, basis, groups_by_id, nekbone_side

TEAM = _core.Team(1)


@pytest.mark.parametrize("points", [2, 3, 4, 7, 10, 16, 32])
def test_quadrature_and_derivatives_are_exact_for_polynomials(points):
    """Quadrature up to degree 2 n - 3, derivatives up to degree n - 1: known in closed form."""
    made = basis(points)
    assert made.nodes[0] == -1
    assert made.nodes[-1] == 1
    for degree in range(2 * points - 2):
        exact = 2 / (degree + 1) if degree % 2 == 0 else 0.0
        assert made.weights @ made.nodes**degree == pytest.approx(exact, abs=1e-13)
    for degree in range(1, points):
        slope = made.derivative @ made.nodes**degree
        assert np.abs(slope - degree * made.nodes ** (degree - 1)).max() < 1e-10
    assert 2 * made.weights[0] == pytest.approx(4 / (points * (points - 1)), rel=1e-13)


def test_points_of_five_are_those_of_the_books():
    """Abramowitz & Stegun 1964, table 25.6."""
    made = basis(5)
    assert made.nodes[3] == pytest.approx(math.sqrt(3 / 7), abs=1e-15)
    assert made.weights == pytest.approx([1 / 10, 49 / 90, 32 / 45, 49 / 90, 1 / 10], abs=1e-15)


def shapes(points: int) -> tuple[Brick, _core.Elements, np.ndarray]:
    brick = Brick(points, (3, 2, 2))
    u = np.random.default_rng(points).random(brick.shape)
    return brick, brick.core_elements(basis(points), 0.15), u


@pytest.mark.parametrize("points", range(2, 14))
@pytest.mark.parametrize("stored", [False, True])
def test_the_operator_of_deformed_elements_is_that_of_numpy(points, stored):
    """For each number of points that is compiled, and for others."""
    brick, elements, u = shapes(points)
    factors = None
    if stored:
        factors = np.empty((brick.count, 6, points, points, points))
        elements.factors(factors, TEAM)
    mass = np.empty(brick.shape)
    elements.mass(mass, TEAM)
    for with_mass in (None, mass):
        reference = ReferenceNekbone(
            brick, basis(points), 0.15, mass=with_mass is not None, mask=brick.inside().astype(float)
        )
        found = np.empty_like(u)
        operator = _core.ElementOperator(elements, SHIFT, factors, with_mass)
        operator.apply(np.arange(brick.count, dtype=np.int32), u, found, TEAM)
        brick.core_brick().sum_shared(found, TEAM)
        operator.complete(u, found, TEAM)
        wanted = reference.apply(u)
        assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_the_volume_of_the_brick_is_kept():
    """The displacement leaves the sides of the brick planes: its volume is known."""
    brick, elements, _ = shapes(6)
    mass = np.empty(brick.shape)
    elements.mass(mass, TEAM)
    assert mass.sum() == pytest.approx(6 * 4 * 4, rel=1e-13)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_loops_of_conjugate_gradients_are_those_of_numpy(threads):
    brick, elements, r = shapes(10)
    r *= brick.inside()
    team, which = _core.Team(threads), np.arange(brick.count, dtype=np.int32)
    operator = _core.ElementOperator(elements, SHIFT)
    reference = ReferenceNekbone(brick, basis(10), 0.15, mass=False, mask=brick.inside().astype(float))
    rng = np.random.default_rng(0)
    p = gather_scatter(brick.ids(), rng.random(brick.shape)) * brick.inside()
    r = gather_scatter(brick.ids(), r)
    direction, x, w, sums = p.copy(), rng.random(brick.shape), np.empty_like(p), np.empty(brick.count)
    operator.apply_to_direction(which, 0.3, r, direction, w, sums, team)
    assert np.array_equal(direction, r + 0.3 * p)
    product = reference.apply(direction)
    assert sums.sum() == pytest.approx(reference.dot(direction, product), rel=1e-12)
    brick.core_brick().sum_shared(w, team)
    next_x, next_r = x.copy(), r.copy()
    operator.update(0.7, direction, w, next_x, next_r, sums, team)
    assert np.abs(next_x - (x + 0.7 * direction)).max() < 1e-13
    assert np.abs(next_r - (r - 0.7 * product)).max() < 1e-11 * np.abs(product).max()
    assert sums.sum() == pytest.approx(reference.dot(next_r, next_r), rel=1e-12)
    elements.dot(next_r, x, sums, team)
    assert sums.sum() == pytest.approx(reference.dot(next_r, x), rel=1e-12)


def test_the_loop_of_pipelined_conjugate_gradients_is_that_of_numpy():
    brick, elements, _ = shapes(10)
    operator = _core.ElementOperator(elements, SHIFT)
    rng = np.random.default_rng(0)
    x, r, w, p, s, z, q = (rng.random(brick.shape) * brick.inside() for _ in range(7))
    sums = np.empty((2, brick.count))
    found = [each.copy() for each in (x, r, w, p, s, z)]
    operator.update_pipelined(0.6, 0.2, q, tuple(found), sums, TEAM)
    z, s, p = (q + SHIFT * w) + 0.2 * z, w + 0.2 * s, r + 0.2 * p
    wanted = (x + 0.6 * p, r - 0.6 * s, w - 0.6 * z, p, s, z)
    for one, other in zip(found, wanted, strict=True):
        assert np.abs(one - other).max() < 1e-14
    shares = brick.shares()
    assert sums.sum(axis=1) == pytest.approx([(shares * wanted[1] * wanted[i]).sum() for i in (1, 2)], rel=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_own_copies_are_summed_by_strides_and_by_lists_alike(threads):
    """Whole numbers, so that every order has the same sum; points that other ranks share are left alone."""
    team = _core.Team(threads)
    for split, rank in (((1, 1, 1), 0), ((3, 2, 2), 4), ((1, 1, 3), 1)):
        brick = Brick(5, (3, 2, 4), split, rank)
        values = np.random.default_rng(1).integers(0, 1000, brick.shape).astype(float)
        own = np.where(brick.shared(), 0, brick.ids())
        _, ids = np.unique(own, return_inverse=True)
        wanted = np.where(own > 0, gather_scatter(ids.reshape(own.shape), values), values)
        by_strides, by_lists = values.copy(), values.copy()
        brick.core_brick().sum_shared(by_strides, team)
        _core.sum_by_lists(*groups_by_id(own), by_lists, team)
        assert np.array_equal(by_strides, wanted)
        assert np.array_equal(by_lists, wanted)


def test_copies_of_points_count_once():
    brick = Brick(4, (2, 3, 2), (2, 2, 1), 3)
    whole = brick.whole
    assert whole.shares().sum() == (4 * 3 + 1) * (6 * 3 + 1) * (2 * 3 + 1)
    assert np.array_equal(brick.shares(), whole.shares()[brick.element_ids])
    assert np.array_equal(brick.ids(), whole.ids()[brick.element_ids])
    assert np.array_equal(brick.inside(), whole.inside()[brick.element_ids])
    assert np.array_equal(brick.shares(), 1 / np.bincount(whole.ids().ravel())[brick.ids()])


def classic(points: int, count: tuple[int, int, int], *, wraps: bool = True, first_only: bool = False) -> list[float]:
    """Norms of Nekbone's residuals by NumPy alone, those of 0 and of 100 iterations."""
    brick = Brick(points, count)
    side = nekbone_side(brick.count * points**3, wraps=wraps).reshape(brick.shape)
    r = gather_scatter(brick.ids(), side) * brick.shares() * brick.inside()
    mask = brick.inside().astype(float)
    if first_only:
        mask[1:] = 1
    solver = ReferenceNekbone(brick, basis(points), 0.0, mass=False, mask=mask)
    _, last = solver.solve(np.zeros_like(r), r, 100)
    return [math.sqrt(solver.dot(each, each)) for each in (r, last)]


@pytest.mark.parametrize(
    ("points", "count", "first", "last"),
    [(10, (1, 1, 1), 16.117, None), (8, (2, 2, 2), 31.474, 9.8759e-9), (10, (5, 5, 2), 120.64, 1.0789e-8)],
)
def test_the_reference_has_the_residuals_of_nekbone(points, count, first, last):
    """Printed by Nekbone itself on one rank, with its mask; a point has one element, or its first element is masked."""
    found = classic(points, count, first_only=True)
    assert found[0] == pytest.approx(first, rel=4e-5)
    if last is not None:
        assert found[1] == pytest.approx(last, rel=5e-4)


def test_nekbone_wraps_around_at_46341():
    assert np.array_equal(nekbone_side(46340), nekbone_side(46340, wraps=False))
    assert nekbone_side(1, 46341) != nekbone_side(1, 46341, wraps=False)
    assert classic(10, (5, 5, 2))[0] == pytest.approx(120.644, abs=5e-4)
    assert classic(10, (5, 5, 2), wraps=False)[0] == pytest.approx(120.665, abs=5e-4)


def test_bad_input():
    made, brick = basis(4), Brick(4, (2, 1, 1))
    vertices = brick.vertices(0.0)
    with pytest.raises(InputError, match=r"element 1 has no volume, or is inside out, at its point 0"):
        _core.Elements(made.nodes, made.weights, made.derivative, vertices * [[[1.0]], [[-1.0]]], brick.open)
    with pytest.raises(InputError, match=r"points 33: 2..32 in each direction"):
        _core.Elements(np.ones(33), np.ones(33), np.ones((33, 33)), vertices, brick.open)
    with pytest.raises(InputError, match=r"vertices: 24 values: 48 are allowed"):
        _core.Elements(made.nodes, made.weights, made.derivative, vertices[:1], brick.open)
    elements = brick.core_elements(made, 0.0)
    operator = _core.ElementOperator(elements, 0.1)
    u, out = np.zeros(brick.shape), np.zeros(brick.shape)
    with pytest.raises(InputError, match=r"element 2: 0..1 are allowed"):
        operator.apply(np.array([2], np.int32), u, out, TEAM)
    with pytest.raises(InputError, match=r"u and out are one array"):
        operator.apply(np.array([0], np.int32), u, u, TEAM)
    with pytest.raises(InputError, match=r"out: 64 values: 128 are allowed"):
        operator.apply(np.array([0], np.int32), u, out[:1], TEAM)
    with pytest.raises(InputError, match=r"place 9: 0..7 are allowed"):
        _core.sum_by_lists(np.array([0, 2]), np.array([0, 9], np.int32), np.zeros(8), TEAM)
    with pytest.raises(InputError, match=r"offsets: ascending ones of 0..2"):
        _core.sum_by_lists(np.array([0, 3]), np.array([0, 1], np.int32), np.zeros(8), TEAM)
