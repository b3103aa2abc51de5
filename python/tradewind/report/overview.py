"""One page, and the same as Markdown and JSON, about all studies of a folder: what became of every finding."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tradewind.base.files import remove_parts, write_inside
from tradewind.report.outcome import NOTHING
from tradewind.report.table import Cell, PageColumn, PageTable, number, text, whole
from tradewind.study.claims.finding import Verdict
from tradewind.study.claims.judgement import bases_in, claims_of, counted, counts, figures_of, reasons

STUDIES = (
    PageColumn("Study"),
    PageColumn("What came out"),
    PageColumn("Claims tested"),
    number("Cases"),
    number("Skipped"),
    number("Failed"),
)


def build_overview(folder: Path, results: Sequence[dict[str, Any]]) -> Path:
    """Writes index.html, findings.md and findings.json into the folder of several studies; returns the page.

    `results`: what the command prints for each study.
    """
    remove_parts(folder)
    rows = finding_rows(folder, results)
    write_inside(folder, "findings.json", json.dumps(rows, indent=1).encode())
    write_inside(folder, "findings.md", _markdown(results).encode())
    return write_inside(folder, "index.html", _page(folder, results, rows).encode())


def finding_rows(folder: Path, results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every finding of every study, with the study's title and the way to its report from the folder."""
    return [
        {**finding, "study": result["study"], "report": os.path.relpath(result["report"], folder)}
        for result in results
        for finding in result["findings"]
    ]


def _verdicts(results: Sequence[dict[str, Any]]) -> list[Verdict]:
    return [Verdict.from_dict(finding) for result in results for finding in result["findings"]]


def _markdown(results: Sequence[dict[str, Any]]) -> str:
    verdicts = _verdicts(results)
    bases = bases_in(verdicts)
    header = ("figure", "claim", "whose", *(bases or ["verdict"]), "decided by", "because", "figures")
    lines = [f"Claims tested: {counted(verdicts)}.", "", _markdown_row(header), _markdown_row(["---"] * len(header))]
    for claim in claims_of(verdicts):
        words, decided = claim.words(bases), claim.decided_by or ""
        because, figures = ". ".join(reasons(claim.each)), "; ".join(figures_of(claim.each))
        lines.append(_markdown_row((claim.figure, claim.text, claim.group, *words, decided, because, figures)))
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _page(folder: Path, results: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> str:
    from tradewind.report.claims import claims_table, counts_table
    from tradewind.report.page import now, template

    verdicts = _verdicts(results)
    return template("overview.html.jinja").render(
        title=folder.resolve().name,
        outcome=_outcome(results),
        claims=f"Claims tested: {counted(verdicts)}." if verdicts else "",
        studies=_studies(folder, results),
        verdicts=claims_table(verdicts, [f"{row['report']}#findings" for row in rows]),
        counts=counts_table(counts(verdicts)),
        tiles=counts(verdicts)[0].verdicts if len(counts(verdicts)) == 1 else {},
        notes=list(dict.fromkeys(note for result in results for note in result["notes"])),
        written=now(),
        script="",
        data="",
    )


def _outcome(results: Sequence[dict[str, Any]]) -> str:
    """Return the outcome of the first study that compares times."""
    sentences = (result["outcome"] for result in results if result["outcome"] != NOTHING)
    return next(sentences, "No study compares the times of two curves.")


def _studies(folder: Path, results: Sequence[dict[str, Any]]) -> PageTable:
    """One row for each study."""
    rows = [
        {
            "Study": Cell(result["study"], link=os.path.relpath(result["report"], folder)),
            "What came out": text("" if result["outcome"] == NOTHING else result["outcome"]),
            "Claims tested": text(counted(_verdicts([result])) if result["findings"] else ""),
            "Cases": whole(result["cases"]),
            "Skipped": whole(len(result["skipped"])),
            "Failed": whole(len(result["failed"])),
        }
        for result in results
    ]
    return PageTable("studies-table", f"Studies: {len(rows)}", STUDIES, rows)
