"""Measured methods for an exchange, as bars: median, middle half of the samples, minimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import altair as alt

from tradewind.base.errors import InputError
from tradewind.base.files import check_target, write_atomically
from tradewind.base.ranking import middle_half
from tradewind.base.units import format_seconds
from tradewind.method.method import NATIVE, Method
from tradewind.plot.export import SUFFIXES, picture
from tradewind.plot.style import CONFIG, PALETTE, colours, linear_time_axis

MAX_BARS = 40

Row = dict[str, Any]


def methods_chart(results: Sequence[Row], default: Method | None = None, what: str = "exchange") -> dict[str, Any]:
    """The Vega-Lite specification of a chart of `results`, the fastest above; of many the `MAX_BARS` fastest.

    `results`: rows with ``algorithm``, ``transport``, ``packing``, ``median_s``, ``min_s`` and ``samples_s``.
    `default`: the method that is marked as the default. `what`: is exchanged, for those who cannot see the chart.
    """
    rows = [_bar(row, default) for row in sorted(results, key=lambda row: float(row["median_s"]))]
    chart = _bars(rows[:MAX_BARS]).properties(width=560, height=alt.Step(20))
    shown = ", ".join(f"{row['method']} {format_seconds(row['median'])}" for row in rows[:MAX_BARS])
    described = f"Times of methods for {what}, the fastest first: {shown}."
    specification: dict[str, Any] = chart.to_dict() | {"config": CONFIG, "description": described}
    return specification


def legend(methods: int, oversubscribed: bool) -> list[str]:
    """Return the legend of a chart of methods, and its warnings."""
    lines = ["bar: median; line: the middle half of the samples; tick: minimum"]
    if methods > MAX_BARS:
        lines.append(f"the {MAX_BARS} fastest of {methods} methods")
    if oversubscribed:
        lines.append("OVERSUBSCRIBED: more ranks than cores, so these are no times of this machine")
    return lines


def _bar(row: Row, default: Method | None) -> Row:
    parts = [row[part] for part in ("algorithm", "transport", "packing")]
    own = row["algorithm"] == NATIVE
    is_default = default is not None and asdict(default).items() <= row.items()
    low, high = middle_half(row["samples_s"])
    return {
        "method": (NATIVE if own else ", ".join(parts)) + (" (default)" if is_default else ""),
        "algorithm": parts[0],
        "median": row["median_s"],
        "minimum_s": row["min_s"],
        "low": low,
        "high": high,
        "shown": format_seconds(row["median_s"]),
        "range": f"{format_seconds(low)} to {format_seconds(high)}",
        "minimum": format_seconds(row["min_s"]),
    }


def _bars(rows: list[Row]) -> Any:
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    shades = colours(len(algorithms))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("method:N", sort=None, title=None, axis=alt.Axis(labelLimit=320))
    )
    titles = {"method": "method", "shown": "median", "range": "middle half", "minimum": "minimum"}
    bars = base.mark_bar(size=13).encode(
        x=alt.X("median:Q", axis=linear_time_axis("time of the exchange (s)")),
        color=alt.Color("algorithm:N", sort=algorithms, scale=alt.Scale(domain=algorithms, range=shades)),
        tooltip=[alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()],
    )
    spread = base.mark_rule(color="#444", strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    minimum = base.mark_tick(color="#444", thickness=1.5, size=9).encode(x="minimum_s:Q")
    return alt.layer(bars, spread, minimum)


def check_name(path: Path, what: str = "chart") -> None:
    """Raises InputError for a file that no chart can be written to, before anything is measured."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"{what} {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    check_target(path, what)


def save_chart(results: Sequence[Row], path: Path, title: str, oversubscribed: bool, default: Method) -> None:
    """Writes a chart as SVG, PNG, PDF or HTML, by the name of the file. Raises InputError where that cannot be."""
    specification = methods_chart(results, default)
    colour = PALETTE[1] if oversubscribed else "#555"
    specification["config"] = CONFIG | {"background": "white"}
    specification["title"] = {
        "text": title,
        "subtitle": legend(len(results), oversubscribed),
        "subtitleColor": colour,
        "anchor": "start",
    }
    write_atomically(path, picture(specification, path.suffix), "chart")
