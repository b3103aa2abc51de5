"""Print the claims that a study tests: counts of verdicts and, in a study with bases, each claim."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.cli.screen import show_table, show_text
from tradewind.cli.table import TextColumn, TextTable
from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, FITTED, NOT_TESTABLE, SOURCE, Verdict
from tradewind.study.claims.judgement import bases_in, claims_of, counts, figures_of

STYLES = {CONFIRMED: "green", CONTRADICTED: "red", FITTED: "yellow"}
SHOWN = 6
"""Maximum number of values printed for a claim; the report has them all."""
UNTESTABLE_SHOWN = 10
"""Maximum number of claims that are printed with the reason why they cannot be tested."""


def show_claims(verdicts: Sequence[Verdict], name: str) -> None:
    """Print a line for each group of claims and each base; in a study with bases also each claim, with its verdicts
    side by side. `name`: what stands before each line."""
    found = counts(verdicts)
    for count in found:
        is_plain = len(found) == 1 and (count.group, count.base) == (SOURCE, None)
        show_text(f"{name}claims tested{'' if is_plain else f' ({count.name})'}: {count.text}")
    if bases := bases_in(verdicts):
        show_table(_table(verdicts, bases))
        print()
    show_untestable([verdict for verdict in verdicts if verdict.verdict == NOT_TESTABLE], name)


def show_untestable(verdicts: Sequence[Verdict], name: str = "") -> None:
    """Print why claims cannot be tested: a line for each, of many the first; a reason of several bases once."""
    claims = claims_of(verdicts)
    for claim in claims[:UNTESTABLE_SHOWN]:
        reasons = dict.fromkeys(verdict.because for verdict in claim.each)
        show_text(f"{name}not testable: {claim.figure}, {claim.text}: {'; '.join(reasons)}", indent="  ")
    if more := len(claims[UNTESTABLE_SHOWN:]):
        show_text(f"{name}and {more} claims more that are not testable", indent="  ")


def _table(verdicts: Sequence[Verdict], bases: Sequence[str]) -> TextTable:
    """A row for each claim."""
    rows = []
    for claim in claims_of(verdicts):
        figures = figures_of(claim.each)
        more = f"; and {len(figures) - SHOWN} more" if len(figures) > SHOWN else ""
        values = "; ".join(figures[:SHOWN]) + more
        rows.append([claim.figure, claim.text, *claim.words(bases), claim.decided_by or "", values])
    columns = [TextColumn("figure"), TextColumn("claim", prose=20)]
    columns += [TextColumn(base, prose=12, styles=STYLES) for base in bases]
    return TextTable([*columns, TextColumn("decided by", drop=2), TextColumn("values", prose=24, drop=1)], rows)
