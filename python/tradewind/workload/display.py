"""Programs in notebooks: a table of their steps."""

from __future__ import annotations

from tradewind.base.html import html_table
from tradewind.workload.program import ProgramWorkload

MAX_STEPS = 40
"""Steps that a table shows."""


def program_table(program: ProgramWorkload) -> str:
    """Return a table with a row for each step: its exchange, how often it takes place, and whether the step computes.

    Of groups of ranks the steps of each group in turn.
    """
    rows: list[tuple[object, ...]] = []
    for part in program.parts()[:MAX_STEPS]:
        exchange = "-"
        if part.schedule is not None:
            exchange = f"{part.schedule.pattern.describe()} by {part.schedule.algorithm}"
        rows.append((part.name, part.kind, exchange, part.times, "yes" if part.computes else "-"))
    if (more := len(program.parts()) - MAX_STEPS) > 0:
        rows.append((f"and {more} more", "", "", "", ""))
    groups = "".join(f", {group.name}: {group.ranks:,}" for group in program.groups if len(program.groups) > 1)
    title = f"{program.name} on {program.ranks:,} ranks{groups}; {program.stages:,} stages"
    return html_table(title, rows, ("step", "kind", "exchange", "times", "computes"))
