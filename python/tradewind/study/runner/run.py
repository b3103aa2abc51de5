"""Runs studies: every case that is not stored yet, once, whatever happens to the others.

Studies that run together have one queue, so that no core waits for the last case of one of them before the next begins.
Verification and simulation run in worker processes, here or elsewhere, so that a case that dies takes no other with it;
here simulations that the others would have to wait for run one after another with all cores, the others side by side.
Measured cases always run here and alone, nothing beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psutil

from tradewind.base.data import MODELS, TRACES
from tradewind.base.errors import InputError, TradewindError
from tradewind.base.reading import read_bytes
from tradewind.simulation import Progress
from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.model_cases import model_texts
from tradewind.study.cases.store import Store, counted_by_reason, locked, outdated
from tradewind.study.cases.trace_cases import trace_files
from tradewind.study.model.skip import Skip
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.planned import Executors, Plan, Planned, Result
from tradewind.study.runner.cached_cases import CachedCases, scan_cache, yields_to_known
from tradewind.study.runner.core_allocation import alone_first, interleaved
from tradewind.study.runner.interleaving import measured
from tradewind.study.runner.task import CaseResult, Task, make_task
from tradewind.study.runner.workers import LocalWorkers, Workers

MEMORY_SHARE = 0.9
"""Share of the free memory that all simulations may take together."""


class Observer:
    """Receives the events of a run of studies; this one ignores them."""

    def begin(self, total: int, reused: int, cost_s: float = 0.0) -> None:
        """Begin a run of `total` cases, `reused` of which are stored already; `cost_s`: forecast of the others."""

    def note(self, text: str) -> None:
        """Receive a text about the run."""

    def done(self, planned: Planned, result: Result, wall_s: float) -> None:
        """Receive the result of a case, and the seconds that it took."""

    def failed(self, planned: Planned, reason: str) -> None:
        """Receive the error of a case."""

    def running(self, planned: Planned, progress: Progress) -> None:
        """Receive the progress of a running case."""

    def end(self) -> None:
        """End the run, also after an error."""


@dataclass
class Outcome:
    """Outcome of a run of a study."""

    computed: int = 0
    reused: int = 0
    """Stored already, or computed for another study of the same run."""
    skipped: list[Skip] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Key -> why."""
    recomputed: list[str] = field(default_factory=list)
    """Problems of stored cases that had to be computed again."""


class StudyRun:
    """One of the studies that run together: what it needs, where its results go, and how far it is."""

    def __init__(self, study_file: StudyFile, plan: Plan, store: Store, notes: Sequence[str] = ()) -> None:
        """`notes` are kept with the results."""
        self.study_file, self.plan, self.store, self.notes = study_file, plan, store, notes
        self.outcome = Outcome(skipped=list(plan.skips))
        self.own: list[Planned] = []
        """The cases that are computed for this study, and perhaps for later ones."""
        self.open: set[str] = set()
        """Keys of the cases that it waits for."""
        self.open_sweeps: dict[str, set[str]] = {}
        """The same by sweep, as long as it waits for any."""

    def begin(self) -> None:
        """Writes what a results folder holds beside cases. Only for the holder of the lock."""
        self.store.remove_parts()
        self.store.write(self.store.study_file, self.study_file.file.text.encode())
        for machine in {planned.machine for planned in self.plan.planned if planned.machine}:
            self.store.write(self.store.machines / f"{machine.stem}.toml", read_bytes(machine))
        for name, text in model_texts(self.study_file.study).items():
            self.store.write_input(MODELS, name, text.encode())
        for path in trace_files(self.study_file.study):
            self.store.write_input(TRACES, path.name, read_bytes(path))

    def take(self, known: Mapping[str, dict[str, Any]]) -> None:
        """Stores results that are known by their keys, unless they are those of another program."""
        refused = {}
        for planned in self.plan.planned:
            if planned.key in known and yields_to_known(planned, self.store):
                if (why := outdated(known[planned.key], planned.program)) is not None:
                    refused[planned.key] = why
                    continue
                self.store.save(planned.key, {**known[planned.key], "identity": planned.identity})
        self.notes = [*self.notes, *counted_by_reason("known cases are", refused.values())]

    def claim(self, cached: CachedCases, taken: set[str]) -> None:
        """Takes over what is missing, but for the keys that an earlier study has taken; adds its own to `taken`."""
        self.outcome.reused = len(cached.present)
        self.open = {planned.key for planned in cached.missing}
        self.open_sweeps = {planned.case.sweep: set() for planned in self.plan.planned}
        for planned in self.plan.planned:
            self.open_sweeps[planned.case.sweep] |= self.open & {planned.key}
        self.own = [planned for planned in cached.missing if planned.key not in taken]
        self.outcome.recomputed = cached.recomputed(taken)
        taken |= self.open

    def settle(self, key: str) -> None:
        """Wait no longer for a case."""
        self.open.discard(key)
        for keys in self.open_sweeps.values():
            keys.discard(key)

    def complete_sweeps(self) -> list[str]:
        """The sweeps that it has stopped to wait for since this was last called."""
        complete = [name for name, keys in self.open_sweeps.items() if not keys]
        for name in complete:
            del self.open_sweeps[name]
        return complete

    def save_manifest(self) -> None:
        """Write the manifest: all cases, also those without a result so far, skips, failures and notes."""
        cases = [planned.entry for planned in self.plan.planned]
        skipped = [skip.as_dict() for skip in self.outcome.skipped]
        notes = [*self.notes, *self.outcome.recomputed]
        self.store.save_manifest({"cases": cases, "skipped": skipped, "failed": self.outcome.failed, "notes": notes})


