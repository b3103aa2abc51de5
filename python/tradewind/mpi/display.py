"""Plans in notebooks: a table."""

from __future__ import annotations

from tradewind.base.html import html_table
from tradewind.base.units import format_bytes, format_seconds
from tradewind.mpi.library import Plan


def plan_table(plan: Plan) -> str:
    """Return a table of what this rank does in one call of a plan, and of its seconds where the plan records them."""
    shared = ", arrays in memory that the ranks of a node share" if plan.in_shared_memory else ""
    rows = [
        ("exchange", plan.describe()),
        ("transport", plan.transport),
        ("packing", f"{plan.packing}{shared}"),
        ("sent by this rank per call", f"{plan.messages:,} messages, {format_bytes(plan.bytes_sent)}"),
        ("state", "under way" if plan.in_flight else "not started"),
    ]
    rows += [(f"time of {activity}", format_seconds(s)) for activity, s in plan.seconds.items() if s]
    return html_table("Plan", rows)
