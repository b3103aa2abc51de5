"""Draws the plots that a study asks for, each from the cases that it selects."""

from __future__ import annotations

import bisect
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from tradewind.base.units import format_seconds
from tradewind.figure.answering import Drawing
from tradewind.figure.curves import OWNER, label_text, row_of, time_chart, time_rows, valued
from tradewind.plot.style import CONFIG, SECONDS, Part, colour, linear_time_axis, log_axis, nominal, quantitative
from tradewind.study.cases.records import Record
from tradewind.study.claims.curve import matches
from tradewind.study.claims.quantity import QUANTITIES
from tradewind.study.model.labels import LABELS
from tradewind.study.model.study import PLOTS, Plot

Row = dict[str, Any]


def draw(plot: Plot, records: Sequence[Record]) -> dict[str, Any] | None:
    """The Vega-Lite specification of a plot; None where no stored case belongs to it."""
    drawing = drawing_of(plot, records)
    return None if drawing is None else drawing.specification


def drawing_of(plot: Plot, records: Sequence[Record]) -> Drawing | None:
    """A plot, with what a page shows and takes away of its rows; None where no stored case belongs to it."""
    cases = chosen(plot, records)
    named = {"config": CONFIG, "description": describe(plot, cases)}
    if plot.kind in _ALTAIR:
        specification = _altair(plot, cases)
        return None if specification is None else Drawing({**specification, **named}, cases)
    rows = _ROWS[plot.kind](plot, cases)
    if not rows:
        return None
    owners = [row.pop(OWNER) for row in rows]
    tooltip = _TOOLTIPS[plot.kind](plot)
    return Drawing({**_line_chart(plot, rows), **named}, cases, owners, _heads(plot), tooltip)


def _altair(plot: Plot, cases: Sequence[Record]) -> dict[str, Any] | None:
    module, _, function = _ALTAIR[plot.kind].partition(":")
    chart = getattr(importlib.import_module(module), function)(plot, cases)
    return None if chart is None else chart.to_dict()


def chosen(plot: Plot, records: Sequence[Record]) -> list[Record]:
    """The cases that a plot selects and that have what it draws."""
    found = [record for record in records if any(matches(record, selection) for selection in plot.of)]
    return [record for record in found if plot.kind == "matrix" or record["time_s"] is not None]


def describe(plot: Plot, cases: Sequence[Record]) -> str:
    """Return a description of a plot for screen readers."""
    parts = [f"{plot.title}."]
    if plot.kind in ("time", "bars"):
        parts.append(f"{_sentence(QUANTITIES[plot.quantity].title)} against {LABELS[plot.along]}.")
    else:
        parts.append(f"{_sentence(PLOTS[plot.kind].partition(';')[0])}.")
    for name, label in (("Curves", plot.curve), ("Panels", plot.panel)):
        if values := list(dict.fromkeys(filter(None, (label_text(case, label) for case in cases)))):
            parts.append(f"{name}: {', '.join(values)}.")
    return " ".join(parts)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def _line_chart(plot: Plot, rows: list[Row]) -> dict[str, Any]:
    from tradewind.plot.export import VEGA_LITE

    schema = f"https://vega.github.io/schema/vega-lite/{VEGA_LITE.partition('_')[0]}.json"
    chart = _ROW_CHARTS[plot.kind](plot, rows, list(dict.fromkeys(row["curve"] for row in rows)))
    return {"$schema": schema, **chart, "data": {"name": "rows"}, "datasets": {"rows": rows}}


def _heads(plot: Plot) -> list[list[str]]:
    """The fields of a row that are taken away, with the heads of their columns."""
    quantity = f"{plot.quantity} over that of the base" if plot.over else QUANTITIES[plot.quantity].title
    fields = {
        "time": {"along": plot.along, "time": quantity},
        "bars": {"along": plot.along, "time": quantity, "minimum_s": "minimum (s)"},
        "delay": {"from": "delay from (s)", "share": "share of arrivals"},
        "over-time": {"time": "simulated time (s)", "delay": "mean delay (s)"},
    }[plot.kind]
    labels = {"curve": plot.curve, **({"panel": plot.panel} if plot.panel else {})}
    return [[name, str(head)] for name, head in (labels | fields).items()]


