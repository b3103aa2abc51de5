"""Parts of the time of a step: one bar per run, stacked by the parts of its time loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from tradewind.base.files import write_atomically
from tradewind.base.units import format_seconds
from tradewind.plot.export import picture
from tradewind.plot.style import CONFIG, PALETTE, colour, linear_time_axis

Row = dict[str, Any]


def phase_rows(curve: str, seconds: Mapping[str, float], **labels: Any) -> list[Row]:
    """The rows of `phase_bars` for one bar: `seconds` of a step by part, in the order of the stack."""
    return [
        {"part": part, "seconds": s, "shown": format_seconds(s), "place": i, "curve": curve, **labels}
        for i, (part, s) in enumerate(seconds.items())
    ]


def phase_bars(rows: Sequence[Row], width: int = 460, step: str = "of a step, median rank (s)") -> Any:
    """Stacked bars of rows (see `phase_rows`), without their data."""
    curves = list(dict.fromkeys(row["curve"] for row in rows))
    parts = list(dict.fromkeys(row["part"] for row in rows))
    return (
        alt.Chart()
        .mark_bar(size=14)
        .encode(
            y=alt.Y("curve:N", sort=curves, title=None),
            x=alt.X("seconds:Q", axis=linear_time_axis(step)),
            color=colour("part", "part", parts),
            order=alt.Order("place:Q"),
            tooltip=[alt.Tooltip("part:N"), alt.Tooltip("shown:N", title="time")],
        )
        .properties(width=width, height=max(80, 26 * len(curves)))
    )


def save_phases(rows: Sequence[Row], path: Path, title: str, warning: str = "") -> None:
    """Writes a chart of `phase_bars` as SVG, PNG, PDF or HTML, by the name of the file. Raises InputError."""
    chart = phase_bars(rows, step="time per step, median rank (s)").properties(data=alt.InlineData(values=list(rows)))
    totals: dict[str, float] = {}
    for row in rows:
        totals[row["curve"]] = totals.get(row["curve"], 0.0) + row["seconds"]
    described = ", ".join(f"{curve} {format_seconds(total)}" for curve, total in totals.items())
    specification = chart.to_dict() | {
        "config": CONFIG | {"background": "white"},
        "description": f"Time of a step by part: {described}.",
        "title": {"text": title, "subtitle": warning, "subtitleColor": PALETTE[1], "anchor": "start"},
    }
    write_atomically(path, picture(specification, path.suffix), "chart")
