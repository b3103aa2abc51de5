"""The compiled loops of a semi-Lagrangian step: what their stencils reproduce, and where departure points lie."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.flows import Wind
from tradewind.dwarfs.lattice import Lattice
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
from tradewind.dwarfs.semi_lagrangian_program import _first_departures

NX, NY, NZ = 71, 9, 6
"""Columns of a block: a chunk of 64 and what is left."""
MARGIN = 4
FIRST = (30, 20)
"""The block's first column in its grid."""


def polynomials(*degrees: int) -> list[tuple[int, ...]]:
    return list(product(*(range(degree + 1) for degree in degrees)))


def coordinates(lifted: bool, at_rows: bool = False) -> np.ndarray:
    """Departure points around the block, up to as far away as its margin lets them be."""
    rng = np.random.default_rng(3)
    _, y, x = np.meshgrid(np.arange(NZ), np.arange(NY), np.arange(NX), indexing="ij")
    at = [x + FIRST[0] + rng.uniform(-2.9, 1.9, x.shape), y + FIRST[1] + rng.uniform(-2.9, 1.9, x.shape)]
    if at_rows:
        at[1] = np.round(at[1])
    height = rng.uniform(0, NZ - 1, x.shape)
    height.flat[:4] = 0, NZ - 1, 0.3, NZ - 1.3
    return np.array([*at, np.round(height) if at_rows else height][: 3 if lifted else 2])