def _bar_rows(plot: Plot, records: Sequence[Record]) -> list[Row]:
    """A bar for each curve; where `along` has several values in a panel, for each of these."""
    cases = valued(plot, records)
    grouped = plot.along != plot.panel and len({label_text(record, plot.along) for record, _ in cases}) > 1
    rows = []
    for record, value in cases:
        row = row_of(plot, record, value)
        name = f"{label_text(record, plot.along)}, {row['curve']}" if grouped else row["curve"]
        rows.append({**row, "minimum_s": _minimum(record), "minimum": format_seconds(_minimum(record)), "bar": name})
    if grouped:
        places = {value: i for i, value in enumerate(dict.fromkeys(row["along"] for row in rows))}
        rows.sort(key=lambda row: places[row["along"]])
    return rows


def _minimum(record: Record) -> float:
    """The shortest time that was measured."""
    result = record["result"]
    if record["kind"] == "run":
        return float(min(result["samples_s"]) / result["steps"])
    return float(result["results"][0]["min_s"] if record["kind"] == "measure" else record["time_s"])


DELAY_EDGES = [step * 10.0**k for k in range(-9, 5) for step in (1, 2, 5)]
"""The drawn bins of delay (s). What is shorter than the first edge counts as no delay."""


def _delay_rows(plot: Plot, records: Sequence[Record]) -> list[Row]:
    counts = [_drawn_counts(record["result"].get("delay")) for record in records]
    used = [i for each in counts for i, count in enumerate(each) if i and count]
    if not used:
        return []
    first, last = min(used), max(used)
    rows: list[Row] = []
    for record, each in zip(records, counts, strict=True):
        labels = {OWNER: record, "curve": label_text(record, plot.curve), "panel": label_text(record, plot.panel)}
        # Packets without delay have a bin of their own, to the left of all others; the last row closes the line.
        shown = [each[0], *each[first : last + 1], 0.0]
        edges = [DELAY_EDGES[first - 1] / 2, *DELAY_EDGES[first - 1 : last + 1]]
        for i, (low, count) in enumerate(zip(edges, shown, strict=True)):
            delay = "none" if i == 0 else f"{format_seconds(low)} to {format_seconds(DELAY_EDGES[first + i - 1])}"
            rows.append({"from": low, "share": count / max(1.0, sum(each)), "delay": delay, **labels})
    return rows


def _drawn_counts(histogram: dict[str, list[float]] | None) -> list[float]:
    """The arrivals in each drawn bin; the first bin holds those without delay."""
    counts = [0.0] * len(DELAY_EDGES)
    if histogram is not None:
        edges = histogram["edges_s"]
        for low, high, count in zip(edges, edges[1:], histogram["counts"], strict=False):
            middle = (low * high) ** 0.5 if math.isfinite(high) else low
            counts[min(bisect.bisect_right(DELAY_EDGES, middle), len(counts) - 1)] += count
    return counts


