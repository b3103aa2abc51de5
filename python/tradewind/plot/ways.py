"""Measured ways to carry out an exchange, as bars: median, middle half of the samples, least."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from tradewind.errors import InputError
from tradewind.plot.export import to_html, to_pdf, to_png, to_svg
from tradewind.plot.style import CONFIG, PALETTE, linear_time_axis

SUFFIXES = (".svg", ".png", ".pdf", ".html")
MOST_BARS = 40

Row = dict[str, Any]


def ways_chart(results: Sequence[Row], title: str, oversubscribed: bool, default: Row | None = None) -> dict[str, Any]:
    """The Vega-Lite specification of a chart of `results`, the fastest above.

    `results`: rows with ``algorithm``, ``transport``, ``packing`` (or None), ``median_s``, ``min_s`` and ``samples_s``.
    `default`: the parts of the way that is marked as the default. Of many ways the `MOST_BARS` fastest are drawn.
    """
    rows = [_bar(row, default) for row in sorted(results, key=lambda row: float(row["median_s"]))]
    subtitle = ["bar: median; line: the middle half of the samples; tick: the least"]
    if len(rows) > MOST_BARS:
        subtitle.append(f"the {MOST_BARS} fastest of {len(rows)} ways")
    if oversubscribed:
        subtitle.append("OVERSUBSCRIBED: more ranks than cores, so these are no times of this machine")
    colour = PALETTE[1] if oversubscribed else "#555"
    heading = alt.TitleParams(title, subtitle=subtitle, anchor="start", subtitleColor=colour)
    chart = _bars(rows[:MOST_BARS]).properties(width=560, height=alt.Step(20), title=heading)
    specification: dict[str, Any] = chart.to_dict() | {"config": CONFIG}
    return specification


def _bar(row: Row, default: Row | None) -> Row:
    parts = [row[part] for part in ("algorithm", "transport", "packing")]
    own = row["algorithm"] == "native"
    is_default = default is not None and default.items() <= row.items()
    low, _, high = (
        statistics.quantiles(row["samples_s"], method="inclusive")
        if len(row["samples_s"]) > 1
        else 3 * [row["median_s"]]
    )
    return {
        "way": ("native" if own else ", ".join(parts)) + (" (default)" if is_default else ""),
        "algorithm": parts[0],
        "median": row["median_s"],
        "least": row["min_s"],
        "low": low,
        "high": high,
    }


def _bars(rows: list[Row]) -> Any:
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(algorithms))]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("way:N", sort=None, title=None, axis=alt.Axis(labelLimit=320))
    )
    times = [alt.Tooltip(f"{name}:Q", format=".3s") for name in ("median", "least", "low", "high")]
    bars = base.mark_bar(size=13).encode(
        x=alt.X("median:Q", axis=linear_time_axis("time of the exchange (s)")),
        color=alt.Color("algorithm:N", sort=algorithms, scale=alt.Scale(domain=algorithms, range=colours)),
        tooltip=[alt.Tooltip("way:N"), *times],
    )
    spread = base.mark_rule(color="#444", strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    least = base.mark_tick(color="#444", thickness=1.5, size=9).encode(x="least:Q")
    return alt.layer(bars, spread, least)


def check_name(path: Path, what: str = "chart") -> None:
    """Raises InputError for a file that no chart can be written to, before anything is measured."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"{what} {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    if not path.parent.is_dir():
        raise InputError(f"{what} {path}: there is no folder {path.parent}")


def save_chart(specification: dict[str, Any], path: Path) -> None:
    """Writes a chart as SVG, PNG, PDF or HTML, by the name of the file. Raises InputError where that cannot be."""
    white = specification | {"config": specification["config"] | {"background": "white"}}
    makers = {".svg": lambda: to_svg(white).encode(), ".png": lambda: to_png(white), ".pdf": lambda: to_pdf(white)}
    try:
        path.write_bytes(makers.get(path.suffix, lambda: to_html(white).encode())())
    except OSError as error:
        raise InputError(f"chart {path}: {error.strerror}") from None
