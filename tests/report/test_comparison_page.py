"""The page about two results: what it says, and each case of both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import Command, Result
from dataset.bench_results import saved
from dataset.test_tidy_table import SIMULATED
from report_study import halved

from tradewind.report.comparison import write_comparison
from tradewind.report.pack import data_of


@pytest.fixture
def faster(results: tuple[Path, Result], tmp_path: Path) -> Path:
    """The same results with all times halved, but for the first simulated one, which takes three times as long, and
    with a claim that is contradicted now."""
    return halved(results[0], tmp_path)


def test_the_page_shows_both_results(results: tuple[Path, Result], faster: Path, tradewind: Command) -> None:
    result = tradewind("report", "--compare", results[0], faster, "--json")
    assert result.code == 0, result.err
    page = (faster / "comparison.html").read_text()
    assert result.json["report"] == str(faster / "comparison.html")
    assert "1.67 times as fast as" in result.json["summary"][0], "3 * 0.5 ** 9, of ten cases"
    assert "9 faster, 1 slower" in page
    assert "Claims: verdicts that changed, of 3 in both results: 1 confirmed → contradicted." in page
    changed = page.partition('id="changed-table"')[2].partition("</table>")[0]
    assert changed.count("<tr") == 2, "its head, and one claim"
    assert re.findall("tag (?:good|bad)", changed) == ["tag good", "tag bad"]
    data = data_of(page)
    exchange, *_, old, new, ratio, verdict = data["tables"]["cases-table"]["columns"]
    assert ratio["values"] == pytest.approx([3.0] + 9 * [0.5])
    assert [b / a for a, b in zip(old["values"], new["values"], strict=True)] == pytest.approx(ratio["values"])
    assert verdict["tags"] == ["bad\tslower"] + 9 * ["good\tfaster"]
    assert exchange["texts"][0].startswith("transpose")
    times, ratios = (figure["rows"]["columns"] for figure in data["figures"])
    assert times["new"] == new["values"]
    assert ratios["place"][0] == 10, "the largest ratio"


def test_times_of_zero_are_in_the_table_only(tmp_path: Path) -> None:
    page, _ = write_comparison(*[saved(tmp_path / name, SIMULATED | {"time_s": 0.0}) for name in ("a.json", "b.json")])
    assert page == tmp_path / "b.comparison.html"
    data = data_of(page.read_text())
    assert (len(data["figures"]), len(data["tables"])) == (0, 1)


def test_a_result_is_compared_with_a_result(results: tuple[Path, Result], tmp_path: Path, tradewind: Command) -> None:
    result = tradewind("report", "--compare", results[0], tmp_path / "none")
    assert result.code == 2
    assert "none" in result.err
