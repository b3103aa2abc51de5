"""The pictures of docs/explanation/spectral_or_grid_point.md and of the page of its choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from choices import LINKS, NODES, Values, base, combinations
from models import MODELS, hours, totals
from parts import NETWORKS, Parts, Place
from tables import GRIDS, QUIET, largest, places

from tradewind.plot.style import CONFIG, SECONDS, colour, log_axis

BAND = (10, 90)
"""Percentiles of the combinations between which the picture is shaded."""
Row = dict[str, Any]


def picture(parts: Parts) -> dict[str, Any]:
    """The Vega-Lite specification of the picture: hours of the models against ranks."""
    rows: list[Row] = []
    every = combinations()
    every = {name: values[every["memory"] == base()["memory"]] for name, values in every.items()}
    for place in places(parts):
        once, band = totals(hours(parts, place, base())), totals(hours(parts, place, every))
        for name in MODELS:
            low, high = np.percentile(band[name], BAND)
            rows.append(
                {
                    "model": name,
                    "grid": GRIDS[place.points],
                    "network": NETWORKS[place.machine],
                    "ranks": place.ranks,
                    "simulated": parts.simulated(place),
                    "time": float(once[name][0]),
                    "low": float(low),
                    "high": float(high),
                }
            )
    chart = alt.vconcat(
        *(alt.hconcat(*(_panel(rows, grid, network) for network in NETWORKS.values())) for grid in GRIDS.values())
    )
    specification: dict[str, Any] = chart.to_dict()
    specification["config"] = CONFIG
    specification["description"] = (
        "Seconds per simulated hour of three models against ranks, on three networks, on the whole grid and on a "
        "hundredth of it. "
        "Solid lines: base choices, simulated; dashed ones: estimated. Shaded: the middle 80 % of all combinations of "
        "the open choices on the base's nodes."
    )
    return specification


BALANCES = np.geomspace(3, 300, 41)
"""Bytes of memory per byte of network that the picture of balances spans, by memory at links of 10 GB/s."""


def balance_picture(parts: Parts) -> dict[str, Any]:
    """The Vega-Lite specification of the picture: hours of the models over the semi-implicit one's against balance."""
    panels = [_balance_panel(parts, largest(parts, machine, points)) for points in GRIDS for machine in QUIET]
    chart = alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:]))
    specification: dict[str, Any] = chart.to_dict()
    specification["config"] = CONFIG
    specification["description"] = (
        "Times of the spectral and of the split-explicit model over that of the semi-implicit one, against bytes of "
        "memory per byte of network. Lines: links of 10 GB/s. Points: nodes."
    )
    return specification


def _balance_panel(parts: Parts, place: Place) -> alt.LayerChart:
    one = np.ones_like(BALANCES)
    varied = {name: one * value[0] for name, value in base().items()} | {
        "memory": BALANCES * LINKS,
        "faster_links": one,
    }
    lines = _over_semi_implicit(parts, place, varied, BALANCES, [""] * len(BALANCES))
    points = [row for n in NODES for row in _over_semi_implicit(parts, place, n.values(), [n.balance], [n.name])]
    x_scale, x_axis = log_axis(BALANCES, "memory : network", "format(datum.value, '~s')")
    y_scale, y_axis = log_axis([0.9, 8], "time over semi-implicit", "format(datum.value, '~r')")
    y = alt.Y("ratio:Q", scale=y_scale, axis=y_axis)
    encoding = {"x": alt.X("balance:Q", scale=x_scale, axis=x_axis), "color": colour("model", "model", list(MODELS))}
    line = alt.Chart(alt.Data(values=lines)).encode(y=y, **encoding).mark_line()
    point = alt.Chart(alt.Data(values=points)).encode(y=y, tooltip="node:N", **encoding).mark_point(filled=True)
    title = f"{NETWORKS[place.machine]}, {GRIDS[place.points]}, {place.ranks:,} ranks"
    return (line + point).properties(width=300, height=190, title=title)


def _over_semi_implicit(
    parts: Parts, place: Place, values: Values, balances: Sequence[float], nodes: Sequence[str]
) -> list[Row]:
    times = totals(hours(parts, place, values))
    return [
        {"model": name, "balance": float(b), "node": node, "ratio": float(times[name][i] / times["semi-implicit"][i])}
        for name in MODELS
        for i, (b, node) in enumerate(zip(balances, nodes, strict=True))
    ]


def _panel(rows: list[Row], grid: str, network: str) -> alt.LayerChart:
    own = [row for row in rows if (row["grid"], row["network"]) == (grid, network)]
    same = [row for row in rows if row["grid"] == grid]
    y_scale, y_axis = log_axis(
        [row[key] for row in same for key in ("low", "high", "time")], "seconds per simulated hour", SECONDS
    )
    x_scale, x_axis = log_axis([row["ranks"] for row in same], "ranks", "format(datum.value, '~s')")
    data = alt.Chart(alt.Data(values=own)).encode(
        x=alt.X("ranks:Q", scale=x_scale, axis=x_axis), color=colour("model", "model", list(MODELS))
    )
    area = data.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q")
    line = data.mark_line(strokeDash=[4, 3]).encode(y=alt.Y("time:Q", scale=y_scale, axis=y_axis))
    own_points = data.transform_filter("datum.simulated").encode(y=alt.Y("time:Q", scale=y_scale, axis=y_axis))
    solid = own_points.mark_line(point=True)
    return (area + line + solid).properties(width=210, height=190, title=f"{network}, {grid}")
