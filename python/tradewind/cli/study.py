"""`tradewind study`: runs a study or a folder of them, or goes on with it, and writes the reports."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from tradewind.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tradewind.study.campaign import Campaign
    from tradewind.study.environment import Environment
    from tradewind.study.plan import Executors, Plan, Planned

_ELSEWHERE = "Workers elsewhere"


_File = Annotated[Path, typer.Argument(help="The study, a TOML file; or a folder of them.", show_default=False)]
_Out = Annotated[Path | None, typer.Option("--out", help="Folder of the results.", show_default="results/NAME")]
_Pool = Annotated[
    Path | None,
    typer.Option(
        "--pool",
        help="Folder of cases that several studies share.",
        show_default="cases/ in the results of a folder of studies",
    ),
]
_Known = Annotated[
    list[Path] | None,
    typer.Option(
        "--known",
        help="A results.nc, or a folder of NAME.nc, whose simulated cases need not be computed again (repeatable).",
        show_default=False,
    ),
]
_Quick = Annotated[
    bool, typer.Option("--quick", help="Only the cases that the study marks for a quick run; says what it leaves out.")
]
_Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Cases at a time, as memory allows.", show_default="as suits their size"),
]
_Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="Address of a Dask scheduler, like tcp://HOST:8786, whose workers compute.",
        rich_help_panel=_ELSEWHERE,
        show_default=False,
    ),
]
_Cluster = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        help="TOML file of Slurm, PBS or LSF jobs whose workers compute; with --dry-run, shows a job's script.",
        rich_help_panel=_ELSEWHERE,
        show_default=False,
    ),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be computed, and its cost.")]
_Remeasure = Annotated[bool, typer.Option("--remeasure", help="Measure again what is stored already.")]


def command(
    file: _File,
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
    from tradewind.cli.answer import answer
    from tradewind.study.campaign import at_hand, hired, plan_campaign
    from tradewind.study.environment import here
    from tradewind.study.executors import default_executors

    executors, environment = default_executors(), here()
    campaign = plan_campaign(file, executors, environment, out=out, pool=pool, quick=quick)
    if dry_run:
        script, stored = _job_script(cluster), at_hand(campaign, _known(known or []), remeasure=remeasure)
        answer(_plan_dict(campaign, stored, script), json, lambda: _show_plan(campaign, stored, script))
        return 0
    stream = sys.stderr if json else sys.stdout
    how = {"workers": workers, "remeasure": remeasure, "known": _known(known or [])}
    with hired(scheduler, cluster, environment, lambda text: print(f"note: {text}", file=stream)) as crew:
        results = _run(campaign, executors, environment, stream, crew=crew, **how)
    whole = _overview(campaign, results) if campaign.overview else results[0]
    answer(whole, json, lambda: print(f"overview: {whole['overview']}") if campaign.overview else None)
    return 1 if any(result["failed"] for result in results) else 0


def _run(
    campaign: Campaign, executors: Executors, environment: Environment, stream: TextIO, **how: Any
) -> list[dict[str, Any]]:
    """What became of each study. For a reader, says so as soon as it is known."""
    from tradewind.study.campaign import run_campaign
    from tradewind.study.progress import make_observer

    def tell(result: dict[str, Any]) -> None:
        if stream is sys.stdout:
            _show_result(result, named=campaign.overview)

    return run_campaign(campaign, executors, environment, make_observer(stream), tell, **how)


def _known(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """The answers of datasets. Their reader takes half a second to load: only where it is needed."""
    if not paths:
        return {}
    from tradewind.dataset.known import known_answers

    return known_answers(paths)


def _overview(campaign: Campaign, results: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer for a folder of studies; writes the page about them."""
    from tradewind.report.overview import build_overview

    page = build_overview(campaign.folder, results)
    return {"folder": str(campaign.folder), "overview": str(page), "studies": results}


def _job_script(cluster: Path | None) -> str | None:
    if cluster is None:
        return None
    from tradewind.study.cluster import job_script, load_cluster

    return job_script(load_cluster(cluster))


