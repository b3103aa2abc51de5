"""The page about a tuning run: what was tried, what was left out, and why the winner was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tradewind.base.files import write_atomically
from tradewind.base.ranking import Contender, Race, middle_half, ranking
from tradewind.base.units import format_seconds
from tradewind.method.method import PARTS, Method, default_method
from tradewind.method.tuning import NOISY
from tradewind.report.table import Cell, PageColumn, PageTable, Row, number, ratio, seconds

Section = dict[str, Any]

METHODS = (
    PageColumn("Method", hint="algorithm, transport, packing"),
    number("Median", "s"),
    number("Minimum", "s"),
    number("Maximum", "s"),
    number("× fastest", "", "median over that of the fastest method"),
)
GIVEN_UP = (PageColumn("Method", hint="algorithm, transport, packing"), PageColumn("Why"))
LEFT_OUT = (PageColumn("Why"), PageColumn("Methods"))


def write_page(result: dict[str, Any], path: Path) -> None:
    """Writes what `tradewind tune` prints as a page that opens offline. Raises InputError where that cannot be."""
    write_atomically(path, page(result).encode(), "report")


def page(result: dict[str, Any]) -> str:
    """The page as HTML, with everything that it needs inside."""
    from tradewind.plot.export import script
    from tradewind.report.page import now, template

    return template("tuning.html.jinja").render(
        result=result,
        outcome=" ".join(outcome_of(table, result) for table in result["tuned"]),
        sections=[_section(i, table, result) for i, table in enumerate(result["tuned"])],
        written=now(),
        script=script(),
        data="",
    )


def outcome_of(table: dict[str, Any], result: dict[str, Any]) -> str:
    """Return a sentence that names the fastest method and its factor, or all that cannot be distinguished from it."""
    rows = sorted(table["results"], key=lambda row: float(row["median_s"]))
    if len(rows) < 2:
        return f"{table['pattern']}: one method was measured, so there is nothing to compare."
    spans = [middle_half(row["samples_s"]) for row in rows]
    slow = bool(result["oversubscribed"])
    contenders = [Contender(_short(row), row["median_s"], *span, slow) for row, span in zip(rows, spans, strict=True)]
    return f"{table['pattern']}: {ranking(Race('', '', contenders), format_seconds)}."


def _section(i: int, table: dict[str, Any], result: dict[str, Any]) -> Section:
    from tradewind.plot.methods import legend, methods_chart

    default = default_method(table["request"]["pattern"])
    results = [_result(row) for row in table["results"]]
    given_up = [{"Method": Cell(_name(row)), "Why": Cell(row["reason"])} for row in _left(table, given_up=True)]
    left_out = _by_reason(_left(table, given_up=False))
    return {
        "pattern": table["pattern"],
        "request": table["request"],
        "chosen": _name(table["choice"]),
        "median": format_seconds(table["median_s"]),
        "default": format_seconds(table["default_s"]) if table["default_s"] else "",
        "ratio": f"{table['median_s'] / table['default_s']:.2f}" if table["default_s"] else "",
        "warning": f"{NOISY[0].upper()}{NOISY[1:]}. Tune on a quiet machine." if table["noisy"] else "",
        "is_default": Method(**table["choice"]) == default,
        "chart": methods_chart(table["results"], default, table["pattern"]),
        "legend": legend(len(table["results"]), result["oversubscribed"]),
        "results": PageTable(f"methods-{i}", f"Methods measured: {len(results)}", METHODS, results),
        "given_up": PageTable(f"given-up-{i}", f"Methods given up: {len(given_up)}", GIVEN_UP, given_up),
        "left_out": PageTable(f"left-out-{i}", "Methods left out", LEFT_OUT, left_out),
    }


def _name(parts: dict[str, Any]) -> str:
    return ", ".join(parts[part] for part in ("algorithm", "transport", "packing") if parts[part] is not None)


def _short(parts: dict[str, Any]) -> str:
    """The name of a method as it is written in a list of several."""
    return str(Method(**{part: parts[part] for part in PARTS}))


def _result(row: dict[str, Any]) -> Row:
    return {
        "Method": Cell(_name(row)),
        "Median": seconds(row["median_s"]),
        "Minimum": seconds(row["min_s"]),
        "Maximum": seconds(max(row["samples_s"])),
        "× fastest": ratio(row["ratio"]),
    }


def _left(table: dict[str, Any], *, given_up: bool) -> list[dict[str, Any]]:
    """The methods that were tried and given up, or those that were left out."""
    return [row for row in table["left_out"] if (row["first_s"] is not None) == given_up]


def _by_reason(rows: Sequence[dict[str, Any]]) -> list[Row]:
    """The methods that are left out, by the reason."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault(row["reason"], []).append(_name(row))
    return [{"Why": Cell(reason), "Methods": Cell("; ".join(names))} for reason, names in reasons.items()]
