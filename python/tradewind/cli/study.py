"""`tradewind study`: runs a study or a folder of them, or goes on with it, and writes the reports."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from tradewind.cli.options import Json
from tradewind.cli.parameters import ONE_OR_MORE, Argument, Option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tradewind.cli.table import TextTable
    from tradewind.study.cases.environment import Environment
    from tradewind.study.plan.planned import Executors, Plan, Planned
    from tradewind.study.runner.campaign import Campaign
    from tradewind.study.runner.run import StudyRun

_ELSEWHERE = "Workers on other machines"


_Study = Annotated[
    Path,
    Argument(
        metavar="STUDY",
        help="A TOML file, a folder of TOML files, or the name of a study that comes with Tradewind "
        "(see `tradewind list studies`).",
        show_default=False,
    ),
]
_Out = Annotated[Path | None, Option("--out", help="Folder of the results.", show_default="results/NAME")]
_Pool = Annotated[
    Path | None,
    Option(
        "--pool",
        help="Folder of cases that several studies share.",
        show_default="cases/ in the results of a folder of studies",
    ),
]
_Known = Annotated[
    list[Path] | None,
    Option(
        "--known",
        help="A results.nc, or a folder of NAME.nc, whose simulated cases are not computed again; repeatable.",
        show_default=False,
    ),
]
_Quick = Annotated[bool, Option("--quick", help="Compute only the cases that the study marks for a quick run.")]
_Workers = Annotated[
    int | None,
    Option("--workers", allowed=ONE_OR_MORE, help="Maximum number of cases at a time.", show_default="by their size"),
]
_Scheduler = Annotated[
    str | None,
    Option(
        "--scheduler",
        help="Compute on the workers of this Dask scheduler, like tcp://HOST:8786.",
        panel=_ELSEWHERE,
        show_default=False,
    ),
]
_Cluster = Annotated[
    Path | None,
    Option(
        "--cluster",
        help="Compute in the Slurm, PBS or LSF jobs of this TOML file; --dry-run shows a job script.",
        panel=_ELSEWHERE,
        show_default=False,
    ),
]
_DryRun = Annotated[bool, Option("--dry-run", help="Print what would be computed and its cost, and stop.")]
_Remeasure = Annotated[bool, Option("--remeasure", help="Repeat measurements that are stored already.")]


def command(
    study: _Study,
    out: _Out = None,
    pool: _Pool = None,
    known: _Known = None,
    quick: _Quick = False,
    workers: _Workers = None,
    scheduler: _Scheduler = None,
    cluster: _Cluster = None,
    dry_run: _DryRun = False,
    remeasure: _Remeasure = False,
    json: Json = False,
) -> int:
    """Run the cases of a study, or of all studies of a folder, that are not stored yet, and write their reports."""
    from tradewind.cli.output import keeping, print_result
    from tradewind.study.cases.environment import here
    from tradewind.study.plan.catalogue import find_study, shadowed_by
    from tradewind.study.runner.campaign import at_hand, plan_campaign, start_workers
    from tradewind.study.runner.executors import default_executors

    executors, environment = default_executors(), here()
    path = find_study(study)
    if (other := shadowed_by(study)) is not None:
        print(f"note: {study} is what lies here, and not the study that comes with Tradewind: {other}", file=sys.stderr)
    campaign = plan_campaign(path, executors, environment, out=out, pool=pool, quick=quick)
    if dry_run:
        script, stored = _job_script(cluster), at_hand(campaign, _known(known or []), remeasure=remeasure)
        print_result(_plan_dict(campaign, stored, script), json, lambda: _show_plan(campaign, stored, script))
        return 0
    stream = sys.stderr if json else sys.stdout
    how = {"workers": workers, "remeasure": remeasure, "known": _known(known or [])}
    note = partial(_note, stream)
    started = start_workers(scheduler, cluster, environment, note)
    with keeping(partial(_kept, campaign)), started as remote_workers:
        results = _run(campaign, executors, environment, stream, remote_workers=remote_workers, **how)
    whole = _overview(campaign, results) if campaign.overview else results[0]
    print_result(whole, json, lambda: print(f"overview: {whole['overview']}") if campaign.overview else None)
    return 1 if any(result["failed"] for result in results) else 0


def _note(stream: TextIO, text: str) -> None:
    print(f"note: {text}", file=stream)


def _kept(campaign: Campaign) -> str:
    """Return what an interrupt leaves, and how to go on."""
    from tradewind.study.runner.campaign import at_hand

    stored, cases = len(at_hand(campaign)), len(campaign.unique)
    return f"{stored} of {cases} cases are stored in {campaign.pool or campaign.folder}; the same command goes on"


def _run(
    campaign: Campaign, executors: Executors, environment: Environment, stream: TextIO, **how: Any
) -> list[dict[str, Any]]:
    """Run the studies and return their results; print each as soon as it is complete."""
    from tradewind.cli.sweep_table import show_sweep
    from tradewind.study.cases.records import read_records
    from tradewind.study.runner.campaign import run_campaign
    from tradewind.study.runner.progress import make_observer

    for_reader = stream is sys.stdout  # asked now: while bars are shown, another stream stands in for it

    def report_study(result: dict[str, Any]) -> None:
        if for_reader:
            _show_result(result, named=campaign.overview)

    def report_sweep(study: StudyRun, name: str) -> None:
        if for_reader and not campaign.overview:
            show_sweep(name, read_records(study.store, environment, name).records)

    def report(folder: Path, environment: Environment) -> dict[str, Any]:
        from tradewind.report.build import build_report  # takes half a second, after the first case

        return build_report(folder, environment).as_dict()

    how["report_sweep"] = report_sweep
    return run_campaign(campaign, executors, environment, make_observer(stream), report_study, report, **how)


def _known(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """The results of datasets. Their reader takes half a second to load: only where it is needed."""
    if not paths:
        return {}
    from tradewind.dataset.known import known_results

    return known_results(paths)


def _overview(campaign: Campaign, results: list[dict[str, Any]]) -> dict[str, Any]:
    """The result for a folder of studies; writes the page about them."""
    from tradewind.report.overview import build_overview

    page = build_overview(campaign.folder, results)
    return {"folder": str(campaign.folder), "overview": str(page), "studies": results}


def _job_script(cluster: Path | None) -> str | None:
    if cluster is None:
        return None
    from tradewind.study.runner.cluster import job_script, load_cluster

    return job_script(load_cluster(cluster))


def _plan_dict(campaign: Campaign, stored: set[str], script: str | None) -> dict[str, Any]:
    entries = [
        {
            "study": entry.study_file.study.title,
            "cases": [_case_dict(planned, stored) for planned in entry.plan.planned],
            "skipped": [skip.as_dict() for skip in entry.plan.skips],
            "notes": entry.notes,
            "not_testable": [
                {"figure": each.figure, "claim": each.claim, "base": each.base, "because": each.because}
                for each in entry.untestable
            ],
        }
        for entry in campaign.entries
    ]
    job = {"job_script": script} if script is not None else {}
    return ({"studies": entries} if campaign.overview else entries[0]) | job


def _case_dict(planned: Planned, stored: set[str]) -> dict[str, Any]:
    case, is_stored = planned.case, planned.key in stored
    result = {"key": planned.key, "sweep": case.sweep, "base": case.under.base, "name": case.name}
    return {**result, "stored": is_stored, "forecast": planned.forecast}


def _show_plan(campaign: Campaign, stored: set[str], script: str | None) -> None:
    from tradewind.cli.claims import show_untestable
    from tradewind.cli.screen import show_table, show_text

    show_table(_plans_table(campaign, stored) if campaign.overview else _cases_table(campaign.entries[0].plan, stored))
    print()
    for entry in campaign.entries:
        for skip in entry.plan.skips:
            show_text(f"skipped ({skip.sweep}): {skip.name}: {skip.reason}", indent="  ")
        for note in entry.notes:
            show_text(f"{entry.study_file.name}: {note}", indent="  ")
        show_untestable(entry.untestable, f"{entry.study_file.name}: " if campaign.overview else "")
    skipped = sum(len(entry.plan.skips) for entry in campaign.entries)
    cases = campaign.unique
    left_out = f"{len(stored)} of them stored already or known, " if stored else ""
    new = [planned for key, planned in cases.items() if key not in stored]
    for base, own in _by_base(campaign).items():
        to_do = [planned for key, planned in own.items() if key not in stored]
        show_text(f"under {base}: {len(own)} cases, {_cost(to_do)}", indent="  ")
    show_text(f"{len(cases)} cases, {left_out}{skipped} skipped, {_cost(new)}")
    if script is not None:
        print(f"each job:\n{script}")


def _by_base(campaign: Campaign) -> dict[str, dict[str, Planned]]:
    """The cases of each base by their keys."""
    found: dict[str, dict[str, Planned]] = {}
    for planned in (planned for entry in campaign.entries for planned in entry.plan.planned):
        if (base := planned.case.under.base) is not None:
            found.setdefault(base, {})[planned.key] = planned
    return found


def _cost(cases: Iterable[Planned]) -> str:
    """Return the cost of simulations, in words."""
    from tradewind.base.units import format_count, format_seconds

    cases = list(cases)
    if not any(planned.forecast for planned in cases):
        return "nothing to simulate"
    hops = sum(planned.forecast["packet_hops"] for planned in cases if planned.forecast)
    return f"{format_count(hops)} packet-hops, {format_seconds(sum(p.cost_s for p in cases))} of simulation on one core"


def _plans_table(campaign: Campaign, stored: set[str]) -> TextTable:
    """A row for each study. What is stored, or what an earlier study has, is not counted again."""
    from tradewind.cli.table import TextColumn, TextTable

    seen = set(stored)
    rows = []
    for entry in campaign.entries:
        own = {planned.key: planned for planned in entry.plan.planned}
        new = [planned for key, planned in own.items() if key not in seen]
        seen |= set(own)
        rows.append([entry.study_file.name, str(len(own)), str(len(new)), _cost(new)])
    numbers = [TextColumn(title, number=True) for title in ("cases", "new")]
    return TextTable([TextColumn("study"), *numbers, TextColumn("cost of the new ones", prose=24)], rows)


def _cases_table(plan: Plan, stored: set[str]) -> TextTable:
    """A row for each case, below the name of its sweep. What is stored costs nothing."""
    from tradewind.base.units import format_bytes, format_count, format_seconds
    from tradewind.cli.table import TextColumn, TextTable

    rows: list[list[str]] = []
    sweeps: dict[int, str] = {}
    for number, planned in enumerate(plan.planned):
        if number == 0 or planned.case.sweep != plan.planned[number - 1].case.sweep:
            sweeps[number] = planned.case.sweep
        cost = planned.forecast
        texts = ["", "", "", ""]
        if planned.key in stored:
            texts[3] = "stored"
        elif cost is not None:
            texts = [format_count(cost["messages"]), format_count(cost["packet_hops"])]
            texts += [format_bytes(cost["memory_bytes"]), format_seconds(cost["wall_s"])]
        rows.append([f"  {planned.case.name}", *texts])
    costs = [
        TextColumn(title, number=True, drop=drop)
        for title, drop in (("messages", 3), ("packet-hops", 2), ("memory", 1))
    ]
    return TextTable(
        [TextColumn("case", prose=60, indent="    "), *costs, TextColumn("time", number=True)], rows, headings=sweeps
    )


def _show_result(result: dict[str, Any], *, named: bool) -> None:
    from tradewind.cli.claims import show_claims
    from tradewind.cli.screen import show_text
    from tradewind.study.claims.finding import Verdict

    name = f"{result['study']}: " if named else ""
    counts = f"{result['computed']} cases computed, {result['reused']} stored already"
    show_text(f"{name}{counts}, {len(result['skipped'])} skipped")
    show_claims([Verdict.from_dict(each) for each in result["findings"]], name)
    show_text(f"{name}{result['outcome']}")
    for failure in result["failed"]:
        show_text(f"failed: {failure['name']}: {failure['reason']}", indent="  ")
    print(f"report: {result['report']}", flush=True)
