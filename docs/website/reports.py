"""The reports of the kept studies, as live pages: charts that answer, tables that sort, and results to take away."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kept_results import STUDIES, Kept, kept_file, load

from tradewind.report.build import Report, render_report
from tradewind.report.overview import build_overview
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.records import Records

_LIBRARY = re.compile(r'(<script type="text/plain" id="library")>(.*?)</script>', re.DOTALL)
"""The library of charts in a page, which runs when the page is shown."""


def kept_studies() -> list[str]:
    """Return the names of all studies whose results are kept, in the order of their folders."""
    return [file.stem for file in sorted(STUDIES.glob("**/results/*.nc"))]


def write_reports(folder: Path, names: Sequence[str]) -> Path:
    """Write the reports of studies, each into a folder of its name, and a page about all; returns that page."""
    folder.mkdir(parents=True, exist_ok=True)
    page = build_overview(folder, [_written(load(name), folder / name) for name in names])
    for each in folder.rglob("*.html"):
        _join_site(each, folder)
    return page


def _written(kept: Kept, folder: Path) -> dict[str, Any]:
    """Write the report of a study and its dataset; returns what `tradewind study --json` prints about it."""
    folder.mkdir(exist_ok=True)
    records = Records(kept.records, notes=json.loads(kept.attributes.get("notes", "[]")))
    rendered = render_report(kept.file, records, _environment(kept.attributes), {})
    page = folder / "report.html"
    page.write_text(rendered.page, encoding="utf-8")
    shutil.copyfile(kept_file(kept.name), folder / "results.nc")
    report = Report(page, folder / "results.nc", [], rendered.outcome, rendered.verdicts, records)
    return {"study": kept.study.title, **report.as_dict()}


def _environment(attributes: Mapping[str, Any]) -> Environment:
    """The environment in which the kept results were made, not that of whoever builds the site."""
    versions = dict(each.split(" ", 1) for each in attributes["versions"].split(", "))
    return Environment(
        host=attributes["host"],
        cpu=attributes["cpu"],
        cores=int(attributes["cores"]),
        mpi=attributes["mpi_library"],
        commit=attributes["git_commits"] or None,
        version=versions["tradewind"],
        python=versions["Python"],
        system=attributes["system"],
    )


def _join_site(page: Path, folder: Path) -> None:
    """Give a page the way back to the site, and move its library of charts into a file that all pages of a folder
    share: a browser loads it once."""
    above = "../" * len(page.relative_to(folder).parent.parts)

    def moved(found: re.Match[str]) -> str:
        name = f"script-{hashlib.sha256(found[2].encode()).hexdigest()[:12]}.js"
        (folder / name).write_text(found[2], encoding="utf-8")
        return f'{found[1]} data-src="{above}{name}"></script>'

    way_back = f'<p class="small"><a href="{above}../index.html">Tradewind</a>'
    way_back += ' | <a href="../index.html">all reports</a></p>' if above else "</p>"
    text = _LIBRARY.sub(moved, page.read_text(encoding="utf-8"))
    page.write_text(text.replace("<main>", f"<main>\n{way_back}", 1), encoding="utf-8")
