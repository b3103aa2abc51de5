"""Sweeps of coupled models in studies: the forecast that is kept, its identity, copies of a study, mistakes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from study_fakes import FAKES, HERE, run_study

from tradewind.base.errors import InputError
from tradewind.model import load_model
from tradewind.simulation import simulate
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.quantity import parts_of, quantity_of
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan

COMPONENT = """\
title = "A component"
source = "this test"
grid = "16x8x4"
step = "60s"
[numbers.traffic]
value = 4000
source = "this test"
[[steps]]
label = "physics"
compute = "xy"
bytes = "=traffic"
[[steps]]
label = "halo"
halo = 1
"""
COUPLED = """\
title = "Air and sea"
source = "this test"
[[component]]
name = "air"
model = "parts/air.toml"
grid = "16x8"
[[component]]
name = "sea"
model = "parts/sea.toml"
grid = "10x6"
ranks = 2
[[coupling]]
name = "fluxes"
from = "air"
to = "sea"
fields = 2
period = "120s"
interpolation = "conservative"
"""
STUDY = """\
title = "A coupled model"
[[sweep]]
name = "coupled"
kind = "model"
weather_model = "coupled.toml"
ranks = [2, 4, 10]
numbers = { "sea.traffic" = [1e3, 1e6] }
algorithms = { halo = "direct" }
causes = true
machine = "fattree-M"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    for name in ("air", "sea"):
        (tmp_path / "parts" / f"{name}.toml").write_text(COMPONENT.replace("A component", name))
    (tmp_path / "coupled.toml").write_text(COUPLED)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_a_kept_case_is_the_forecast_of_the_coupled_model(study: Path):
    file, executors = load_study(study), replace(FAKES, simulate=simulate)
    plan = make_plan(file, executors, HERE)
    assert {skip.reason for skip in plan.skips} == {
        "coupled.toml:3: 2 ranks: components have 2 of sea and 1 or more of air"
    }
    store = Store.create(study.parent / "results", STUDY)
    assert run_study(file, plan, store, executors, HERE).failed == {}
    records = read_records(store, HERE).records
    case = next(each for each in records if (each["ranks"], each["numbers"]) == (10, "sea.traffic=1e+06"))
    model = load_model(study.parent / "coupled.toml").with_changes({"sea.traffic": 1e6}, {"halo": "direct"})
    expected = model.simulate("fattree-M", 10)
    assert case["time_s"] == expected["time_s"]
    assert parts_of(case) == pytest.approx(expected["part_s"])
    assert quantity_of(case, "days-per-day") == pytest.approx(expected["forecast_days_per_day"])
    assert (case["grid"], case["dtype"]) == ("air 16x8x4, sea 16x8x4", "f8")
    # A copy has the files of all components beside each other.
    for name in ("air", "sea"):
        (study.parent / "parts" / f"{name}.toml").unlink()
    assert len(expand(load_study(store.study_file).study)[0]) == 4


def test_skips_name_files_of_components_without_their_folders(study: Path):
    sea = study.parent / "parts" / "sea.toml"
    sea.write_text(sea.read_text().replace("halo = 1", 'halo = "=width"'))
    reasons = {skip.reason.split(" (known")[0] for skip in expand(load_study(study).study)[1]}
    assert "sea.toml:14: formula 'width': unknown name 'width'" in reasons
    assert not [reason for reason in reasons if str(study.parent) in reason]


def test_files_of_components_are_part_of_the_identity_but_for_their_prose(study: Path):
    def keys() -> set[str]:
        return {planned.key for planned in make_plan(load_study(study), FAKES, HERE).planned}

    first, sea = keys(), study.parent / "parts" / "sea.toml"
    sea.write_text(sea.read_text().replace('"sea"', '"Another title"'))
    assert keys() == first
    sea.write_text(sea.read_text().replace("halo = 1", "halo = 2"))
    assert not keys() & first


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ('"sea.traffic"', '"sea.trafic"', r"study\.toml:\d+: .*unknown number 'sea\.trafic'; did you mean 'sea\.traf"),
        ('"coupled.toml"', '["coupled.toml", "sea.toml"]', r"sea\.toml: another file of the study has the name sea"),
        ('"coupled.toml"', '"same.toml"', r"same\.toml:\d+: model 'parts/sea\.toml': another file of this model has"),
    ],
)
def test_mistakes_are_named_with_their_line(study: Path, was: str, becomes: str, problem: str):
    (study.parent / "sea.toml").write_text(COMPONENT)
    (study.parent / "same.toml").write_text(COUPLED.replace("parts/air.toml", "sea.toml"))
    with pytest.raises(InputError, match=problem):
        load_study(study, STUDY.replace(was, becomes))
