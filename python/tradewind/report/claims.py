"""Tables of the claims that were tested, and of the cases that were skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tradewind.report.table import Cell, PageColumn, PageTable, Row, number, whole
from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, SOURCE, Verdict
from tradewind.study.claims.judgement import (
    DECIDED_BY,
    GROUPS,
    Claim,
    Count,
    bases_in,
    claims_of,
    figures_of,
    reasons,
    verdicts_of,
)

if TYPE_CHECKING:
    from tradewind.dataset.claim_changes import ClaimChange

LOOKS = {CONFIRMED: "good", CONTRADICTED: "bad"}

WHOSE, VERDICT, BETWEEN, DECIDES = "Whose", "Verdict", "Between bases", "What decides it"
WHY = "Because, and the values behind it"
SKIPPED = (PageColumn("Sweep"), PageColumn("Case"), PageColumn("Reason"))


def claims_table(
    verdicts: Sequence[Verdict], links: Sequence[str] = (), groups: Sequence[Sequence[int]] = ()
) -> PageTable:
    """Each claim with its verdict, or with that under each base. `links`: where the figure of each leads to; `groups`:
    the groups of cases that each is about."""
    bases = bases_in(verdicts)
    claims = sorted(claims_of(verdicts), key=lambda claim: [*GROUPS].index(claim.group))
    columns = ["Figure", "Claim"]
    columns += [WHOSE] if any(claim.group != SOURCE for claim in claims) else []
    columns += [_under(base) for base in bases] or [VERDICT]
    columns += [BETWEEN] if bases and any(None in claim.verdicts for claim in claims) else []
    columns += [DECIDES] if any(claim.decided_by for claim in claims) else []
    link_of = {id(verdict): link for verdict, link in zip(verdicts, links or [""] * len(verdicts), strict=True)}
    rows = [_claim(claim, bases, link_of) for claim in claims]
    groups_of = {id(verdict): set(own) for verdict, own in zip(verdicts, groups, strict=True)} if groups else {}
    about = [sorted(set().union(*(groups_of[id(each)] for each in claim.each))) for claim in claims if groups]
    titles = [PageColumn(title) for title in (*columns, WHY)]
    return PageTable("claims-table", f"Claims tested: {len(rows)}", titles, rows, groups=about)


def _claim(claim: Claim, bases: Sequence[str], link_of: Mapping[int, str]) -> Row:
    lines, why = tuple(figures_of(claim.each)), "; ".join(reasons(claim.each))
    return {
        "Figure": Cell(claim.figure, link=link_of[id(claim.each[0])]),
        "Claim": Cell(claim.text),
        WHOSE: Cell(GROUPS[claim.group]),
        **{_under(base): _verdict(claim.verdicts.get(base)) for base in bases},
        (BETWEEN if bases else VERDICT): _verdict(claim.verdicts.get(None)),
        DECIDES: Cell(DECIDED_BY[claim.decided_by] if claim.decided_by else ""),
        WHY: Cell(why, "; ".join(filter(None, (why, *lines))), lines=lines),
    }


def _under(base: str) -> str:
    return f"Under {base}"


def _verdict(verdict: Verdict | None) -> Cell:
    if verdict is None:
        return Cell("")
    return Cell("", verdict.verdict, tags=((LOOKS.get(verdict.verdict, "none"), verdict.verdict),))


def changed_claims_table(changes: Sequence[ClaimChange]) -> PageTable:
    """Return the claims whose verdict differs between two results, with both verdicts and what decided the new one."""
    rows = [
        {
            "Study": Cell(each.study),
            "Figure": Cell(each.new.figure),
            "Claim": Cell(each.new.claim),
            "Base": Cell(each.new.base or ""),
            "Old": _verdict(each.old),
            "New": _verdict(each.new),
            WHY: Cell(each.new.because, lines=tuple(each.new.figures)),
        }
        for each in changes
    ]
    titles = ("Study", "Figure", "Claim", "Base", "Old", "New", WHY)
    shown = [PageColumn(title) for title in titles if any(not row[title].is_empty for row in rows)]
    return PageTable("changed-table", f"Claims with another verdict: {len(rows)}", shown, rows)


def counts_table(counts: Sequence[Count]) -> PageTable:
    """Count the verdicts of claims by group and base."""
    words = verdicts_of(counts)
    rows = [
        {"Claims": Cell(count.name), **{word.capitalize(): whole(count.verdicts[word]) for word in words}}
        for count in counts
    ]
    columns = (PageColumn("Claims"), *(number(word.capitalize()) for word in words))
    return PageTable("counts-table", "Claims tested, apart by whose they are", columns, rows)


def skipped_table(skipped: Sequence[Mapping[str, str]]) -> PageTable:
    """The cases that a study names and that cannot be."""
    rows = [
        {"Sweep": Cell(skip["sweep"]), "Case": Cell(skip["name"]), "Reason": Cell(skip["reason"])} for skip in skipped
    ]
    return PageTable("skipped-table", f"Skipped cases: {len(rows)}", SKIPPED, rows)
