"""Pages in chromium: on a wide and on a narrow screen, on paper, by mouse and by keyboard."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from browser_pages import CONTRAST, OUTSIDE, OVERFLOW, PATIENCE_MS, PICTURE, opened, tuning_page
from command_line import Result
from report_study import halved

from tradewind.report.comparison import write_comparison
from tradewind.report.overview import build_overview

pytestmark = pytest.mark.slow
Results = tuple[Path, Result]
KINDS = ("study", "tuning", "overview", "comparison")


@pytest.fixture(scope="module")
def pages(results: Results, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind."""
    folder, result = results
    assert result.code == 0, result.err
    overview = build_overview(folder, [result.json])
    comparison, _ = write_comparison(folder, halved(folder, tmp_path_factory.mktemp("faster")))
    return {
        "study": folder / "report.html",
        "tuning": tuning_page(tmp_path_factory.mktemp("tuning")),
        "overview": overview,
        "comparison": comparison,
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_is_wider_than_the_window(kind: str, width: int, chromium: Any, pages: dict[str, Path]) -> None:
    page, printed = opened(chromium, pages[kind], width)
    assert page.evaluate(OVERFLOW) <= 0
    wide = "[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1"
    assert page.evaluate(wide + " && !e.closest('.scroll, .vega-actions')).map((e) => e.outerHTML.slice(0, 80))") == []
    assert printed == [], "a clean console, and nothing loaded from elsewhere"
    page.context.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(kind: str, scheme: str, chromium: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(chromium, pages[kind], color_scheme=scheme)
    found = page.evaluate(CONTRAST)
    assert len(found) > 20
    assert [text for text in found if text[0] < 4.5] == []
    page.context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_have_names(kind: str, chromium: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(chromium, pages[kind])
    assert page.locator("table").count() == page.locator("table > caption").count() > 0
    assert all(page.locator("table > caption").all_text_contents())
    names = page.evaluate("[...document.querySelectorAll('.chart svg.marks')].map((s) => s.getAttribute('aria-label'))")
    assert len(set(names)) == page.locator(".chart").count()
    assert all(name and len(name) > 20 for name in names)
    assert page.locator(".lead").inner_text().strip()
    page.context.close()


def text_of_pdf(page: Any) -> tuple[str, int]:
    """Return the printed text without spaces, and the number of sheets."""
    pypdf = pytest.importorskip("pypdf", reason="no pypdf here")
    sheets = pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
    text = unicodedata.normalize("NFKC", "".join(sheet.extract_text() for sheet in sheets))  # no ligatures
    return "".join(text.split()), len(sheets)


def test_a_print_has_what_is_open_on_the_screen(chromium: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(chromium, pages["study"])
    text, sheets = text_of_pdf(page)
    assert 3 <= sheets <= 40
    for name, first in (("simulated", 6), ("verified", 5), ("skipped", 0)):  # from a column on, in one line
        rows = page.locator(f"#{name}-table tbody tr").all()
        assert rows
        for row in rows:
            cells = unicodedata.normalize("NFKC", "".join(row.locator("td").all_inner_texts()[first:]))
            assert "".join(cells.split()) in text, cells
    for word in (word for claim in page.locator("#claims-table td").all_inner_texts() for word in claim.split()):
        assert word in text
    study = "[[sweep]]"
    assert study not in text, "closed on the screen"
    page.locator("#provenance summary").click()
    text, _ = text_of_pdf(page)
    assert text.count(study) == 2, "open on the screen"
    assert 'untestable="nowings"' in text, "its last line"
    page.context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_at_the_edge_of_the_paper(kind: str, chromium: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(chromium, pages[kind], width=703, color_scheme="dark")  # A4 upright, without its margins
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(OVERFLOW) <= 0
    boxes = "[...document.querySelectorAll('.scroll, pre')].filter((e) => getComputedStyle(e).overflowX !== 'visible')"
    assert page.evaluate(f"{boxes}.length") == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert [text for text in page.evaluate(CONTRAST) if text[0] < 4.5] == [], "ink that is seen on paper"
    page.context.close()


def times(page: Any) -> list[float]:
    return [float(value) for value in page.evaluate(TIMES)]


TIMES = "[...document.querySelectorAll('#simulated-table tbody tr')].map((row) => row.cells[6].dataset.value)"
ROWS = "[...document.querySelectorAll('#simulated-table tbody tr')].map((row) => row.cells[4].innerText)"


def test_a_table_sorts_by_mouse_and_by_keyboard(chromium: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(chromium, pages["study"])
    before = times(page)
    assert before != sorted(before), "else the test cannot fail"
    head = page.locator("#simulated-table th").nth(6)
    head.locator("button").click()
    assert times(page) == sorted(before), "milliseconds after microseconds"
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert times(page) == sorted(before, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    for _ in range(2):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    assert page.evaluate(ROWS) == sorted(page.evaluate(ROWS))
    assert head.get_attribute("aria-sort") is None
    page.context.close()


def test_empty_cells_stay_last(chromium: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    text = pages["overview"].read_text()
    table = re.search(r'id="studies-table".*?</table>', text, re.DOTALL)[0]
    (row,) = re.findall(r"<tr><td.*?</tr>", table, re.DOTALL)
    cells = re.findall(r"<td.*?</td>", row, re.DOTALL)
    rows = [row.replace(cells[4], f'<td class="number" data-value="{value}">{value}</td>') for value in ("", "7", "30")]
    (tmp_path / "index.html").write_text(text.replace(row, "".join(rows)))
    page, _ = opened(chromium, tmp_path / "index.html")
    button = page.locator("#studies-table th").nth(4).locator("button")
    found = "[...document.querySelectorAll('#studies-table tbody tr')].map((row) => row.cells[4].textContent)"
    for expected in (["7", "30", ""], ["30", "7", ""]):
        button.click()
        assert page.evaluate(found) == expected
    page.context.close()


def test_a_table_is_copied_as_csv(chromium: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(chromium, pages["study"])
    page.locator("#simulated .tools button").first.click()
    page.wait_for_function("document.querySelector('#simulated [role=status]').textContent")
    rows = list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))
    assert page.locator("#simulated [role=status]").inner_text() == f"{len(rows)} rows copied"
    stored = []
    for file in (pages["study"].parent / "cases").iterdir():
        body = json.loads(file.read_text())["case"]
        if body["identity"]["request"]["kind"] == "simulate":
            stored.append(body["result"]["time_s"])
    assert sorted(float(row["Time (s)"]) for row in rows) == pytest.approx(sorted(stored))
    assert {row["Mean size (B)"].isdigit() or float(row["Mean size (B)"]) > 0 for row in rows} == {True}
    page.locator("#findings .tools button").first.click()
    page.wait_for_function("document.querySelector('#findings [role=status]').textContent")
    claims = list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))
    assert {claim["Verdict"] for claim in claims} == {"confirmed", "contradicted", "not testable"}
    page.context.close()


def test_a_browser_without_a_clipboard_copies_too(chromium: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(chromium, pages["study"])
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')); }")
    page.locator("#skipped .tools button").first.click()
    page.wait_for_function("document.querySelector('#skipped [role=status]').textContent")
    assert "radix 7 is out of range" in page.evaluate("navigator.clipboard.readText()")
    page.context.close()


def test_tooltips_have_units(chromium: Any, pages: dict[str, Path]) -> None:
    for kind, mark in (("study", ".mark-symbol.layer_1_marks path, .mark-symbol path"), ("tuning", ".mark-rect path")):
        page, _ = opened(chromium, pages[kind])
        point = page.locator(".chart svg.marks").first.locator(mark).first
        point.evaluate("(element) => element.scrollIntoView({ block: 'center' })")
        point.hover(force=True)  # the cell around it is above it, and finds it
        page.wait_for_selector("#vg-tooltip-element.visible")
        words = page.locator("#vg-tooltip-element").inner_text()
        assert any(f" {unit}" in words for unit in ("ns", "us", "ms", "s")), words
        page.context.close()


def test_a_chart_is_drawn_again_for_another_width(chromium: Any, pages: dict[str, Path]) -> None:
    page, printed = opened(chromium, pages["study"])
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function("document.querySelector('.chart svg.marks').viewBox.baseVal.width < 400")
    assert page.evaluate(OVERFLOW) <= 0
    assert printed == []
    page.context.close()


def test_texts_of_pictures_lie_inside(chromium: Any, results: Results, tmp_path: Path) -> None:
    """In a browser whose fonts are others than those that were measured: all that the docs show, figures and maps."""
    from tradewind.machine import load_machine, machine_names
    from tradewind.plot.machine_map import save_map

    for name in machine_names():
        save_map(load_machine(name), tmp_path / f"{name}.svg")
    docs = Path(__file__).parents[2] / "docs" / "images"
    files = [*tmp_path.glob("*.svg"), *(results[0] / "figures").glob("*.svg"), *docs.rglob("*.svg")]
    assert len(files) > 100
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    for file in files:
        assert page.evaluate(PICTURE, file.read_text(encoding="utf-8")) == "svg", file
        assert page.evaluate(OUTSIDE) == [], file
        assert page.evaluate("document.querySelector('svg > title').textContent"), file
    page.close()
