"""One study, or a folder of them that share their cases: read, planned, run and reported one after another."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.errors import InputError
from tradewind.study.environment import Environment
from tradewind.study.load import StudyFile, load_study
from tradewind.study.plan import Executors, Plan, Planned, make_plan
from tradewind.study.quick import quick_study
from tradewind.study.runner import Observer, run_study
from tradewind.study.stock import take_stock
from tradewind.study.store import Store
from tradewind.study.workers import Workers

if TYPE_CHECKING:
    from tradewind.report.build import Report

POOL = "cases"
"""The folder of the cases that the studies of a folder share, inside the folder of their results."""


@dataclass(frozen=True)
class Entry:
    """A study of a campaign, what it will compute, and where its results go."""

    study_file: StudyFile
    plan: Plan
    folder: Path
    notes: list[str]
    """What a quick run leaves out."""


@dataclass(frozen=True)
class Campaign:
    """The studies that one command runs."""

    entries: list[Entry]
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
    is_folder = path.is_dir()
    files = _read(sorted(path.glob("*.toml"), key=_natural) if is_folder else [path])
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
        entries.append(Entry(file, plan, folder / file.name if is_folder else folder, notes))
    if problems:
        raise InputError(*problems)
    return Campaign(entries, folder, pool or (folder / POOL if is_folder else None), is_folder)


def at_hand(campaign: Campaign, known: Collection[str] = (), *, remeasure: bool = False) -> set[str]:
    """Keys of the cases that a run would not compute: those stored already, and those `known`."""
    keys: set[str] = set()
    for entry in campaign.entries:
        store = Store(entry.folder, campaign.pool)
        stock = take_stock(entry.plan.planned, store, known=known, remeasure=remeasure)
        keys |= {planned.key for planned in stock.at_hand}
    return keys


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sorts figure-9 before figure-10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.stem)]


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
    make_observer: Callable[[], Observer],
    *,
    workers: int | None = None,
    crew: Workers | None = None,
    remeasure: bool = False,
    known: Mapping[str, dict[str, Any]] | None = None,
) -> Iterator[tuple[Report, dict[str, Any]]]:
    """Runs the studies one after another; answers after each its report, and all of it as plain values.

    `known`: answers by key that need not be computed (see `dataset.known`).
    """
    from tradewind.report.build import build_report

    if campaign.pool is not None:
        campaign.pool.mkdir(parents=True, exist_ok=True)
    for entry in campaign.entries:
        store = Store.create(entry.folder, entry.study_file.file.text, campaign.pool)
        outcome = run_study(
            entry.study_file,
            entry.plan,
            store,
            executors,
            environment,
            workers=workers,
            crew=crew,
            remeasure=remeasure,
            notes=entry.notes,
            known=known,
            observer=make_observer(),
        )
        report = build_report(entry.folder, environment)
        counts = {"computed": outcome.computed, "reused": outcome.reused, "recomputed": outcome.recomputed}
        title = entry.study_file.study.title
        yield report, {"study": title, "folder": str(entry.folder), **counts, **report.as_dict()}


@contextmanager
def hired(
    scheduler: str | None, cluster: Path | None, environment: Environment, note: Callable[[str], None]
) -> Iterator[Workers | None]:
    """The workers of a Dask scheduler or of a batch system, for as long as the context lasts; None without either."""
    if scheduler is not None and cluster is not None:
        raise InputError("--scheduler and --cluster: one of them is allowed")
    if scheduler is None and cluster is None:
        yield None
        return
    from tradewind.study.cluster import load_cluster, start_cluster
    from tradewind.study.dask_workers import DaskWorkers, connect

    if cluster is None:
        with connect(str(scheduler)) as client:
            yield DaskWorkers(client, environment, note)
        return
    with start_cluster(load_cluster(cluster)) as jobs, connect(jobs.scheduler_address) as client:
        yield DaskWorkers(client, environment, note, patience_s=None)  # jobs may stand in a queue for long