def interpolated(
    power: tuple[int, ...], at: np.ndarray, *, full: bool = False, limiter: bool = False, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """A monomial of degree `power` at departure points, by the loop; and as it is."""

    def monomial(x: Any, y: Any, z: Any) -> np.ndarray:
        centred = (np.asarray(x) - FIRST[0] - NX / 2) / 9, (np.asarray(y) - FIRST[1] - NY / 2) / 3, np.asarray(z) / 2
        return math.prod(each**exponent for each, exponent in zip(centred, power, strict=True))

    rows, columns = NY + 2 * MARGIN, NX + 2 * MARGIN
    x, y = np.arange(columns) + FIRST[0] - MARGIN, np.arange(rows)[:, None] + FIRST[1] - MARGIN
    z = np.arange(NZ)[:, None, None]
    field = np.array(np.broadcast_to(monomial(x, y, z), (NZ, rows, columns)))
    place = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    block = _core.ColumnBlock(FIRST, (NX, NY), NZ)
    own_first = MARGIN * columns + MARGIN
    lost = _core.interpolate_tracers(
        block, field, at, (-MARGIN, -MARGIN), place, own_first, columns, 1, full, limiter, _core.Team(threads)
    )
    assert lost == -1
    height = at[2] if len(at) == 3 else np.broadcast_to(z, at[0].shape)
    return field[:, MARGIN:-MARGIN, MARGIN:-MARGIN], monomial(at[0], at[1], height)


def error(power: tuple[int, ...], at: np.ndarray, **how: Any) -> float:
    found, wanted = interpolated(power, at, **how)
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


def test_twelve_points_reproduce_what_they_should():
    at = coordinates(lifted=False)
    for power in polynomials(1, 3):
        assert error((*power, 1), at) < 1e-13
    for power in ((2, 0, 0), (3, 0, 0)):
        assert error(power, at) > 1e-5
        assert error(power, coordinates(lifted=False, at_rows=True)) < 1e-13


def test_sixteen_points_reproduce_all_cubics():
    at = coordinates(lifted=False)
    for power in polynomials(3, 3):
        assert error((*power, 1), at, full=True) < 1e-13
    assert error((4, 0, 0), at, full=True) > 1e-7


def test_thirty_two_points_reproduce_what_they_should():
    at = coordinates(lifted=True)
    for power in polynomials(1, 1, 3):
        assert error(power, at) < 1e-12
    for power in ((0, 2, 0), (2, 0, 0), (0, 3, 0)):
        assert error(power, at) > 1e-5
    on_levels = coordinates(lifted=True)
    on_levels[2] = np.round(on_levels[2])
    for power in polynomials(1, 3):
        assert error((*power, 2), on_levels) < 1e-12


def test_sixty_four_points_reproduce_all_cubics():
    at = coordinates(lifted=True)
    for power in polynomials(3, 3, 3):
        assert error(power, at, full=True) < 1e-11
    assert error((0, 0, 4), at, full=True) > 1e-7


@pytest.mark.parametrize("lifted", [False, True])
def test_the_limiter_keeps_values_between_the_nearest(lifted):
    at = coordinates(lifted)
    power = (3, 3, 3 if lifted else 0)
    free, _ = interpolated(power, at)
    limited, _ = interpolated(power, at, limiter=True)
    assert (free != limited).any()
    corners = [
        interpolated(power, np.array([low(each) for low, each in zip(lows, at, strict=True)]))[1]
        for lows in product((np.floor, np.ceil), repeat=len(at))
    ]
    assert (limited >= np.min(corners, axis=0) - 1e-12).all()
    assert (limited <= np.max(corners, axis=0) + 1e-12).all()


@pytest.mark.parametrize("lifted", [False, True])
def test_threads_change_no_bit(lifted):
    at = coordinates(lifted)
    one, _ = interpolated((3, 2, 1), at)
    assert (interpolated((3, 2, 1), at, threads=3)[0] == one).all()


def test_a_value_that_is_no_number_is_told():
    block, place = _core.ColumnBlock((0, 0), (4, 4), 2), np.arange(64, dtype=np.int32).reshape(8, 8)
    field = np.zeros((2, 8, 8))
    field[1, 3, 4] = np.inf
    at = np.array([np.broadcast_to(np.arange(4.0), (2, 4, 4)), np.broadcast_to(np.arange(4.0)[:, None], (2, 4, 4))])
    lost = _core.interpolate_tracers(block, field, at, (-2, -2), place, 18, 8, 1, False, False, _core.Team())
    assert lost == 16  # the stencil of [1][0][0] reaches [1][3][4] with the weight 0, which is a product, too


@pytest.mark.parametrize("component", [0, 1, 2])
def test_a_wind_that_is_no_number_is_told_on_the_sphere(component):
    ring = np.linspace(0, 2, 70)
    more = {"cos_x": np.cos(ring), "sin_x": np.sin(ring), "cos_y": np.ones(2), "sin_y": np.zeros(2), "grid": (140, 70)}
    block, wind = _core.ColumnBlock((0, 0), (70, 2), 2, 140), np.full((3, 2, 2, 70), 1e-7)
    departures = np.zeros((2, 2, 2, 70))
    assert _core.trace_departures(block, wind, 1.0, 1.0, departures, _core.Team(), **more)[2] == -1
    wind[component, 1, 0, 67] = np.nan
    assert _core.trace_departures(block, wind, 1.0, 1.0, departures, _core.Team(), **more)[2] == 140 + 67


@pytest.mark.parametrize("period", [0, 24])
def test_cells_of_departure_points_are_those_of_numpy(period):
    """Any number of points, also around the parallel: from half a period west of the middle to half east of it."""
    rng = np.random.default_rng(7)
    for count in (1, 15, 16, 17, 64, 83):
        at = rng.uniform(-60, 60, (2, 1, 1, count))
        if count == 83:
            at[0] = np.round(at[0])
        block = _core.ColumnBlock((5, -7), (count, 1), 1, period)
        cells = np.floor(at[:, 0, 0]) - np.array([[5], [-7]])
        if period:
            first = np.floor((count - period) / 2)
            cells[0] = (cells[0] - first) % period + first
        low, high = _core.departure_cells(block, at)
        assert low == cells.min(axis=1).tolist()
        assert high == cells.max(axis=1).tolist()


def test_columns_that_are_not_there_are_refused():
    block, place = _core.ColumnBlock((0, 0), (4, 4), 1), np.arange(64, dtype=np.int32).reshape(8, 8)
    at = np.zeros((2, 1, 4, 4))
    arguments: Any = (18, 8, 1, False, False, _core.Team())
    for value in (-2.0, 5.1, np.nan, 1e300):
        at[0, 0, 1, 1] = value
        with pytest.raises(InputError, match="the window does not have the stencil"):
            _core.interpolate_tracers(block, np.zeros((1, 8, 8)), at, (-2, -2), place, *arguments)
    place[2, 2] = -1
    at[:] = 0.5
    with pytest.raises(InputError, match="the window does not have the stencil"):
        _core.interpolate_tracers(block, np.zeros((1, 8, 8)), at, (-2, -2), place, *arguments)
    place[2, 2] = 64
    with pytest.raises(InputError, match="only those of a level of the array, below 64"):
        _core.interpolate_tracers(block, np.zeros((1, 8, 8)), at, (-2, -2), place, *arguments)
    with pytest.raises(InputError, match="the window does not have the stencil"):
        _core.mark_stencils(block, at, (0, 0), np.zeros((4, 4), np.uint8), "cubic")


def test_marks_are_the_columns_of_the_stencils():
    block = _core.ColumnBlock((10, 10), (3, 3), 1)
    at = np.full((2, 1, 3, 3), 10.5)
    at[0, 0, 0, 0] = 8.25  # the cell -2, 0
    for reach, shape in (("linear", [(0, 2)] * 2), ("quasi-cubic", [(0, 2), (-1, 3), (-1, 3), (0, 2)])):
        marks = np.zeros((10, 10), np.uint8)
        _core.mark_stencils(block, at, (-5, -5), marks, reach)
        rows = range(0, 2) if reach == "linear" else range(-1, 3)
        wanted = {(y + 5, -2 + x + 5) for y, (begin, end) in zip(rows, shape, strict=True) for x in range(begin, end)}
        assert wanted <= {(int(y), int(x)) for y, x in np.argwhere(marks)}
    marks = np.zeros((10, 10), np.uint8)
    _core.mark_stencils(block, np.full((2, 1, 3, 3), 10.5), (-5, -5), marks, "linear")
    assert not marks.any()  # all within the block


def test_departure_points_of_a_uniform_wind():
    dwarf = SemiLagrangian(1, grid=(40, 30, 1), alpha=0.7, courant=3.3)
    way = 3.3 * np.array([math.cos(0.7), math.sin(0.7)])
    y, x = np.mgrid[:30, :40]
    for found in _first_departures(dwarf):
        assert np.abs(found[0, 0] - (x - way[0])).max() < 1e-12
        assert np.abs(found[1, 0] - (y - way[1])).max() < 1e-12


def away(nx: int, alpha: float, iterations: int = 6) -> float:
    """Largest distance in radii of departure points from the rotation's own, over that of a step."""
    dwarf = SemiLagrangian(
        1,
        grid=(nx, nx // 2, 1),
        geometry="sphere",
        strategy="on-demand",
        alpha=alpha,
        courant=2.5,
        iterations=iterations,
    )
    at = _first_departures(dwarf)[-1][:, 0]
    lattice, wind = dwarf.lattice, dwarf.flow_wind
    longitude, latitude = lattice.longitudes(at[0]), lattice.latitudes(at[1])
    found = [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    y, x = np.mgrid[: nx // 2, :nx]
    wanted = wind.starts(x, y, dwarf.dt)
    return float(np.sqrt(((np.array(found) - wanted) ** 2).sum(axis=0)).max() / (dwarf.passed * np.pi / (nx // 2)))


@pytest.mark.parametrize("alpha", [0.0, 0.7, math.pi / 2])
def test_departure_points_of_a_rotation(alpha):
    """At the poles, too; by the square of the grid's spacing and of the step, by which winds are interpolated."""
    coarse, fine = away(64, alpha), away(128, alpha)
    assert fine < 1.5e-3
    assert 3.5 < coarse / fine < 4.5


def test_iterations_converge():
    errors = [away(64, 0.7, iterations) for iterations in (1, 2, 3)]
    assert errors[1] <= errors[0]
    assert abs(errors[2] - errors[1]) < 1e-4


def test_the_area_of_a_sphere_and_the_wind_of_a_rotation():
    lattice = Lattice.on_sphere(36, 18)
    total = 36 * lattice.area(np.arange(18)).sum()
    assert total == pytest.approx(4 * np.pi * 6.37122e6**2)
    wind = Wind(lattice, "rotation", 38.0, 1.1)
    y, x = np.mgrid[:18, :36]
    u, v = wind.at(x, y, 0.0)
    rate = wind.components(x, y, 0.0)
    assert np.hypot(u, v) == pytest.approx(6.37122e6 * np.sqrt((rate**2).sum(axis=0)))
    assert np.hypot(u, v).max() <= 38.0 * (1 + 1e-12)


SMOOTH, ROUGH, SHIFTED = "smooth", "rough", "shifted"


def departures_of(kind: str, lifted: bool) -> np.ndarray:
    """Points whose stencils follow one another, those that do not, and those that do in part of a row."""
    at = coordinates(lifted)
    if kind == ROUGH:
        return at
    _, y, x = np.meshgrid(np.arange(NZ), np.arange(NY), np.arange(NX), indexing="ij")
    at[0] = x + FIRST[0] - 1.3 + (np.where(x > 20, 0.6, 0.0) if kind == SHIFTED else 0.0)
    at[1] = y + FIRST[1] + 0.8
    return at


def windowed(field: np.ndarray, order: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """A field [component, z][row][column] whose columns lie in an order, or by rows, and the places of them."""
    rows, columns = field.shape[1:]
    place = np.arange(rows * columns, dtype=np.int32)
    if order is not None:
        place = np.argsort(order).astype(np.int32)
        field = np.ascontiguousarray(field.reshape(len(field), -1)[:, order]).reshape(field.shape)
    return field.copy(), place.reshape(rows, columns)


def own_rows_first(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Columns of the block row by row, then all others in any order."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    own = cells[MARGIN:-MARGIN, MARGIN:-MARGIN].ravel()
    return np.concatenate([own, rng.permutation(np.setdiff1d(cells, own))])


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("kind", [SMOOTH, ROUGH, SHIFTED])
def test_columns_that_lie_by_rows_give_the_same_bits(kind, lifted):
    rng = np.random.default_rng(5)
    at = departures_of(kind, lifted)
    rows, columns = NY + 2 * MARGIN, NX + 2 * MARGIN
    field, wind = rng.random((NZ, rows, columns)), rng.random((3 if lifted else 2) * NZ * NY * NX)
    wind = wind.reshape(-1, NZ, NY, NX)
    around = rng.random((len(wind) * NZ, rows, columns))
    block = _core.ColumnBlock(FIRST, (NX, NY), NZ)
    orders = {"by rows": None, "own rows": own_rows_first(rows, columns, rng)}
    orders["anywhere"] = rng.permutation(rows * columns)
    found = {}
    for name, order in orders.items():
        values, place = windowed(field, order)
        if name == "anywhere":  # the block has to lie by rows in the array that is written
            values, place = windowed(field, orders["own rows"])
            place = place.copy()
            moved = values.reshape(NZ, -1)
            spare = np.concatenate([moved, moved[:, :1]], axis=1)
            place[place == 0] = moved.shape[1]
            values = np.ascontiguousarray(spare[:, None, :])
        own = (MARGIN * columns + MARGIN, columns) if name == "by rows" else (0, NX)
        lost = _core.interpolate_tracers(
            block, values, at, (-MARGIN, -MARGIN), place, *own, 1, False, False, _core.Team(1)
        )
        assert lost == -1
        flat = values.reshape(NZ, -1)
        cells = own[0] + np.arange(NY)[:, None] * own[1] + np.arange(NX)
        extrapolated, wind_place = windowed(around, order)
        departures = at.copy()
        _core.trace_departures(
            block,
            wind,
            0.5,
            1.0,
            departures,
            _core.Team(1),
            extrapolated=extrapolated,
            corner=(-MARGIN, -MARGIN),
            place=wind_place,
        )
        found[name] = flat[:, cells].tobytes(), departures.tobytes()
    assert found["by rows"] == found["own rows"] == found["anywhere"]


@pytest.mark.parametrize("lifted", [False, True])
def test_a_guess_and_iterations_at_once_are_those_one_by_one(lifted):
    rng = np.random.default_rng(6)
    rows, columns = NY + 2 * MARGIN, NX + 2 * MARGIN
    wind = rng.uniform(-2, 2, (3 if lifted else 2, NZ, NY, NX))
    block = _core.ColumnBlock(FIRST, (NX, NY), NZ)
    more = {"extrapolated": rng.uniform(-1, 1, (len(wind) * NZ, rows, columns)), "corner": (-MARGIN, -MARGIN)}
    more["place"] = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    apart, at_once = np.full((2, len(wind), NZ, NY, NX), np.nan)
    _core.trace_departures(block, wind, 0.5, 1.0, apart, _core.Team(1))
    for _ in range(3):
        cells = _core.trace_departures(block, wind, 0.5, 1.0, apart, _core.Team(1), **more)
    found = _core.trace_departures(block, wind, 0.5, 1.0, at_once, _core.Team(2), guess=True, iterations=3, **more)
    assert at_once.tobytes() == apart.tobytes()
    assert found == cells
    with pytest.raises(InputError, match="iterations: 1 or more"):
        _core.trace_departures(block, wind, 0.5, 1.0, apart, _core.Team(1), iterations=0, **more)
