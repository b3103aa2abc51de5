"""The semi-Lagrangian dwarf on real MPI ranks: the same bits on any of them, its program, and what cannot be."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import semi_lagrangian_cases as cases
from slow_tests import slow

from tradewind import launch
from tradewind.base.errors import InputError, NotFiniteError
from tradewind.dwarfs import from_plain
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian, uniform_demand
from tradewind.dwarfs.semi_lagrangian.demand import _demanded, _first_departures, fetches
from tradewind.launch.dwarf import run as run_dwarf
from tradewind.verification import verify

RANKS = [1, 2, *slow(4)]
MACHINE: dict[str, Any] = {"settings": {"topology.shape": "[2,2,2]", "node.flops": "1TFlop/s"}}


@cache
def outcomes(ranks: int) -> list[dict[str, Any]]:
    return launch.run(ranks, "semi_lagrangian_cases:final_fields", None, timeout_s=240)


@pytest.mark.parametrize("ranks", RANKS)
def test_the_same_bits_by_every_strategy_on_any_ranks(ranks):
    found = outcomes(ranks)
    for each, one in zip(found, outcomes(1), strict=True):
        assert each["field"] == one["field"]
        assert each["diagnosis"] == one["diagnosis"]
    for alike in cases.ALIKE:
        assert len({found[number]["field"] for number in alike}) == 1


def test_a_program_fetches_what_the_winds_of_a_run_ask_for():
    """A program computes trajectories and lists columns by itself, on demand and around the poles."""
    for choice, found in zip(cases.CHOICES, outcomes(2), strict=True):
        dwarf = cases.request(2, choice)
        if dwarf.fetches:
            program = dwarf.simulate("torus-M", **MACHINE)
            assert program["messages"] == sum(messages for messages, _ in found["sent"])
            assert program["bytes"] == sum(size for _, size in found["sent"])


def test_programs_are_proved():
    for number in (0, 1, 11, 12, 15, 16):
        choice = cases.CHOICES[number]
        verify(cases.request(4, choice).program())


def test_the_lists_travel_once_for_all_tracers():
    """By hand: 3 ranks of 8 columns, a wind of 2.5 points to the east; a stencil begins 4 columns to the west."""
    sizes = {}
    for tracers in (1, 10):
        dwarf = SemiLagrangian(
            3, grid=(24, 18, 4), split=(3, 1), alpha=0.0, courant=2.5, tracers=tracers, strategy="on-demand"
        )
        result = dwarf.simulate("torus-M", **MACHINE)
        assert result["messages"] == 3 * 2 * 3
        sizes[tracers] = result["bytes"]
    # Four columns of 18 points on 4 levels of 8 bytes for each of 9 more tracers, of 3 ranks; and none to the east.
    assert sizes[10] - sizes[1] == 3 * 9 * (4 * 18 * 4 * 8)


@pytest.mark.parametrize("shift", [(0, 0), (-3, 2), (-9, -7), (40, -1), (5, 0)])
@pytest.mark.parametrize(("grid", "split"), [((24, 18, 1), (3, 2)), ((16, 12, 1), (4, 3)), ((40, 9, 1), (1, 3))])
def test_a_uniform_wind_in_closed_form(grid, split, shift):
    """Beside the lists that the trajectories make."""
    dwarf = SemiLagrangian(split[0] * split[1], grid=grid, split=split, strategy="on-demand")
    y, x = np.mgrid[: grid[1], : grid[0]] + 0.4
    departures = np.ascontiguousarray(np.stack([x + shift[0], y + shift[1]])[:, None])
    for reach in ("linear", "quasi-cubic", "cubic"):
        listed = _demanded(dwarf, departures, reach)
        closed = uniform_demand.demanded(dwarf.layout_of(1), shift, reach)
        assert sorted(closed) == sorted(listed)


def test_the_program_takes_the_closed_form_where_there_is_one():
    dwarf = SemiLagrangian(6, grid=(24, 18, 3), courant=4.3, alpha=2.0, strategy="on-demand")
    listed = [
        _demanded(dwarf, at, reach)
        for at, reach in zip(_first_departures(dwarf), ("linear", "linear", "quasi-cubic"), strict=True)
    ]
    assert [sorted(each) for each in fetches(dwarf)] == [sorted(each) for each in listed]


@pytest.mark.parametrize("number", [2, 9, 16, *slow(4, 6, 8, 11, 13, 14, 18)])
def test_numpy_finds_the_same(number):
    dwarf = cases.request(2, {**cases.CHOICES[number], "check": True})
    result = run_dwarf(dwarf, 3, picture=True)
    assert result["agreement"].startswith("within")
    assert result["maps"][1]["points"] == [dwarf.lattice.nx, dwarf.lattice.ny]
    parts = {row["part"]: row["median_s"] for row in result["parts"]}
    assert {f"compute-{part}" for part in ("trajectories", "interpolation", "listing")} <= {*parts}
    assert {"tracers-wait", "winds-lists"} <= {*parts}
    assert result["messages"] > 0


def test_the_width_of_the_source():
    """Its 0.0125 degrees, 30 s and 200 m/s: 5 points, a halo of 7 at least."""
    asked: dict[str, Any] = {"grid": (28800, 14400, 256), "split": (250, 400), "wind": 200.0, "dt_s": 30.0}
    dwarf = SemiLagrangian(100_000, spacing_m=np.pi * 6.37122e6 / 14400, alpha=0.0, **asked)
    assert np.ceil(dwarf.passed) == 5
    assert dwarf.width == 7
    with pytest.raises(InputError, match=r"wind of 200 m/s passes 4.317 points; a halo of 7 points would do"):
        SemiLagrangian(100_000, spacing_m=np.pi * 6.37122e6 / 14400, width=6, **asked)


def test_a_wind_that_outruns_the_halo_is_found_before_the_step():
    message = (
        r"rank \d, step 1: air comes from \d points away, beyond a halo of 4 points; \d+ would do, or the strategy"
    )
    with pytest.raises(InputError, match=message):
        launch.run(2, "semi_lagrangian_cases:wind_that_outruns_the_halo", None, timeout_s=240)


def test_a_wind_that_outruns_a_region_is_found_before_the_step():
    message = r"rank \d, step 1: air comes from 9 points away, beyond a halo of 4 points; 11 would do, or the strategy"
    for strategy in ("wide", "overlap"):
        with pytest.raises(InputError, match=message):
            launch.run(3, "semi_lagrangian_cases:wind_that_outruns_a_region", strategy, timeout_s=240)
    launch.run(3, "semi_lagrangian_cases:wind_that_outruns_a_region", "on-demand", timeout_s=240)


def test_a_value_that_is_no_number_is_found_with_its_rank_place_and_step():
    message = r"rank 1, step 5: the field of tracer 2 is no number at \[z\]\[y\]\[x\] = \[1, \d+, \d+\]"
    with pytest.raises(NotFiniteError, match=message):
        launch.run(2, "semi_lagrangian_cases:no_number", None, timeout_s=240)
    message = r"rank 1, step 1: the field of tracer 2 is no number at \[z\]\[0\]\[column\] = \[1, 0, \d+\] of the grid"
    with pytest.raises(NotFiniteError, match=message):
        launch.run(2, "semi_lagrangian_cases:no_number_on_an_octahedral_grid", None, timeout_s=240)
    with pytest.raises(NotFiniteError, match=r"step 1: the departure point is no number at .* = \[0, 0, \d+\]"):
        launch.run(2, "semi_lagrangian_cases:no_wind", None, timeout_s=240)


def test_a_request_goes_through_json():
    dwarf = SemiLagrangian(4, grid=(36, 18, 4), geometry="sphere", strategy="on-demand", tracers=7, lift=0.5)
    values = json.loads(json.dumps(dwarf.as_dict()))
    assert from_plain(values.pop("dwarf"), values) == dwarf
    dwarf = SemiLagrangian(4, grid="TCo31x4", tracers=7)
    values = json.loads(json.dumps(dwarf.as_dict()))
    assert values["grid"] == "O32x4"
    assert from_plain(values.pop("dwarf"), values) == dwarf


@pytest.mark.parametrize(
    ("values", "messages"),
    [
        ({"grid": (3, 8, 4)}, ["grid 3x8x4: a stencil has 4 points along x and y: as many are needed"]),
        ({"lift": 1.0, "grid": (8, 8, 3)}, ["grid 8x8x3: a stencil has 4 levels where the wind lifts"]),
        ({"lift": 1.0, "shear": 0.5}, ["shear 0.5: 0 is allowed where the wind lifts"]),
        (
            {"geometry": "sphere", "grid": (33, 16, 4), "strategy": "on-demand"},
            ["grid 33x16x4: an even number of longitudes is needed, which meet across the poles"],
        ),
        ({"ranks": 1009}, ["1009 ranks"]),
        ({"work": 2}, ["work 2: 1 is allowed, as the loops replace what they read"]),
        ({"flow": "rotation"}, ["unknown flow of the plane 'rotation'"]),
        ({"courant": 5.5, "width": 7}, ["width 7: in a step of 1100 s a wind of 50 m/s passes 5.5 points"]),
        ({"courant": math.nan}, ["courant nan: 0.0..1000000.0 are allowed"]),
        ({"courant": math.inf}, ["courant inf: 0.0..1000000.0 are allowed"]),
        ({"spacing_m": 0.0}, ["spacing m 0.0: 0.001..1000000000.0 are allowed"]),
        ({"dt_s": 1e30}, ["dt 1e+30 s: 1e-09..1000000000.0 are allowed"]),
        ({"stencil": "cubicle", "tracers": 0}, ["tracers 0", "unknown stencil 'cubicle'"]),
        (
            {"geometry": "sphere", "grid": (64, 32, 4)},
            ["strategy wide, width 5: near the poles (latitude 87.19) a wind of 38.6107 m/s passes 32 points"],
        ),
        ({"grid": "O32x4", "split": (2, 1)}, ["split (2, 1): an octahedral grid is divided into regions"]),
        ({"grid": "C48x4"}, ["grid C48x4: of grids by name octahedral ones are allowed, like O80x137"]),
        ({"grid": "F32x4"}, ["grid F32x4: of grids by name octahedral ones are allowed, like O80x137"]),
        (
            {"grid": "O8x4", "geometry": "plane"},
            ["geometry plane: the grid O8x4 is octahedral; leave out the geometry"],
        ),
        ({"grid": "O1x4", "ranks": 41}, ["41 ranks: 1..40 are allowed for the points of 2 rows"]),
        ({"grid": "O32x2", "lift": 1.0}, ["grid O32x2: a stencil has 4 levels where the wind lifts"]),
        ({"grid": "O32x4", "width": 3}, ["passes 2.5 points; a halo of 5 points would do"]),
        ({"strategy": "on-demand", "algorithm": "sweep"}, ["unknown fetch algorithm 'sweep'"]),
        ({"winds_method": "ring-4"}, ["unknown halo algorithm 'ring-4'"]),
    ],
)
def test_bad_input(values, messages):
    with pytest.raises(InputError) as error:
        SemiLagrangian(**{"ranks": 2, "grid": (32, 24, 4), **values})
    for problem, message in zip(error.value.problems, messages, strict=True):
        assert message in problem
