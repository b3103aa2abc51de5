"""The page about a tuning run: what was tried, what was left out, and why the winner was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tradewind.files import write_atomically
from tradewind.tuning import NOISY
from tradewind.units import format_seconds
from tradewind.ways import Choice, default_way

Row = dict[str, Any]


def write_page(result: dict[str, Any], path: Path) -> None:
    """Writes what `tradewind tune` answers as a page that opens offline. Raises InputError where that cannot be."""
    write_atomically(path, page(result).encode(), "report")


def page(result: dict[str, Any]) -> str:
    """The page as HTML, with everything that it needs inside."""
    from tradewind.plot.export import script
    from tradewind.report.page import template

    return template("tuning.html.jinja").render(
        result=result,
        sections=[_section(table, result) for table in result["tuned"]],
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        script=script(),
    )


def _section(table: dict[str, Any], result: dict[str, Any]) -> Row:
    from tradewind.plot.ways import legend, ways_chart
    from tradewind.report.page import embedded

    default = default_way(table["request"]["pattern"])
    return {
        "pattern": table["pattern"],
        "request": table["request"],
        "chosen": _name(table["choice"]),
        "median": format_seconds(table["median_s"]),
        "default": format_seconds(table["default_s"]) if table["default_s"] else "",
        "ratio": f"{table['median_s'] / table['default_s']:.2f}" if table["default_s"] else "",
        "warning": f"{NOISY[0].upper()}{NOISY[1:]}. Tune on a quiet machine." if table["noisy"] else "",
        "is_default": Choice(**table["choice"]) == default,
        "chart": embedded(ways_chart(table["results"], default)),
        "legend": legend(len(table["results"]), result["oversubscribed"]),
        "results": [_result(row) for row in table["results"]],
        "given_up": [row | {"name": _name(row)} for row in table["left_out"] if row["first_s"] is not None],
        "left_out": _by_reason([row for row in table["left_out"] if row["first_s"] is None]),
    }


def _name(parts: Row) -> str:
    return ", ".join(parts[part] for part in ("algorithm", "transport", "packing") if parts[part] is not None)


def _result(row: Row) -> Row:
    return {
        "name": _name(row),
        "median": format_seconds(row["median_s"]),
        "least": format_seconds(row["min_s"]),
        "longest": format_seconds(max(row["samples_s"])),
        "ratio": f"{row['ratio']:.2f}",
    }


def _by_reason(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The ways that are left out, by the reason."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault(row["reason"], []).append(_name(row))
    return reasons
