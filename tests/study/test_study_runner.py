from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from study_fakes import FAKES, HERE, PATIENCE_S, run_study

from tradewind.study.cases.environment import Environment
from tradewind.study.cases.records import read_records
from tradewind.study.cases.store import Store
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan
from tradewind.study.runner.run import Outcome, StudyRun, run_studies

Calls = Callable[[str], int]


def run(path: Path, environment: Environment = HERE, **options: object) -> tuple[Outcome, Store]:
    study_file = load_study(path)
    store = Store.create(path.parent / "results", study_file.file.text)
    plan = make_plan(study_file, FAKES, environment)
    return run_study(study_file, plan, store, FAKES, environment, **options), store  # type: ignore[arg-type]


def test_every_case_is_computed_once(small_study: Path, calls: Calls) -> None:
    outcome, store = run(small_study)
    assert (outcome.computed, outcome.reused, len(outcome.skipped), outcome.failed) == (10, 0, 1, {})
    assert (calls("verify"), calls("measure"), calls("simulate")) == (2, 2, 6)
    outcome, _ = run(small_study)
    assert (outcome.computed, outcome.reused) == (0, 10)
    assert (calls("verify"), calls("measure"), calls("simulate")) == (2, 2, 6)

    records = read_records(store, HERE)
    assert [record["time_s"] for record in records.records[:4]] == [None, None, 2e-3, 2e-3]
    assert {(r["ranks"], r["time_s"]) for r in records.records[4:]} == {(4, 25.0), (8, 12.5)}
    assert {r["routing"] for r in records.records[4:]} == {"dimension-order"}
    assert not any(record["is_foreign"] for record in records.records)


def test_measured_again_when_asked_or_on_another_machine(small_study: Path, calls: Calls) -> None:
    run(small_study)
    outcome, store = run(small_study, remeasure=True)
    assert (outcome.computed, calls("measure"), calls("simulate")) == (2, 4, 6)
    elsewhere = replace(HERE, host="elsewhere")
    foreign = read_records(store, elsewhere)
    assert [record["is_foreign"] for record in foreign.records].count(True) == 2
    outcome, _ = run(small_study, elsewhere)
    assert (outcome.computed, calls("measure"), calls("simulate")) == (2, 6, 6)


IN_TURNS = """\
title = "In turns"

[[sweep]]
name = "timing"
kind = "measure"
pattern = "halo"
grid = ["40x40x4", "80x40x4"]
ranks = 2
algorithm = ["sweep", "direct"]
transport = ["isend-irecv", "sendrecv", "put-fence"]
repeat = 9
rounds = 3
"""


def test_cases_that_take_turns_are_measured_in_one_job(tmp_path: Path, calls: Calls) -> None:
    path = tmp_path / "turns.toml"
    path.write_text(IN_TURNS)
    outcome, store = run(path)
    assert calls("measure") == 2 * 3  # for each grid, in each round
    assert (outcome.computed, len(outcome.failed)) == (8, 4)
    assert set(outcome.failed.values()) == {"nothing was measured: no windows here"}
    records = read_records(store, HERE).records
    measured = {(r["grid"], r["algorithm"], r["transport"]) for r in records if r["time_s"] == 2e-3}
    assert len(measured) == 8
    assert all(len(r["result"]["results"][0]["samples_s"]) == 9 for r in records if r["time_s"] == 2e-3)  # three rounds


def test_one_that_fails_takes_no_other_with_it(tmp_path: Path, calls: Calls) -> None:
    path = tmp_path / "turns.toml"
    path.write_text(IN_TURNS.replace("put-fence", "shared").replace(', "80x40x4"', ""))
    outcome, _ = run(path)
    assert calls("measure") == 1 + 6  # a first round, then each alone
    assert (outcome.computed, set(outcome.failed.values())) == (4, {"shared fails today"})
    outcome, _ = run(path)
    assert (outcome.reused, outcome.computed, calls("measure")) == (4, 0, 1 + 6 + 3)  # the two of shared, and alone


def test_a_damaged_case_is_computed_again_and_said_so(small_study: Path, calls: Calls) -> None:
    _, store = run(small_study)
    damaged = sorted(store.cases.iterdir())[:2]
    damaged[0].write_text(damaged[0].read_text()[:-30])
    damaged[1].write_text(damaged[1].read_text().replace("wall_s", "wall_t"))
    outcome, _ = run(small_study)
    assert (outcome.computed, outcome.reused) == (2, 8)
    assert len(outcome.recomputed) == 2
    assert all("computed again" in text for text in outcome.recomputed)
    assert read_records(store, HERE).missing == []