def _plan_dict(campaign: Campaign, stored: set[str], script: str | None) -> dict[str, Any]:
    entries = [
        {
            "study": entry.study_file.study.title,
            "cases": [_case_dict(planned, stored) for planned in entry.plan.planned],
            "skipped": [skip.as_dict() for skip in entry.plan.skips],
            "notes": entry.notes,
        }
        for entry in campaign.entries
    ]
    job = {"job_script": script} if script is not None else {}
    return ({"studies": entries} if campaign.overview else entries[0]) | job


def _case_dict(planned: Planned, stored: set[str]) -> dict[str, Any]:
    case, is_stored = planned.case, planned.key in stored
    answer = {"key": planned.key, "sweep": case.sweep, "name": case.name}
    return {**answer, "stored": is_stored, "forecast": planned.forecast}


def _show_plan(campaign: Campaign, stored: set[str], script: str | None) -> None:
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    shown = _plans_table(campaign, stored) if campaign.overview else _cases_table(campaign.entries[0].plan, stored)
    console.print(shown)
    for entry in campaign.entries:
        for skip in entry.plan.skips:
            console.print(f"skipped ({skip.sweep}): {skip.name}: {skip.reason}", highlight=False, markup=False)
        for note in entry.notes:
            console.print(f"{entry.study_file.name}: {note}", highlight=False, markup=False)
    skipped = sum(len(entry.plan.skips) for entry in campaign.entries)
    cases = campaign.unique
    left_out = f"{len(stored)} of them stored already or known, " if stored else ""
    new = [planned for key, planned in cases.items() if key not in stored]
    console.print(f"{len(cases)} cases, {left_out}{skipped} skipped, {_cost(new)}", highlight=False)
    if script is not None:
        console.print(f"each job:\n{script}", highlight=False, markup=False)


def _cost(cases: Iterable[Planned]) -> str:
    """What simulations will cost, in words."""
    from tradewind.units import format_count, format_seconds

    cases = list(cases)
    if not any(planned.forecast for planned in cases):
        return "nothing to simulate"
    hops = sum(planned.forecast["packet_hops"] for planned in cases if planned.forecast)
    return f"{format_count(hops)} packet-hops, {format_seconds(sum(p.cost_s for p in cases))} of simulation on one core"


def _plans_table(campaign: Campaign, stored: set[str]) -> Any:
    """A row a study. What is stored, or what an earlier study has, is not counted again."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("study", "cases", "new", "cost of the new ones"):
        table.add_column(title, justify="right" if title in ("cases", "new") else "left")
    seen = set(stored)
    for entry in campaign.entries:
        own = {planned.key: planned for planned in entry.plan.planned}
        new = [planned for key, planned in own.items() if key not in seen]
        seen |= set(own)
        table.add_row(entry.study_file.name, str(len(own)), str(len(new)), _cost(new))
    return table


def _cases_table(plan: Plan, stored: set[str]) -> Any:
    """A row a case. What is stored costs nothing."""
    from rich.table import Table

    from tradewind.units import format_bytes, format_count, format_seconds

    table = Table(box=None, pad_edge=False)
    for title in ("sweep", "case"):
        table.add_column(title, overflow="fold")
    for title in ("messages", "packet-hops", "memory", "time"):
        table.add_column(title, justify="right", no_wrap=True)
    for planned in plan.planned:
        cost = planned.forecast
        texts = ["", "", "", ""]
        if planned.key in stored:
            texts[3] = "stored"
        elif cost is not None:
            texts = [format_count(cost["messages"]), format_count(cost["packet_hops"])]
            texts += [format_bytes(cost["memory_bytes"]), format_seconds(cost["wall_s"])]
        table.add_row(planned.case.sweep, planned.case.name, *texts)
    return table


def _show_result(result: dict[str, Any], *, named: bool) -> None:
    from tradewind.study.finding import Verdict, counted

    name = f"{result['study']}: " if named else ""
    counts = f"{result['computed']} cases computed, {result['reused']} stored already"
    print(f"{name}{counts}, {len(result['skipped'])} skipped")
    if result["findings"]:
        print(f"{name}claims tested: {counted(map(Verdict.from_dict, result['findings']))}")
    print(f"{name}{result['outcome']}")
    for failure in result["failed"]:
        print(f"failed: {failure['name']}: {failure['reason']}")
    print(f"report: {result['report']}", flush=True)
