"""The claims of all sources, by what became of them, and the experiments that show why some are contradicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kept_results import STUDIES, Kept, load
from study_tables import table

from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, FITTED, NOT_TESTABLE, SOURCE, Verdict, experiment_of
from tradewind.study.claims.judgement import GROUPS
from tradewind.study.model.study import Finding

SOURCES = {
    "zheng2018": ("Zheng & Marguinaud (2018)", "zheng2018-claims.md"),
    "escape2018": ("ESCAPE (2018)", "escape2018-claims.md"),
    "hirlam2004": ("HIRLAM (2004)", "hirlam2004-claims.md"),
    "hpc4wc2024": ("HPC4WC (2024)", "hpc4wc2024-claims.md"),
    "nek2015": ("Nek5000 (2015)", "nek2015.md#all-findings"),
    "fesom2026": ("FESOM (2026)", "fesom2026.md#all-findings"),
}
"""The folders of studies that are about a source, and its page; what lies in no such folder is our own."""
OURS = "our own studies"
SHOWN, ASSERTED, UNEXPLAINED, DATA = "cause shown", "asserted", "unexplained", "own data"
REASONS = (SHOWN, ASSERTED, UNEXPLAINED, DATA)
"""Columns of the contradicted claims of a source, by what is known of the reason."""
COLUMNS = ("claims", CONFIRMED, CONTRADICTED, *REASONS, FITTED, NOT_TESTABLE)


def by_source() -> str:
    """Count the verdicts on the claims of each source, by whose they are and by base."""
    rows: dict[tuple[str, str, str], Counter[str]] = {}
    for source, whose in ((source, whose) for source in (*SOURCES, OURS) for whose in GROUPS):
        for kept in _studies(source):
            for i, verdict in _of(kept, source, whose):
                count = rows.setdefault((_link(source), *_name(kept, source, whose, verdict)), Counter())
                count.update(("claims", verdict.verdict))
                if whose == SOURCE and verdict.verdict == CONTRADICTED:
                    count[reason(kept, kept.study.finding[i], verdict.base)] += 1
    cells = [(*key, *(count[column] or _none(key, column) for column in COLUMNS)) for key, count in rows.items()]
    return table(("source", "whose", "base", *COLUMNS), cells)


def _none(row: tuple[str, str, str], column: str) -> str:
    """Nothing is asked for where no claim of a source is contradicted."""
    return "" if row[1] != GROUPS[SOURCE] and column in REASONS else "0"


def _link(source: str) -> str:
    return "[{}]({})".format(*SOURCES[source]) if source in SOURCES else source


def _studies(source: str) -> Iterator[Kept]:
    """Yield the studies about a source whose results are kept."""
    for file in sorted(STUDIES.glob("**/results/*.nc")):
        folder = file.relative_to(STUDIES).parts[0]
        if folder == source or (source == OURS and folder not in SOURCES):
            yield load(file.stem)


def _of(kept: Kept, source: str, whose: str) -> Iterator[tuple[int, Verdict]]:
    """Yield the verdicts on the claims of one group, and the number of the finding: without a source all are ours."""
    for i, verdicts in enumerate(kept.judged):
        group = "question" if source == OURS else kept.study.finding[i].group
        yield from ((i, verdict) for verdict in verdicts if group == whose)


def _name(kept: Kept, source: str, whose: str, verdict: Verdict) -> tuple[str, str]:
    if source == OURS:
        return GROUPS[whose], ""
    return GROUPS[whose], verdict.base or ("between bases" if kept.study.base else "")


def reason(kept: Kept, finding: Finding, base: str | None = None) -> str:
    """Return what is known of why a claim of a source is contradicted under a base: its cause is shown if an experiment
    turned the verdict under it, or under another base where the claim is confirmed. Raises ValueError where its study
    has none, and where an experiment that it names does not show it."""
    if finding.decided_by == "data":
        return DATA
    if finding.cause:
        claimed = _claimed(kept, finding)
        turned = [verdict.base for _, verdicts in experiments(kept, finding) for verdict in verdicts]
        return SHOWN if any(each == base or claimed[each] == CONFIRMED for each in turned) else ASSERTED
    if finding.decided_by == "unexplained":
        return UNEXPLAINED
    raise ValueError(
        f"{kept.name}: {finding.figure}, {finding.claim}: it is contradicted, and has neither a cause "
        'nor decided_by = "data" or "unexplained"'
    )


def _claimed(kept: Kept, finding: Finding) -> dict[str | None, str]:
    """Return the verdicts on a claim by base."""
    return {verdict.base: verdict.verdict for verdict in kept.judged[kept.study.finding.index(finding)]}


def experiments(kept: Kept, finding: Finding) -> Iterator[tuple[str, list[Verdict]]]:
    """Yield the experiments that show the cause of a finding, each with its verdicts that are another than the claim's
    under the same base. Raises ValueError for one that has none."""
    claimed = _claimed(kept, finding)
    own = {each.figure for each in kept.study.finding}
    for name in finding.shown:
        study, figure = experiment_of(name, own)
        other = load(study) if study else kept
        found = [
            verdict
            for each, verdicts in zip(other.study.finding, other.judged, strict=True)
            if each.figure == figure
            for verdict in verdicts
        ]
        turned = [verdict for verdict in found if _turns(verdict.verdict, claimed.get(verdict.base, NOT_TESTABLE))]
        if not turned:
            words = ", ".join(verdict.verdict for verdict in found) or "of no kept study"
            raise ValueError(
                f"{kept.name}: {finding.figure}, {finding.claim}: {name} does not show its cause: it is {words}, "
                f"and the claim {', '.join(claimed.values())}"
            )
        yield figure, turned


def _turns(one: str, other: str) -> bool:
    """Whether one of two verdicts is confirmed and the other contradicted; what was fitted turns nothing."""
    return {one, other} == {CONFIRMED, CONTRADICTED}


def _outcome(figure: str, turned: list[Verdict]) -> str:
    """Return in words how the verdict of an experiment differs from that of the claim."""
    words = [f"{verdict.verdict}{f' under {verdict.base}' if verdict.base else ''}" for verdict in turned]
    return f"{figure}: {', '.join(words)}, unlike the claim"


def causes_shown() -> str:
    """List the contradicted claims of sources whose cause an experiment has shown."""
    rows = [
        (
            *(SOURCES[source][0], finding.figure, finding.claim, finding.cause),
            ". ".join(_outcome(*experiment) for experiment in experiments(kept, finding)),
        )
        for source in SOURCES
        for kept in _studies(source)
        for finding, verdicts in zip(kept.study.finding, kept.judged, strict=True)
        if finding.group == SOURCE and finding.shown and any(verdict.verdict == CONTRADICTED for verdict in verdicts)
    ]
    return table(("source", "figure", "claim", "cause", "experiment"), rows)


CLAIMS = {"claims-by-source": by_source, "causes-shown": causes_shown}
"""The sections of the page of claims."""
