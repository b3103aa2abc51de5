"""Print the claims that a study tests: counts of verdicts and, in a study with bases, each claim."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.cli.screen import say, show_table
from tradewind.cli.table import Column, Table
from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, SOURCE, Verdict
from tradewind.study.claims.judgement import bases_in, claims_of, counts, figures_of

STYLES = {CONFIRMED: "green", CONTRADICTED: "red"}
SHOWN = 6
"""Maximum number of values printed for a claim; the report has them all."""


def show_claims(verdicts: Sequence[Verdict], name: str) -> None:
    """Print a line for each group of claims and each base; in a study with bases also each claim, with its verdicts
    side by side. `name`: what stands before each line."""
    found = counts(verdicts)
    for count in found:
        is_plain = len(found) == 1 and (count.group, count.base) == (SOURCE, None)
        say(f"{name}claims tested{'' if is_plain else f' ({count.name})'}: {count.text}")
    if bases := bases_in(verdicts):
        show_table(_table(verdicts, bases))
        print()


def _table(verdicts: Sequence[Verdict], bases: Sequence[str]) -> Table:
    """A row for each claim."""
    rows = []
    for claim in claims_of(verdicts):
        figures = figures_of(claim.each)
        more = f"; and {len(figures) - SHOWN} more" if len(figures) > SHOWN else ""
        values = "; ".join(figures[:SHOWN]) + more
        rows.append([claim.figure, claim.text, *claim.words(bases), claim.decided_by or "", values])
    columns = [Column("figure"), Column("claim", prose=20)]
    columns += [Column(base, prose=12, styles=STYLES) for base in bases]
    return Table([*columns, Column("decided by", drop=2), Column("values", prose=24, drop=1)], rows)
