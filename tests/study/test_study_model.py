"""Sweeps of whole models in studies: cases, what is kept of them, findings, mistakes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from study_fakes import FAKES, HERE, run_study

from tradewind.base.errors import InputError
from tradewind.dataset.build import build_dataset, without_empty, write_dataset
from tradewind.dataset.read import read_dataset
from tradewind.model import load_model
from tradewind.report.build import build_report
from tradewind.simulation import simulate
from tradewind.study.cases.expand import expand
from tradewind.study.cases.machines import own_machines
from tradewind.study.cases.model_request import ModelRequest
from tradewind.study.cases.records import exchange_of, read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.judgement import judge_all
from tradewind.study.claims.quantity import causes_of, parts_of, quantity_of
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan
from tradewind.workload.workload import Workload

MODEL = """\
title = "A small model"
source = "this test"
grid = "48x32x4"
step = "60s"

[numbers.iterations]
value = 3
source = "this test"

[[steps]]
part = "physics"
label = "physics"
compute = "xy"
bytes = 20e3

[[steps]]
part = "solver"
repeat = "=iterations"
[[steps.steps]]
halo = 1
label = "halo"
[[steps.steps]]
allreduce = 2
label = "sum"

[[steps]]
part = "radiation"
label = "radiation"
every = 4
compute = "xy"
bytes = 40e3
"""

STUDY = """\
title = "A model on two machines"

[[sweep]]
name = "own"
kind = "model"
weather_model = "small.toml"
ranks = [4, 16, 100000]
numbers = { iterations = [3, 9] }
algorithms = { halo = "direct" }
causes = true
machine = ["torus-M", "fattree-M"]

[[plot]]
kind = "parts"
title = "Where the time goes"
of = { sweep = "own" }

[[plot]]
kind = "causes"
title = "Why"
of = { sweep = "own" }

[[plot]]
title = "Speed"
of = { sweep = "own" }
quantity = "days-per-day"
curve = "machine"
panel = "numbers"

[[finding]]
figure = "1"
claim = "more ranks, a faster forecast"
where = { machine = "torus-M", numbers = "iterations=3" }
quantity = "days-per-day"
rises = { sweep = "own" }

[[finding]]
figure = "2"
claim = "more iterations make a faster forecast"
where = { machine = "torus-M" }
quantity = "days-per-day"
better = { numbers = "iterations=3" }
than = { numbers = "iterations=9" }
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(MODEL)
    (folder / "more").mkdir()
    (folder / "more" / "small.toml").write_text(MODEL)
    path = folder / "model.toml"
    path.write_text(STUDY)
    return path


def test_numbers_and_machines_multiply_and_ranks_that_do_not_fit_are_skipped(study: Path):
    cases, skips = expand(load_study(study).study)
    labels = {(c.labels["ranks"], c.labels["numbers"], c.labels["machine"]) for c in cases}
    assert len(cases) == len(labels) == 2 * 2 * 2
    assert {case.labels["algorithm"] for case in cases} == {"halo=direct"}
    assert {skip.reason for skip in skips} == {
        "100000 ranks: neither 400x250 nor other factors of them fit 48x32x4 points"
    }
    with pytest.raises(InputError, match="is a model, and no exchange alone"):
        exchange_of(dict(cases[0].labels))


@pytest.fixture(scope="module")
def ran(study: Path) -> tuple[StudyFile, Store]:
    file, executors = load_study(study), replace(FAKES, simulate=simulate)
    store = Store.create(study.parent / "results", STUDY)
    outcome = run_study(file, make_plan(file, executors, HERE), store, executors, HERE)
    assert outcome.failed == {}
    return file, store


def test_a_step_is_made_once_for_all_machines(study: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[tuple[int, str]] = []
    program = ModelRequest.program

    def counted(request: ModelRequest) -> Workload:
        made.append((request.ranks, request.name))
        return program(request)

    monkeypatch.setattr(ModelRequest, "program", counted)
    file = load_study(study)
    plan = make_plan(file, FAKES, HERE)
    assert [each.case.labels for each in plan.planned] == [case.labels for case in expand(file.study)[0]]
    assert len(made) == len(set(made)) == 2 * 2


def test_a_step_that_cannot_be_made_is_skipped_without_the_folder_of_its_file(study: Path, tmp_path: Path):
    (tmp_path / "small.toml").write_text(MODEL.replace("halo = 1", 'halo = 1\nmesh = "octahedral"'))
    (tmp_path / "model.toml").write_text(STUDY.replace(", 100000", ""))
    plan = make_plan(load_study(tmp_path / "model.toml"), FAKES, HERE)
    assert plan.planned == []
    assert [skip.reason for skip in plan.skips] == ["small.toml:19: mesh belongs to fetch, and not to halo"] * 8
    assert "torus-M" in plan.skips[0].name


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('halo = "direct"', 'path = "burst"', "algorithms.path: the model has no exchange of this kind"),
        ('"small.toml"', '"small.toml"\nsplit = { 4 = "3x1" }', "split 3x1 makes 3 ranks, and 4 are asked for"),
    ],
)
def test_what_a_model_does_not_have_is_skipped(study: Path, old: str, new: str, reason: str):
    skips = expand(load_study(study, STUDY.replace(old, new)).study)[1]
    assert reason in {skip.reason for skip in skips}


