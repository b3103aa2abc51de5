"""The report of a study in chromium: charts answer, one choice filters all, and all can be taken away."""

from __future__ import annotations

import csv
import io
import math
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from browser_pages import PATIENCE_MS, opened
from command_line import Result
from made_up_cases import made_up

from tradewind.report.build import draw_figures
from tradewind.report.pack import data_of
from tradewind.report.page import render
from tradewind.study.cases.environment import here
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import Records
from tradewind.study.plan.load import load_study

pytestmark = pytest.mark.slow
POINTS = "document.querySelector('.chart svg.marks').querySelectorAll('.mark-symbol path').length"
SIZE = "(({ width, height }) => [width, height])(document.querySelector('.chart svg.marks').getBoundingClientRect())"
CHOSEN = "dragonfly-MM"
ADDRESS = f"#machine={CHOSEN}"
NEAREST = """() => [...document.querySelector(".chart svg.marks").querySelectorAll(".mark-symbol path")].map((path) => {
  const box = path.getBoundingClientRect(), row = path.__data__.datum;
  return [box.x + box.width / 2, box.y + box.height / 2, row.case, row.shown];
})"""
"""The middle of each point of the first chart, and the case and the value that it stands for."""


@pytest.fixture(scope="module")
def report(results: tuple[Path, Result]) -> Path:
    return results[0] / "report.html"


def pictured(page: Any, name: str, folder: Path) -> None:
    """Keep a picture of a page as output of the test."""
    page.screenshot(path=Path(os.environ.get("TRADEWIND_PICTURES", folder)) / f"report-{name}.png", full_page=True)


def rows_of(page: Any, table: str) -> list[list[str]]:
    rows = "[...document.querySelectorAll(`#${name}-table tbody tr`)]"
    found: list[list[str]] = page.evaluate(
        f"(name) => {rows}.map((row) => [...row.cells].map((cell) => cell.innerText))", table
    )
    return found


def downloaded(page: Any, button: Any) -> bytes:
    with page.expect_download() as waiting:
        button.click()
    return Path(waiting.value.path()).read_bytes()


@pytest.mark.parametrize(("across", "up"), [(0.3, 0.5), (0.97, 0.03), (0.5, 0.9)])
def test_the_nearest_point_is_named(chromium: Any, report: Path, across: float, up: float, tmp_path: Path) -> None:
    page, printed = opened(chromium, report)
    chart = page.locator(".chart svg.marks").first
    chart.scroll_into_view_if_needed()
    plot = chart.locator(".role-scope > g > path.background").first.bounding_box()
    x, y = plot["x"] + across * plot["width"], plot["y"] + up * plot["height"]
    points = page.evaluate(NEAREST)
    mine = [point for point in points if plot["x"] - 1 <= point[0] <= plot["x"] + plot["width"] + 1]
    assert 1 < len(mine) < len(points)
    _, _, case, shown = min(mine, key=lambda point: math.dist((x, y), point[:2]))
    page.mouse.move(x, y)
    page.wait_for_selector("#vg-tooltip-element.visible")
    words = page.locator("#vg-tooltip-element").inner_text()
    assert case in words
    assert shown in words, "the value with its unit"
    assert "split" in words, "and its parameters"
    pictured(page, f"nearest-{across}", tmp_path)
    assert printed == []
    page.context.close()


