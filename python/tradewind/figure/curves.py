"""Curves: the time of cases, or another quantity of theirs, against their number of ranks or another label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tradewind.plot.style import COUNT, SECONDS, Part, colour, log_axis, nominal, quantitative
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import QUANTITIES, quantity_of
from tradewind.study.model.labels import INTEGER_LABELS, LABELS
from tradewind.study.model.study import Plot

Row = dict[str, Any]
OWNER = "record"
"""The key under which a row holds its case until the chart is made."""


def label_text(record: Record, label: str | None) -> str:
    """Return the name of a case in a legend or above a panel."""
    if label is None:
        return ""
    value = record.get(label)
    if value is None:
        return ""
    words = {
        "ranks": f"{value} ranks",
        "width": f"width {value}",
        "ranks_per_node": f"{value} ranks per node",
        "nodes": "1 node" if value == 1 else f"{value} nodes",
        "work": f"work {value}",
        "threads": f"threads {value}",
    }
    return words.get(label, str(value))


def time_rows(plot: Plot, records: Sequence[Record]) -> list[Row]:
    """A row per case that `valued` has. Places along the plot are text where one is, as truncations of two dwarfs."""
    rows = [row_of(plot, record, value) for record, value in valued(plot, records)]
    if any(isinstance(row["along"], str) for row in rows):
        rows = [row | {"along": row["along"] if row["along"] is None else str(row["along"])} for row in rows]
    return rows


def valued(plot: Plot, records: Sequence[Record]) -> list[tuple[Record, float]]:
    """The cases that have the quantity, and, where the plot asks for a ratio, one to be divided by; and its value."""
    bases = {_rest(plot, record): record for record in records if _is_base(plot, record)} if plot.over else {}
    found = []
    for record in records:
        base = bases.get(_rest(plot, record))
        value = quantity_of(record, plot.quantity)
        divisor = 1.0 if not plot.over else quantity_of(base, plot.quantity) if base else None
        if value is not None and divisor:
            found.append((record, value / divisor))
    return found


def row_of(plot: Plot, record: Record, value: float) -> Row:
    """Return the row of a chart's data for a case, with `value` as its time, and the texts of its tooltip."""
    return {
        OWNER: record,
        "ranks": record["ranks"],
        "along": record[plot.along],
        "time": value,
        "shown": f"{value:.3g}" if plot.over else QUANTITIES[plot.quantity].show(value),
        "curve": label_text(record, plot.curve),
        "panel": label_text(record, plot.panel),
        "is_dwarf": bool(record.get("dwarf")),
        "case": f"{record['exchange']}, {record.get('machine') or _place(record)}",
    }


def _place(record: Record) -> str:
    return "published" if record["kind"] == "published" else "measured"


def _is_base(plot: Plot, record: Record) -> bool:
    return all(record.get(label) in values for label, values in plot.over.items())


def _rest(plot: Plot, record: Record) -> tuple[Any, ...]:
    """All labels of a case but those in which it differs from the one that it is divided by (and what sums them up)."""
    return tuple(record.get(label) for label in LABELS if label not in ("sweep", "exchange", *plot.over))


def time_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Part:
    """A line through the medians over seeds, with one point per case."""
    values = [row["time"] for row in rows]
    quantity = QUANTITIES[plot.quantity]
    scale: Part
    if plot.over:
        scale = {"zero": False, "nice": True}
        axis = {"title": f"{plot.quantity} over that with {_over_text(plot)}", "format": ".3~g"}
    elif quantity.is_part:
        scale, axis = {"domain": [0, max(1.0, *values)]}, {"title": quantity.title, "format": ".0%"}
    else:
        scale, axis = log_axis(values, quantity.title, SECONDS if quantity.title.endswith("(s)") else COUNT)
    height = quantitative("time", scale=scale, axis=axis)
    base = {"x": _across(plot, rows), "color": colour("curve", plot.curve, curves)}
    tooltip = [nominal("case"), quantitative("ranks", format=","), nominal("shown", title=plot.quantity)]
    shape = nominal("curve", title=plot.curve, sort=curves, scale={"domain": curves})
    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {**base, "y": {**height, "aggregate": "median"}}}
    points = {
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {**base, "y": height, "shape": shape, "tooltip": tooltip},
    }
    return {"layer": [line, points]}


def _across(plot: Plot, rows: list[Row]) -> Part:
    """A logarithmic axis of numbers, or texts in the order of the cases."""
    values = list(dict.fromkeys(row["along"] for row in rows))
    if plot.along in INTEGER_LABELS and all(value and not isinstance(value, str) for value in values):
        title = "ranks (number)" if plot.along == "ranks" else LABELS[plot.along]
        scale, axis = log_axis(values, title, COUNT)
        return quantitative("along", scale=scale, axis=axis)
    return {"field": "along", "type": "ordinal", "sort": values, "title": LABELS[plot.along]}


def _over_text(plot: Plot) -> str:
    return ", ".join(f"{label} {' or '.join(map(str, values))}" for label, values in plot.over.items())
