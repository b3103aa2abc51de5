"""Rebuilds everything that is made from the stored cases of a study."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradewind.base.files import inside, make_folder, remove, write_inside
from tradewind.base.reading import is_file, read_bytes, read_text
from tradewind.report.content import Figure
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.records import Records, read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.finding import Verdict, cases_of
from tradewind.study.claims.judgement import counts, judge_each
from tradewind.study.claims.remarks import headline_of
from tradewind.study.plan.load import load_study


@dataclass(frozen=True)
class Report:
    """A report: its file and its statements."""

    page: Path
    dataset: Path
    figures: list[Path]
    outcome: str
    """The outcome, in a sentence."""
    verdicts: list[Verdict]
    records: Records

    def as_dict(self) -> dict[str, Any]:
        """Return what ``tradewind study --json`` prints about the report."""
        return {
            "report": str(self.page),
            "dataset": str(self.dataset),
            "figures": [str(path) for path in self.figures],
            "cases": len(self.records.records),
            "missing": self.records.missing,
            "failed": self.records.failed,
            "skipped": self.records.skipped,
            "notes": self.records.notes,
            "outcome": self.outcome,
            "claims": [count.as_dict() for count in counts(self.verdicts)],
            "findings": [verdict.as_dict() for verdict in self.verdicts],
        }


def build_report(folder: Path, environment: Environment) -> Report:
    """Writes results.nc, report.html and figures/ into a results folder. Raises InputError for any other folder."""
    from tradewind.dataset.build import provenance, write_results
    from tradewind.report.page import render, summary

    store = Store.existing(folder)
    study_file = load_study(store.study_file, is_copy=True)
    study, text = study_file.study, study_file.file.text
    records = read_records(store, environment)
    judged = list(zip(study.finding, judge_each(study_file, records.records), strict=True))
    verdicts = [verdict for _, each in judged for verdict in each]
    about = [cases_of(finding, records.records) for finding, each in judged for _ in each]
    attributes = provenance(text, study.title, study.source, study.seed, environment)
    attributes["findings"] = json.dumps([verdict.as_dict() for verdict in verdicts])
    attributes["notes"] = json.dumps(records.notes)
    write_results(records.records, attributes, inside(folder, "results.nc", "dataset"))
    figures = draw_figures(study_file.study.plot, records)
    outcome = headline_of(study.headline, records.records) if study.headline is not None else summary(figures)
    page = render(study, text, records, verdicts, figures, environment, machine_texts(store), outcome, about)
    written = write_inside(folder, "report.html", page.encode())
    pictures = _export(figures, inside(folder, "figures", "figures in"))
    return Report(written, folder / "results.nc", pictures, outcome, verdicts, records)


def machine_texts(store: Store) -> dict[str, str]:
    """The machine files that the study used, by the machine's name."""
    return {path.stem: read_text(path) for path in sorted(store.machines.glob("*.toml"))}


def draw_figures(plots: list[Any], records: Records) -> list[Figure]:
    """Return the plots of a study of which there are cases, drawn."""
    from tradewind.figure.figure import drawing_of
    from tradewind.report.outcome import outcome

    figures = []
    for i, plot in enumerate(plots):
        drawing = drawing_of(plot, records.records)
        if drawing is not None:
            name, sentence = f"{i + 1:02}-{slug(plot.title)}", outcome(plot, records.records)
            figures.append(Figure(name, plot.title, plot.note, drawing, sentence))
    return figures


def slug(title: str) -> str:
    """A file name from a title, without what stands in brackets."""
    bare = title.partition("(")[0].lower()
    return "-".join("".join(c if c.isalnum() and c.isascii() else " " for c in bare).split())


def _export(figures: list[Figure], folder: Path) -> list[Path]:
    from tradewind.plot.export import to_svg_and_pdf

    make_folder(folder, "figures in")
    written = []
    for figure in figures:
        kept = folder / f"{figure.name}.svg"
        former = read_bytes(kept).decode(errors="replace") if is_file(kept) else ""
        svg, pdf = to_svg_and_pdf(figure.drawing.specification, former)
        written.append(write_inside(folder, kept.name, svg.encode()))
        written.append(write_inside(folder, f"{figure.name}.pdf", pdf))
    for old in folder.iterdir():
        if old.suffix in (".svg", ".pdf") and old not in written:
            remove(old)  # of a plot that the study no longer has
    return written
