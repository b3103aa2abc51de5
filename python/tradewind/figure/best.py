"""The fastest of many curves at each number of ranks: the number in its name, a radix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from tradewind.plot.style import COUNT, PALETTE, log_axis
from tradewind.study.cases.records import Record
from tradewind.study.claims.statistic import best_numbers
from tradewind.study.model.study import Plot


def best_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """Left the best number against ranks, a colour a panel label; right how often each number is the best."""
    rows = best_rows(plot, records)
    if not rows:
        return None
    what = f"best {plot.curve}: its number"
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    scale, axis = log_axis([row["ranks"] for row in rows], "ranks (number)", COUNT)
    colours = alt.Scale(domain=panels, range=PALETTE[: len(panels)])
    colour = alt.Color(
        "panel:N", title=plot.panel, sort=panels, scale=colours, legend=alt.Legend() if plot.panel else None
    )
    chart = alt.Chart(alt.InlineData(values=rows))
    points = chart.mark_line(point=alt.OverlayMarkDef(size=45)).encode(
        x=alt.X("ranks:Q", scale=scale, axis=axis),
        y=alt.Y("best:Q", title=what, scale=alt.Scale(zero=True)),
        color=colour,
        tooltip=["panel:N", alt.Tooltip("ranks:Q", format=","), "best:Q"],
    )
    often = Counter((row["panel"], row["best"]) for row in rows)
    counts = [{"panel": panel, "best": number, "count": count} for (panel, number), count in often.items()]
    bars = (
        alt.Chart(alt.InlineData(values=counts))
        .mark_bar(size=8)
        .encode(
            x=alt.X("best:Q", title=what),
            y=alt.Y("count:Q", title="numbers of ranks where it is best", axis=alt.Axis(tickMinStep=1)),
            color=colour,
        )
    )
    return points.properties(width=420, height=260) | bars.properties(width=300, height=260)


def best_rows(plot: Plot, records: Sequence[Record]) -> list[dict[str, Any]]:
    """``ranks``, ``panel`` and the ``best`` number of each."""
    rows = []
    for panel in dict.fromkeys(str(record[plot.panel]) if plot.panel else "" for record in records):
        times: dict[int, dict[Any, list[float]]] = {}
        for record in records:
            if plot.panel is None or str(record[plot.panel]) == panel:
                times.setdefault(record["ranks"], {}).setdefault(record[plot.curve], []).append(record["time_s"])
        rows += [{"ranks": ranks, "best": number, "panel": panel} for ranks, number in best_numbers(times).items()]
    return rows
