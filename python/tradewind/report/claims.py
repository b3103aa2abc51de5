"""Tables of the claims that were tested, and of the cases that were skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tradewind.report.table import Cell, Column, Row, Table
from tradewind.study.finding import CONFIRMED, CONTRADICTED, Verdict

LOOKS = {CONFIRMED: "good", CONTRADICTED: "bad"}

CLAIMS = (Column("Figure"), Column("Claim"), Column("Verdict"), Column("Because, and the values behind it"))
SKIPPED = (Column("Sweep"), Column("Case"), Column("Reason"))


def claims_table(verdicts: Sequence[Verdict], links: Sequence[str] = ()) -> Table:
    """Each claim with its verdict. `links`: where the figure of each leads to."""
    rows = [_claim(verdict, link) for verdict, link in zip(verdicts, links or [""] * len(verdicts), strict=True)]
    return Table("claims-table", f"Claims tested: {len(rows)}", CLAIMS, rows)


def _claim(verdict: Verdict, link: str) -> Row:
    why = [part for part in (verdict.because, verdict.remark) if part]
    values = "; ".join((*why, *verdict.figures))
    return {
        "Figure": Cell(verdict.figure, link=link),
        "Claim": Cell(verdict.claim),
        "Verdict": Cell("", verdict.verdict, tags=((LOOKS.get(verdict.verdict, "none"), verdict.verdict),)),
        "Because, and the values behind it": Cell("; ".join(why), values, lines=tuple(verdict.figures)),
    }


def skipped_table(skipped: Sequence[Mapping[str, str]]) -> Table:
    """The cases that a study names and that cannot be."""
    rows = [
        {"Sweep": Cell(skip["sweep"]), "Case": Cell(skip["name"]), "Reason": Cell(skip["reason"])} for skip in skipped
    ]
    return Table("skipped-table", f"Skipped cases: {len(rows)}", SKIPPED, rows)
