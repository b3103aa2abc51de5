"""Cached cases of a run: stored and whole, or known; all others are computed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from study_fakes import FAKES, HERE, run_study

from tradewind.dataset.known import known_results
from tradewind.study.cases.records import read_records
from tradewind.study.cases.store import OTHER_PROGRAM, Store
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import Planned, make_plan
from tradewind.study.runner.cached_cases import scan_cache
from tradewind.study.runner.run import StudyRun


def planned_cases(path: Path) -> tuple[list[Planned], Store]:
    study_file = load_study(path)
    return make_plan(study_file, FAKES, HERE).planned, Store.create(path.parent / "results", study_file.file.text)


def stored_cases(path: Path) -> tuple[list[Planned], Store]:
    cases, store = planned_cases(path)
    study_file = load_study(path)
    run_study(study_file, make_plan(study_file, FAKES, HERE), store, FAKES, HERE)
    return cases, store


def test_of_a_new_study_all_is_missing_once(small_study: Path) -> None:
    cases, store = planned_cases(small_study)
    cached = scan_cache([*cases, *cases], store)
    assert (cached.present, cached.missing, cached.damaged) == ([], cases, {})


def test_a_stored_simulation_of_another_program_is_missing(small_study: Path, calls: Callable[[str], int]) -> None:
    """The model of its work has changed under the same key, or no hash was stored with it by an earlier version."""
    cases, store = stored_cases(small_study)
    simulated = [planned for planned in cases if planned.case.kind == "simulate"]
    assert len({planned.program for planned in simulated}) == 3, "on two machines the same ones"
    bodies = [store.load(planned.key) or {} for planned in simulated[:3]]
    store.save(simulated[0].key, {**bodies[0], "program": "0" * 16})
    for planned, body in zip(simulated[1:], bodies[1:], strict=False):
        store.save(planned.key, {key: value for key, value in body.items() if key != "program"})
    cached = scan_cache(cases, store)
    assert cached.missing == simulated[:3]
    assert cached.recomputed() == [
        "1 stored cases are computed again: their programs have changed since: other steps, exchanges, flops or bytes",
        "2 stored cases are computed again: no hash of a program is stored with them",
    ]


def test_a_stored_simulation_of_another_program_is_no_record(small_study: Path, calls: Callable[[str], int]) -> None:
    """A run that was stopped has written its manifest, and not yet all of its cases again."""
    cases, store = stored_cases(small_study)
    planned = next(planned for planned in cases if planned.case.kind == "simulate")
    store.save(planned.key, {**(store.load(planned.key) or {}), "program": "0" * 16})
    found = read_records(store, HERE)
    assert planned.key not in [record["key"] for record in found.records]
    assert found.missing == ["simulate transpose ring-1, 4 ranks, torus-M: stored of another program"]
    manifest = store.load_manifest()
    for entry in manifest["cases"]:
        del entry["program"]  # as an earlier version wrote it
    store.save_manifest(manifest)
    assert read_records(store, HERE).missing == []


def test_known_results_of_another_program_are_not_taken(small_study: Path, calls: Callable[[str], int]) -> None:
    cases, store = planned_cases(small_study)
    first, second = [planned for planned in cases if planned.case.kind == "simulate"][:2]
    known = {first.key: {"key": first.key, "program": first.program}, second.key: {"program": "0" * 16}}
    assert first in scan_cache(cases, store, known=known).present
    study_file = load_study(small_study)
    study = StudyRun(study_file, make_plan(study_file, FAKES, HERE), store)
    study.take(known)
    assert store.load(first.key) is not None
    assert store.load(second.key) is None
    assert study.notes == [f"1 known cases are computed again: {OTHER_PROGRAM}"]


def test_a_known_result_replaces_a_stored_one_of_another_program(
    small_study: Path, calls: Callable[[str], int]
) -> None:
    cases, store = stored_cases(small_study)
    planned = next(planned for planned in cases if planned.case.kind == "simulate")
    good = store.load(planned.key) or {}
    store.save(planned.key, {key: value for key, value in good.items() if key != "program"})
    known = {each.key: {**good, "key": each.key, "program": each.program, "mark": "known"} for each in cases}
    cached = scan_cache(cases, store, known=known)
    assert (cached.missing, cached.outdated) == ([], {})
    study_file = load_study(small_study)
    study = StudyRun(study_file, make_plan(study_file, FAKES, HERE), store)
    study.take(known)
    assert [key for key in known if (store.load(key) or {}).get("mark") == "known"] == [planned.key]
    assert study.notes == []


def test_of_one_case_in_several_files_the_known_one_has_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"kind": "simulate", "key": "k", "result": {}, "mark": None, "wall_s": 1.0, "environment": {}}
    programs = {"a.nc": None, "b.nc": "1" * 16, "c.nc": None}
    for name in programs:
        (tmp_path / name).touch()
    monkeypatch.setattr(
        "tradewind.dataset.known.read_dataset", lambda path: ([{**body, "program": programs[path.name]}], {})
    )
    assert known_results([tmp_path])["k"]["program"] == "1" * 16


def test_what_is_known_is_at_hand(small_study: Path) -> None:
    cases, store = planned_cases(small_study)
    cached = scan_cache(cases, store, known={cases[1].key: {}, "another": {}})
    assert cached.present == cases[1:2]
    assert cached.missing == cases[:1] + cases[2:]


def test_what_is_stored_is_at_hand_unless_measured_again(small_study: Path, calls: Callable[[str], int]) -> None:
    cases, store = stored_cases(small_study)
    assert scan_cache(cases, store).present == cases
    again = scan_cache(cases, store, remeasure=True)
    assert [planned.case.kind for planned in again.missing] == ["measure", "measure"]
    assert len(again.present) == len(cases) - 2


def test_what_is_damaged_is_missing_even_where_it_is_known(small_study: Path, calls: Callable[[str], int]) -> None:
    """A run does not write over a stored case with a known one: it computes it again, and says so."""
    cases, store = stored_cases(small_study)
    path = store.path(cases[0].key)
    path.write_text(path.read_text()[:-30])
    cached = scan_cache(cases, store, known={cases[0].key: {}})
    assert cached.missing == cases[:1]
    [problem] = cached.damaged.values()
    assert str(path) in problem
    assert problem.endswith("it is computed again")
