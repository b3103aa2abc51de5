"""Style of all figures: colours for the colour-blind, titles with units, SI numbers on log axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tradewind.plot.text_width import FONT

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6A00", "#7A7A7A"]
"""Okabe and Ito's colours (https://jfly.uni-koeln.de/color/), their yellow and black made fit for any background."""

SECONDS = "format(datum.value, '~s') + 's'"
COUNT = "format(datum.value, '~s')"

CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": FONT,
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "gridOpacity": 0.35},
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "titleFontSize": 12, "titleFontWeight": "normal"},
    "legend": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 260},
    "range": {"category": PALETTE},
    "view": {"strokeOpacity": 0.3},
}


Part = dict[str, Any]
"""Part of a specification of Vega-Lite, for plain ones and those of Altair, which takes half a second to load."""


def quantitative(field: str, **options: Any) -> Part:
    """Return the encoding of numbers."""
    return {"field": field, "type": "quantitative", **options}


def nominal(field: str, **options: Any) -> Part:
    """Return the encoding of names."""
    return {"field": field, "type": "nominal", **options}


def log_axis(values: Sequence[float], title: str, labels: str) -> tuple[Part, Part]:
    """Return scale and axis, logarithmic, around values, with ticks at 1, and at 2 and 5 where there is room."""
    low, high = math.log10(min(values)), math.log10(max(values))
    margin = max(0.12, 0.06 * (high - low))
    low, high = low - margin, high + margin
    steps = (1,) if high - low > 2.5 else (1, 2, 5)
    ticks = [float(f"{step}e{k}") for k in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]
    scale = {"type": "log", "domain": [10**low, 10**high], "nice": False}
    return scale, {"title": title, "labelExpr": labels, "values": ticks}


def linear_time_axis(title: str) -> Part:
    """Return a linear axis of times, labelled with their units."""
    return {"title": title, "labelExpr": SECONDS, "tickCount": 6}


def colour(label: str, title: str | None, values: list[str]) -> Part:
    """Return the colour encoding of a label, with one colour for each of `values`."""
    return nominal(label, title=title, sort=values, scale={"domain": values, "range": colours(len(values))})


def colours(count: int) -> list[str]:
    """Return `count` colours: the palette, then paler ones, then darker ones, and from the beginning again."""
    return [_SHADES[i % len(_SHADES)] for i in range(count)]


def _mixed(colour: str, other: int) -> str:
    """A colour mixed with as much grey of a value (0 black, 255 white)."""
    return "#" + "".join(f"{(int(colour[i : i + 2], 16) + other) // 2:02X}" for i in (1, 3, 5))


_SHADES = [*PALETTE, *(_mixed(colour, 255) for colour in PALETTE), *(_mixed(colour, 0) for colour in PALETTE)]
