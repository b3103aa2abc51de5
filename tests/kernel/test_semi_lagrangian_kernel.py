"""Departure points of known winds, and columns that the bindings of a semi-Lagrangian step refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
from tradewind.dwarfs.semi_lagrangian.demand import _first_departures
from tradewind.dwarfs.semi_lagrangian.flows import Wind
from tradewind.dwarfs.semi_lagrangian.lattice import Lattice


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
