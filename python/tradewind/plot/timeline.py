"""A time line as a picture: for pages and slides; Perfetto shows more of it."""

from __future__ import annotations

from typing import Any

import altair as alt

from tradewind.errors import InputError
from tradewind.plot.export import to_pdf, to_png, to_svg
from tradewind.plot.style import CONFIG, PALETTE, linear_time_axis
from tradewind.trace.model import Row, Span, TimeLine, Track

MOST_SPANS = 5000
_HOLDING = ("step", "stage")
"""Kinds that only hold others: they are not drawn."""
_ROW_PIXELS = 15
_WIDTH = 820


def picture(line: TimeLine, suffix: str) -> bytes:
    """As SVG, PNG, PDF or HTML. Raises InputError for more than `MOST_SPANS` spans."""
    drawn = [(track, row, span) for track, row, span in line.spans() if span.kind not in _HOLDING]
    if not drawn or len(drawn) > MOST_SPANS:
        raise InputError(
            f"a picture of a time line of {len(drawn)} spans: 1 to {MOST_SPANS} are allowed; "
            "show fewer ranks, or write a trace for Perfetto (no suffix of a picture)"
        )
    specification: dict[str, Any] = _chart(line.title, drawn).to_dict()
    specification["config"] = CONFIG | {"background": "white"}
    makers = {".png": to_png, ".pdf": to_pdf}
    if suffix in makers:
        return makers[suffix](specification)
    svg = to_svg(specification)
    return (svg if suffix == ".svg" else f"<!doctype html><meta charset='utf-8'><body>{svg}</body>").encode()


def _chart(title: str, drawn: list[tuple[Track, Row, Span]]) -> Any:
    names = list(dict.fromkeys(_row_name(track, row) for track, row, _ in drawn))
    y = alt.Y("row:N", sort=names, title=None, scale=alt.Scale(domain=names, paddingInner=0.25))
    x = alt.X("begin:Q", axis=linear_time_axis("time from the beginning (s)"))
    kinds = sorted({span.kind for *_, span in drawn if span.end_ns > span.begin_ns})
    colours = alt.Scale(domain=kinds, range=[PALETTE[i % len(PALETTE)] for i in range(len(kinds))])
    bars = alt.Chart(_values(drawn, moments=False)).mark_bar(opacity=0.85)
    layers = [bars.encode(x=x, x2="end:Q", y=y, color=alt.Color("kind:N", title=None, scale=colours))]
    if moments := _values(drawn, moments=True).values:
        layers.append(alt.Chart(alt.InlineData(moments)).mark_tick(color="#111111", thickness=1.5).encode(x=x, y=y))
    if arrows := _arrows(drawn):
        rule = alt.Chart(alt.InlineData(arrows)).mark_rule(color="#555555", opacity=0.6, strokeWidth=0.7)
        layers.append(rule.encode(x=x, x2="end:Q", y=y, y2="to:N"))
    return alt.layer(*layers).properties(title=title, width=_WIDTH, height=_ROW_PIXELS * len(names))


def _row_name(track: Track, row: Row) -> str:
    return f"{track.name} {row.name}"


def _values(drawn: list[tuple[Track, Row, Span]], moments: bool) -> Any:
    return alt.InlineData(
        [
            {
                "row": _row_name(track, row),
                "kind": span.kind,
                "begin": span.begin_ns * 1e-9,
                "end": span.end_ns * 1e-9,
            }
            for track, row, span in drawn
            if (span.end_ns == span.begin_ns) == moments
        ]
    )


def _arrows(drawn: list[tuple[Track, Row, Span]]) -> list[dict[str, Any]]:
    ends = {number: (track, row, span) for track, row, span in drawn for number in span.ends}
    arrows = []
    for track, row, span in drawn:
        for number in span.starts:
            if number in ends:
                to, to_row, to_span = ends[number]
                arrows.append(
                    {
                        "row": _row_name(track, row),
                        "to": _row_name(to, to_row),
                        "begin": span.end_ns * 1e-9,
                        "end": to_span.begin_ns * 1e-9,
                    }
                )
    return arrows