def test_a_copy_of_a_study_has_all_of_its_models(ran: tuple[StudyFile, Store]):
    (ran[1].folder / "models" / "small.toml").unlink()
    assert load_study(ran[1].study_file, is_copy=True).study.title
    with pytest.raises(InputError, match=r"cannot read small\.toml"):
        load_study(ran[1].study_file)
    ran[1].write_input("models", "small.toml", MODEL.encode())


def test_a_kept_case_is_the_forecast_of_the_model(study: Path, ran: tuple[StudyFile, Store], tmp_path: Path):
    records = read_records(ran[1], HERE).records
    write_dataset(without_empty(build_dataset(records, {})), tmp_path / "kept.nc")
    kept, _ = read_dataset(tmp_path / "kept.nc")
    model = load_model(study.parent / "small.toml", {"iterations": 9})
    expected = replace(model, algorithms={"halo": "direct"}).simulate("torus-M", 16)
    for found in (records, kept):
        case = next(c for c in found if (c["ranks"], c["numbers"], c["machine"]) == (16, "iterations=9", "torus-M"))
        assert case["time_s"] == pytest.approx(expected["time_s"])
        assert parts_of(case) == pytest.approx(expected["part_s"])
        assert quantity_of(case, "days-per-day") == pytest.approx(expected["forecast_days_per_day"])
        assert quantity_of(case, "hour-time") == pytest.approx(3600 / model.step_s * expected["time_s"])
        assert causes_of(case) == pytest.approx(expected["cause_s"])
        assert quantity_of(case, "latency-share") == pytest.approx(expected["cause_s"]["latency"] / expected["time_s"])
        assert quantity_of(case, "compute") == pytest.approx(expected["computing_s"])
        assert [v.verdict for v in judge_all(ran[0], found)] == ["confirmed", "contradicted"]


def test_the_report_draws_parts_causes_and_days(ran: tuple[StudyFile, Store]):
    build_report(ran[1].folder, HERE)
    drawn = [path.read_text() for path in sorted((ran[1].folder / "figures").glob("*.svg"))]
    assert len(drawn) == 3
    assert {"physics", "solver", "radiation"} <= set(re.findall(r">([^<]+)</text>", drawn[0]))
    assert {"compute", "imbalance", "latency", "bandwidth"} <= set(re.findall(r">([^<]+)</text>", drawn[1]))
    assert "days of forecast in a day" in drawn[2]


def test_what_decides_the_result_is_the_identity(study: Path, tmp_path: Path):
    def keys(text: str) -> set[str]:
        (tmp_path / "small.toml").write_text(text)
        path = tmp_path / "model.toml"
        path.write_text(STUDY)
        return {planned.key for planned in make_plan(load_study(path), FAKES, HERE).planned}

    assert keys(MODEL) == keys(MODEL.replace("A small model", "Another title"))
    assert not keys(MODEL) & keys(MODEL.replace("every = 4", "every = 5"))
    assert not keys(MODEL) & keys(MODEL.replace("60s", "61s"))


@pytest.mark.parametrize(
    ("keys", "threads"),
    [
        ("", None),
        ('set = { "node.core_flops" = "1Gflop/s" }\n', 12),
        ('set = { "node.core_flops" = "1Gflop/s" }\nthreads = 2\n', 2),
    ],
)
def test_threads_are_a_part_of_a_case_where_they_count(study: Path, keys: str, threads: int | None):
    """Four ranks share the 48 cores of a node of Fugaku."""
    text = STUDY.replace('machine = ["torus-M", "fattree-M"]', f'machine = "fugaku"\nranks_per_node = 4\n{keys}')
    file = load_study(study, text)
    cases, _ = expand(file.study, own_machines(file))
    assert {case.labels["threads"] for case in cases} == {threads}
    assert {case.workload.as_dict().get("threads") for case in cases} == {threads}
    assert {case.workload.program().threads for case in cases} == {threads or 1}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (STUDY.replace("small.toml", "smaller"), "unknown model 'smaller'"),
        (STUDY.replace("iterations = [3, 9]", "iteration = 3"), "unknown number 'iteration'"),
        (STUDY.replace('halo = "direct"', 'halos = "direct"'), "unknown kind of exchange 'halos'"),
        (STUDY.replace('"small.toml"', '["small.toml", "more/small.toml"]'), "small.toml has the same name"),
        (STUDY.replace("weather_model", "weather_modle"), "unknown key 'weather_modle'.*weather_model"),
    ],
)
def test_mistakes_are_named_with_their_line(study: Path, wrong: str, message: str):
    with pytest.raises(InputError, match=message) as error:
        make_plan(load_study(study, wrong), FAKES, HERE)
    assert f"{study}:" in str(error.value)
