"""The page about two results: which is faster in words, each case of both beside the other, claims with another
verdict, and what only one has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.files import write_atomically
from tradewind.base.units import format_seconds
from tradewind.figure.answering import Drawing
from tradewind.plot.style import CONFIG, PALETTE, SECONDS, Part, log_axis, nominal, quantitative
from tradewind.report.claims import changed_claims_table
from tradewind.report.content import Figure, case_name, content
from tradewind.report.facets import Groups
from tradewind.report.table import (
    Cell,
    PageColumn,
    PageTable,
    Row,
    byte_count,
    number,
    ratio,
    seconds,
    table_of_cases,
    text,
    whole,
)
from tradewind.study.cases.records import Record
from tradewind.study.model.labels import LABELS

if TYPE_CHECKING:
    from tradewind.dataset.comparison import Compared, Comparison

LOOKS = {"faster": "good", "slower": "bad"}
COLUMNS = (
    PageColumn("Exchange"),
    PageColumn("Grid"),
    number("Message", "B", "size of a message"),
    number("Ranks"),
    PageColumn("Machine"),
    PageColumn("Method", hint="transport and packing"),
    number("Old", "s"),
    number("New", "s"),
    number("New / old", "", "ratio of the times: below 1 the new one is faster"),
    number("From", "", "lower limit of the confidence interval of the ratio"),
    number("To", "", "upper limit of the confidence interval of the ratio"),
    PageColumn("New is"),
)
ALONE = (PageColumn("Only in"), PageColumn("Case"), number("Time", "s"))


def write_comparison(old: Path, new: Path) -> tuple[Path, list[str]]:
    """Write the page about two results into the folder of the new one, or beside its file; return the page and the
    answer in sentences. Raises InputError for results without a common case."""
    from tradewind.dataset.comparison import compare
    from tradewind.dataset.comparison_words import sentences

    comparison = compare(old, new)
    names = _names(old, new)
    words = sentences(comparison, *names)
    target = new / "comparison.html" if new.is_dir() else new.with_suffix(".comparison.html")
    write_atomically(target, _page(comparison, names, words).encode(), "report")
    return target, words


def _names(old: Path, new: Path) -> tuple[str, str]:
    """The names of two results, with their folders where they are the same."""
    return (old.name, new.name) if old.name != new.name else (str(old), str(new))


def _page(comparison: Comparison, names: tuple[str, str], words: Sequence[str]) -> str:
    from tradewind.plot.export import script
    from tradewind.report.page import now, template

    records = [_record(case) for case in comparison.cases]
    groups = Groups(records)
    table = _table(comparison.cases, records)
    figures = _figures(comparison.cases, records, names)
    return template("comparison.html.jinja").render(
        old=names[0],
        new=names[1],
        outcome=f"{words[0]}.",
        words=[f"{_sentence(each)}." for each in words[1:]],
        figures=figures,
        cases=table,
        claims=changed_claims_table(comparison.claims.changed),
        alone=_alone(comparison, names),
        data=content(records, groups, [table], figures),
        confidence=f"{100 * comparison.confidence:.3g} %",
        written=now(),
        script=script(),
    )


def _figures(cases: Sequence[Compared], records: Sequence[Record], names: tuple[str, str]) -> list[Figure]:
    """The figures of all cases but those of a time of 0, which has no place on their axes."""
    timed = [pair for pair in zip(cases, records, strict=True) if pair[0].new["time"]]
    if not timed:
        return []
    shown, labels = [case for case, _ in timed], [record for _, record in timed]
    return [_times(shown, labels, names), _ratios(shown, labels)]


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:].removesuffix(".")


def _record(case: Compared) -> Record:
    """The labels that both cases have, with both values of a label that differs."""
    labels = {**dict.fromkeys(LABELS), **{label: case.new.get(label) for label in LABELS}}
    labels |= {label: f"{old} → {new}" for label, (old, new) in case.differences.items() if label != "ranks"}
    numbers = {label: case.new.get(label) for label in ("ranks", "message_bytes")}
    return labels | {label: None if value is None else int(float(value)) for label, value in numbers.items()}


def _table(cases: Sequence[Compared], records: Sequence[Record]) -> PageTable:
    rows = [(i, _row(case, record)) for i, (case, record) in enumerate(zip(cases, records, strict=True))]
    return table_of_cases("cases-table", "Compared", COLUMNS, rows)


def _row(case: Compared, record: Record) -> Row:
    has_interval = case.sure and case.samples > 0
    return {
        "Exchange": text(record["exchange"]),
        "Grid": text(record["grid"]),
        "Message": byte_count(record["message_bytes"]),
        "Ranks": whole(record["ranks"]),
        "Machine": text(record["machine"]),
        "Method": text(", ".join(filter(None, (record["transport"], record["packing"])))),
        "Old": seconds(case.old["time"]),
        "New": seconds(case.new["time"]),
        "New / old": ratio(case.ratio.value),
        "From": ratio(case.ratio.low if has_interval else None),
        "To": ratio(case.ratio.high if has_interval else None),
        "New is": Cell("", case.verdict, tags=((LOOKS.get(case.verdict, "none"), case.verdict),)),
    }


def _alone(comparison: Comparison, names: tuple[str, str]) -> PageTable:
    """The cases that only one result has."""
    sides = zip(names, (comparison.only_old, comparison.only_new), strict=True)
    rows = [
        {"Only in": Cell(name), "Case": Cell(case_name(_labels(case))), "Time": seconds(case["time"])}
        for name, cases in sides
        for case in cases
    ]
    return PageTable("alone-table", f"In one result only: {len(rows)} cases", ALONE, rows)


def _labels(case: Mapping[str, Any]) -> Record:
    ranks = case.get("ranks")
    return {**dict.fromkeys(LABELS), **case, "ranks": None if ranks is None else int(float(ranks))}


def _rows(cases: Sequence[Compared], records: Sequence[Record]) -> list[dict[str, Any]]:
    return [
        {
            "curve": case.verdict,
            "old": case.old["time"],
            "new": case.new["time"],
            "ranks": record["ranks"],
            "ratio": case.ratio.value,
            "low": case.ratio.low,
            "high": case.ratio.high,
            "shown": _shown(case),
        }
        for case, record in zip(cases, records, strict=True)
    ]


def _shown(case: Compared) -> str:
    """Both times, their ratio and its interval."""
    times = " → ".join(format_seconds(each["time"]) for each in (case.old, case.new))
    interval = f" ({case.ratio.low:.3g} to {case.ratio.high:.3g})" if case.sure and case.samples else ""
    return f"{times}, ratio {case.ratio.value:.3g}{interval}"


def _colour(rows: Sequence[Mapping[str, Any]]) -> Part:
    kinds = list(dict.fromkeys(row["curve"] for row in rows))
    fixed = {"faster": PALETTE[2], "slower": PALETTE[1]}
    shades = [fixed.get(kind, PALETTE[7]) for kind in kinds]
    return nominal("curve", title="the new one is", sort=kinds, scale={"domain": kinds, "range": shades})


def _point(x: Part, y: Part, rows: Sequence[Mapping[str, Any]]) -> Part:
    mark = {"type": "point", "filled": True, "size": 45, "opacity": 0.85}
    return {"mark": mark, "encoding": {"x": x, "y": y, "color": _colour(rows)}}


def _chart(layers: list[Part], rows: list[dict[str, Any]], description: str, width: int, height: int) -> dict[str, Any]:
    from tradewind.plot.export import VEGA_LITE

    return {
        "$schema": f"https://vega.github.io/schema/vega-lite/{VEGA_LITE.partition('_')[0]}.json",
        "layer": layers,
        "width": width,
        "height": height,
        "data": {"name": "rows"},
        "datasets": {"rows": rows},
        "config": CONFIG,
        "description": description,
    }


_HEADS = [
    ["curve", "new is"],
    ["old", "old (s)"],
    ["new", "new (s)"],
    ["ratio", "new / old"],
    ["low", "from"],
    ["high", "to"],
]
_DASHED = {"type": "rule", "strokeDash": [4, 4], "color": "#888888"}
_TOOLTIP = [nominal("shown", title="old → new")]


def _times(cases: Sequence[Compared], records: Sequence[Record], names: tuple[str, str]) -> Figure:
    """The new time of each case against the old one."""
    rows = _rows(cases, records)
    times = [value for row in rows for value in (row["old"], row["new"])]
    scale, axis = log_axis(times, "", SECONDS)
    x = quantitative("old", scale=scale, axis={**axis, "title": f"time in {names[0]} (s)"})
    y = quantitative("new", scale=scale, axis={**axis, "title": f"time in {names[1]} (s)"})
    low, high = scale["domain"]
    equal: Part = {"data": {"values": [{"from": low, "to": high}]}, "mark": _DASHED}
    equal["encoding"] = {axis: quantitative("from") for axis in "xy"} | {f"{axis}2": {"field": "to"} for axis in "xy"}
    layers = [_point(x, y, rows), equal]
    described = f"New time against old time of {len(rows)} cases. Points below the line are faster now."
    specification = _chart(layers, rows, described, 420, 380)
    note = "A case below the dashed line is faster in the new result."
    return Figure("times", "Old and new times", note, Drawing(specification, records, records, _HEADS, _TOOLTIP))


def _ratios(cases: Sequence[Compared], records: Sequence[Record]) -> Figure:
    """The ratio of each case, with its interval, the smallest first."""
    rows = _rows(cases, records)
    for place, row in enumerate(sorted(rows, key=lambda row: row["ratio"]), 1):
        row["place"] = place
    spread = [value for row in rows for value in (row["low"], row["high"], 1.0)]
    x = quantitative("place", axis={"title": "cases, the smallest ratio first", "tickMinStep": 1, "format": "d"})
    scale, axis = log_axis(spread, "new time / old time", "format(datum.value, '~g')")
    y = quantitative("ratio", scale=scale, axis=axis)
    spans: Part = {"mark": {"type": "rule", "strokeWidth": 1.5}}
    spans["encoding"] = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": _colour(rows)}
    one: Part = {"data": {"values": [{"one": 1}]}, "mark": _DASHED}
    one["encoding"] = {"y": quantitative("one")}
    described = f"Ratio of the new to the old time of {len(rows)} cases, with its interval."
    specification = _chart([_point(x, y, rows), spans, one], rows, described, 620, 300)
    note = "Lines: the confidence interval of the ratio, of measured cases. Below 1 the new result is faster."
    return Figure("ratios", "Ratio of each case", note, Drawing(specification, records, records, _HEADS, _TOOLTIP))
