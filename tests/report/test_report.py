from __future__ import annotations

import importlib.util
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_line import Command, Result
from report_study import MEASURE, STUDY

from tradewind.report.pack import data_of

Results = tuple[Path, Result]


class Page(HTMLParser):
    """The text of a page, its tags and everything that it would load from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.links, self.open = "", [], list[str]()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for key, value in attrs if key in ("src", "href") and not str(value).startswith("#")]
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self.open and "style" not in self.open:
            self.text += data


def test_the_command_prints_what_it_did(results: Results) -> None:
    folder, result = results
    assert result.code == 0, result.err
    values = result.json
    assert (values["computed"], values["reused"], values["failed"], values["missing"]) == (12, 0, [], [])
    assert [skip["name"] for skip in values["skipped"]] == ["transpose ring-7, 4 ranks as 4x1"]
    assert values["report"] == str(folder / "report.html")
    verdicts = {finding["figure"]: finding["verdict"] for finding in values["findings"]}
    assert {verdicts["1"], verdicts["2"]} == {"confirmed", "contradicted"}
    assert verdicts["3"] == "not testable"


def test_the_page_stands_alone(results: Results) -> None:
    text = (results[0] / "report.html").read_text()
    assert len(text) < 3e6
    page = Page(text)
    assert page.open == []
    assert {link for link in page.links if "://" in link} == set(), "no address of the network"
    assert all((results[0] / link).is_file() for link in page.links)
    assert "results.nc" in page.links
    assert not re.search(r"@import|url\(", text.partition("</style>")[0])
    assert "vegaEmbed" in text
    assert len(data_of(text)["figures"]) == 2
    for expected in ("A <small> study", "ring-7", "radix 7 is out of range", "no wings", "credits", "4 KiB", "minimal"):
        assert expected in page.text, expected


def test_sections_without_content_are_not_there(results: Results) -> None:
    text = Page((results[0] / "report.html").read_text()).text
    assert "proved in one process and simulated on other machines" in text
    for absent in ("run on this machine", "Measured", "measured\n", "Runs of dwarfs"):
        assert absent not in text, absent


def test_figures_as_pictures(results: Results) -> None:
    figures = results[0] / "figures"
    assert sorted(path.name for path in figures.iterdir()) == [
        "01-time-script-of-it.pdf",
        "01-time-script-of-it.svg",
        "02-delay.pdf",
        "02-delay.svg",
    ]
    svg = (figures / "01-time-script-of-it.svg").read_text()
    for expected in ("ranks (number)", "time of the exchange (s)", "torus-M", "dragonfly-MM", "ring-1", "bruck"):
        assert expected in svg, expected
    assert (figures / "02-delay.pdf").read_bytes().startswith(b"%PDF")


def test_a_figure_draws_the_stored_times(results: Results) -> None:
    data = data_of((results[0] / "report.html").read_text())
    times, delays = (figure["rows"] for figure in data["figures"])
    names = [data["cases"]["name"][case] for case in times["case"]]
    drawn = set(zip(names, times["columns"]["time"], strict=True))
    stored = set()
    for path in (results[0] / "cases").iterdir():
        body = json.loads(path.read_text())["case"]
        request = body["identity"]["request"]
        if request["kind"] == "simulate":
            exchange, machine = request["exchange"], request["options"]["machine"]
            name = f"transpose {exchange['algorithm']}, {exchange['ranks']} ranks, {machine}"
            stored.add((name, body["result"]["time_s"]))
    assert drawn == stored
    shares: dict[str, float] = {}
    for curve, share in zip(delays["columns"]["curve"], delays["columns"]["share"], strict=True):
        shares[curve] = shares.get(curve, 0.0) + share
    assert shares == pytest.approx(dict.fromkeys(("ring-1", "ring-7", "bruck"), 1.0))


@pytest.mark.slow
def test_a_second_run_computes_nothing_and_says_the_same(
    results: Results, study_file: Path, tradewind: Command
) -> None:
    again = tradewind("study", study_file, "--out", results[0], "--json")
    assert (again.code, again.json["computed"], again.json["reused"]) == (0, 0, 12)
    assert again.json["findings"] == results[1].json["findings"]
    assert again.err.splitlines()[0] == "12 cases, 12 of them stored already"


def test_a_report_is_written_again_from_stored_cases(results: Results, tmp_path: Path, tradewind: Command) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(results[0], folder)
    for name in ("report.html", "results.nc"):
        (folder / name).unlink()
    case = next((folder / "cases").iterdir())
    case.write_text(case.read_text()[:-50])
    result = tradewind("report", folder, "--json")
    assert result.code == 1
    assert (folder / "results.nc").is_file()
    assert len(result.json["missing"]) == 1
    assert "This report is not complete" in (folder / "report.html").read_text()


def test_dry_run_says_what_it_will_cost(study_file: Path, tmp_path: Path, tradewind: Command) -> None:
    result = tradewind("study", study_file, "--out", tmp_path / "none", "--dry-run", "--json")
    assert result.code == 0
    assert len(result.json["cases"]) == 12
    forecasts = [case["forecast"] for case in result.json["cases"] if case["sweep"] == "network"]
    assert all(forecast["packet_hops"] > 0 and forecast["wall_s"] > 0 for forecast in forecasts)
    assert not (tmp_path / "none").exists()
    assert "12 cases, 1 skipped" in tradewind("study", study_file, "--dry-run").out


def test_bad_input_is_refused(results: Results, tmp_path: Path, tradewind: Command) -> None:
    other = tmp_path / "other.toml"
    other.write_text(STUDY.replace("A <small> study", "Another"))
    result = tradewind("study", other, "--out", results[0], "--json")
    assert result.code == 2
    assert "another study" in result.json["error"]
    other.write_text(STUDY.replace("torus-M", "tours-M", 1).replace("ring-7", "rnig-7"))
    result = tradewind("study", other, "--json")
    assert result.code == 2
    assert f"{other}:22: sweep 2: unknown transpose algorithm 'rnig-7'" in result.json["error"]
    assert tradewind("report", tmp_path, "--json").code == 2
    assert tradewind("study", tmp_path / "none.toml").code == 2


@pytest.mark.slow
def test_measured_cases_and_those_of_another_machine(tmp_path: Path, tradewind: Command) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("no MPI here")
    file = tmp_path / "measured.toml"
    file.write_text('title = "Measured"\n' + MEASURE)
    folder = tmp_path / "results"
    result = tradewind("study", file, "--out", folder, "--json")
    assert result.code == 0, result.err
    text = (folder / "report.html").read_text()
    assert "the library's own" in data_of(text)["tables"]["measured-table"]["columns"][4]["texts"]
    assert "Measured on another machine" not in text
    _pretend_other_host(folder)
    assert tradewind("report", folder).code == 0
    text = (folder / "report.html").read_text()
    assert "Measured on another machine" in text
    assert "bad\tmeasured on elsewhere" in data_of(text)["tables"]["measured-table"]["columns"][0]["tags"][0]


def _pretend_other_host(folder: Path) -> None:
    from tradewind.study.cases.store import Store

    store = Store.existing(folder)
    for path in store.cases.iterdir():
        body = store.load(path.stem)
        assert body is not None
        body["environment"]["host"] = "elsewhere"
        store.save(path.stem, body)