def test_one_choice_filters_all_and_stands_in_the_address(chromium: Any, report: Path, tmp_path: Path) -> None:
    page, printed = opened(chromium, report)
    before = {name: len(rows_of(page, name)) for name in ("headline", "simulated", "verified", "claims")}
    drawn = page.evaluate(POINTS)
    page.select_option("select[name=machine]", CHOSEN)
    assert page.url.endswith(ADDRESS)
    assert {row[4] for row in rows_of(page, "simulated")} == {CHOSEN}
    assert page.locator("#verified").is_hidden(), "proofs are of no machine"
    assert 0 < len(rows_of(page, "claims")) < before["claims"]
    page.wait_for_function(f"{POINTS} < {drawn}")
    page.select_option("select[name=algorithm]", "bruck")
    assert {row[0].split()[1] for row in rows_of(page, "simulated")} == {"bruck"}
    assert all("bruck" in row[0] for row in rows_of(page, "headline"))
    assert page.locator("#choice output").inner_text() == "2 of 12 cases"
    page.select_option("select[name=ranks]", "32")
    assert {row[1] for row in rows_of(page, "simulated")} == {"32"}
    page.select_option("select[name=ranks]", "")
    address = page.url
    page.context.close()

    page, printed = opened(chromium, report, choice=address.partition(".html")[2])
    assert len(rows_of(page, "simulated")) == 2, "the address restores the choice"
    assert page.locator("select[name=algorithm]").input_value() == "bruck"
    pictured(page, "chosen", tmp_path)
    page.get_by_role("button", name="Show all", exact=True).click()
    assert {name: len(rows_of(page, name)) for name in before} == before
    assert printed == []
    page.context.close()


def test_a_search_finds_cases_and_claims(chromium: Any, report: Path) -> None:
    page, _ = opened(chromium, report)
    page.fill("input[name=search]", "ring-7 dragonfly")
    page.wait_for_function("location.hash.includes('search')")
    (row,) = rows_of(page, "simulated")
    assert row[0].startswith("transpose ring-7")
    assert row[4] == "dragonfly-MM"
    page.fill("input[name=search]", "wings")
    page.wait_for_function("document.getElementById('simulated').hidden")
    assert [claim[1] for claim in rows_of(page, "claims")] == ["it flies"]
    page.context.close()


def test_an_order_stands_in_the_address(chromium: Any, report: Path) -> None:
    page, _ = opened(chromium, report)
    page.locator("#simulated-table th", has_text="Time").locator("button").click()
    page.locator("#simulated-table th", has_text="Time").locator("button").click()
    times = [row[6] for row in rows_of(page, "simulated")]
    address = page.url
    page.context.close()
    page, _ = opened(chromium, report, choice=address.partition(".html")[2])
    assert [row[6] for row in rows_of(page, "simulated")] == times
    assert page.locator("#simulated-table th", has_text="Time").get_attribute("aria-sort") == "descending"
    page.context.close()


def test_a_legend_highlights_and_hides_by_keyboard(chromium: Any, report: Path) -> None:
    page, _ = opened(chromium, report)
    figure = page.locator("figure").first
    entry = figure.get_by_role("button", name="bruck", exact=True)
    faint = "document.querySelectorAll('.chart')[0].querySelectorAll('.mark-symbol path[opacity=\"0.12\"]').length"
    drawn = "document.querySelectorAll('.chart')[0].querySelectorAll('.mark-symbol path').length"
    assert page.evaluate(faint) == 0
    before = page.evaluate(drawn)
    entry.focus()
    page.wait_for_function(f"{faint} > 0")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{drawn} < {before}")
    assert entry.get_attribute("aria-pressed") == "false"
    address = page.url
    page.keyboard.press("Enter")
    page.wait_for_function(f"{drawn} === {before}")
    assert "bruck" not in page.url
    page.context.close()

    page, _ = opened(chromium, report, choice=address.partition(".html")[2])
    assert 0 < page.evaluate(drawn) < before, "the address restores what is hidden"
    entry = page.locator("figure").first.get_by_role("button", name="bruck", exact=True)
    assert entry.get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Show all", exact=True).click()
    page.wait_for_function(f"{drawn} === {before}")
    assert entry.get_attribute("aria-pressed") == "true"
    page.context.close()