def run_studies(
    studies: Sequence[StudyRun],
    executors: Executors,
    environment: Environment,
    *,
    workers: int | None = None,
    remote_workers: Workers | None = None,
    remeasure: bool = False,
    known: Mapping[str, dict[str, Any]] | None = None,
    observer: Observer | None = None,
    complete: Callable[[StudyRun], None] = lambda _: None,
    sweep_complete: Callable[[StudyRun, str], None] = lambda *_: None,
) -> None:
    """Computes what the stores of studies do not hold yet. Several studies share one pool of cases.

    `workers`: cases at a time; None: as many as suit their size. `remote_workers` verify and simulate in place of
    processes of this machine. `known`: results by key, which are stored first (see `dataset.known`). `complete` is
    called as soon as all cases of a study are done or have failed, `sweep_complete` as soon as those of a sweep are.
    Raises TradewindError where another run writes the same folders.
    """
    with locked(study.store for study in studies):
        for study in studies:
            study.begin()
            study.take(known or {})
        run = _Run(studies, executors, environment, observer or Observer(), remote_workers, complete, sweep_complete)
        run.run(workers, remeasure)


class _Run:
    def __init__(
        self,
        studies: Sequence[StudyRun],
        executors: Executors,
        environment: Environment,
        observer: Observer,
        remote_workers: Workers | None,
        complete: Callable[[StudyRun], None],
        sweep_complete: Callable[[StudyRun, str], None],
    ) -> None:
        self.studies, self.executors, self.environment = studies, executors, environment
        self.observer, self.remote_workers = observer, remote_workers
        self.complete, self.sweep_complete = complete, sweep_complete

    def run(self, workers: int | None, remeasure: bool) -> None:
        keys = {planned.key for study in self.studies for planned in study.plan.planned}
        taken: set[str] = set()
        for study in self.studies:
            study.claim(scan_cache(study.plan.planned, study.store, remeasure=remeasure), taken)
            study.save_manifest()
        cost_s = sum(planned.cost_s for study in self.studies for planned in study.own)
        self.observer.begin(len(keys), len(keys) - len(taken), cost_s)
        for study in self.studies:
            for text in [*study.notes, *study.outcome.recomputed]:
                self.observer.note(text if len(self.studies) == 1 else f"{study.study_file.name}: {text}")
        with self._manifests():
            for study in self.studies:
                self._end_where_whole(study)
            self._verify([planned for own in self._own("verify") for planned in own], workers)
            for own in self._own(*HERE_ONLY, "published"):
                self._here(own)
            self._simulate(self._own("simulate"), workers)

    @contextmanager
    def _manifests(self) -> Iterator[None]:
        """Write the manifests, with what became of each case, however a run ends."""
        try:
            yield
        except BaseException:
            for study in self.studies:
                with suppress(InputError):  # which has a reason already: the disk is full, perhaps
                    study.save_manifest()
            raise
        else:
            failures = []
            for study in self.studies:
                try:
                    study.save_manifest()
                except InputError as error:  # of one study alone, perhaps
                    failures.append(error)
            if failures:
                raise failures[0]
        finally:
            self.observer.end()

    def _own(self, *kinds: str) -> list[list[Planned]]:
        """The cases of some kinds that each study has to compute."""
        return [[planned for planned in study.own if planned.case.kind in kinds] for study in self.studies]

    def _end_where_whole(self, study: StudyRun) -> None:
        for name in study.complete_sweeps():
            self.sweep_complete(study, name)
        if not study.open:
            study.save_manifest()
            self.complete(study)

    def _compute(
        self, cases: Sequence[Planned], executor: Callable[..., Result], local: Workers, threads: int = 1
    ) -> None:
        """Verify or simulate on the remote workers if there are any, else in worker processes of this machine."""
        tasks = [make_task(planned, executor).with_threads(threads) for planned in cases]
        if tasks:
            (self.remote_workers or local).run(tasks, self._finish, self._lose, self._report)

    def _here(self, cases: list[Planned]) -> None:
        """Measurements and runs, nothing beside them; and what others have published."""
        executors = self.executors
        tasks = [make_task(p, executors.run if p.case.kind == "run" else executors.bench) for p in cases]
        for task, result in measured(tasks, executors.combine):
            self._finish(task, result)

    def _verify(self, cases: list[Planned], workers: int | None) -> None:
        self._compute(cases, self.executors.verify, self._local(workers or self.environment.cores))

    def _simulate(self, studies: list[list[Planned]], workers: int | None) -> None:
        cores, simulate = self.environment.cores, self.executors.simulate
        cases = [planned for own in studies for planned in own]
        if self.remote_workers is not None:  # their number changes, and no report of a study is awaited before others
            longest = sorted(cases, key=lambda planned: -planned.cost_s)
            self._compute(longest, simulate, self.remote_workers)
        elif workers is not None:
            self._compute(interleaved(studies, workers), simulate, self._local(workers), max(1, cores // workers))
        else:
            beside = self._local(cores)
            alone = alone_first(cases, cores, beside.memory_bytes)
            keys = {planned.key for planned in alone}
            others = [[planned for planned in own if planned.key not in keys] for own in studies]
            self._compute(alone, simulate, self._local(1), cores)
            self._compute(interleaved(others, cores), simulate, beside)

    @staticmethod
    def _local(count: int) -> LocalWorkers:
        return LocalWorkers(count, MEMORY_SHARE * psutil.virtual_memory().available)

    def _finish(self, task: Task, result: CaseResult) -> None:
        planned = task.planned
        if result.error is not None:
            self._lose(task, result.error)
            return
        assert result.result is not None
        waiting = self._waiting(task)
        body = {
            "key": planned.key,
            "identity": planned.identity,
            **({"program": planned.program} if planned.program else {}),
            "result": result.result,
            "wall_s": result.wall_s,
            "environment": result.environment or self.environment.as_dict(),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            waiting[0].store.save(planned.key, body)
        except InputError as error:
            # Whatever else was computed would be lost as well.
            raise TradewindError(f"{planned.case.name}: {error}; cases before it are stored: run again") from None
        waiting[0].outcome.computed += 1
        for other in waiting[1:]:
            other.outcome.reused += 1
        self.observer.done(planned, result.result, result.wall_s)
        self._settled(task, waiting)

    def _lose(self, task: Task, reason: str) -> None:
        waiting = self._waiting(task)
        for study in waiting:
            study.outcome.failed[task.key] = reason
        self.observer.failed(task.planned, reason)
        self._settled(task, waiting)

    def _waiting(self, task: Task) -> list[StudyRun]:
        return [study for study in self.studies if task.key in study.open]

    def _settled(self, task: Task, waiting: Sequence[StudyRun]) -> None:
        for study in waiting:
            study.settle(task.key)
            self._end_where_whole(study)

    def _report(self, task: Task, progress: Progress) -> None:
        self.observer.running(task.planned, progress)
