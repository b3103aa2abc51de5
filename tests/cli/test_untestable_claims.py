"""Claims that the cases of a study cannot test: named with the reason before the run, and at its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run_tradewind

from tradewind.cli.claims import UNTESTABLE_SHOWN, show_claims
from tradewind.study.claims.finding import CONFIRMED, NOT_TESTABLE, Verdict

STUDY = """
title = "My first"

[[sweep]]
name = "sums"
kind = "simulate"
pattern = "allreduce"
ranks = [4, 8, 32]
algorithm = ["ring", "recursive-2"]
machine = "dgx-1v"
quick = { ranks = 4 }

[[sweep]]
name = "chance"
like = "sums"
ranks = 8
machine = "dragonfly-MM"
routing = "valiant"
seed = [1, 2]
quick = { ranks = 8 }

[[finding]]
figure = "1"
claim = "recursive doubling is faster"
where = { sweep = "sums" }
ranks = [4, 8]
better = { algorithm = "recursive-2" }
than = { algorithm = "ring" }

[[finding]]
figure = "2"
claim = "also on 32"
where = { sweep = "sums" }
ranks = 32
better = { algorithm = "recursive-2" }
than = { algorithm = "ring" }

[[finding]]
figure = "3"
claim = "detours do not matter"
better = { sweep = "chance", algorithm = "recursive-2" }
than = { sweep = "chance", algorithm = "ring" }

[[finding]]
figure = "4"
claim = "it costs less"
untestable = "no case has a price"

[[finding]]
figure = "5"
claim = "links are busy"
where = { sweep = "sums" }
ranks = [4, 8]
quantity = "bound"
better = { algorithm = "recursive-2" }
than = { algorithm = "ring" }
"""
ALWAYS = {
    "2": "no case of recursive-2 at 32 ranks",
    "3": "recursive-2 at 8 ranks depends on chance: 2 seeds, 5 are needed",
    "4": "no case has a price",
}
"""Reasons by figure, also in the full study: the machine has no room for 32 ranks."""


@pytest.mark.parametrize("quick", [False, True])
def test_a_dry_run_names_the_claims_that_cannot_be_tested(tmp_path: Path, quick: bool) -> None:
    (tmp_path / "first.toml").write_text(STUDY)
    arguments = ["study", "first.toml", "--dry-run", *(["--quick"] if quick else [])]
    expected = ALWAYS | (dict.fromkeys("15", "no case of recursive-2 at 8 ranks") if quick else {})
    found = run_tradewind(*arguments, "--json", folder=tmp_path).json["not_testable"]
    assert {each["figure"]: each["because"] for each in found} == expected
    printed = run_tradewind(*arguments, folder=tmp_path).out.splitlines()
    named = [line.strip() for line in printed if "not testable" in line]
    assert named == [f"not testable: {each['figure']}, {each['claim']}: {each['because']}" for each in found]


def test_the_end_of_a_run_names_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = [Verdict(str(n), "so", NOT_TESTABLE, f"no case {n}") for n in range(UNTESTABLE_SHOWN + 3)]
    show_claims([Verdict("0", "it is", CONFIRMED, ""), *verdicts], "")
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == f"claims tested: 1 confirmed, 0 contradicted, {len(verdicts)} not testable"
    assert lines == [f"not testable: {n}, so: no case {n}" for n in range(UNTESTABLE_SHOWN)]
    assert last == "and 3 claims more that are not testable"
