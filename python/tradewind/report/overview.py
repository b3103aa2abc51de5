"""One page, and the same as Markdown and JSON, about all studies of a folder: what became of every finding."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tradewind.files import remove_parts, write_atomically
from tradewind.study.finding import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED


def build_overview(folder: Path, results: Sequence[dict[str, Any]]) -> Path:
    """Writes index.html, findings.md and findings.json into the folder of several studies; returns the page.

    `results`: what the command answers for each study.
    """
    remove_parts(folder)
    rows = finding_rows(folder, results)
    write_atomically(folder / "findings.json", json.dumps(rows, indent=1).encode())
    write_atomically(folder / "findings.md", _markdown(rows).encode())
    write_atomically(folder / "index.html", _page(folder, results, rows).encode())
    return folder / "index.html"


def finding_rows(folder: Path, results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every finding of every study, with the study's title and the way to its report from the folder."""
    return [
        {**finding, "study": result["study"], "report": os.path.relpath(result["report"], folder)}
        for result in results
        for finding in result["findings"]
    ]


def counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many findings have each verdict."""
    found = Counter(row["verdict"] for row in rows)
    return {verdict: found[verdict] for verdict in (REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE)}


def _markdown(rows: Sequence[dict[str, Any]]) -> str:
    lines = [", ".join(f"{number} {verdict}" for verdict, number in counts(rows).items()) + ".", ""]
    lines += ["| figure | claim | here | because | figures |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        because = ". ".join(filter(None, (row["because"], row["remark"])))
        cells = (row["figure"], row["claim"], row["verdict"], because, "; ".join(row["figures"]))
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _page(folder: Path, results: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> str:
    from tradewind.report.page import template

    studies = [{**result, "link": os.path.relpath(result["report"], folder)} for result in results]
    return template("overview.html.jinja").render(
        title=folder.resolve().name,
        studies=studies,
        rows=rows,
        counts=counts(rows),
        notes=list(dict.fromkeys(note for result in results for note in result["notes"])),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
