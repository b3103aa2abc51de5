"""Latency and bandwidth of an exchange over the size of its messages: a line per method, with its range of samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt

from tradewind.base.files import write_atomically
from tradewind.base.units import format_bytes, format_rate, format_seconds
from tradewind.plot.export import picture
from tradewind.plot.style import CONFIG, PALETTE, SECONDS, colours, log_axis

Row = dict[str, Any]
MAX_TICKS = 8
RATES = "format(datum.value, '~s') + 'B/s'"


def size_rows(result: Mapping[str, Any]) -> list[Row]:
    """Return the drawn rows of a result of `tradewind.launch.sizes.bench_sizes`."""
    return [
        {
            "method": ", ".join(dict.fromkeys(row[part] for part in ("algorithm", "transport", "packing"))),
            "size": each["message_bytes"],
            "time": row["median_s"],
            "low": min(row["samples_s"]),
            "high": max(row["samples_s"]),
            "rate": row["bytes_per_s"],
            "shown": f"{format_seconds(row['median_s'])}, {format_rate(row['bytes_per_s'])}",
            "named": format_bytes(each["message_bytes"]),
        }
        for each in result["sizes"]
        for row in each["results"]
    ]


def sizes_chart(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification: time, and beside it bandwidth, over the size of messages."""
    rows = size_rows(result)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=_size_axis(sorted({row["size"] for row in rows})),
        color=alt.Color("method:N", sort=methods, scale=alt.Scale(domain=methods, range=colours(len(methods)))),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("method", "named", "shown")],
    )
    times = [row[key] for row in rows for key in ("low", "high")]
    title = "time of the exchange: median, and range of the samples"
    band = base.mark_area(opacity=0.2).encode(y=_axis("low", times, title, SECONDS, alt.Y), y2="high:Q")
    median = base.mark_line(point=True).encode(y=_axis("time", times, title, SECONDS, alt.Y))
    latency = alt.layer(band, median)
    rate = _axis("rate", [row["rate"] for row in rows], "bandwidth", RATES, alt.Y)
    panels = [each.properties(width=380, height=300) for each in (latency, base.mark_line(point=True).encode(y=rate))]
    described = f"Time and bandwidth over the size of messages, of {', '.join(methods)}."
    specification: dict[str, Any] = alt.hconcat(*panels).to_dict() | {"config": CONFIG, "description": described}
    return specification


def _size_axis(sizes: list[int]) -> Any:
    """Return the axis of sizes, whose ticks are some of the sizes, in units of powers of two."""
    ticks = sizes[:: -(-len(sizes) // MAX_TICKS)]
    named = ", ".join(f"'{size}': '{format_bytes(size)}'" for size in ticks)
    axis = alt.Axis(title="size of a message", values=ticks, labelExpr=f"({{{named}}})[datum.value]")
    return alt.X("size:Q", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)


def _axis(field: str, values: list[float], title: str, labels: str, kind: Any) -> Any:
    scale, axis = log_axis(values, title, labels)
    return kind(f"{field}:Q", scale=alt.Scale(**scale), axis=alt.Axis(**axis))


def save_sizes_chart(result: Mapping[str, Any], path: Path, title: str) -> None:
    """Write the chart as SVG, PNG, PDF or HTML, by the name of the file. Raises InputError where that cannot be."""
    specification = sizes_chart(result)
    specification["config"] = CONFIG | {"background": "white"}
    notes = ["OVERSUBSCRIBED: more ranks than cores, so these are no times of this machine"]
    doubt = {"subtitle": notes, "subtitleColor": PALETTE[1]} if result["oversubscribed"] else {}
    specification["title"] = {"text": title, "anchor": "start", **doubt}
    write_atomically(path, picture(specification, path.suffix), "chart")
