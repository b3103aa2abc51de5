"""A study under two bases by the command line: what it says, its report, its dataset, and the page of its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Command, Result

from tradewind.dataset import open_results

STUDY = """\
title = "Two bases"

[[base]]
name = "short hops"
set = { "link.latency" = "100ns" }

[[base]]
name = "long hops"
set = { "link.latency" = "1us" }

[[sweep]]
name = "sum"
kind = "simulate"
pattern = "allreduce"
ranks = [8, 64]
algorithm = ["recursive-2", "recursive-4"]
machine = "torus-M"
quick = { ranks = 8 }

[[plot]]
title = "Sum"
of = { sweep = "sum" }
curve = "algorithm"
panel = "base"

[[finding]]
figure = "1"
claim = "it takes less than 5 us"
decided_by = "parameter"
passes = { algorithm = "recursive-2" }
level = 5e-6
between = [8, 64]
remark = { "short hops" = "{time}, that is {ratio} of recursive-4", "long hops" = "{time} here" }

[finding.values.time]
of = { algorithm = "recursive-2", ranks = 64 }

[finding.values.ratio]
of = { algorithm = "recursive-2", ranks = 64 }
over = { algorithm = "recursive-4", ranks = 64 }

[[finding]]
figure = "2"
claim = "short hops are faster"
group = "question"
decided_by = "model"
ranks = 64
better = { base = "short hops" }
than = { base = "long hops" }
"""
LATENCIES = {"short hops": "100ns", "long hops": "1us"}


def finished(tradewind: Command, *arguments: object) -> Result:
    result = tradewind("study", *arguments)
    assert result.code == 0, result.err
    return result


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tradewind: Command) -> tuple[Path, Result]:
    """The folder of a folder of studies with this one alone, after a run, and its output."""
    folder = tmp_path_factory.mktemp("bases")
    (folder / "studies").mkdir()
    (folder / "studies" / "two.toml").write_text(STUDY)
    return folder, finished(tradewind, folder / "studies", "--out", folder / "out", "--json")


def test_each_base_is_simulated_as_the_command_line_would_with_its_values(
    run: tuple[Path, Result], tradewind: Command
) -> None:
    folder, _ = run
    times = open_results(folder / "out" / "two" / "results.nc").time
    for base, latency in LATENCIES.items():
        for algorithm in ("recursive-2", "recursive-4"):
            options = ("--machine", "torus-M", "--algorithm", algorithm, "--set", f"link.latency={latency}", "--json")
            alone = tradewind("simulate", "allreduce", "--ranks", "64", *options).json["time_s"]
            assert times.sel(base=base, algorithm=algorithm, ranks=64).item() == alone


def test_claims_have_a_verdict_under_each_base_and_numbers_from_the_results(run: tuple[Path, Result]) -> None:
    folder, result = run
    (study,) = result.json["studies"]
    times = open_results(folder / "out" / "two" / "results.nc").time.sel(ranks=64)
    of = {base: times.sel(base=base, algorithm="recursive-2").item() for base in LATENCIES}
    ratio = of["short hops"] / times.sel(base="short hops", algorithm="recursive-4").item()
    assert of["short hops"] < 5e-6 < of["long hops"]
    found = [(each["base"], each["verdict"], each["group"], each["remark"]) for each in study["findings"]]
    microseconds = {base: f"{1e6 * time:.3g} us" for base, time in of.items()}
    assert found == [
        ("short hops", "contradicted", "source", f"{microseconds['short hops']}, that is {ratio:.3g} of recursive-4"),
        ("long hops", "confirmed", "source", f"{microseconds['long hops']} here"),
        (None, "confirmed", "question", ""),
    ]
    counted = [(each["group"], each["base"], each["confirmed"], each["contradicted"]) for each in study["claims"]]
    assert counted == [
        ("source", "short hops", 0, 1),
        ("source", "long hops", 1, 0),
        ("question", None, 1, 0),
    ]


def test_report_and_overview_have_the_bases_side_by_side(run: tuple[Path, Result]) -> None:
    folder, _ = run
    for page in (folder / "out" / "two" / "report.html", folder / "out" / "index.html"):
        text = page.read_text()
        for word in ("Under short hops", "Under long hops", "Between bases", "a parameter that the source leaves open"):
            assert word in text, (page, word)
        assert "own questions, between bases" in text
    lines = (folder / "out" / "findings.md").read_text().splitlines()
    assert lines[2] == "| figure | claim | whose | short hops | long hops | decided by | because | figures |"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[4:]]
    assert [row[2:6] for row in rows] == [
        ["source", "contradicted", "confirmed", "parameter"],
        ["question", "confirmed (between bases)", "", "model"],
    ]
    stored = json.loads((folder / "out" / "findings.json").read_text())
    assert [each["base"] for each in stored] == ["short hops", "long hops", None]


@pytest.mark.slow
def test_a_reader_of_the_command_line_sees_the_same(run: tuple[Path, Result], tradewind: Command) -> None:
    folder, _ = run
    out = finished(tradewind, folder / "studies", "--out", folder / "out").out
    assert "claims tested (of the source, under short hops): 0 confirmed, 1 contradicted, 0 not testable" in out
    assert "claims tested (own questions, between bases): 1 confirmed, 0 contradicted, 0 not testable" in out
    assert "contradicted" in next(line for line in out.splitlines() if "it takes less than 5 us" in line)
    plan = finished(tradewind, folder / "studies" / "two.toml", "--dry-run", "--out", folder / "fresh").out
    for base in LATENCIES:
        assert f"under {base}: 4 cases" in plan


@pytest.mark.slow
def test_a_quick_run_says_which_numbers_it_does_not_have(tmp_path: Path, tradewind: Command) -> None:
    (tmp_path / "two.toml").write_text(STUDY)
    result = finished(tradewind, tmp_path / "two.toml", "--quick", "--out", tmp_path / "out", "--json").json
    assert [each["remark"] for each in result["findings"]] == [
        "(not in this run), that is (not in this run) of recursive-4",
        "(not in this run) here",
        "",
    ]
    assert [each["verdict"] for each in result["findings"]] == 3 * ["not testable"]


def test_what_cannot_be_filled_is_refused_before_anything_runs(tmp_path: Path, tradewind: Command) -> None:
    (tmp_path / "two.toml").write_text(STUDY.replace("over = {", "over = { sweep = 'sum', base = 'no hops',"))
    result = tradewind("study", tmp_path / "two.toml", "--out", tmp_path / "out", "--json")
    assert result.code == 2
    (line,) = (i for i, text in enumerate(STUDY.splitlines(), 1) if text.startswith("over ="))
    assert f"two.toml:{line}: finding 1: unknown base 'no hops'; did you mean 'long hops'?" in result.json["error"]
    assert not (tmp_path / "out").exists()
