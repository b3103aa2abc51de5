"""Runs a study: every case that is not stored yet, once, whatever happens to the others.

Verification and simulation run in worker processes, so that a case that dies takes no other with it; large
simulations one after another with all cores, small ones side by side. Measured cases run alone, nothing beside them.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tradewind.errors import TradewindError
from tradewind.study.case import Skip
from tradewind.study.environment import Environment
from tradewind.study.load import StudyFile
from tradewind.study.plan import Executors, Plan, Planned, Result, simulation_options
from tradewind.study.store import CorruptCaseError, Store, write_atomically

LARGE_S = 2.0
"""A simulation that takes longer on one core gets all cores for itself."""


class Observer:
    """Is told how a study goes on; does nothing with it."""

    def begin(self, total: int, reused: int) -> None: ...

    def note(self, text: str) -> None: ...

    def done(self, planned: Planned, result: Result, wall_s: float) -> None: ...

    def failed(self, planned: Planned, reason: str) -> None: ...

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


@dataclass(frozen=True)
class _Task:
    planned: Planned
    executor: Callable[..., Result]
    threads: int


def run_study(
    study_file: StudyFile,
    plan: Plan,
    store: Store,
    executors: Executors,
    environment: Environment,
    *,
    workers: int | None = None,
    remeasure: bool = False,
    observer: Observer | None = None,
) -> Outcome:
    """Computes what `store` does not hold yet. `workers` cases at a time; None: as many as suit their size.

    Raises TradewindError where another run writes the same folder.
    """
    observer = observer or Observer()
    with store.locked():
        store.remove_parts()
        write_atomically(store.study_file, study_file.file.text.encode())
        for machine in {planned.machine for planned in plan.planned if planned.machine}:
            write_atomically(store.machines / f"{machine.stem}.toml", machine.read_bytes())
        return _Run(plan, store, executors, environment, observer).run(workers, remeasure)


class _Run:
    def __init__(
        self, plan: Plan, store: Store, executors: Executors, environment: Environment, observer: Observer
    ) -> None:
        self.plan, self.store, self.executors = plan, store, executors
        self.environment, self.observer = environment, observer
        self.outcome = Outcome(skipped=list(plan.skips))

    def run(self, workers: int | None, remeasure: bool) -> Outcome:
        open_cases = self._open_cases(remeasure)
        self._save_manifest()
        self.observer.begin(len(open_cases) + self.outcome.reused, self.outcome.reused)
        for text in self.outcome.recomputed:
            self.observer.note(text)
        try:
            self._verify([p for p in open_cases if p.case.kind == "verify"], workers)
            for planned in open_cases:
                if planned.case.kind == "measure":
                    self._finish(planned, _answer(_Task(planned, self.executors.bench, 1)))
            self._simulate([p for p in open_cases if p.case.kind == "simulate"], workers)
        finally:
            self._save_manifest()
            self.observer.end()
        return self.outcome

    def _open_cases(self, remeasure: bool) -> list[Planned]:
        """The cases to compute, each once; those that are stored are counted."""
        unique = {planned.key: planned for planned in self.plan.planned}
        todo = []
        for key, planned in unique.items():
            if self._is_stored(key) and not (remeasure and planned.case.kind == "measure"):
                self.outcome.reused += 1
            else:
                todo.append(planned)
        return todo

    def _is_stored(self, key: str) -> bool:
        try:
            return self.store.load(key) is not None
        except CorruptCaseError as error:
            self.outcome.recomputed.append(f"{error}; it is computed again")
            return False

    def _verify(self, cases: list[Planned], workers: int | None) -> None:
        tasks = [_Task(planned, self.executors.verify, 1) for planned in cases]
        self._in_pool(tasks, workers or self.environment.cores)

    def _simulate(self, cases: list[Planned], workers: int | None) -> None:
        cases = sorted(cases, key=lambda planned: -planned.cost_s)
        cores, simulate = self.environment.cores, self.executors.simulate
        if workers is not None:
            threads = max(1, cores // workers)
            self._in_pool([_Task(planned, simulate, threads) for planned in cases], workers)
            return
        large = [planned for planned in cases if planned.cost_s > LARGE_S]
        self._in_pool([_Task(planned, simulate, cores) for planned in large], 1)
        self._in_pool([_Task(planned, simulate, 1) for planned in cases[len(large) :]], cores)

    def _in_pool(self, tasks: Sequence[_Task], workers: int) -> None:
        """Runs tasks in worker processes. Where a worker dies, each task that was lost is tried alone once more."""
        lost = self._in_one_pool(tasks, min(workers, len(tasks)))
        for task in lost:
            if self._in_one_pool([task], 1):
                self._fail(task.planned, "its worker process died: killed, or out of memory")

    def _in_one_pool(self, tasks: Sequence[_Task], workers: int) -> list[_Task]:
        if not tasks:
            return []
        lost = []
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_die_with_parent)
        try:
            futures = {pool.submit(_answer, task): task for task in tasks}
            for future in as_completed(futures):
                try:
                    self._finish(futures[future].planned, future.result())
                except BrokenProcessPool:
                    lost.append(futures[future])
        finally:
            pool.shutdown(cancel_futures=True)
        return lost

    def _finish(self, planned: Planned, answer: _Answer) -> None:
        if answer.error is not None:
            self._fail(planned, answer.error)
            return
        assert answer.result is not None
        self.store.save(
            planned.key,
            {
                "key": planned.key,
                "identity": planned.identity,
                "result": answer.result,
                "wall_s": answer.wall_s,
                "environment": self.environment.as_dict(),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )
        self.outcome.computed += 1
        self.observer.done(planned, answer.result, answer.wall_s)

    def _fail(self, planned: Planned, reason: str) -> None:
        self.outcome.failed[planned.key] = reason
        self.observer.failed(planned, reason)

    def _save_manifest(self) -> None:
        cases = [
            {"key": planned.key, "labels": planned.case.labels, "layout_imbalance": planned.case.exchange.imbalance()}
            for planned in self.plan.planned
        ]
        skipped = [skip.as_dict() for skip in self.outcome.skipped]
        notes = list(self.outcome.recomputed)
        self.store.save_manifest({"cases": cases, "skipped": skipped, "failed": self.outcome.failed, "notes": notes})


@dataclass(frozen=True)
class _Answer:
    """What came of a case: a result, or why there is none. Errors cross between processes as text."""

    result: Result | None
    error: str | None
    wall_s: float


def _answer(task: _Task) -> _Answer:
    start = time.perf_counter()
    try:
        result, error = _execute(task), None
    except TradewindError as problem:
        result, error = None, str(problem)
    except Exception as problem:
        result, error = None, f"{type(problem).__name__}: {problem}"
    return _Answer(result, error, time.perf_counter() - start)


def _execute(task: _Task) -> Result:
    case, options = task.planned.case, task.planned.case.options
    if case.kind == "verify":
        return task.executor(case.exchange, transport=options["transport"])
    if case.kind == "simulate":
        return task.executor(case.exchange, task.planned.machine, threads=task.threads, **simulation_options(case))
    result = task.executor(
        case.exchange,
        algorithms=[case.algorithm],
        transports=[options["transport"]],
        packings=[options["packing"]],
        repeat=options["repeat"],
    )
    if not result["results"]:
        raise TradewindError(f"nothing was measured: {'; '.join(str(reason) for reason in result['skipped'])}")
    return result


def _die_with_parent() -> None:
    """Ends a worker whose study was killed: the pool alone would leave it waiting for ever."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
