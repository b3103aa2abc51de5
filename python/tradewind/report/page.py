"""Lays the cases of a study out as one page: modules beside this one fill its tables, templates lay it out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tradewind.base.ranking import listed
from tradewind.report.claims import claims_table, counts_table, skipped_table
from tradewind.report.content import Figure, content
from tradewind.report.facets import Groups
from tradewind.report.measured import measured_table, runs_table
from tradewind.report.outcome import NOTHING
from tradewind.report.side_by_side import side_by_side
from tradewind.report.simulated import network_table, simulated_table
from tradewind.report.verified import verified_table
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.records import Record, Records
from tradewind.study.claims.finding import Verdict, cases_of
from tradewind.study.claims.judgement import counted, counts
from tradewind.study.model.study import KINDS, Study

if TYPE_CHECKING:
    import jinja2


def template(name: str) -> jinja2.Template:
    """Return one of the pages that lie beside this file. A value that it lacks is an error, not an empty text."""
    import jinja2

    from tradewind.plot.export import embedded

    loader = jinja2.PackageLoader("tradewind", "report")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["embedded"] = embedded
    return environment.get_template(name)


def render(
    study: Study,
    study_text: str,
    records: Records,
    verdicts: Sequence[Verdict],
    figures: Sequence[Figure],
    environment: Environment,
    machines: dict[str, str],
    outcome: str,
    folder: str = "",
) -> str:
    """Return the page as HTML, with everything that it needs inside. `folder`: where the figures lie as files, if they
    do."""
    from tradewind.plot.export import script

    cases = records.records
    groups = Groups(cases)
    tables = {
        "measured": measured_table(cases),
        "runs": runs_table(cases),
        "verified": verified_table(cases),
        "simulated": simulated_table(cases),
    }
    kinds = {kind: sum(record["kind"] == kind for record in cases) for kind in KINDS}
    return template("report.html.jinja").render(
        study=study,
        study_text=study_text,
        written=now(),
        cases=records,
        data=content(cases, groups, list(tables.values()), figures),
        tiles=_tiles(kinds),
        methods=_methods(kinds),
        outcome=outcome,
        claims=f"Claims tested: {counted(verdicts)}." if verdicts else "",
        figures=figures,
        headline=side_by_side(cases, groups),
        verdicts=claims_table(verdicts, groups=_groups_of(study, verdicts, cases, groups)),
        folder=folder,
        counts=counts_table(counts(verdicts)),
        **tables,
        networks=network_table(cases),
        skipped=skipped_table(records.skipped),
        foreign=foreign_hosts(cases),
        environment=environment,
        machines=machines,
        script=script() if figures else "",
    )


def _groups_of(
    study: Study, verdicts: Sequence[Verdict], cases: Sequence[Record], groups: Groups
) -> list[tuple[int, ...]]:
    """Return the groups of the cases that each verdict is about."""
    found: dict[tuple[str, str], list[Record]] = {}
    for finding in study.finding:
        found.setdefault((finding.figure, finding.claim), []).extend(cases_of(finding, cases))
    return [groups.of(found.get((verdict.figure, verdict.claim), [])) for verdict in verdicts]


def _tiles(kinds: dict[str, int]) -> dict[str, int]:
    """Count the cases that were verified, measured, simulated and published, as far as there are any."""
    counts = {"verified": kinds["verify"], "measured": kinds["measure"] + kinds["run"]}
    counts |= {"simulated": kinds["simulate"], "published": kinds["published"]}
    return {name: count for name, count in counts.items() if count}


def _methods(kinds: dict[str, int]) -> str:
    """Return how the exchanges of the first table were computed, as a list in words."""
    words = {
        "proved in one process": kinds["verify"],
        "run on this machine": kinds["measure"] + kinds["run"],
        "simulated on other machines": kinds["simulate"],
        "published by others": kinds["published"],
    }
    found = [word for word, count in words.items() if count]
    return listed(found) if found else ""


def summary(figures: Sequence[Figure]) -> str:
    """Return the outcome of the first figure that compares times."""
    return next((f"{each.title}: {each.outcome}" for each in figures if each.outcome), NOTHING)


def now() -> str:
    """The time, as pages show it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def foreign_hosts(records: Sequence[Record]) -> list[str]:
    """The other machines on which cases of this report were measured."""
    hosts = (f"{r['environment']['host']} ({r['environment']['cpu']})" for r in records if r["is_foreign"])
    return list(dict.fromkeys(hosts))
