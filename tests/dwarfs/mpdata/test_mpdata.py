"""The dwarf MPDATA on real MPI ranks: the same bits on any of them, its program, and what cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import mpdata_cases as cases
from slow_tests import slow

from tradewind import launch
from tradewind.base.errors import InputError, NotFiniteError, gathered
from tradewind.dwarfs import from_plain
from tradewind.dwarfs.mpdata import Mpdata
from tradewind.launch.dwarf import run as run_dwarf
from tradewind.layout.mesh_part import part_of
from tradewind.layout.mesh_rows import rows_of
from tradewind.layout.partition import own_nodes

RANKS = [1, 3, *slow(2, 5, 6)]
MACHINE: dict[str, Any] = {"settings": {"topology.shape": "[2,2,2]", "node.flops": "1TFlop/s"}}


@cache
def outcomes(ranks: int) -> list[dict[str, Any]]:
    return launch.run(ranks, "mpdata_cases:final_fields", None, timeout_s=240)


@cache
def reference(number: int) -> str:
    dwarf = cases.request(1, cases.CHOICES[number])
    return cases.digest(dwarf.reference(cases.random_field(dwarf).astype(dwarf.precision), cases.STEPS))


@pytest.mark.parametrize("ranks", RANKS)
def test_the_same_bits_by_every_strategy_on_any_ranks(ranks):
    for number, (found, one) in enumerate(zip(outcomes(ranks), outcomes(1), strict=True)):
        assert found["field"] == reference(number), cases.CHOICES[number]
        assert found["diagnosis"] == one["diagnosis"], cases.CHOICES[number]


@pytest.mark.parametrize("ranks", RANKS)
def test_halos_of_a_program_are_those_of_a_run(ranks):
    """A program finds them by the outline of the mesh, a run by its volumes."""
    for choice, found in zip(cases.CHOICES, outcomes(ranks), strict=True):
        program = cases.request(ranks, choice).simulate("torus-M", **MACHINE)
        assert program["messages"] == sum(messages for messages, _ in found["sent"])
        assert program["bytes"] == sum(size for _, size in found["sent"])


def test_two_exchanges_a_step_and_more_with_a_limiter_and_with_passes():
    assert Mpdata(2, "O8").stage_names() == ["divergence", "tracer"]
    assert Mpdata(2, "O8", limiter=True).stage_names() == ["divergence", "limits", "tracer"]
    more = Mpdata(2, "O8", limiter=True, form="basic", passes=3).stage_names()
    assert more == ["divergence", "limits", "divergence", "limits", "tracer"]
    one = Mpdata(2, "O8", passes=1)
    assert (one.stage_names(), one.exchange_names()) == (["upwind"], ["tracer"])


def test_the_answer_of_a_run():
    answer = run_dwarf(Mpdata(2, "O8", levels=6, strategy="renumbered", check=True), 5, picture=True)
    assert [*answer["setup_s"]] == ["mesh", "partition", "who needs what"]
    assert answer["agreement"] == "the same bits as the reference"
    mesh = rows_of("O8")
    faces = len(part_of(mesh, own_nodes(mesh, 2, "bands", 0)).edges)
    assert answer["points_per_s"] > 0
    assert answer["minimum_bytes"] >= 5 * 6 * 8 * faces / 2
    assert answer["mass"] == pytest.approx(answer["initial"]["mass"], rel=1e-13)
    parts = [row["part"] for row in answer["parts"]]
    assert [name for name in ("tracer-wait", "divergence-wait") if name not in parts] == []
    shown = answer["maps"][1]
    assert shown["points"] == [20 + 4 * 7, 16]


def test_what_a_simulated_step_computes():
    """By hand: flops of a loop over all nodes; the time of a point, and beside it that of a copy of 20 bytes."""
    options = {"settings": {**MACHINE["settings"], "node.memory_bandwidth": "1TB/s"}}
    dwarf = Mpdata(1, "O8", levels=10, strategy="exchange")
    times = dwarf.simulate("torus-M", **options)["step_time_s"]
    assert times["1 divergence"] == pytest.approx(dwarf.points * 43 / 1e12, rel=1e-3)
    assert times["2 tracer"] == pytest.approx(dwarf.points * 77 / 1e12, rel=1e-3)
    timed = Mpdata(1, "O8", levels=10, point_s=2e-9, work=3).simulate("torus-M", **options)["step_time_s"]
    assert timed["1 divergence"] == pytest.approx(3 * dwarf.points * (2e-9 + 20 / 1e12), rel=1e-3)


def test_what_copies_to_the_host_cost():
    """By hand: whole arrays, at the rate that is named; else at that of copies in the memory of the node."""
    options = {"settings": {**MACHINE["settings"], "node.memory_bandwidth": "1TB/s"}}
    named = Mpdata(1, "O8", levels=10, strategy="staged", host_bandwidth=1e9)
    times = named.simulate("torus-M", **options)["step_time_s"]
    ways = [f"{stage} {way} the host" for stage in ("1 divergence", "2 tracer") for way in ("to", "from")]
    assert [times[way] for way in ways] == pytest.approx([8 * named.points / 1e9] * 4, rel=1e-6)
    times = replace(named, host_bandwidth=None).simulate("torus-M", **options)["step_time_s"]
    assert [times[way] for way in ways] == pytest.approx([8 * named.points / 1e12] * 4, rel=1e-3)


def test_a_forgotten_exchange_is_found():
    with pytest.raises(NotFiniteError, match=r"rank 0: the field is nan at node \d+, level 0"):
        launch.run(2, "mpdata_cases:forgotten_exchange", None, timeout_s=240)


def test_too_long_a_step_is_refused_before_it_is_taken():
    message = r"Courant number \d+\.\d+ at node \d+ of O8 with steps of 86400 s: up to 1 is allowed, steps of up to \d+"
    with pytest.raises(InputError, match=message):
        launch.run(2, "mpdata_cases:too_long_a_step", None, timeout_s=240)


def test_the_courant_number_is_one_with_which_no_wave_grows():
    flat = Mpdata(2, "9x8")
    unlike = [{"limiter": True}, {"form": "basic"}, {"passes": 1}, {"grid": "O8"}]
    assert [replace(flat, courant=None, **each).courant for each in [{}, *unlike]] == [0.7, 0.8, 0.8, 0.8, 0.8]
    assert Mpdata(2, "O8", courant=0.8) == Mpdata(2, "O8")


def test_the_basic_form_is_for_positive_fields():
    with pytest.raises(InputError, match=r"the field has values down to -0.5: the basic form is for 0 and more"):
        launch.run(2, "mpdata_cases:negative_field", None, timeout_s=240)


def test_a_request_goes_through_json():
    dwarf = Mpdata(4, "O8", strategy="fused", partition="curve", alpha=0.5)
    values = json.loads(json.dumps(dwarf.as_dict()))
    assert from_plain(values.pop("dwarf"), values) == dwarf
    assert dwarf.imbalance() < 1.02


@pytest.mark.parametrize(
    ("values", "messages"),
    [
        ({"ranks": 1000, "grid": "O8"}, ["1000 ranks: 1..544 are allowed for the nodes of O8"]),
        ({"grid": "N80"}, ["grid 'N80': O<N>, like O40, or NXxNY of a flat mesh, like 64x64, is allowed"]),
        ({"passes": 3}, ["passes 3: with the infinite gauge 2 are allowed; further ones change nothing"]),
        (
            {"limiter": True, "strategy": "fused"},
            ["strategy fused: two passes with the infinite gauge, no limiter, are allowed"],
        ),
        ({"passes": 1, "limiter": True}, ["limiter: one pass alone makes no new extremes, 2 or more are allowed"]),
        (
            {"passes": 1, "strategy": "fused"},
            ["strategy fused: two passes with the infinite gauge, no limiter, are allowed"],
        ),
        (
            {"flow": "overturning", "mountain": 100.0, "shear": 0.5, "fluxes": "averaged", "strategy": "plain"},
            [
                "shear 0.5: with flow overturning 0 is allowed",
                "fluxes averaged: with flow overturning stream is allowed",
                "mountain 100: with flow overturning 0 is allowed",
                "strategy plain: two dimensions are allowed",
            ],
        ),
        ({"mountain": 9e3}, ["mountain 9000.0: 0.0..4000.0 are allowed"]),
        (
            {"mountain": 2e3, "grid": "9x8", "levels": 1},
            [
                "grid 9x8: with mountain 2000 O<N> is allowed",
                "levels 1: in three dimensions 2 or more are allowed",
            ],
        ),
        ({"tracer": "layer"}, ["tracer layer: three dimensions, flow overturning or a mountain, are allowed"]),
        ({"courant": 1.5}, ["courant 1.5: 1e-06..1.0 are allowed"]),
        (
            {"courant": 0.8, "grid": "9X8"},
            [
                "courant 0.8: on a flat mesh waves grow with the infinite gauge and no limiter; up to 0.7071 is "
                "allowed, or use the limiter"
            ],
        ),
        ({"host_bandwidth": 1.0}, ["host bandwidth 1.0: 1000000.0..1000000000000000.0 are allowed"]),
        ({"partition": "band", "tracer": "bel"}, ["unknown partition 'band'", "unknown tracer 'bel'"]),
    ],
)
def test_bad_input(values, messages):
    with pytest.raises(InputError) as error:
        Mpdata(**{"ranks": 2, "grid": "O8", **values})
    assert [problem.split(";")[0] if "unknown" in problem else problem for problem in error.value.problems] == messages


@pytest.mark.parametrize(
    "choice",
    [{}, {"algorithm": "native"}, {"divergence_method": "native,,", "algorithm": "leaders-2"}, {"limiter": True}],
)
def test_what_cannot_be_simulated_is_known_without_the_mesh(choice, monkeypatch):
    dwarf = Mpdata(4, "O8", **choice)
    wanted = []
    with gathered(wanted):
        dwarf.program()
    monkeypatch.setattr("tradewind.dwarfs.frame.on_mesh.outline_of", None)
    assert dwarf.simulation_problems() == wanted
    (problem,) = replace(dwarf, grid="O999999").simulation_problems()
    assert problem.startswith("the outline of a mesh of 4000027999968 nodes needs about 546 TiB")


def test_a_uniform_field_stays_and_limits_hold():
    """With fluxes from a stream function; velocities that are averaged have a divergence."""
    for limiter in (False, True):
        dwarf = Mpdata(1, "O16", levels=1, tracer="uniform", alpha=1.0, limiter=limiter)
        field = dwarf.reference(np.ones((dwarf.nodes, 1)), 30)
        assert np.abs(field - 1).max() < 1e-13
    drifting = Mpdata(1, "O16", levels=1, tracer="uniform", alpha=1.0, fluxes="averaged")
    assert np.abs(drifting.reference(np.ones((drifting.nodes, 1)), 30) - 1).max() > 1e-6
