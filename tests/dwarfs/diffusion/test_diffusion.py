"""The dwarf diffusion on real MPI ranks, against Fourier modes, the course's own program, and NumPy, bit for bit."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import diffusion_cases as cases
from slow_tests import slow

from tradewind import launch
from tradewind.base.errors import InputError, NotFiniteError, VerificationError
from tradewind.dwarfs import from_plain
from tradewind.dwarfs.diffusion import NOT_SIMULATED, Diffusion, reference_step
from tradewind.launch.dwarf import run as run_dwarf

RANKS = [1, 3, *slow(2, 4, 6)]


@cache
def outcomes(ranks: int) -> list[dict[str, Any]]:
    return launch.run(ranks, "diffusion_cases:final_fields", None, timeout_s=240)


@cache
def reference(precision: str) -> np.ndarray:
    nx, ny, nz = cases.GRID
    z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    field = cases.random_field(z, y, x).astype(precision)
    for _ in range(cases.STEPS):
        field = reference_step(field)
    return field


@pytest.mark.parametrize("ranks", RANKS)
def test_the_same_bits_by_every_strategy_on_any_ranks(ranks):
    for request, found in zip(cases.requests(ranks), outcomes(ranks), strict=True):
        wanted = reference(request["precision"])
        assert found["field"] == cases.digest(wanted), request
        values = wanted.astype("f8").ravel().tolist()
        assert found["diagnosis"] == {
            "sum": math.fsum(values),
            "sum_of_squares": math.fsum(v * v for v in values),
            "minimum": min(values),
            "maximum": max(values),
        }, request
        dwarf = from_plain("diffusion", request)
        assert found["exchanges"] == math.ceil(cases.STEPS / dwarf.steps_per_round), request


@pytest.mark.parametrize(("ranks", "strategy"), [(1, "exchange"), (2, "overlap"), (3, "wide")])
def test_a_wave_grows_as_it_must(ranks, strategy):
    """G = 1 - alpha lambda^2 per step; -1 for the checkerboard."""
    waves = [(0, 0), (1, 0), (0, 1), (3, 5), (12, 10), (24, 20)]
    asked = {"grid": [24, 20, 2], "strategy": strategy, "steps": 32, "modes": waves}
    errors = launch.run(ranks, "diffusion_cases:modes", asked, timeout_s=240)
    assert max(errors) < 1e-12


def test_the_figures_of_the_course():
    """Those of its program for 64 iterations, which hands back the field of step 63 (see docs/dwarfs/diffusion.md)."""
    result = run_dwarf(Diffusion(2, (64, 64, 16)), 63)
    assert result["sum_of_squares"] == pytest.approx(7654.709627304431, rel=1e-13)
    assert result["maximum"] == pytest.approx(1.09143372143914, rel=1e-13)
    assert result["initial"] == {"sum": 8192.0, "sum_of_squares": 8192.0, "minimum": 0.0, "maximum": 1.0}


@pytest.mark.parametrize("precision", ["f4", "f8"])
def test_nothing_is_lost(precision):
    result = run_dwarf(Diffusion(3, (30, 26, 5), precision=precision, strategy="wide"), 50)
    assert result["sum"] == pytest.approx(result["initial"]["sum"], rel={"f4": 1e-6, "f8": 1e-14}[precision])
    assert result["sum_of_squares"] < result["initial"]["sum_of_squares"]


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_what_is_not_a_number_is_found(value):
    # Two steps carry it four points along x, round the seam and onto rank 0.
    found = (
        r"rank 0: the field is -?(nan|inf) at \[z\]\[y\]\[x\] = \[3, 5, 0\] of the grid \(ranks with such points: 2\)"
    )
    with pytest.raises(NotFiniteError, match=found):
        launch.run(2, "diffusion_cases:field_with_a_hole", value, timeout_s=240)


def test_a_forgotten_exchange_is_found():
    with pytest.raises(NotFiniteError, match=r"rank 0: the field is nan at \[z\]\[y\]\[x\] = \[0, 0, 0\]"):
        launch.run(2, "diffusion_cases:forgotten_exchange", None, timeout_s=240)


def test_the_check_can_fail():
    payload = {
        "name": "diffusion",
        "dwarf": asdict(Diffusion(2, (16, 12, 4), check=True)),
        "steps": 3,
        "repeat": 1,
        "picture": False,
        "output": None,
    }
    message = r"diffusion, exchange, after 3 steps: \d+ of 768 points differ from the reference, the first at"
    with pytest.raises(VerificationError, match=message):
        launch.run(2, "diffusion_cases:checked_with_a_fault_on_rank_1", payload, timeout_s=240)


def test_a_request_goes_through_json():
    dwarf = Diffusion(4, (16, 16, 2), strategy="wide", width=8)
    values = json.loads(json.dumps(dwarf.as_dict()))
    assert from_plain(values.pop("dwarf"), values) == dwarf
    assert (dwarf.split, dwarf.steps_per_round) == ((2, 2), 4)


def test_all_that_cannot_be_is_said_at_once():
    with pytest.raises(InputError) as error:
        Diffusion(5, (16, 16, 2), (2, 2), precision="i4", strategy="wide", width=3, transport="put", threads=0)
    assert [text.split(":")[0].split(";")[0] for text in error.value.problems] == [
        "unknown precision 'i4'",
        "unknown transport 'put'",
        "threads 0",
        "width 3",
        "split 2x2 makes 4 ranks",
    ]


def test_what_a_simulated_step_computes():
    """By hand: flops, or the time of a point and of a copy, and as much more as there is work."""
    options = {"settings": {"topology.shape": "[2,2,2]", "node.flops": "1TFlop/s", "node.memory_bandwidth": "0.5TB/s"}}

    def compute_s(**values: Any) -> float:
        found = Diffusion(4, (32, 32, 8), **values).simulate("torus-M", **options)
        return found["step_time_s"]["step 1"]

    points = 16 * 16 * 8
    assert compute_s() == pytest.approx(points * 8 / 5e11, rel=1e-3)  # read and written, against 12 flops
    assert compute_s(work=5) == pytest.approx(5 * points * 8 / 5e11, rel=1e-3)
    assert compute_s(point_s=3e-9) == pytest.approx(points * (3e-9 + 8 / 5e11), rel=1e-3)
    assert compute_s(point_s=3e-9, work=5) == pytest.approx(5 * points * (3e-9 + 8 / 5e11), rel=1e-3)


@pytest.mark.parametrize("strategy", NOT_SIMULATED)
def test_the_simulator_knows_no_barriers_and_no_pickles(strategy):
    with pytest.raises(InputError, match=f"strategy {strategy}: what it adds is not simulated"):
        Diffusion(4, (16, 16, 2), strategy=strategy).program()


def test_objects_go_to_neighbours_without_a_plan():
    with pytest.raises(InputError) as error:
        Diffusion(4, (16, 10, 2), (2, 2), strategy="objects", width=6, transport="shared", work=0, point_s=-1.0)
    assert [text.split(":")[0] for text in error.value.problems] == [
        *("work 0", "time of a point -1.0 s", "transport 'shared'", "width 6"),
    ]


def test_steps_are_timed_several_times_on_one_field():
    once, thrice = run_dwarf(Diffusion(2, (16, 12, 4)), 6), run_dwarf(Diffusion(2, (16, 12, 4)), 2, repeat=3)
    assert len(thrice["samples_s"]) == 3
    assert thrice["wall_s"] == sorted(thrice["samples_s"])[1]
    assert thrice["messages"] * 3 == once["messages"]
    assert thrice["sum_of_squares"] == once["sum_of_squares"]


def test_a_transport_of_devices_with_fields_on_the_host():
    with pytest.raises(InputError, match="transport nccl carries messages between arrays on devices, and these lie"):
        Diffusion(4, (16, 16, 2), transport="nccl", device="simulated")


def test_a_transport_that_does_not_go_with_a_schedule():
    with pytest.raises(InputError, match="alltoallv"):
        Diffusion(4, (16, 16, 2), transport="alltoallv", algorithm="sweep")
