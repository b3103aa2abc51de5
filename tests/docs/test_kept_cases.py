"""Random kept cases of all studies are simulated again, bit for bit, others each day: see `SEED`."""

from __future__ import annotations

import functools
import importlib
import os
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray as xr
from document_blocks import ROOT

from tradewind.dataset.build import CHANGED_TREE, EARLIER_MODEL, without_empty
from tradewind.study.cases.records import Record

KEPT = sorted((ROOT / "studies").glob("**/results/*.nc"))
SEED = os.environ["TRADEWIND_KEPT_CASES_SEED"]
"""That of the day, which tests/conftest.py prints, or the one that is named."""
LONGEST_S, IN_ALL_S, SHARES = 1.0, 6.0, 3
"""Wall time of a case and of all when they were computed, with all else a third of the processor time that they take on
slow cores; the tests that share them. Nearly every study has cases that are so short; some twenty have a turn a day."""


@pytest.fixture(scope="module")
def provenance() -> ModuleType:
    sys.path.insert(0, str(ROOT / "docs"))  # programs and no package
    return importlib.import_module("provenance")


@functools.cache
def candidates(longest_s: float) -> dict[Path, dict[int, float]]:
    """Return the wall times of the simulated cases of each file that took no longer and have no mark, by number."""
    found = {}
    for path in KEPT:
        with netCDF4.Dataset(path) as data:
            wall_s, kinds = np.asarray(data["wall_time"][:]), data["kind"][:]
            marks = data["mark"][:] if "mark" in data.variables else [""] * len(kinds)
        able = (kinds == "simulate") & (np.asarray(marks) == "") & (wall_s < longest_s)
        found[path] = {int(i): float(wall_s[i]) for i in np.flatnonzero(able)}
    return {path: cases for path, cases in found.items() if cases}


def drawn(longest_s: float, in_all_s: float, of_each: bool) -> dict[Path, list[int]]:
    """Return random cases that took `in_all_s` in all: where asked for, no two of a study before one of each."""
    able, draw = candidates(longest_s), random.Random(SEED)
    first = [(path, draw.choice(list(cases))) for path, cases in able.items()] if of_each else []
    others = sorted({(path, i) for path, cases in able.items() for i in cases} - {*first})
    chosen: dict[Path, list[int]] = {}
    for path, i in (*draw.sample(first, len(first)), *draw.sample(others, len(others))):
        if (in_all_s := in_all_s - able[path][i]) < 0:
            break
        chosen.setdefault(path, []).append(i)
    return chosen


def check(provenance: ModuleType, chosen: dict[Path, list[int]]) -> None:
    for path, numbers in chosen.items():
        file = provenance.KeptFile.read(path, numbers)
        cases = provenance.planned_today(file.study, file.records)
        for i, kept in enumerate(file.records):
            name = f"{file.name}, {kept['sweep']}: {kept['exchange']}, {kept['ranks']} ranks"
            assert provenance.place_of(kept) in cases, f"{name} (seed {SEED}): the study has no such case any more"
            case = cases[provenance.place_of(kept)]
            assert kept["program"] == case.program, f"{name} (seed {SEED}): another program"
            record = provenance.simulated_now(case, "")
            assert provenance.differences(file.dataset, i, record) == [], f"{name} (seed {SEED})"


@pytest.mark.parametrize("share", range(SHARES))
def test_random_kept_cases_are_the_results_of_today(provenance: ModuleType, share: int) -> None:
    chosen = drawn(LONGEST_S, IN_ALL_S, of_each=True)
    assert len(chosen) > 10
    check(provenance, dict(list(chosen.items())[share::SHARES]))


@pytest.mark.slow  # those that take longer
def test_more_kept_cases_are_the_results_of_today(provenance: ModuleType) -> None:
    check(provenance, drawn(60.0, 120.0, of_each=False))


@pytest.fixture
def kept(provenance: ModuleType, tmp_path: Path) -> Any:
    """A kept file of a few cases, in a folder of its own."""
    file = provenance.KeptFile.read(next(path for path in KEPT if path.stem == "figure-3"))
    file.path = tmp_path / file.path.name
    file.write()
    assert list(file.problems()) == []
    return file


def test_a_record_without_a_clean_commit_needs_a_mark(kept: Any) -> None:
    commits = kept.texts("commit")
    for wrong in (f"{commits[0]}-dirty", "0123456789ab", ""):
        kept.set_texts("commit", [wrong, *commits[1:]])
        kept.write()
        assert [problem.split(" have")[0].split(" (")[0] for problem in kept.problems()] == [
            f"records of {wrong or 'no commit'}"
        ]
    kept.set_texts("mark", [CHANGED_TREE, *kept.texts("mark")[1:]])
    assert list(kept.problems()) == []


def test_a_simulated_record_needs_the_hash_of_its_program_or_a_mark(kept: Any) -> None:
    kept.set_texts("program", ["", *kept.texts("program")[1:]])
    assert [problem[-7:] for problem in kept.problems()] == ["`adopt`"]
    kept.set_texts("mark", [EARLIER_MODEL, *kept.texts("mark")[1:]])
    assert list(kept.problems()) == []


@pytest.mark.parametrize("name", ["git_commits", "findings"])
def test_a_file_lists_its_commits_and_the_findings_of_today(kept: Any, name: str) -> None:
    kept.dataset.attrs[name] = kept.dataset.attrs[name].replace("e", "f", 1)
    assert list(kept.problems()) == [f"the attribute {name} is not that of today: `write`"]


def test_a_case_that_is_simulated_again_takes_the_place_of_its_former_result(provenance: ModuleType) -> None:
    """With more steps and bins than others have."""
    file = provenance.KeptFile.read(next(path for path in KEPT if path.stem == "figure-3"))
    record: Record = file.records[2]
    result = record["result"]
    delay = {"edges_s": [*result["delay"]["edges_s"], 1.0], "counts": [*result["delay"]["counts"], 7.0]}
    steps = {**result["step_time_s"], "another": 0.5}
    changed = {**record, "time_s": 2 * record["time_s"]}
    changed["result"] = {**result, "delay": delay, "step_time_s": steps, "time_s": changed["time_s"]}
    assert sorted(provenance.differences(file.dataset, 2, changed)) == ["delay_count", "delay_edge", "time"]
    made = provenance.KeptFile(file.path, provenance.with_case(file.dataset, 2, changed)).records
    assert made[2]["result"] == changed["result"]
    assert [made[0], made[1], *made[3:]] == [file.records[0], file.records[1], *file.records[3:]]
    xr.testing.assert_equal(without_empty(provenance.with_case(file.dataset, 2, record)), without_empty(file.dataset))
