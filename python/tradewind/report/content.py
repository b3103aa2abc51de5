"""The data that the script of a page works on: the cases, the columns of its tables, its charts and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tradewind.figure.answering import Drawing, answering, legend_of
from tradewind.report.facets import Groups
from tradewind.report.pack import Column, Pack
from tradewind.report.table import Cell, PageTable
from tradewind.study.cases.records import Record
from tradewind.study.model.labels import LABELS


@dataclass(frozen=True)
class Figure:
    """A plot of a page, drawn."""

    name: str
    title: str
    note: str
    drawing: Drawing
    outcome: str = ""
    """Caption, in a sentence."""


_NAMED = frozenset({"sweep", "kind", "exchange", "pattern", "dwarf", "algorithm", "ranks", "machine"})
"""Labels that the name of a case has, or that repeat others."""
_WHERE = {"verify": "proved", "measure": "measured here", "run": "run here", "published": "published"}


def content(
    records: Sequence[Record],
    groups: Groups,
    tables: Sequence[PageTable],
    figures: Sequence[Figure],
    unit: str = "cases",
) -> str:
    """Return the packed data of a page. `tables`: those whose rows are cases; `unit`: what the rows are called."""
    pack, number_of = Pack(), {id(record): number for number, record in enumerate(records)}
    return pack.closed(
        {
            "unit": unit,
            **groups.as_dict(),
            "cases": {
                "group": pack.integers(groups.of_case),
                "name": pack.texts([case_name(record) for record in records]),
                "parameters": pack.texts(parameters(records)),
            },
            "tables": {table.name: _table(pack, table) for table in tables},
            "figures": [_figure(pack, f"chart-{i}", figure, groups, number_of) for i, figure in enumerate(figures)],
        }
    )


def case_name(record: Record) -> str:
    """Return the name of a case where charts point at it."""
    where = _WHERE.get(record["kind"], record["machine"])
    ranks = f"{record['ranks']:,} ranks".replace(",", "\u202f") if record["ranks"] else ""
    return ", ".join(filter(None, (record["exchange"], ranks, where)))


def parameters(records: Sequence[Record]) -> list[str]:
    """Return the grid of each case, and its value of every label in which the cases differ; of `bench --sizes` also the
    size of its messages."""
    others = ["message_bytes", *(label for label in LABELS if label not in _NAMED)]
    values = {label: {record.get(label) for record in records} - {None} for label in others}
    shown = [label for label in others if label == "grid" or len(values[label]) > 1]
    titles = {label: label.replace("_", " ") for label in shown}
    return [
        ", ".join(f"{titles[label]} {record[label]}" for label in shown if record.get(label) not in (None, ""))
        for record in records
    ]


def _table(pack: Pack, table: PageTable) -> dict[str, Any]:
    columns = []
    for column in table.columns:
        cells = [row[column.title] for row in table.rows]
        packed: dict[str, Column | None] = {"texts": pack.texts([cell.text for cell in cells])}
        packed["values"] = pack.numbers([_number(cell) for cell in cells]) if column.is_number else None
        for name, texts in (
            ("notes", [cell.note for cell in cells]),
            ("hints", [cell.hint for cell in cells]),
            ("tags", ["\n".join("\t".join(tag) for tag in cell.tags) for cell in cells]),
        ):
            packed[name] = pack.texts(texts) if any(texts) else None
        columns.append(packed)
    return {"cases": pack.integers(table.cases), "columns": columns}


def _number(cell: Cell) -> float | None:
    return float(cell.value) if isinstance(cell.value, int | float) else None


def _figure(pack: Pack, chart: str, figure: Figure, groups: Groups, number_of: dict[int, int]) -> dict[str, Any]:
    drawing = figure.drawing
    known = {"chart": chart, "name": figure.name, "title": figure.title, "groups": list(groups.of(drawing.cases))}
    whole = drawing.specification
    if not drawing.owners:
        return {**known, "specification": whole}
    plain = {key: value for key, value in whole.items() if key != "datasets"}
    rows = whole["datasets"]["rows"]
    fields = [field for field in rows[0] if field not in ("case", "is_dwarf")]
    return {
        **known,
        "specification": answering(plain, drawing.tooltip),
        "whole": plain,
        "legend": legend_of(plain),
        "heads": [["case", "case"], ["parameters", "parameters"], *drawing.heads],
        "rows": {
            "case": pack.integers([number_of[id(owner)] for owner in drawing.owners]),
            "columns": {field: _field(pack, [row[field] for row in rows]) for field in fields},
        },
    }


def _field(pack: Pack, values: Sequence[Any]) -> Column:
    if all(isinstance(value, int | float) for value in values):
        return pack.numbers(values)
    return pack.texts(["" if value is None else str(value) for value in values])
