"""`tradewind study`: runs a study, or goes on with it, and writes its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradewind.cli.options import Json

if TYPE_CHECKING:
    from tradewind.study.environment import Environment
    from tradewind.study.load import StudyFile
    from tradewind.study.plan import Executors, Plan


def command(
    file: Annotated[Path, typer.Argument(help="The study, a TOML file.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the results.", show_default="results/NAME")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Cases at a time.", show_default="as many as suit their size"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be computed, and its cost.")] = False,
    remeasure: Annotated[bool, typer.Option("--remeasure", help="Measure again what is stored already.")] = False,
    json: Json = False,
) -> int:
    """Run the cases of a study that are not stored yet, and write its report."""
    from tradewind.cli.answer import answer
    from tradewind.study.environment import here
    from tradewind.study.executors import default_executors
    from tradewind.study.load import load_study
    from tradewind.study.plan import make_plan

    study_file = load_study(file)
    executors, environment = default_executors(), here()
    plan = make_plan(study_file, executors, environment)
    if dry_run:
        answer(_plan_dict(plan), json, lambda: _show_plan(plan))
        return 0
    folder = out or Path("results") / study_file.name
    result = _run(study_file, plan, folder, executors, environment, workers, remeasure, quiet=json)
    answer(result, json, lambda: _show_result(result))
    return 1 if result["failed"] else 0


def _run(
    study_file: StudyFile,
    plan: Plan,
    folder: Path,
    executors: Executors,
    environment: Environment,
    workers: int | None,
    remeasure: bool,
    quiet: bool,
) -> dict[str, Any]:
    import sys

    from tradewind.report.build import build_report
    from tradewind.study.progress import make_observer
    from tradewind.study.runner import run_study
    from tradewind.study.store import Store

    store = Store.create(folder, study_file.file.text)
    observer = make_observer(sys.stderr if quiet else sys.stdout)
    outcome = run_study(
        study_file, plan, store, executors, environment, workers=workers, remeasure=remeasure, observer=observer
    )
    report = build_report(folder, environment)
    counts = {"computed": outcome.computed, "reused": outcome.reused, "recomputed": outcome.recomputed}
    return {"study": study_file.study.title, "folder": str(folder), **counts, **report.as_dict()}


def _plan_dict(plan: Plan) -> dict[str, Any]:
    cases = [
        {"key": planned.key, "sweep": planned.case.sweep, "name": planned.case.name, "forecast": planned.forecast}
        for planned in plan.planned
    ]
    return {"cases": cases, "skipped": [skip.as_dict() for skip in plan.skips]}


def _show_plan(plan: Plan) -> None:
    from rich.console import Console
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
        if cost is not None:
            texts = [format_count(cost["messages"]), format_count(cost["packet_hops"])]
            texts += [format_bytes(cost["memory_bytes"]), format_seconds(cost["wall_s"])]
        table.add_row(planned.case.sweep, planned.case.name, *texts)
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)
    for skip in plan.skips:
        console.print(f"skipped ({skip.sweep}): {skip.name}: {skip.reason}", highlight=False, markup=False)
    total = sum(planned.cost_s for planned in plan.planned)
    console.print(f"{len(plan.planned)} cases, {len(plan.skips)} skipped, {format_seconds(total)} of simulation")


def _show_result(result: dict[str, Any]) -> None:
    print(f"{result['computed']} cases computed, {result['reused']} stored already, {len(result['skipped'])} skipped")
    for failure in result["failed"]:
        print(f"failed: {failure['name']}: {failure['reason']}")
    print(f"report: {result['report']}")
