"""`tradewind study`: what a terminal shows, and studies by name."""

import json
from pathlib import Path

import pytest
from terminal import on_a_terminal

from tradewind.cli import make_app, output

STUDY = """
title = "A long name"
[[sweep]]
name = "s"
kind = "simulate"
pattern = "transpose"
grid = "128x128x64"
ranks = 16
split = "4x4"
algorithm = "two-level-4"
machine = "dragonfly-MM"
ranks_per_node = 4
placement = "round-robin"
packet = "message"
"""


@pytest.fixture
def tradewind(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = output.run(make_app(), ["study", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


@pytest.mark.slow
def test_a_terminal_shows_the_report_and_cuts_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("long.toml").write_text(STUDY)
    seen = on_a_terminal(80, ["study", "long.toml"])
    assert "1 cases computed, 0 stored already, 0 skipped\n" in seen
    assert "report: results/long/report.html\n" in seen
    assert "…" not in seen


def plan(tradewind, *arguments):
    code, out, err = tradewind(*arguments, "--dry-run", "--json")
    assert code == 0, (out, err)
    return json.loads(out), err


def test_a_study_by_its_name(tradewind):
    assert plan(tradewind, "zheng2018/figure-9d")[0]["study"] == "Fig. 9d: who sends to whom in a wide halo"


def test_what_lies_here_goes_before_a_study_of_that_name(tradewind):
    Path("zheng2018").mkdir()
    Path("zheng2018/mine.toml").write_text(STUDY)
    found, notes = plan(tradewind, "zheng2018")
    assert [each["study"] for each in found["studies"]] == ["A long name"]
    assert notes.startswith("note: zheng2018 is what lies here, and not the study that comes with Tradewind: ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("quikstart", "did you mean 'quickstart'? (`tradewind list studies` prints their names)"),
        ("figure-5a", "'figure-5a' is neither a file or folder nor a study that comes with Tradewind; did you mean "
         "'zheng2018/figure-5a'?"),
        ("zheng2018/figure-5z", "did you mean 'zheng2018/figure-5"),
        ("???", "'???' is neither a file or folder nor a study that comes with Tradewind (`tradewind list"),
        ("quickstart.toml", "cannot read quickstart.toml"),
    ],
)  # fmt: skip
def test_an_unknown_study(tradewind, name, words):
    code, out, err = tradewind(name)
    assert (code, out) == (2, "")
    assert words in err
