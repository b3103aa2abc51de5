"""Where the time of a step goes, in runs of dwarfs: stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tradewind.base.units import format_seconds
from tradewind.figure.curves import label_text
from tradewind.plot.style import colour, linear_time_axis
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import parts_of
from tradewind.study.model.study import Plot

WHOLE = "all"


def parts_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A bar a run, of the median rank's seconds by part."""
    rows = [row for record in records if record["kind"] == "run" for row in _rows(plot, record)]
    if not rows:
        return None
    curves = list(dict.fromkeys(row["curve"] for row in rows))
    parts = list(dict.fromkeys(row["part"] for row in rows))
    chart = (
        alt.Chart()
        .mark_bar(size=14)
        .encode(
            y=alt.Y("curve:N", sort=curves, title=None),
            x=alt.X("seconds:Q", axis=linear_time_axis("of a step, median rank (s)")),
            color=colour("part", "part", parts),
            order=alt.Order("place:Q"),
            tooltip=[alt.Tooltip("part:N"), alt.Tooltip("shown:N", title="time")],
        )
        .properties(width=460 if plot.panel is None else 300, height=max(80, 26 * len(curves)))
    )
    data = alt.InlineData(values=rows)
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    if len(panels) < 2:
        return chart.properties(data=data)
    facet = alt.Facet("panel:N", title=None, sort=panels)
    return chart.facet(facet=facet, columns=2, data=data).resolve_scale(x="independent")


def _rows(plot: Plot, record: Record) -> list[dict[str, Any]]:
    labels = {"curve": label_text(record, plot.curve), "panel": label_text(record, plot.panel)}
    parts = {part: seconds for part, seconds in parts_of(record).items() if part != WHOLE}
    return [
        {"part": part, "seconds": s, "shown": format_seconds(s), "place": i, **labels}
        for i, (part, s) in enumerate(parts.items())
    ]
