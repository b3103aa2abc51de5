"""Print the times of one sweep of a study: a row per exchange and machine, a column per number of ranks."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.base.units import format_seconds
from tradewind.cli.screen import show_table, show_text
from tradewind.cli.table import TextColumn, TextTable
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.model.labels import LABELS

_OF_TABLE = {"sweep", "kind", "ranks", "split", "seed"}
"""Labels that never are columns of texts: those of the table as a whole, of its columns of times, and of its cells."""


def show_sweep(name: str, records: Sequence[Record]) -> None:
    """Print the sweep of this name: of proofs how many there are, else a table."""
    if not records:
        return
    if all(record["kind"] == "verify" for record in records):
        ranks = ", ".join(str(each) for each in dict.fromkeys(record["ranks"] for record in records))
        show_text(f"{name}: all {len(records)} schedules, on {ranks} ranks", indent="  ")
    else:
        print()
        show_table(sweep_table(name, records))
        print(flush=True)


def sweep_table(name: str, records: Sequence[Record]) -> TextTable:
    """The times of a sweep. A cell with several cases, as of several seeds, shows the fastest and the slowest."""
    labels = _distinguishing(records)
    ranks = sorted({record["ranks"] for record in records})
    cells: dict[tuple[str, ...], dict[int, list[Record]]] = {}
    for record in records:
        row = cells.setdefault(tuple(_text(record, label) for label in labels), {})
        row.setdefault(record["ranks"], []).append(record)
    rows = [[*texts, *(_cell(row.get(each, [])) for each in ranks)] for texts, row in cells.items()]
    columns = [TextColumn(label.replace("_", " ")) for label in labels]
    return TextTable(
        [*columns, *(TextColumn(f"{each} ranks", number=True) for each in ranks)], rows, _title(name, records)
    )


def _distinguishing(records: Sequence[Record]) -> list[str]:
    """The labels by which cases on the same ranks differ: the exchange, and each that those before it leave equal."""
    labels = ["exchange"]
    for label in LABELS:
        if label not in _OF_TABLE:
            seen: dict[tuple[str, ...], set[str]] = {}
            for record in records:
                alike = tuple(_text(record, each) for each in ("ranks", *labels))
                seen.setdefault(alike, set()).add(_text(record, label))
            labels += [label] if any(len(values) > 1 for values in seen.values()) else []
    return labels


def _title(name: str, records: Sequence[Record]) -> str:
    """The name with what all cases share."""
    what = {"measure": "measured here", "run": "runs here", "simulate": "simulated", "published": "published"}
    kinds = dict.fromkeys("simulated" if r["machine"] else what[r["kind"]] for r in records)
    grids = {record["grid"] for record in records}
    grid = f", {grids.pop()} points" if len(grids) == 1 and None not in grids else ""
    return f"{name} ({', '.join(kinds)}{grid})"


def _text(record: Record, label: str) -> str:
    value = record.get(label)
    return "-" if value is None else str(value)


def _cell(records: Sequence[Record]) -> str:
    times = [record["time_s"] for record in records]
    if not times:
        return ""
    text = " .. ".join(dict.fromkeys((format_seconds(min(times)), format_seconds(max(times)))))
    ratio = quantity_of(records[0], "copy-ratio") if len(records) == 1 and records[0]["grid"] else None
    more = f"{ratio:.3g} x copy" if ratio else ""
    doubt = "oversubscribed" if any(r["result"].get("oversubscribed") for r in records) else ""
    marks = ", ".join(filter(None, (more, doubt)))
    return f"{text} ({marks})" if marks else text
