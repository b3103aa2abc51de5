"""The table of what was proved."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.report.measured import inputs
from tradewind.report.table import PageColumn, PageTable, number, seconds, text
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
    proofs = [record for record in records if record["kind"] == "verify"]
    rows = [
        {**inputs(record), "Posting order": text(record["transport"]), "Took": seconds(record["wall_s"])}
        for record in proofs
    ]
    return PageTable("verified-table", f"Verified exchanges: {len(rows)} cases", VERIFIED, rows)
