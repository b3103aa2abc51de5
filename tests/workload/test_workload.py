"""Exchanges, dwarfs, programs and time steps of a model are workloads, with one face for executors and studies."""

from __future__ import annotations

from typing import Any

import pytest

from tradewind import _core
from tradewind.dwarfs.diffusion import Diffusion
from tradewind.study.cases.model_step import ModelStep
from tradewind.study.model.program_model import ProgramStep
from tradewind.workload.exchange import Exchange
from tradewind.workload.program import Compute, ProgramWorkload
from tradewind.workload.workload import OneSchedule, Workload

GRID, SPLIT = (24, 20, 4), (2, 2)
HALO = Exchange("halo", 4, GRID, SPLIT, width=2, periodic="xy", algorithm="sweep")
DWARF = Diffusion(4, GRID, SPLIT)
MODEL = ModelStep(
    GRID, 4, SPLIT, "1us", "0s", 1, "f8", (ProgramStep(compute="xy"), ProgramStep(path="xy-zy", algorithm="burst"))
)
SCHEDULE = HALO.schedules()["halo"]
PROGRAM = ProgramWorkload(SCHEDULE, Compute("physics", seconds=1e-3), name="a step")
ALL: list[Workload] = [HALO, DWARF, MODEL, PROGRAM, OneSchedule(SCHEDULE)]


@pytest.mark.parametrize("workload", ALL, ids=lambda workload: type(workload).__name__)
def test_each_makes_a_program_of_all_its_steps(workload):
    made = workload.program()
    assert made.ranks == workload.ranks == 4
    assert [step.name for step in made.steps()] == [step.name for step in workload.steps()]
    assert isinstance(workload.core(), _core.Program)
    assert made.core().stages == workload.core().stages
    assert made.program() is made
    assert (workload.bytes_per_point, workload.element_bytes) == (8, 8)
    assert workload.name


@pytest.mark.parametrize(
    ("workload", "family", "traits", "imbalance"),
    [
        (HALO, "exchange", ["4 ranks"], 1.0),
        (DWARF, "dwarf", ["24x20x4", "4 ranks"], 1.0),
        (Diffusion(4, (25, 20, 4), SPLIT, transport="shared", threads=2), "dwarf", None, 26 / 25),
        (MODEL, "program", ["24x20x4", "ranks 2x2", "1us a point"], 1.0),
        (PROGRAM, "program", ["4 ranks"], 1.0),
    ],
)
def test_what_studies_say_of_it(workload, family, traits, imbalance):
    assert workload.family == family
    assert workload.traits() == (traits or ["25x20x4", "4 ranks", "shared", "threads 2"])
    assert workload.imbalance() == pytest.approx(imbalance)


def test_labels_are_numbers_and_text():
    labels = Diffusion(4, GRID, SPLIT, point_s=1.5e-8).labels()
    assert (labels["grid"], labels["split"], labels["point_s"], labels["ranks"]) == ("24x20x4", "2x2", "1.5e-08", 4)
    assert HALO.labels()["grid"] == "24x20x4"
    assert MODEL.labels()["pattern"] == "program"
    assert "steps" not in MODEL.labels()


@pytest.mark.parametrize(
    ("workload", "times", "derived"),
    [
        (HALO, {"halo": 1.0}, {}),
        (DWARF, {"halo": 1.0, "step 1": 3.0}, {"steps": 1, "compute_s": 3.0}),
        (
            Diffusion(4, GRID, SPLIT, strategy="wide"),
            {"halo": 1.0, "step 1": 3.0, "step 2": 2.0},
            {"steps": 2, "compute_s": 2.5},
        ),
        (Diffusion(4, GRID, SPLIT, strategy="overlap"), {"interior": 1.0, "rim": 1.0}, {"steps": 1, "compute_s": None}),
        (MODEL, {"1 compute xy": 3.0, "2 xz": 1.0}, {"compute_s": 3.0, "alone_s": 24 * 20 * 4 * 1e-6}),
    ],
)
def test_what_a_study_keeps_beside_a_simulation(workload: Workload, times: dict[str, float], derived: dict[str, Any]):
    assert workload.derived({"step_time_s": times}) == pytest.approx(derived)
