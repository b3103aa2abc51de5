"""A finding that no case can test is an error of its study, and not a finding that cannot be tested."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_fakes import FAKES, HERE

from tradewind.base.errors import InputError
from tradewind.study.claims.selection import selection_problems
from tradewind.study.plan.catalogue import study_files
from tradewind.study.plan.load import load_study
from tradewind.study.runner.campaign import plan_campaign

STUDY = """\
title = "t"

[[sweep]]
name = "a"
kind = "simulate"
pattern = "transpose"
grid = "40x40x40"
slab = "xz"
ranks = [4, 8]
split = { 4 = "4x1", 8 = "8x1" }
algorithm = ["ring-1", "ring-2"]
machine = ["torus-M", "dragonfly-MM"]
quick = { ranks = 4, algorithm = "ring-1" }

[[sweep]]
name = "r"
kind = "run"
dwarf = "diffusion"
grid = "24x20x6"
ranks = 2

[[finding]]
figure = "1"
claim = "c"
"""


def problems(test: str) -> list[str]:
    return selection_problems(load_study("a.toml", STUDY + test + "\n"))


@pytest.mark.parametrize(
    ("test", "line", "text"),
    [
        (
            'falls = { algorithm = "ring-3" }',
            25,
            "finding 1: falls: unknown algorithm 'ring-3'; did you mean 'ring-2'? (known: ring-1, ring-2",
        ),
        (
            'better = { algorithm = "ring-1" }\nthan = { sweep = "a", algorithm = "rnig-2" }',
            26,
            "finding 1: than: unknown algorithm 'rnig-2'; did you mean 'ring-2'? (known: ring-1, ring-2) of the cases "
            "of a",
        ),
        (
            'where = { machine = "torus" }\nfalls = { sweep = "a" }',
            25,
            "finding 1: unknown machine 'torus'; did you mean 'torus-M'? (known: torus-M, dragonfly-MM)",
        ),
        (
            'where = { sweep = "r" }\norder = [{ ranks = 2 }, { machine = "torus-M" }]',
            26,
            "finding 1: order 2: no case of the study is torus-M",
        ),
        ('ranks = [4, 9]\nfalls = { sweep = "a" }', 26, "finding 1: falls: no case has 9 ranks (known: 4, 8)"),
        (
            'ranks = { from = 9 }\nfalls = { sweep = "a" }',
            26,
            "finding 1: falls: no case has these ranks (known: 4, 8)",
        ),
        ('where = { sweep = "a" }\napart = "slab"', 26, "finding 1: apart: the cases have 1 values of slab"),
        ('falls = { ranks = "4" }', 25, "finding 1: falls: unknown ranks '4'"),
    ],
)
def test_what_no_case_has_is_said_with_its_line_and_what_there_is(test: str, line: int, text: str) -> None:
    (problem,) = problems(test)
    assert problem.startswith(f"a.toml:{line}: {text}")


@pytest.mark.parametrize(
    "test",
    [
        'falls = { sweep = "a", algorithm = ["ring-1", "ring-2"] }',
        # Both machines name a routing of their own, and a run chooses its transport.
        'order = [{ routing = "minimal" }, { routing = "dimension-order" }]',
        'falls = { sweep = "r", transport = "persistent" }',
        'where = { sweep = ["a", "r"] }\nbetter = { kind = "run" }\nthan = { kind = "simulate" }',
        'where = { sweep = "a" }\napart = "machine"',
        'ranks = [4, 9]\nproved = { sweep = "a" }',
        'untestable = "for a reason"\nwhere = { machine = "torus" }',
    ],
)
def test_what_a_case_has_or_may_have_is_no_problem(test: str) -> None:
    assert problems(test) == []


def test_a_study_is_refused_before_it_runs_and_a_quick_run_is_held_against_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(STUDY + 'falls = { algorithm = "ring-3" }\n')
    for quick in (False, True):
        with pytest.raises(InputError, match="unknown algorithm 'ring-3'"):
            plan_campaign(path, FAKES, HERE, quick=quick)
    path.write_text(STUDY + 'falls = { algorithm = "ring-2" }\n')
    assert plan_campaign(path, FAKES, HERE, quick=True).unique


@pytest.mark.parametrize("path", study_files().values(), ids=study_files())
@pytest.mark.slow
def test_the_findings_of_the_studies_that_come_along_can_be_tested(path: Path) -> None:
    assert selection_problems(load_study(path)) == []


def test_what_is_skipped_is_no_case_and_the_reason_is_said() -> None:
    study = STUDY.replace('"ring-1", "ring-2"]', '"ring-1", "ring-9"]')
    found = selection_problems(load_study("a.toml", study + 'falls = { algorithm = "ring-9" }\n'))
    assert found[0].startswith("a.toml:25: finding 1: falls: unknown algorithm 'ring-9'")
    assert found[1].startswith("a.toml: 2 points of the study cannot be, the first: ")
    assert "radix 9 is out of range" in found[1]


WINDS = """\
title = "t"

[[sweep]]
name = "a"
kind = "run"
dwarf = "semi_lagrangian"
grid = "24x20x6"
wind = [20, 200.0]
limiter = [true, false]
ranks = 2

[[finding]]
figure = "1"
claim = "c"
better = { wind = %s, limiter = true }
than = { wind = 20, limiter = false }
"""


@pytest.mark.parametrize("wind", ["200.0", "200", '"200.0"', "[200.0, 20]"])
def test_a_number_is_found_as_it_stands_in_the_sweep(wind: str) -> None:
    assert selection_problems(load_study("a.toml", WINDS % wind)) == []


def test_a_number_that_no_case_has_is_still_an_error() -> None:
    (found,) = selection_problems(load_study("a.toml", WINDS % "200.5"))
    assert "better: unknown wind '200.5'" in found
