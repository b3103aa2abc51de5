"""Parts of the time of a step, of runs of dwarfs and of whole models: stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tradewind.figure.curves import label_text
from tradewind.plot.phases import phase_bars, phase_rows
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import has_parts, parts_of
from tradewind.study.model.study import Plot

WHOLE = "all"


def parts_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A bar for each run, of the median rank's seconds by part, and for each model."""
    rows = [row for record in records if has_parts(record) for row in _rows(plot, record)]
    if not rows:
        return None
    chart = phase_bars(rows, width=460 if plot.panel is None else 300)
    data = alt.InlineData(values=rows)
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    if len(panels) < 2:
        return chart.properties(data=data)
    facet = alt.Facet("panel:N", title=None, sort=panels)
    return chart.facet(facet=facet, columns=2, data=data).resolve_scale(x="independent")


def _rows(plot: Plot, record: Record) -> list[dict[str, Any]]:
    parts = {part: seconds for part, seconds in parts_of(record).items() if part != WHOLE}
    return phase_rows(label_text(record, plot.curve), parts, panel=label_text(record, plot.panel))
