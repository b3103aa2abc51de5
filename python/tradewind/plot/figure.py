"""Draws the plots that a study asks for, each from the cases that it selects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from tradewind.plot.style import CONFIG, colour, ranks_axis, time_axis
from tradewind.study.finding import matches
from tradewind.study.model import Plot
from tradewind.study.records import Record

Row = dict[str, Any]


def draw(plot: Plot, records: Sequence[Record]) -> dict[str, Any] | None:
    """The Vega-Lite specification of a plot; None where no stored case belongs to it."""
    chosen = [record for record in records if any(matches(record, selection) for selection in plot.of)]
    chosen = [record for record in chosen if record["time_s"] is not None]
    rows = _ROWS[plot.kind](plot, chosen)
    if not rows:
        return None
    curves = list(dict.fromkeys(row["curve"] for row in rows))
    chart = _CHARTS[plot.kind](plot, rows, curves)
    specification: dict[str, Any] = chart.to_dict()
    specification["config"] = CONFIG
    return specification


def _label(record: Record, label: str | None) -> str:
    """What stands for a case in a legend or above a panel."""
    if label is None:
        return ""
    value = record.get(label)
    if value is None:
        return ""
    return {"ranks": f"{value} ranks", "width": f"width {value}"}.get(label, str(value))


def _time_rows(plot: Plot, records: Sequence[Record]) -> list[Row]:
    return [
        {
            "ranks": record["ranks"],
            "time": record["time_s"],
            "curve": _label(record, plot.curve),
            "panel": _label(record, plot.panel),
            "case": f"{record['exchange']}, {record.get('machine') or 'measured'}",
        }
        for record in records
    ]


def _bar_rows(plot: Plot, records: Sequence[Record]) -> list[Row]:
    rows = _time_rows(plot, records)
    for row, record in zip(rows, records, strict=True):
        measured = record["kind"] == "measure"
        row["least"] = record["result"]["results"][0]["min_s"] if measured else record["time_s"]
    return rows


def _delay_rows(plot: Plot, records: Sequence[Record]) -> list[Row]:
    rows: list[Row] = []
    for record in records:
        histogram = record["result"].get("delay")
        if not histogram or not sum(histogram["counts"]):
            continue
        edges, total = histogram["edges_s"], sum(histogram["counts"])
        labels = {"curve": _label(record, plot.curve), "panel": _label(record, plot.panel)}
        for low, high, count in zip(edges, edges[1:], histogram["counts"], strict=False):
            # A logarithmic axis has no place for 0 or infinity: the end bins are drawn one octave wide.
            left = low if low > 0 else high / 2
            right = high if math.isfinite(high) else 2 * left
            rows.append({"from": left, "to": right, "share": count / total, **labels})
    return _trimmed(rows)


def _trimmed(rows: list[Row]) -> list[Row]:
    """The bins between the first and the last one in which anything arrived."""
    filled = [row for row in rows if row["share"] > 0]
    if not filled:
        return []
    first, last = min(row["from"] for row in filled), max(row["from"] for row in filled)
    return [row for row in rows if first <= row["from"] <= last]


def _panelled(chart: Any, plot: Plot, rows: list[Row]) -> Any:
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    if plot.panel is None or len(panels) < 2:
        return chart.properties(width=460, height=300, data=alt.InlineData(values=rows))
    chart = chart.properties(width=max(200, 780 // min(len(panels), 3)), height=260)
    facet = alt.Facet("panel:N", title=None, sort=panels)
    return chart.facet(facet=facet, columns=3, data=alt.InlineData(values=rows))


def _time_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Any:
    base = alt.Chart().encode(
        x=alt.X("ranks:Q", scale=alt.Scale(type="log", nice=False, padding=12), axis=ranks_axis()),
        color=colour("curve", plot.curve, curves),
    )
    y = alt.Y("median(time):Q", scale=alt.Scale(type="log", padding=8), axis=time_axis())
    line = base.mark_line(strokeWidth=2).encode(y=y)
    tip = [
        alt.Tooltip("case:N"),
        alt.Tooltip("ranks:Q", format=","),
        alt.Tooltip("time:Q", format=".3s", title="time (s)"),
    ]
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        y=alt.Y("time:Q", scale=alt.Scale(type="log"), axis=time_axis()),
        shape=alt.Shape("curve:N", title=plot.curve, sort=curves, scale=alt.Scale(domain=curves)),
        tooltip=tip,
    )
    return _panelled(alt.layer(line, points), plot, rows)


def _bar_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Any:
    base = alt.Chart().encode(y=alt.Y("curve:N", sort=curves, title=None))
    bars = base.mark_bar(size=14).encode(
        x=alt.X("time:Q", axis=time_axis("time of the exchange, median (s); tick: shortest")),
        color=colour("curve", plot.curve, curves).legend(None),
        tooltip=[alt.Tooltip("case:N"), alt.Tooltip("time:Q", format=".3s"), alt.Tooltip("least:Q", format=".3s")],
    )
    ticks = base.mark_tick(thickness=2, size=18, color="#888888").encode(x="least:Q")
    return _panelled(alt.layer(bars, ticks), plot, rows).resolve_scale(x="independent")


def _delay_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Any:
    axis = time_axis("delay: arrival minus arrival on an empty network (s)")
    chart = (
        alt.Chart()
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("from:Q", scale=alt.Scale(type="log", nice=False), axis=axis),
            y=alt.Y("share:Q", axis=alt.Axis(title="share of arrivals (%)", format=".0%")),
            color=colour("curve", plot.curve, curves),
            tooltip=[
                alt.Tooltip("curve:N"),
                alt.Tooltip("from:Q", format=".3s"),
                alt.Tooltip("to:Q", format=".3s"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return _panelled(chart, plot, rows)


_ROWS: dict[str, Callable[[Plot, Sequence[Record]], list[Row]]] = {
    "time": _time_rows,
    "bars": _bar_rows,
    "delay": _delay_rows,
}
_CHARTS: dict[str, Callable[[Plot, list[Row], list[str]], Any]] = {
    "time": _time_chart,
    "bars": _bar_chart,
    "delay": _delay_chart,
}