def test_an_address_may_hide_all_curves_of_a_figure(chromium: Any, report: Path) -> None:
    page, printed = opened(chromium, report)
    size = page.evaluate(SIZE)
    drawn = page.evaluate(POINTS)
    entries = page.locator("figure").first.locator(".legend button")
    for entry in entries.all():
        entry.click()
    page.wait_for_function(f"{POINTS} === 0")
    address = page.url
    assert printed == []
    page.context.close()

    page, printed = opened(chromium, report, choice=address.partition(".html")[2])
    entries = page.locator("figure").first.locator(".legend button")
    assert page.evaluate(POINTS) == 0
    assert {entry.get_attribute("aria-pressed") for entry in entries.all()} == {"false"}
    for entry in entries.all():
        entry.click()
    page.wait_for_function(f"{POINTS} === {drawn}")
    assert page.evaluate(SIZE) == size
    assert printed == []
    page.context.close()


def test_a_chart_grows_with_the_choice(chromium: Any, report: Path) -> None:
    page, _ = opened(chromium, report)
    size = page.evaluate(SIZE)
    page.context.close()
    page, _ = opened(chromium, report, choice=ADDRESS)
    assert page.evaluate(SIZE)[0] < size[0], "one panel of two"
    page.get_by_role("button", name="Show all", exact=True).click()
    page.wait_for_function(f"String({SIZE}) === '{size[0]},{size[1]}'")
    page.context.close()


def test_a_chart_that_was_hidden_has_its_width_when_it_is_shown(chromium: Any, report: Path) -> None:
    second = "document.querySelectorAll('.chart')[1].querySelector('svg.marks')"
    page, _ = opened(chromium, report)
    width = page.evaluate(f"{second}.viewBox.baseVal.width")
    page.context.close()
    page, printed = opened(chromium, report, choice=ADDRESS)
    assert page.locator("figure").nth(1).is_hidden()
    page.get_by_role("button", name="Show all", exact=True).click()
    page.wait_for_function(f"{second}?.viewBox.baseVal.width === {width}")
    assert printed == []
    page.context.close()


FAIL_ONCE = """() => {
  const embed = vegaEmbed;
  vegaEmbed = async (element, ...others) => {
    if (!document.querySelector(".chart").contains(element)) return embed(element, ...others);
    vegaEmbed = embed;
    element.replaceChildren();
    throw new Error("no picture");
  };
}"""
"""Lets the next draw of the first chart fail."""


def test_a_chart_whose_draw_failed_is_drawn_at_the_next_width(chromium: Any, report: Path) -> None:
    first = "document.querySelector('.chart').querySelector('svg.marks')"
    page, printed = opened(chromium, report)
    width = page.evaluate(f"{first}.viewBox.baseVal.width")
    page.evaluate(FAIL_ONCE)
    with page.expect_event("pageerror"):
        page.set_viewport_size({"width": 600, "height": 900})
    page.set_viewport_size({"width": 1400, "height": 900})
    page.wait_for_function(f"{first}?.viewBox.baseVal.width === {width}")
    assert printed == ["no picture"]
    page.context.close()


def test_an_address_of_another_page_hides_nothing(chromium: Any, report: Path) -> None:
    figure = data_of(report.read_text())["figures"][0]["name"]
    page, printed = opened(chromium, report, choice=f"#hide-no-figure=bruck&hide-{figure}=no-curve")
    assert page.get_by_role("button", name="Show all", exact=True, include_hidden=True).is_hidden()
    page.select_option("select[name=machine]", CHOSEN)
    assert page.url.endswith(ADDRESS), "and leaves the address"
    assert printed == []
    page.context.close()


EARLY = """new MutationObserver(() => {
  if (document.documentElement.dataset.ready !== "tables") return;
  document.title = typeof vegaEmbed;
  document.querySelector("figure .tools button").click();
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] });"""
"""Takes the first figure away as soon as the tables are there; the title of the page is what type its drawer has."""


def test_a_figure_is_taken_away_before_it_is_drawn(chromium: Any, report: Path) -> None:
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(EARLY)
    page, failed = context.new_page(), list[str]()
    page.on("pageerror", lambda error: failed.append(str(error)))
    with page.expect_download() as waiting:
        page.goto(report.as_uri())
    assert page.title() == "undefined", "else the click is not early"
    assert Path(waiting.value.path()).read_text().startswith("<svg")
    assert failed == []
    context.close()


