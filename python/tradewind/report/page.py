"""Lays the cases of a study out as one page: modules beside this one fill its tables, templates lay it out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tradewind.report.claims import claims_table, counts_table, skipped_table
from tradewind.report.measured import measured_table, runs_table
from tradewind.report.outcome import NOTHING
from tradewind.report.side_by_side import side_by_side
from tradewind.report.simulated import network_table, simulated_table
from tradewind.report.verified import verified_table
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.records import Record, Records
from tradewind.study.claims.finding import Verdict
from tradewind.study.claims.judgement import counted, counts
from tradewind.study.model.study import KINDS, Study

if TYPE_CHECKING:
    import jinja2


@dataclass(frozen=True)
class Figure:
    """A plot of the study, drawn."""

    name: str
    title: str
    note: str
    specification: dict[str, Any]
    outcome: str = ""
    """Caption, in a sentence."""


def template(name: str) -> jinja2.Template:
    """Return one of the pages that lie beside this file. A value that it lacks is an error, not an empty text."""
    import jinja2

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
) -> str:
    """Return the page as HTML, with everything that it needs inside."""
    from tradewind.plot.export import script

    cases = records.records
    return template("report.html.jinja").render(
        study=study,
        study_text=study_text,
        written=now(),
        cases=records,
        kinds={kind: sum(record["kind"] == kind for record in cases) for kind in KINDS},
        outcome=outcome,
        claims=f"Claims tested: {counted(verdicts)}." if verdicts else "",
        figures=figures,
        headline=side_by_side(cases),
        verdicts=claims_table(verdicts),
        counts=counts_table(counts(verdicts)),
        measured=measured_table(cases),
        runs=runs_table(cases),
        verified=verified_table(cases),
        simulated=simulated_table(cases),
        networks=network_table(cases),
        skipped=skipped_table(records.skipped),
        foreign=foreign_hosts(cases),
        environment=environment,
        machines=machines,
        script=script() if figures else "",
    )


def summary(figures: Sequence[Figure]) -> str:
    """Return the outcome of the first figure that compares times."""
    return next((f"{each.title}: {each.outcome}" for each in figures if each.outcome), NOTHING)


def now() -> str:
    """The time, as pages show it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def embedded(specification: dict[str, Any]) -> str:
    """JSON that cannot end the script element that it stands in."""
    return json.dumps(specification).replace("<", "\\u003c")


def foreign_hosts(records: Sequence[Record]) -> list[str]:
    """The other machines on which cases of this report were measured."""
    hosts = (f"{r['environment']['host']} ({r['environment']['cpu']})" for r in records if r["is_foreign"])
    return list(dict.fromkeys(hosts))
