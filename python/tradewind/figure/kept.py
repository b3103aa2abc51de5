"""Figures of a study from what its cases kept of congestion: between groups, and over simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tradewind.figure.curves import OWNER
from tradewind.plot.congestion import groups_chart, time_rows
from tradewind.study.cases.records import Record
from tradewind.study.model.study import Plot


def groups_figure(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A row per case: how busy the links between groups are, and what they carried."""
    charts = []
    for record in records:
        chart = groups_chart((record["result"].get("congestion") or {}).get("groups"))
        if chart is not None:
            charts.append(chart.properties(title=", ".join(filter(None, labels(plot, record).values()))))
    return alt.vconcat(*charts).resolve_scale(color="independent") if charts else None


def labels(plot: Plot, record: Record) -> dict[str, str]:
    """Return the name of a case in a legend or above a panel."""
    values = {"curve": record.get(plot.curve), "panel": record.get(plot.panel) if plot.panel else None}
    return {name: "" if value is None else str(value) for name, value in values.items()}


def over_time_rows(plot: Plot, records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the mean delay of the packets that arrived, for each bin of simulated time of each case."""
    return [
        {
            OWNER: record,
            "time": (row["from"] + row["to"]) / 2,
            "delay": float(f"{row['delay']:.3g}"),
            **labels(plot, record),
        }
        for record in records
        if record["result"].get("delay_over_time")
        for row in time_rows(record["result"]["delay_over_time"])
    ]
