"""Time against energy of the algorithms for an exchange: which cannot be faster without more joules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from tradewind.base.files import write_atomically
from tradewind.base.units import format_joules, format_seconds
from tradewind.plot.export import picture
from tradewind.plot.style import CONFIG, COUNT, SECONDS, colour, log_axis

_WIDTH, _HEIGHT = 460, 300


def pareto_chart(advices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the Vega-Lite specification: a point for each algorithm, a line through those that are on the front.

    `advices`: results of `tradewind.simulation.advice.advise`, of one machine or more, each with ``pareto``.
    """
    rows = [row for advice in advices for row in _rows(advice)]
    x_scale, x_axis = log_axis([row["seconds"] for row in rows], "time of the exchange (s)", SECONDS)
    y_scale, y_axis = log_axis([row["joules"] for row in rows], "energy (J)", COUNT)
    machines = list(dict.fromkeys(row["machine"] for row in rows))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("seconds:Q", scale=alt.Scale(**x_scale), axis=alt.Axis(**x_axis)),
        y=alt.Y("joules:Q", scale=alt.Scale(**y_scale), axis=alt.Axis(**y_axis)),
        color=colour("machine", "machine", machines),
    )
    front = base.transform_filter("datum.best")
    points = base.encode(
        opacity=alt.condition("datum.best", alt.value(1.0), alt.value(0.35)),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("algorithm", "machine", "time", "energy")],
    ).mark_point(filled=True, size=70)
    names = front.encode(text="algorithm:N").mark_text(align="left", dx=8, dy=-8)
    chart = (front.mark_line(interpolate="step-after") + points + names).properties(width=_WIDTH, height=_HEIGHT)
    best = (f"{advice['machine']}: {', '.join(advice['pareto'])}" for advice in advices)
    specification: dict[str, Any] = chart.to_dict() | {
        "config": CONFIG | {"background": "white"},
        "description": f"Energy against time. Neither can fall without the other rising of {'; '.join(best)}.",
    }
    return specification


def save_pareto(advices: Sequence[Mapping[str, Any]], path: Path, title: str) -> None:
    """Write the chart of `pareto_chart` as SVG, PNG, PDF or HTML, by the name of the file. Raises WriteError."""
    subtitle = "lines and full points: neither time nor energy can fall without the other rising"
    named = {"title": {"text": title, "subtitle": subtitle, "anchor": "start"}}
    write_atomically(path, picture(pareto_chart(advices) | named, path.suffix), "picture")


def _rows(advice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for result in advice["results"]:
        yield {
            "machine": advice["machine"],
            "algorithm": result["algorithm"],
            "seconds": result["time_s"],
            "joules": result["energy_j"],
            "time": format_seconds(result["time_s"]),
            "energy": format_joules(result["energy_j"]),
            "best": result["algorithm"] in advice["pareto"],
        }
