"""A model on several numbers of ranks: time of a step, and its shares by part and by cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from tradewind.base.files import write_atomically
from tradewind.base.units import format_count, format_seconds
from tradewind.plot.export import picture
from tradewind.plot.style import CONFIG, COUNT, PALETTE, SECONDS, colour, log_axis

Row = dict[str, Any]

_WIDTH, _HEIGHT = 420, 200


def scaling_chart(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart of forecasts on several numbers of ranks.

    `results`: those of `tradewind.model.forecast.forecast`; with `cause_s`, a third panel has the causes.
    """
    panels = [_times(results), _shares(results, "part_s", "part of the model")]
    if all("cause_s" in result for result in results):
        panels.append(_shares(results, "cause_s", "cause"))
    chart = alt.vconcat(*panels).resolve_scale(color="independent")
    shown = ", ".join(f"{result['ranks']:,} ranks {format_seconds(result['time_s'])}" for result in results)
    specification: dict[str, Any] = chart.to_dict() | {
        "config": CONFIG | {"background": "white"},
        "description": f"Time of a step of {results[0]['program']}: {shown}.",
    }
    return specification


def _times(results: Sequence[Mapping[str, Any]]) -> Any:
    first = results[0]
    weak = first.get("scale") == "weak"
    rows = [
        {"ranks": result["ranks"], "seconds": seconds, "line": line, "shown": format_seconds(seconds)}
        for result in results
        for line, seconds in (
            ("simulated", result["time_s"]),
            ("ideal", first["time_s"] * (1 if weak else first["ranks"] / result["ranks"])),
        )
    ]
    x_scale, x_axis = log_axis([row["ranks"] for row in rows], "ranks", COUNT)
    y_scale, y_axis = log_axis([row["seconds"] for row in rows], "time of a step (s)", SECONDS)
    lines = alt.Scale(domain=["simulated", "ideal"], range=[PALETTE[0], "#888"])
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("ranks:Q", scale=alt.Scale(**x_scale), axis=alt.Axis(**x_axis)),
            y=alt.Y("seconds:Q", scale=alt.Scale(**y_scale), axis=alt.Axis(**y_axis)),
            color=alt.Color("line:N", title=None, scale=lines),
            strokeDash=alt.StrokeDash(
                "line:N", legend=None, scale=alt.Scale(domain=["simulated", "ideal"], range=[[1, 0], [4, 3]])
            ),
            tooltip=[alt.Tooltip("ranks:Q", format=","), alt.Tooltip("shown:N", title="time")],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )


def _shares(results: Sequence[Mapping[str, Any]], key: str, title: str) -> Any:
    """Stacked shares of a step, one bar per number of ranks."""
    names = list(dict.fromkeys(name for result in results for name, seconds in result[key].items() if seconds > 0))
    rows: list[Row] = [
        {
            "ranks": format_count(result["ranks"]) if len(results) > _FEW else f"{result['ranks']:,}",
            "name": name,
            "share": result[key].get(name, 0.0) / result["time_s"],
            "shown": format_seconds(result[key].get(name, 0.0)),
            "place": place,
        }
        for result in results
        for place, name in enumerate(names)
    ]
    order = list(dict.fromkeys(row["ranks"] for row in rows))
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("ranks:N", sort=order, title="ranks", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title="share of a step", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=colour("name", title, names),
            order=alt.Order("place:Q"),
            tooltip=[alt.Tooltip("name:N", title=title), alt.Tooltip("shown:N", title="time")],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )


_FEW = 6
"""Bars whose numbers of ranks are written out."""


def save_scaling(results: Sequence[Mapping[str, Any]], path: Path, title: str) -> None:
    """Write a chart of `scaling_chart` as SVG, PNG, PDF or HTML, by the name of the file. Raises InputError."""
    specification = scaling_chart(results)
    specification["title"] = {"text": title, "anchor": "start"}
    write_atomically(path, picture(specification, path.suffix), "chart")
