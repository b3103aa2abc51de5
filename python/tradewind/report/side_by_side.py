"""The table with a row for each exchange on a grid: where it was proved, what it takes here, and on each machine."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.base.units import format_seconds
from tradewind.report.facets import Groups
from tradewind.report.table import Cell, PageColumn, PageTable, Row
from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.records import Record
from tradewind.workload.registry import PATTERNS

SIMULATED = "simulated, by number of ranks; over seeds or settings from the fastest to the slowest"


def side_by_side(records: Sequence[Record], groups: Groups) -> PageTable:
    """One row for each exchange on a grid: times of a row can be compared. The patterns in the order of `PATTERNS`,
    dwarfs last."""
    machines = list(dict.fromkeys(record["machine"] for record in records if record["kind"] == "simulate"))
    kinds = {record["kind"] for record in records}
    columns = [PageColumn("Exchange")]
    columns += [PageColumn("Grid")] if any(record["grid"] for record in records) else []
    columns += [PageColumn("Verified", hint="numbers of ranks on which it was proved")] if "verify" in kinds else []
    columns += [PageColumn("Measured here", hint="medians")] if kinds & set(HERE_ONLY) else []
    columns += [PageColumn(machine, hint=SIMULATED) for machine in machines]
    exchanges: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        exchanges.setdefault((_name(record), record["grid"] or ""), []).append(record)
    ordered = sorted(exchanges, key=lambda each: _order(each[0]))
    rows = [_row(exchange, grid, exchanges[exchange, grid], machines, groups) for exchange, grid in ordered]
    about = [groups.of(exchanges[each]) for each in ordered]
    return PageTable("headline-table", "Time of one whole exchange", columns, rows, groups=about)


def _order(exchange: str) -> int:
    first = exchange.split()[0]
    return list(PATTERNS).index(first) if first in PATTERNS else len(PATTERNS)


def _name(record: Record) -> str:
    return f"{record['exchange']} ({record['slab']})" if record["slab"] else str(record["exchange"])


def _row(exchange: str, grid: str, mine: Sequence[Record], machines: Sequence[str], groups: Groups) -> Row:
    proved = [record for record in mine if record["kind"] == "verify"]
    simulated = [record for record in mine if record["kind"] == "simulate"]
    return {
        "Exchange": Cell(exchange),
        "Grid": Cell(grid),
        "Verified": _proved(proved, groups) if proved else Cell(""),
        "Measured here": _measured([record for record in mine if record["kind"] in HERE_ONLY], groups),
        **{machine: _simulated([r for r in simulated if r["machine"] == machine], groups) for machine in machines},
    }


def _proved(cases: Sequence[Record], groups: Groups) -> Cell:
    by_ranks = _by_ranks(cases)
    on = f"on {', '.join(map(_grouped, by_ranks))} ranks"
    about = (groups.of(cases),)
    return Cell("", f"proved {on}", order=max(by_ranks), lines=(on,), line_groups=about, tags=(("good", "proved"),))


def _by_ranks(cases: Sequence[Record]) -> dict[int, list[Record]]:
    """The cases by their numbers of ranks, the smallest first."""
    found: dict[int, list[Record]] = {}
    for record in cases:
        found.setdefault(record["ranks"], []).append(record)
    return dict(sorted(found.items()))


def _measured(cases: Sequence[Record], groups: Groups) -> Cell:
    return _lines([(record["time_s"], _measured_text(record), groups.of([record])) for record in cases])


def _measured_text(record: Record) -> str:
    mark = ", oversubscribed" if record["result"].get("oversubscribed") else ""
    return f"{format_seconds(record['time_s'])} on {record['ranks']} ranks{mark}"


def _simulated(cases: Sequence[Record], groups: Groups) -> Cell:
    """A line for each number of ranks; over several seeds or settings, from the fastest to the slowest."""
    lines = []
    for ranks, same in _by_ranks(cases).items():
        times = [record["time_s"] for record in same]
        lines.append((min(times), f"{_spanned(times)} on {_grouped(ranks)}", groups.of(same)))
    return _lines(lines)


def _spanned(times: Sequence[float]) -> str:
    return " .. ".join(dict.fromkeys((format_seconds(min(times)), format_seconds(max(times)))))


def _lines(lines: Sequence[tuple[float, str, tuple[int, ...]]]) -> Cell:
    """A line for each (time, text, groups of cases). Rows are sorted by the last time."""
    if not lines:
        return Cell("")
    times, texts, groups = zip(*lines, strict=True)
    return Cell("", "; ".join(texts), order=times[-1], lines=texts, line_groups=groups)


def _grouped(number: int) -> str:
    """10000 -> "10 000", with a narrow space that does not break."""
    return f"{number:,}".replace(",", "\u202f")
