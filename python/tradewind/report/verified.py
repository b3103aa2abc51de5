"""The table of what was proved."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.report.measured import inputs
from tradewind.report.table import Column, Table, number, seconds, text
from tradewind.study.cases.records import Record

VERIFIED = (
    Column("Exchange"),
    Column("Grid"),
    number("Ranks"),
    Column("Split", hint="ranks along x, y"),
    Column("Posting order", hint="of the transport that was proved free of deadlock"),
    number("Took", "s", "wall time of the proof"),
)


def verified_table(records: Sequence[Record]) -> Table:
    """Each proof."""
    proofs = [record for record in records if record["kind"] == "verify"]
    rows = [
        {**inputs(record), "Posting order": text(record["transport"]), "Took": seconds(record["wall_s"])}
        for record in proofs
    ]
    return Table("verified-table", f"Verified exchanges: {len(rows)} cases", VERIFIED, rows)