def _panelled(chart: Part, plot: Plot, rows: list[Row], height: int = 260) -> Part:
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    if plot.panel is None or len(panels) < 2:
        return {**chart, "width": 460, "height": height}
    each = {**chart, "width": max(200, 780 // min(len(panels), 3)), "height": height}
    return {"facet": nominal("panel", title=None, sort=panels), "columns": 3, "spec": each}


def _time_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Part:
    return _panelled(time_chart(plot, rows, curves), plot, rows)


def _bar_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Part:
    named = list(dict.fromkeys(row["bar"] for row in rows))
    bar = nominal("bar", sort=named, title=None, axis={"labelLimit": 240})
    title = "time of a step" if all(row["is_dwarf"] for row in rows) else "time of the exchange"
    axis = linear_time_axis(f"{title}, median (s); tick: shortest")
    bars = {
        "y": bar,
        "x": quantitative("time", axis=axis, stack=None),  # cases that share a bar are no sum
        "color": {**colour("curve", plot.curve, curves), "legend": None},
        "tooltip": [nominal("case"), nominal("shown", title=plot.quantity), nominal("minimum")],
    }
    ticks = {"y": bar, "x": quantitative("minimum_s", axis=axis)}
    layers = [
        {"mark": {"type": "bar", "size": 14}, "encoding": bars},
        {"mark": {"type": "tick", "thickness": 2, "size": 18, "color": "#888888"}, "encoding": ticks},
    ]
    chart = _panelled({"layer": layers}, plot, rows, max(80, 26 * len(named)))
    # Panels have times of their own; of one chart that would give bars and ticks two axes.
    return {**chart, "resolve": {"scale": {"x": "independent"}}} if "facet" in chart else chart


def _delay_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Part:
    title = "delay: arrival minus arrival on an empty network (s); leftmost: none"
    scale, axis = log_axis([row["from"] for row in rows], title, SECONDS)
    encoding = {
        "x": quantitative("from", scale=scale, axis=axis),
        "y": quantitative("share", axis={"title": "share of arrivals (%)", "format": ".0%"}),
        "color": colour("curve", plot.curve, curves),
        "tooltip": [nominal("curve"), nominal("delay"), quantitative("share", format=".1%")],
    }
    mark = {"type": "line", "interpolate": "step-after", "strokeWidth": 2}
    return _panelled({"mark": mark, "encoding": encoding}, plot, rows)


def _over_time_rows(plot: Plot, records: Sequence[Record]) -> list[Row]:
    from tradewind.figure.kept import over_time_rows

    return over_time_rows(plot, records)


def _over_time_chart(plot: Plot, rows: list[Row], curves: list[str]) -> Part:
    encoding = {
        "x": quantitative("time", axis=linear_time_axis("simulated time (s)")),
        "y": quantitative("delay", axis=linear_time_axis("mean delay of the packets that arrive (s)")),
        "color": colour("curve", plot.curve, curves),
    }
    return _panelled({"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": encoding}, plot, rows)


_ROWS: dict[str, Callable[[Plot, Sequence[Record]], list[Row]]] = {
    "time": time_rows,
    "bars": _bar_rows,
    "delay": _delay_rows,
    "over-time": _over_time_rows,
}
_ROW_CHARTS: dict[str, Callable[[Plot, list[Row], list[str]], Part]] = {
    "time": _time_chart,
    "bars": _bar_chart,
    "delay": _delay_chart,
    "over-time": _over_time_chart,
}
_TOOLTIPS: dict[str, Callable[[Plot], list[Part]]] = {
    "time": lambda plot: [nominal("shown", title=plot.quantity)],
    "bars": lambda plot: [nominal("shown", title=plot.quantity), nominal("minimum")],
    "delay": lambda plot: [nominal("delay"), quantitative("share", title="share of arrivals", format=".1%")],
    "over-time": lambda plot: [
        quantitative("time", title="simulated time (s)", format=".3~s"),
        quantitative("delay", title="mean delay (s)", format=".3~s"),
    ],
}
"""Fields that the nearest point of a chart shows beside its case."""
_ALTAIR = {
    "best": "tradewind.figure.best:best_chart",
    "causes": "tradewind.figure.parts:causes_chart",
    "congestion": "tradewind.figure.heat:congestion_chart",
    "groups": "tradewind.figure.kept:groups_figure",
    "matrix": "tradewind.figure.heat:matrix_chart",
    "pairs": "tradewind.figure.heat:pairs_chart",
    "parts": "tradewind.figure.parts:parts_chart",
}
"""Functions that make a chart of a plot and its cases; None where no case has what it shows."""
