"""How every figure looks: colours that the colour-blind tell apart, titles with units, SI numbers on log axes."""

from __future__ import annotations

from typing import Any

import altair as alt

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6A00", "#7A7A7A"]
"""Okabe and Ito's colours (https://jfly.uni-koeln.de/color/), their yellow and black made fit for any background."""

SECONDS = "format(datum.value, '~s') + 's'"
COUNT = "format(datum.value, '~s')"

CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "gridOpacity": 0.35},
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "titleFontSize": 12, "titleFontWeight": "normal"},
    "legend": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 260},
    "range": {"category": PALETTE},
    "view": {"strokeOpacity": 0.3},
}


def time_axis(title: str = "time of the exchange (s)") -> alt.Axis:
    return alt.Axis(title=title, labelExpr=SECONDS, tickCount=6)


def ranks_axis() -> alt.Axis:
    return alt.Axis(title="ranks (number)", labelExpr=COUNT, tickCount=6)


def colour(label: str, title: str, values: list[str]) -> alt.Color:
    return alt.Color(f"{label}:N", title=title, sort=values, scale=alt.Scale(domain=values, range=_cycled(values)))


def _cycled(values: list[str]) -> list[str]:
    return [PALETTE[i % len(PALETTE)] for i in range(len(values))]
