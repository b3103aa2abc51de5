"""Parts of the time of a step, of runs of dwarfs and of whole models, and its causes: stacked bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from tradewind.figure.curves import label_text
from tradewind.plot.phases import phase_bars, phase_rows
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import causes_of, has_parts, parts_of
from tradewind.study.model.study import Plot

WHOLE = "all"


def parts_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A bar for each run, of the median rank's seconds by part, and for each model."""
    return _bars(plot, [record for record in records if has_parts(record)], _parts)


def causes_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A bar for each model whose causes are known, of the seconds of its step by cause."""
    return _bars(plot, records, causes_of)


def _bars(plot: Plot, records: Sequence[Record], seconds: Callable[[Record], Mapping[str, float]]) -> Any | None:
    rows = [row for record in records for row in _rows(plot, record, seconds(record))]
    if not rows:
        return None
    chart = phase_bars(rows, width=460 if plot.panel is None else 300)
    data = alt.InlineData(values=rows)
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    if len(panels) < 2:
        return chart.properties(data=data)
    facet = alt.Facet("panel:N", title=None, sort=panels)
    return chart.facet(facet=facet, columns=2, data=data).resolve_scale(x="independent")


def _parts(record: Record) -> dict[str, float]:
    return {part: seconds for part, seconds in parts_of(record).items() if part != WHOLE}


def _rows(plot: Plot, record: Record, seconds: Mapping[str, float]) -> list[dict[str, Any]]:
    return phase_rows(label_text(record, plot.curve), seconds, panel=label_text(record, plot.panel))
