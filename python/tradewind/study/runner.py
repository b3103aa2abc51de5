"""Runs a study: every case that is not stored yet, once, whatever happens to the others.

Verification and simulation run in worker processes, here or elsewhere, so that a case that dies takes no other with it;
here simulations that the others would have to wait for run one after another with all cores, the others side by side.
Measured cases always run here and alone, nothing beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psutil

from tradewind.files import write_atomically
from tradewind.simulation import Progress
from tradewind.study.case import HERE_ONLY
from tradewind.study.environment import Environment
from tradewind.study.load import StudyFile
from tradewind.study.plan import Executors, Plan, Planned, Result
from tradewind.study.shares import alone_first
from tradewind.study.skip import Skip
from tradewind.study.stock import take_stock
from tradewind.study.store import Store
from tradewind.study.task import Answer, Task, make_task
from tradewind.study.turns import measured
from tradewind.study.workers import LocalWorkers, Workers

MEMORY_SHARE = 0.9
"""Of the memory that is free when simulations begin, what they may take together."""


class Observer:
    """Is told how a study goes on; does nothing with it."""

    def begin(self, total: int, reused: int) -> None: ...

    def note(self, text: str) -> None: ...

    def done(self, planned: Planned, result: Result, wall_s: float) -> None: ...

    def failed(self, planned: Planned, reason: str) -> None: ...

    def running(self, planned: Planned, progress: Progress) -> None: ...

    def end(self) -> None: ...


@dataclass
class Outcome:
    """How a run of a study ended."""

    computed: int = 0
    reused: int = 0
    skipped: list[Skip] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Key -> why."""
    recomputed: list[str] = field(default_factory=list)
    """What was wrong with stored cases that had to be computed again."""


def run_study(
    study_file: StudyFile,
    plan: Plan,
    store: Store,
    executors: Executors,
    environment: Environment,
    *,
    workers: int | None = None,
    crew: Workers | None = None,
    remeasure: bool = False,
    notes: Sequence[str] = (),
    known: Mapping[str, dict[str, Any]] | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """Computes what `store` does not hold yet. `workers` cases at a time; None: as many as suit their size.

    `crew`: workers elsewhere, which verify and simulate instead of processes of this machine. `notes` are kept with
    the results. `known`: answers by key, which are stored first (see `dataset.known`). Raises TradewindError where
    another run writes the same folder.
    """
    observer = observer or Observer()
    with store.locked():
        store.remove_parts()
        write_atomically(store.study_file, study_file.file.text.encode())
        for machine in {planned.machine for planned in plan.planned if planned.machine}:
            write_atomically(store.machines / f"{machine.stem}.toml", machine.read_bytes())
        _take(known or {}, plan, store)
        return _Run(plan, store, executors, environment, observer, crew, notes).run(workers, remeasure)


def _take(known: Mapping[str, dict[str, Any]], plan: Plan, store: Store) -> None:
    for planned in plan.planned:
        if planned.key in known and not store.path(planned.key).exists():
            store.save(planned.key, {**known[planned.key], "identity": planned.identity})


class _Run:
    def __init__(
        self,
        plan: Plan,
        store: Store,
        executors: Executors,
        environment: Environment,
        observer: Observer,
        crew: Workers | None,
        notes: Sequence[str],
    ) -> None:
        self.plan, self.store, self.executors = plan, store, executors
        self.environment, self.observer, self.crew, self.notes = environment, observer, crew, notes
        self.outcome = Outcome(skipped=list(plan.skips))

    def run(self, workers: int | None, remeasure: bool) -> Outcome:
        stock = take_stock(self.plan.planned, self.store, remeasure=remeasure)
        open_cases = stock.missing
        self.outcome.reused, self.outcome.recomputed = len(stock.at_hand), stock.damaged
        self._save_manifest()
        self.observer.begin(len(open_cases) + self.outcome.reused, self.outcome.reused)
        for text in [*self.notes, *self.outcome.recomputed]:
            self.observer.note(text)
        try:
            self._verify([p for p in open_cases if p.case.kind == "verify"], workers)
            self._here([p for p in open_cases if p.case.kind in (*HERE_ONLY, "published")])
            self._simulate([p for p in open_cases if p.case.kind == "simulate"], workers)
        finally:
            self._save_manifest()
            self.observer.end()
        return self.outcome

    def _compute(self, cases: list[Planned], executor: Callable[..., Result], local: Workers, threads: int = 1) -> None:
        """Verification or simulation: on the crew where there is one, else in worker processes of this machine."""
        tasks = [make_task(planned, executor).with_threads(threads) for planned in cases]
        if tasks:
            (self.crew or local).run(tasks, self._finish, self._lose, self._tell)

    def _here(self, cases: list[Planned]) -> None:
        """Measurements and runs, nothing beside them; and what others have published."""
        executors = self.executors
        tasks = [make_task(p, executors.run if p.case.kind == "run" else executors.bench) for p in cases]
        for task, answered in measured(tasks, executors.together):
            self._finish(task, answered)

    def _verify(self, cases: list[Planned], workers: int | None) -> None:
        self._compute(cases, self.executors.verify, self._local(workers or self.environment.cores))

    def _simulate(self, cases: list[Planned], workers: int | None) -> None:
        cores, simulate = self.environment.cores, self.executors.simulate
        if workers is not None or self.crew is not None:
            count = workers or cores
            longest = sorted(cases, key=lambda planned: -planned.cost_s)
            self._compute(longest, simulate, self._local(count), max(1, cores // count))
            return
        beside = self._local(cores)
        alone, others = alone_first(cases, cores, beside.memory_bytes)
        self._compute(alone, simulate, self._local(1), cores)
        self._compute(others, simulate, beside)

    @staticmethod
    def _local(count: int) -> LocalWorkers:
        return LocalWorkers(count, MEMORY_SHARE * psutil.virtual_memory().available)

    def _finish(self, task: Task, answer: Answer) -> None:
        planned = task.planned
        if answer.error is not None:
            self._lose(task, answer.error)
            return
        assert answer.result is not None
        self.store.save(
            planned.key,
            {
                "key": planned.key,
                "identity": planned.identity,
                "result": answer.result,
                "wall_s": answer.wall_s,
                "environment": answer.environment or self.environment.as_dict(),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )
        self.outcome.computed += 1
        self.observer.done(planned, answer.result, answer.wall_s)

    def _lose(self, task: Task, reason: str) -> None:
        self.outcome.failed[task.key] = reason
        self.observer.failed(task.planned, reason)

    def _tell(self, task: Task, progress: Progress) -> None:
        self.observer.running(task.planned, progress)

    def _save_manifest(self) -> None:
        cases = [
            {"key": planned.key, "labels": planned.case.labels, "layout_imbalance": planned.case.imbalance()}
            for planned in self.plan.planned
        ]
        skipped = [skip.as_dict() for skip in self.outcome.skipped]
        notes = [*self.notes, *self.outcome.recomputed]
        self.store.save_manifest({"cases": cases, "skipped": skipped, "failed": self.outcome.failed, "notes": notes})
