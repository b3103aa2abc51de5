"""Reports on paper, as chromium prints them: upright, short, and without pages that are half empty."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import pytest
from browser_pages import opened
from command_line import Result
from made_up_cases import made_up

from tradewind.base.data import data_folder
from tradewind.machine import machine_folder
from tradewind.report.build import render_report
from tradewind.study.cases.environment import here
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import Records
from tradewind.study.plan.load import load_study

pytestmark = pytest.mark.slow
SHEETS = 8


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the quickstart: its cases, claims and figures, with results by chance."""
    study_file, random = load_study(data_folder("studies") / "quickstart.toml"), Random(1)
    records = Records([made_up(case, random) for case in expand(study_file.study)[0]])
    names = dict.fromkeys(record["machine"] for record in records.records if record["machine"])
    machines = {name: (machine_folder() / f"{name}.toml").read_text() for name in names}
    path = tmp_path_factory.mktemp("quickstart") / "report.html"
    path.write_text(render_report(study_file, records, here(), machines, "figures/").page)
    return path


def printed(chromium: Any, path: Path) -> list[Any]:
    """Return the sheets of a page on paper."""
    pypdf = pytest.importorskip("pypdf", reason="no pypdf here")
    page, _ = opened(chromium, path)
    sheets = list(pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages)
    page.context.close()
    return sheets


def filled(sheet: Any) -> float:
    """Return how far down a sheet its lowest text stands, as a part of its height."""
    heights = list[float]()

    def visit(text: str, matrix: Any, text_matrix: Any, *_: Any) -> None:
        if text.strip():
            heights.append(text_matrix[4] * matrix[1] + text_matrix[5] * matrix[3] + matrix[5])

    sheet.extract_text(visitor_text=visit)
    return 1 - min(heights) / float(sheet.mediabox.height)


def test_a_print_is_upright_and_short(chromium: Any, results: tuple[Path, Result]) -> None:
    sheets = printed(chromium, results[0] / "report.html")
    assert all(sheet.mediabox.height > sheet.mediabox.width for sheet in sheets)
    assert len(sheets) <= 5


def test_the_quickstart_fits_on_few_full_sheets(chromium: Any, quickstart: Path) -> None:
    sheets = printed(chromium, quickstart)
    assert 4 <= len(sheets) <= SHEETS
    assert [part for part in map(filled, sheets[:-1]) if part < 0.5] == []
