"""A pattern is one file and a row: a toy one is added from outside, and is seen wherever patterns are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from slow_tests import slow

SHIFT = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tradewind import _core
from tradewind.workload.exchange import Exchange
from tradewind.workload.options import option
from tradewind.workload.patterns.fetch import FetchArrays
from tradewind.workload.workload import Step


@dataclass(frozen=True)
class Shift(Exchange):
    length: int = option("Points of each rank.", 8, minimum=1, maximum=1000, label="points of each rank of a shift")
    distance: int = option("Distance in ranks of the owner of the points.", 1, minimum=1, maximum=9)

    kind: ClassVar[str] = "shift"
    core_pattern: ClassVar[str] = "fetch"
    floor_algorithm: ClassVar[str] = "direct"

    def _problems(self):
        return [f"distance {self.distance}: less than {self.ranks} ranks"] if self.distance >= self.ranks else []

    @property
    def detail(self):
        return f"{self.length} by {self.distance}"

    def steps(self):
        owned = [np.arange(self.length) + self.length * rank for rank in range(self.ranks)]
        wanted = owned[self.distance :] + owned[: self.distance]
        return [Step("shift", self.schedule(_core.fetch_of_ids(owned, wanted)), self.times)]

    @staticmethod
    def arrays():
        return FetchArrays
"""
# Every process of a test has the row, also the ranks that a command starts.
ROW = """
from tradewind.workload.registry import PATTERNS, PatternEntry

PATTERNS["shift"] = PatternEntry("shift_pattern:Shift", "a toy: each rank wants the points of another")
"""
STUDY = """
title = "A toy pattern"

[[sweep]]
name = "proved"
kind = "verify"
pattern = "shift"
ranks = [4, 6]
length = [3, 5]

[[sweep]]
name = "here"
kind = "measure"
pattern = "shift"
ranks = 2
length = [3, 5]
repeat = 2

[[sweep]]
name = "there"
kind = "simulate"
pattern = "shift"
machine = "torus-M"
ranks = [16, 64]
length = [3, 500]

[[plot]]
title = "By length"
kind = "time"
of = [{ sweep = "there" }]
curve = "length"

[[finding]]
figure = "1"
claim = "longer shifts take longer"
better = { sweep = "there", length = 3 }
than = { sweep = "there", length = 500 }
"""


@pytest.fixture
def tradewind(tmp_path: Path):
    """Runs the command line, in whose registry the toy stands: exit code, output, errors."""
    (tmp_path / "shift_pattern.py").write_text(SHIFT)
    (tmp_path / "sitecustomize.py").write_text(ROW)

    def run(arguments: str) -> tuple[int, str, str]:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "140"}
        command = [sys.executable, "-m", "tradewind", *arguments.split()]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return run


def test_it_is_listed_and_shows_its_options(tradewind):
    assert "shift a toy: each rank wants the points of another" in " ".join(tradewind("list patterns")[1].split())
    assert "shift" in tradewind("bench --help")[1]
    code, text, _ = tradewind("simulate shift --help")
    assert code == 0
    assert "--length LENGTH      Points of each rank. [default: 8]" in text
    assert "--width" not in text


def test_it_is_verified(tradewind):
    code, text, errors = tradewind("verify shift --ranks 5 --length 4 --json")
    assert code == 0, errors
    found = json.loads(text)
    assert {key: found[key] for key in ("pattern", "ranks", "length", "distance")} == {
        "pattern": "shift",
        "ranks": 5,
        "length": 4,
        "distance": 1,
    }
    assert (found["messages"], found["bytes"]) == (5, 5 * 4 * 8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--ranks 5 --length 0", "length 0: 1..1000 are allowed"),
        ("--ranks 2 --distance 2", "distance 2: less than 2 ranks"),
        *slow(
            ("--ranks 2 --width 2", "--width does not apply to shift: leave it out (halo, fetch take it)"),
            ("--ranks 2 --lenth 2", "unknown option '--lenth'; did you mean '--length'?"),
            ("--ranks 2 --algorithm sweep", "unknown fetch algorithm 'sweep'"),
        ),
    ],
)
def test_bad_input(tradewind, arguments, words):
    code, _, errors = tradewind(f"verify shift {arguments}")
    assert code == 2
    assert words in " ".join(errors.split())


def test_it_is_simulated(tradewind):
    code, text, errors = tradewind("simulate shift --ranks 64 --length 100 --machine torus-M --json")
    assert code == 0, errors
    assert json.loads(text)["bytes"] == 64 * 100 * 8


@pytest.mark.slow
def test_it_is_measured_checked_and_tuned(tradewind, tmp_path):
    pytest.importorskip("mpi4py.MPI")
    code, text, errors = tradewind("bench shift -n 2 --length 4 --algorithm all --repeat 2 --json")
    assert code == 0, errors
    found = json.loads(text)
    assert found["checked"]
    assert found["exchange"]["length"] == 4
    assert found["bytes"] == 4 * 8
    code, _, errors = tradewind("tune shift -n 2 --length 4 --trials 2 --include direct -o shift.toml --memory private")
    assert code == 0, errors
    assert 'pattern = "fetch"' in (tmp_path / "shift.toml").read_text()


@pytest.mark.slow
def test_a_study_sweeps_it_and_its_report_shows_it(tradewind, tmp_path):
    pytest.importorskip("mpi4py.MPI")
    (tmp_path / "toy.toml").write_text(STUDY)
    code, text, errors = tradewind("study toy.toml --json")
    assert code == 0, text + errors
    found = json.loads(text)
    assert (found["cases"], found["failed"], found["skipped"]) == (10, [], [])
    assert [each["verdict"] for each in found["findings"]] == ["confirmed"]
    page = (tmp_path / "results" / "toy" / "report.html").read_text()
    assert "shift 500 by 1 direct" in page
    (tmp_path / "toy.toml").write_text(STUDY.replace("length = [3, 500]", "width = [3, 5]"))
    code, _, errors = tradewind("study toy.toml --dry-run")
    assert code == 2
    assert "width does not apply to shift: leave it out" in errors
