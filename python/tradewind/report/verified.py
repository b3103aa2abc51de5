"""The table of what was proved."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.report.measured import inputs
from tradewind.report.table import PageColumn, PageTable, number, seconds, table_of_cases, text
from tradewind.study.cases.records import Record

VERIFIED = (
    PageColumn("Exchange"),
    PageColumn("Grid"),
    number("Ranks"),
    PageColumn("Split", hint="ranks along x, y"),
    PageColumn("Posting order", hint="of the transport that was proved free of deadlock"),
    number("Took", "s", "wall time of the proof"),
)


def verified_table(records: Sequence[Record]) -> PageTable:
    """Each proof."""
    rows = [
        (i, {**inputs(record), "Posting order": text(record["transport"]), "Took": seconds(record["wall_s"])})
        for i, record in enumerate(records)
        if record["kind"] == "verify"
    ]
    return table_of_cases("verified-table", "Verified exchanges", VERIFIED, rows)