def test_a_case_that_fails_or_dies_takes_no_other_with_it(small_study: Path, calls: Calls) -> None:
    text = small_study.read_text().replace('["ring-1", "ring-5"]', '["burst", "ring-1", "bruck", "pairwise"]')
    small_study.write_text(text.replace('["torus-M", "fattree-M"]', '"torus-M"'))
    outcome, store = run(small_study, workers=2)
    reasons = sorted(outcome.failed.values())
    assert [reason.split()[0] for reason in reasons] == ["burst", "burst", "its", "its"]
    assert "died" in reasons[-1]
    records = read_records(store, HERE)
    assert [r["algorithm"] for r in records.records if r["kind"] == "simulate"] == ["ring-1"] * 2 + ["pairwise"] * 2
    assert len(records.failed) == 4
    assert records.missing == []


def test_studies_that_run_together_share_a_case_whatever_becomes_of_it(small_study: Path, calls: Calls) -> None:
    folder = small_study.parent
    texts = {
        "first": small_study.read_text(),
        "second": small_study.read_text().replace('"Small"', '"Second"').replace("ring-5", "burst"),
        "third": small_study.read_text().replace('"Small"', '"Third"').replace("ring-5", "burst"),
    }
    complete: list[tuple[str, int]] = []
    swept: list[tuple[str, str]] = []

    def run_together(**options: object) -> list[StudyRun]:
        studies = []
        for name, text in texts.items():
            (folder / f"{name}.toml").write_text(text)
            study_file = load_study(folder / f"{name}.toml")
            store = Store.create(folder / "results" / name, text, folder / "pool")
            studies.append(StudyRun(study_file, make_plan(study_file, FAKES, HERE), store))
        complete.clear()
        swept.clear()
        how: dict[str, Any] = {"workers": 1, "complete": note, "sweep_complete": note_sweep, **options}
        run_studies(studies, FAKES, HERE, **how)
        return studies

    def note(study: StudyRun) -> None:
        """Return the cases that a report would find, and the number of simulations so far."""
        records = read_records(Store.existing(study.store.folder), HERE)
        assert (records.missing, len(records.failed)) == ([], len(study.outcome.failed))
        complete.append((study.study_file.name, calls("simulate")))

    def note_sweep(study: StudyRun, name: str) -> None:
        """Every case of the sweep has been computed or has failed, and the study is not complete yet."""
        assert study.open.isdisjoint(each.key for each in study.plan.planned if each.case.sweep == name)
        assert study.study_file.name not in [name for name, _ in complete]
        swept.append((study.study_file.name, name))

    (folder / "pool").mkdir()
    first, second, third = run_together()
    assert (first.outcome.computed, first.outcome.reused, first.outcome.failed) == (10, 0, {})
    assert (second.outcome.computed, second.outcome.reused, len(second.outcome.failed)) == (0, 8, 4)
    assert (third.outcome.computed, third.outcome.reused, len(third.outcome.failed)) == (0, 8, 4)
    assert complete == [("first", 6), ("second", 10), ("third", 10)]
    sweeps = [sweep.name for sweep in first.study_file.study.sweep]
    assert sorted(swept) == sorted((name, sweep) for name in texts for sweep in sweeps), "each once"
    assert (calls("verify"), calls("measure"), calls("simulate")) == (2, 2, 10)

    damaged = sorted((folder / "pool").glob("*.json"))[0]
    damaged.write_text("")
    first, second, third = run_together(remeasure=True)
    assert calls("measure") == 4
    assert [len(study.outcome.recomputed) for study in (first, second, third)].count(1) == 1
    assert complete[-1] == ("third", calls("simulate"))


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_study_runner import run
if __name__ == "__main__":
    run(Path({study!r}), workers=1)
"""


def test_a_study_killed_half_way_goes_on_where_it_was(small_study: Path, calls: Calls) -> None:
    script = small_study.parent / "run.py"
    script.write_text(KILLED.format(tests=str(Path(__file__).parent), study=str(small_study)))
    held = {**os.environ, "TRADEWIND_TEST_HOLD": "3"}
    process = subprocess.Popen([sys.executable, str(script)], env=held)
    cases = small_study.parent / "results" / "cases"
    deadline = time.monotonic() + PATIENCE_S
    while calls("simulate") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers = [int(line) for line in _children(process.pid)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    (small_study.parent / "calls" / "go").touch()
    stored = len(list(cases.glob("*.json")))
    assert stored == 6, "all before the one that was not finished"

    outcome, store = run(small_study)
    assert (outcome.computed, outcome.reused, outcome.recomputed) == (10 - stored, stored, [])
    assert len(read_records(store, HERE).records) == 10
    deadline = time.monotonic() + PATIENCE_S
    while any(_is_running(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [worker for worker in workers if _is_running(worker)], "workers outlive their study"


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