def test_figures_and_tables_are_taken_away(chromium: Any, report: Path) -> None:
    page, _ = opened(chromium, report, choice=ADDRESS)
    figure = page.locator("figure").first
    svg = downloaded(page, figure.get_by_role("button", name="SVG")).decode()
    assert svg.startswith("<svg")
    assert "ring-7" in svg, "with its legend"
    assert downloaded(page, figure.get_by_role("button", name="PNG")).startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(downloaded(page, figure.get_by_role("button", name="CSV")).decode())))
    table = list(
        csv.DictReader(io.StringIO(downloaded(page, page.locator("#simulated .tools button").nth(1)).decode()))
    )
    stored = [value for value, where in zip(*times_and_machines(report), strict=True) if where == CHOSEN]
    for found, head in ((rows, "time of the exchange (s)"), (table, "Time (s)")):
        assert sorted(float(row[head]) for row in found) == sorted(stored)
    page.context.close()


def times_and_machines(report: Path) -> tuple[list[float], list[str]]:
    """Two columns of the simulated cases, as the page carries them."""
    table = data_of(report.read_text())["tables"]["simulated-table"]["columns"]
    return table[6]["values"], table[4]["texts"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pictures_of_the_page(chromium: Any, report: Path, width: int, scheme: str, tmp_path: Path) -> None:
    page, printed = opened(chromium, report, width, color_scheme=scheme)
    pictured(page, f"{width}-{scheme}", tmp_path)
    assert printed == []
    page.context.close()


MANY = 10_000
SECONDS = 1.0
PATIENCE = 10
"""Factor for a machine that does other work beside: the goal itself is held by hand, on an idle one."""


STUDY = """
title = "Many cases"

[[sweep]]
name = "network"
kind = "simulate"
pattern = "allreduce"
ranks = [16, 32, 64, 128]
algorithm = ["recursive-2", "ring"]
machine = "torus-M"
packet = "message"
seed = {seeds}

[[plot]]
title = "Time"
of = {{ sweep = "network" }}
curve = "algorithm"
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of ten thousand simulated cases, whose values all differ, and all of which one figure has."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "many.toml").write_text(STUDY.format(seeds=list(range(MANY // 8))))
    study_file = load_study(folder / "many.toml")
    random = Random(1)
    cases = [made_up(case, random) for case in expand(study_file.study)[0]]
    records = Records(cases)
    figures = draw_figures(study_file.study.plot, records)
    page = render(study_file.study, "", records, [], figures, here(), {}, "Many cases.")
    (folder / "report.html").write_text(page)
    return folder / "report.html"


def test_ten_thousand_cases_are_small_and_open_within_a_second(chromium: Any, many: Path, tmp_path: Path) -> None:
    assert many.stat().st_size <= 3e6
    page, printed = opened(chromium, many)
    done = page.evaluate("performance.getEntriesByName('tables')[0].startTime / 1000")
    assert done < SECONDS * PATIENCE
    assert page.locator("#choice output").inner_text() == f"{MANY} of {MANY} cases"
    page.evaluate("performance.mark('before')")
    page.select_option("select[name=algorithm]", "ring")
    took = page.evaluate("(performance.now() - performance.getEntriesByName('before')[0].startTime) / 1000")
    assert took < SECONDS * PATIENCE
    assert page.locator("#choice output").inner_text() == f"{MANY // 2} of {MANY} cases"
    rows = list(csv.DictReader(io.StringIO(downloaded(page, page.locator("#simulated .tools button").nth(1)).decode())))
    assert len(rows) == MANY // 2
    assert printed == []
    (tmp_path / "many.txt").write_text(f"tables after {done:.2f} s, a choice in {took:.2f} s\n")
    page.context.close()
