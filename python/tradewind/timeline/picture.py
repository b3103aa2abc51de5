"""A time line as a picture: for pages and slides; Perfetto shows more of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import altair as alt

from tradewind.base.errors import InputError
from tradewind.base.units import format_seconds
from tradewind.plot import export
from tradewind.plot.style import CONFIG, PALETTE, colours, linear_time_axis
from tradewind.timeline.model import Counter, Row, TimeLine, TraceEvent, Track

MAX_EVENTS = 5000
_ROW_PIXELS = 15
_WIDTH = 820
_COUNTER_PIXELS = 50
_MARK_PIXELS = 12


def picture(line: TimeLine, suffix: str) -> bytes:
    """Write a time line as SVG, PNG, PDF or HTML, which names the event under the pointer, and whose time can be
    enlarged with the wheel of the mouse. Raises InputError for more than `MAX_EVENTS` events."""
    drawn = [(track, row, event) for track in line.tracks for row in track.rows for event in _innermost(row)]
    if not drawn or len(drawn) > MAX_EVENTS:
        raise InputError(
            f"a picture of a time line of {len(drawn)} events: 1 to {MAX_EVENTS} are allowed; "
            "show fewer ranks, or write a trace for Perfetto (no suffix of a picture)"
        )
    specification: dict[str, Any] = _chart(line, drawn, answers=suffix == ".html").to_dict()
    specification["config"] = CONFIG | {"background": "white"}
    kinds = ", ".join(dict.fromkeys(event.kind for *_, event in drawn))
    specification["description"] = f"Time line of {line.title}: {len(drawn)} events of {kinds}."
    return export.picture(specification, suffix)


def _innermost(row: Row) -> Iterator[TraceEvent]:
    """Yield the events that hold no others; only these are drawn."""
    for lane in row.lanes():
        for event, inside in zip_longest(lane, lane[1:]):
            if inside is None or inside.begin_ns >= event.end_ns:
                yield event


def _chart(line: TimeLine, drawn: list[tuple[Track, Row, TraceEvent]], *, answers: bool) -> Any:
    names = list(dict.fromkeys(_row_name(track, row) for track, row, _ in drawn))
    y = alt.Y("row:N", sort=names, title=None, scale=alt.Scale(domain=names, paddingInner=0.25))
    x = alt.X("begin:Q", axis=linear_time_axis("time from the beginning (s)"))
    layers = [_bars(drawn, answers=answers).encode(x=x, x2="end:Q", y=y)]
    if answers:
        layers[0] = layers[0].add_params(alt.selection_interval(bind="scales", encodings=["x"]))
    if moments := [_value(track, row, event) for track, row, event in drawn if event.end_ns == event.begin_ns]:
        ticks = alt.Chart(alt.InlineData(moments)).mark_tick(color="#111111", thickness=1.5)
        layers.append(ticks.encode(x=x, y=y))
    if arrows := _arrows(drawn):
        lines = alt.Chart(alt.InlineData(arrows)).mark_rule(color="#555555", opacity=0.6, strokeWidth=0.7)
        layers.append(lines.encode(x=x, x2="end:Q", y=y, y2="to:N"))
    if marks := list(_marks(drawn)):
        for halo in ({"color": "white", "stroke": "white", "strokeWidth": 3}, {"color": "black"}):
            texts = alt.Chart(alt.InlineData(marks)).mark_text(
                align="left", dx=1, fontSize=11, fontWeight="bold", **halo
            )
            layers.append(texts.encode(x=x, y=y, text="mark:N"))
    rows = alt.layer(*layers).properties(width=_WIDTH, height=_ROW_PIXELS * len(names))
    last_ns = max(event.end_ns for *_, event in drawn)
    below = [_counter_chart(counter, last_ns) for counter in line.counters]
    if not below:
        return rows.properties(title=line.title)
    return alt.vconcat(rows, *below, spacing=4).resolve_scale(x="shared").properties(title=line.title)


def _counter_chart(counter: Counter, last_ns: int) -> Any:
    """A quantity over time, below the rows."""
    values = [{"time": ns * 1e-9, "value": value} for ns, value in counter.values if ns <= last_ns]
    values.append({"time": last_ns * 1e-9, "value": values[-1]["value"] if values else 0.0})
    chart = alt.Chart(alt.InlineData(values)).mark_area(
        interpolate="step-after", color=PALETTE[0], opacity=0.6, line=True
    )
    return chart.encode(
        x=alt.X("time:Q", axis=linear_time_axis("time from the beginning (s)")),
        y=alt.Y("value:Q", title=None, axis=alt.Axis(format="~s", tickCount=3)),
    ).properties(title=alt.Title(counter.name, fontSize=11, anchor="start"), width=_WIDTH, height=_COUNTER_PIXELS)


def _bars(drawn: list[tuple[Track, Row, TraceEvent]], *, answers: bool) -> Any:
    lasting = [(track, row, event) for track, row, event in drawn if event.end_ns > event.begin_ns]
    whole_ns = max((event.end_ns for *_, event in lasting), default=0)
    # A border separates long ones that touch; short ones would be nothing but border.
    values = [
        _value(track, row, event)
        | {"border": 0.6 if event.end_ns - event.begin_ns > whole_ns / 100 else 0.0}
        | (_told(event) if answers else {})
        for track, row, event in lasting
    ]
    kinds = sorted({event.kind for *_, event in lasting}, key=lambda kind: (kind == "wait", kind))
    shades = ["#D0D0D0" if k == "wait" else shade for k, shade in zip(kinds, colours(len(kinds)), strict=True)]
    scale = alt.Scale(domain=kinds, range=shades)
    bars = alt.Chart(alt.InlineData(values)).mark_bar(stroke="white")
    named = {"tooltip": [alt.Tooltip("row:N", title="rank"), *(f"{name}:N" for name in _told(lasting[0][2]))]}
    return bars.encode(
        color=alt.Color("kind:N", title=None, scale=scale),
        strokeWidth=alt.StrokeWidth("border:Q", scale=None),
        **(named if answers and lasting else {}),
    )


def _told(event: TraceEvent) -> dict[str, Any]:
    """Return what is shown of the event under the pointer, beside its rank."""
    details = ", ".join(f"{name} {value}" for name, value in event.details.items())
    begin, length = (format_seconds(ns * 1e-9) for ns in (event.begin_ns, event.end_ns - event.begin_ns))
    return {"event": f"{event.kind}: {event.name}", "from": begin, "takes": length, "details": details or "none"}


def _marks(drawn: list[tuple[Track, Row, TraceEvent]]) -> Iterator[dict[str, Any]]:
    """Yield the marks of events, as one where they would lie upon each other."""
    near_ns = _MARK_PIXELS * max(event.end_ns for *_, event in drawn) / _WIDTH
    marked = sorted((each for each in drawn if each[2].mark), key=lambda each: (_row_name(*each[:2]), each[2].begin_ns))
    last: dict[str, Any] = {}
    free_ns = 0.0
    for track, row, event in marked:
        if last and last["row"] == _row_name(track, row) and event.begin_ns < free_ns:
            last["mark"] += f" {event.mark}"
            free_ns += near_ns
            continue
        if last:
            yield last
        last, free_ns = _value(track, row, event) | {"mark": event.mark}, event.begin_ns + near_ns
    if last:
        yield last


def _row_name(track: Track, row: Row) -> str:
    return f"{track.name} {row.name}"


def _value(track: Track, row: Row, event: TraceEvent) -> dict[str, Any]:
    return {
        "row": _row_name(track, row),
        "kind": event.kind,
        "begin": event.begin_ns * 1e-9,
        "end": event.end_ns * 1e-9,
    }


def _arrows(drawn: list[tuple[Track, Row, TraceEvent]]) -> list[dict[str, Any]]:
    """Return the arrows, each from the end of an event to the beginning of another."""
    ends = {number: _value(track, row, event) for track, row, event in drawn for number in event.ends}
    return [
        {"row": _row_name(track, row), "begin": event.end_ns * 1e-9, "to": end["row"], "end": end["begin"]}
        for track, row, event in drawn
        for end in (ends[number] for number in event.starts if number in ends)
    ]
