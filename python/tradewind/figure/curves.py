"""Curves: the time of cases, or another quantity of theirs, against their number of ranks or another label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tradewind.plot.style import COUNT, SECONDS, colour, log_axis
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import QUANTITIES, quantity_of
from tradewind.study.model.labels import INTEGER_LABELS, LABELS
from tradewind.study.model.study import Plot

Row = dict[str, Any]


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
    return {
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
    """All labels of a case but those that tell it from the one that it is divided by (and what sums them up)."""
    return tuple(record.get(label) for label in LABELS if label not in ("sweep", "exchange", *plot.over))


def time_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Any:
    """A line through the medians over seeds, with one point per case."""
    values = [row["time"] for row in rows]
    if plot.over:
        axis = alt.Axis(title=f"{plot.quantity} over that with {_over_text(plot)}", format=".3~g")
        height = alt.Y("time:Q", axis=axis, scale=alt.Scale(zero=False, nice=True))
    elif QUANTITIES[plot.quantity].is_part:
        axis = alt.Axis(title=QUANTITIES[plot.quantity].title, format=".0%")
        height = alt.Y("time:Q", axis=axis, scale=alt.Scale(domain=[0, max(1.0, *values)]))
    else:
        labels = SECONDS if QUANTITIES[plot.quantity].title.endswith("(s)") else COUNT
        scale, axis = log_axis(values, QUANTITIES[plot.quantity].title, labels)
        height = alt.Y("time:Q", scale=scale, axis=axis)
    base = alt.Chart().encode(x=_across(plot, rows), color=colour("curve", plot.curve, curves))
    line = base.mark_line(strokeWidth=2).encode(y=height.aggregate("median"))
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        y=height,
        shape=alt.Shape("curve:N", title=plot.curve, sort=curves, scale=alt.Scale(domain=curves)),
        tooltip=[
            alt.Tooltip("case:N"),
            alt.Tooltip("ranks:Q", format=","),
            alt.Tooltip("shown:N", title=plot.quantity),
        ],
    )
    return alt.layer(line, points)


def _across(plot: Plot, rows: list[Row]) -> alt.X:
    """A logarithmic axis of numbers, or texts in the order of the cases."""
    values = list(dict.fromkeys(row["along"] for row in rows))
    if plot.along in INTEGER_LABELS and all(value and not isinstance(value, str) for value in values):
        title = "ranks (number)" if plot.along == "ranks" else LABELS[plot.along]
        scale, axis = log_axis(values, title, COUNT)
        return alt.X("along:Q", scale=scale, axis=axis)
    return alt.X("along:O", sort=values, title=LABELS[plot.along])


def _over_text(plot: Plot) -> str:
    return ", ".join(f"{label} {' or '.join(map(str, values))}" for label, values in plot.over.items())
