"""One study, or a folder of them that share their cases: read, planned, run together, and reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tradewind.base import reading
from tradewind.base.errors import InputError, TradewindError
from tradewind.base.files import inside, make_folder
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.store import Store
from tradewind.study.claims.finding import Verdict
from tradewind.study.claims.selection import selection_problems
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.catalogue import natural_key
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import Executors, Plan, Planned, make_plan
from tradewind.study.plan.quick import quick_study
from tradewind.study.plan.untestable import untestable_claims
from tradewind.study.runner.cached_cases import scan_cache
from tradewind.study.runner.run import Observer, StudyRun, run_studies
from tradewind.study.runner.workers import Workers

Report = Callable[[Path, Environment], dict[str, Any]]
"""Write the report of a folder of results, and return its summary; see `tradewind.report.build.build_report`."""
POOL = "cases"
"""The folder of the cases that the studies of a folder share, inside the folder of their results."""


@dataclass(frozen=True)
class StudyEntry:
    """A study of a campaign, what it will compute, and where its results go."""

    study_file: StudyFile
    plan: Plan
    folder: Path
    notes: list[str]
    """Cases that a quick run leaves out."""

    @property
    def untestable(self) -> list[Verdict]:
        """The claims that its cases cannot test, and why."""
        return untestable_claims(self.study_file, self.plan.planned)


@dataclass(frozen=True)
class Campaign:
    """The studies that one command runs."""

    entries: list[StudyEntry]
    folder: Path
    pool: Path | None
    """The cases that all share; None: each study keeps its own."""
    overview: bool
    """Whether they get a page about all of them."""

    @property
    def unique(self) -> dict[str, Planned]:
        """All cases by their keys: one that two studies share is there once."""
        return {planned.key: planned for entry in self.entries for planned in entry.plan.planned}


def plan_campaign(
    path: Path,
    executors: Executors,
    environment: Environment,
    *,
    out: Path | None = None,
    pool: Path | None = None,
    quick: bool = False,
) -> Campaign:
    """Reads and plans a study file, or all of a folder. Raises InputError with the problems of all of them."""
    is_folder = reading.is_folder(path)
    files = _read(sorted(path.glob("*.toml"), key=natural_key) if is_folder else [path])
    if not files:
        raise InputError(f"{path}: no study, that is no file NAME.toml, lies in this folder")
    folder = out or Path("results") / (path.resolve().name if is_folder else path.stem)
    entries = []
    problems: list[str] = []
    for file in files:
        study, notes = quick_study(file.study) if quick else (file.study, [])
        try:
            plan = make_plan(replace(file, study=study), executors, environment)
        except InputError as error:
            problems += error.problems
            continue
        problems += selection_problems(file)
        entries.append(StudyEntry(file, plan, folder / file.name if is_folder else folder, notes))
    if problems:
        raise InputError(*problems)
    return Campaign(entries, folder, pool or (folder / POOL if is_folder else None), is_folder)


def at_hand(
    campaign: Campaign, known: Mapping[str, Mapping[str, Any]] | None = None, *, remeasure: bool = False
) -> set[str]:
    """Keys of the cases that a run would not compute: those stored already, and those `known`."""
    keys: set[str] = set()
    for entry in campaign.entries:
        store = Store(entry.folder, campaign.pool)
        cached = scan_cache(entry.plan.planned, store, known=known, remeasure=remeasure)
        keys |= {planned.key for planned in cached.present}
    return keys


def _read(paths: Sequence[Path]) -> list[StudyFile]:
    files, problems = [], []
    for path in paths:
        try:
            files.append(load_study(path))
        except InputError as error:
            problems += list(error.problems)
    if problems:
        raise InputError(*problems)
    return files


def run_campaign(
    campaign: Campaign,
    executors: Executors,
    environment: Environment,
    observer: Observer,
    report_study: Callable[[dict[str, Any]], None],
    report: Report,
    *,
    report_sweep: Callable[[StudyRun, str], None] = lambda *_: None,
    workers: int | None = None,
    remote_workers: Workers | None = None,
    remeasure: bool = False,
    known: Mapping[str, dict[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """Runs the studies and returns what became of each, as plain values.

    `report_study` is called with the same of each study as soon as its report is written, which is when its last case
    is done. `report` writes it. `report_sweep` is called with each sweep of a study as soon as its last case is done.
    `known`: results by key that need not be computed (see `dataset.known`).
    """
    if campaign.overview:
        for folder in (*(entry.folder for entry in campaign.entries), campaign.folder / POOL):
            inside(campaign.folder, folder.name, "results in")
    if campaign.pool is not None:
        make_folder(campaign.pool, "cases in")
    studies = []
    for entry in campaign.entries:
        store = Store.create(entry.folder, entry.study_file.file.text, campaign.pool)
        studies.append(StudyRun(entry.study_file, entry.plan, store, entry.notes))
    results: dict[Path, dict[str, Any]] = {}

    def complete(study: StudyRun) -> None:
        # An error of a report must not end the cases that still run: it is raised when all are done.
        with suppress(TradewindError, OSError):
            results[study.store.folder] = _reported(study, environment, report)
        if study.store.folder in results:
            report_study(results[study.store.folder])

    how: dict[str, Any] = {"workers": workers, "remote_workers": remote_workers, "remeasure": remeasure, "known": known}
    how |= {"observer": observer, "complete": complete, "sweep_complete": report_sweep}
    run_studies(studies, executors, environment, **how)
    for study in studies:
        if study.store.folder not in results:
            results[study.store.folder] = _reported(study, environment, report)
            report_study(results[study.store.folder])
    return [results[entry.folder] for entry in campaign.entries]


def _reported(study: StudyRun, environment: Environment, report: Report) -> dict[str, Any]:
    """Writes the report of a study that is complete; returns its summary and the counts of its cases."""
    outcome = study.outcome
    counts = {"computed": outcome.computed, "reused": outcome.reused, "recomputed": outcome.recomputed}
    title = study.study_file.study.title
    return {"study": title, "folder": str(study.store.folder), **counts, **report(study.store.folder, environment)}


@contextmanager
def start_workers(
    scheduler: str | None, cluster: Path | None, environment: Environment, note: Callable[[str], None]
) -> Iterator[Workers | None]:
    """The workers of a Dask scheduler or of a batch system, for as long as the context lasts; None without either."""
    if scheduler is not None and cluster is not None:
        raise InputError("--scheduler and --cluster: one of them is allowed")
    if scheduler is None and cluster is None:
        yield None
        return
    from tradewind.study.runner.cluster import load_cluster, start_cluster
    from tradewind.study.runner.dask_workers import DaskWorkers, connect

    if cluster is None:
        with connect(str(scheduler)) as client:
            yield DaskWorkers(client, environment, note)
        return
    with start_cluster(load_cluster(cluster)) as jobs, connect(jobs.scheduler_address) as client:
        yield DaskWorkers(client, environment, note, patience_s=None)  # jobs may stand in a queue for long
