"""Workers of a Dask scheduler, on this machine or on many.

Dask carries tasks and results; which worker gets which case is decided here, because Dask knows neither the memory that
a case is forecast to need nor that a large simulation uses all threads of a worker. A case whose worker is gone is
computed again on another, `ATTEMPTS` times in all; then it has failed. None is lost.
"""

from __future__ import annotations

import queue
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tradewind.base.errors import InputError, TradewindError
from tradewind.base.units import format_bytes, format_seconds
from tradewind.simulation import Progress
from tradewind.study.cases.environment import Environment, here
from tradewind.study.runner.progress_messages import reporter
from tradewind.study.runner.task import LARGE_S, CaseResult, Task, run_task
from tradewind.study.runner.workers import WORKER_BYTES, Finish, Lose, Report

ATTEMPTS = 3
"""Number of times that a case is begun before it has failed."""
LOOK_UP_S = 0.5
"""Seconds between two counts of the workers."""
RESULT_S = 60.0
"""Maximum seconds of a result from its worker to here."""
TOPIC = "tradewind-progress"
INSTALL_DASK = "install it with  pip install 'tradewind[cluster]'"


@dataclass(frozen=True)
class Worker:
    """Cores and memory of a worker."""

    threads: int
    memory_bytes: float


@dataclass(frozen=True)
class _Job:
    """A task on a worker, with the part of it that it takes."""

    task: Task
    address: str
    threads: int

    @property
    def memory_bytes(self) -> float:
        return self.task.memory_bytes


def connect(address: str, timeout_s: float = 10.0) -> Any:
    """A Dask client. Raises InputError where no scheduler responds, or Dask is missing."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError(f"--scheduler needs Dask: {INSTALL_DASK}") from None
    # A client of what is no address is half made, and waits for its end when Python ends.
    if re.fullmatch(r"(?:\w+://)?[^/\s]+:\d{1,5}/?", address) is None:
        raise InputError(f"--scheduler {address!r}: the address of a scheduler is allowed, like tcp://HOST:8786")
    try:
        return Client(address, timeout=timeout_s, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler responds at {address!r}: {error}; tcp://HOST:PORT is meant") from None


class DaskWorkers:
    """The workers of a scheduler."""

    def __init__(
        self,
        client: Any,
        environment: Environment,
        note: Callable[[str], None],
        *,
        patience_s: float | None = 300.0,
        attempts: int = ATTEMPTS,
    ) -> None:
        """`patience_s`: how long to wait while there is no worker; None: for ever (jobs may stand in a queue)."""
        self._client, self._environment, self._note = client, environment, note
        self._patience_s, self._attempts = patience_s, attempts
        self._judged: dict[str, bool] = {}
        """Whether a worker can be used, by address."""
        self._asked: dict[str, Any] = {}
        """Future of the version of Tradewind of a worker, by address."""

    def run(self, tasks: Sequence[Task], finish: Finish, lose: Lose, report: Report) -> None:
        """Compute tasks on the workers of the scheduler; see `Workers.run`. Raises TradewindError when it is gone."""
        by_key = {task.key: task for task in tasks}

        def receive(event: tuple[float, dict[str, Any]]) -> None:
            message = dict(event[1])
            if (task := by_key.get(message.pop("key"))) is not None:
                report(task, Progress(**message))

        self._client.subscribe_topic(TOPIC, receive)
        shift = _Shift(self, list(tasks), finish, lose)
        try:
            shift.work()
        finally:
            shift.cancel()
            self._client.unsubscribe_topic(TOPIC)

    def usable(self) -> dict[str, Worker]:
        """The workers by address that can be used now. A new one is first asked which Tradewind it has."""
        found = self._client.scheduler_info(n_workers=-1)["workers"]
        for address in found:
            if address not in self._judged and address not in self._asked:
                self._asked[address] = self._ask(worker_environment, address)
        for address, question in list(self._asked.items()):
            if question.done() or address not in found:
                del self._asked[address]
                self._judge(address, question)
        return {
            address: Worker(worker["nthreads"], worker["memory_limit"] or float("inf"))
            for address, worker in found.items()
            if self._judged.get(address)
        }

    def _judge(self, address: str, question: Any) -> None:
        """A worker with another Tradewind would compute other cases than those that are asked for."""
        if not question.done():
            question.cancel()  # the worker is gone
            return
        try:
            theirs = question.result(timeout=RESULT_S)
        except Exception as error:  # no Tradewind, or no worker any more
            theirs = f"{type(error).__name__}: {error}"
        ours = self._environment.version, self._environment.commit
        self._judged[address] = theirs == ours
        if theirs != ours:
            self._note(f"worker {address} is not used: it has Tradewind {theirs}, this is {ours}")

    def wait_for_some(self, since: float) -> None:
        """Called while there is no worker. Raises TradewindError when patience is over."""
        if self._patience_s is not None and time.monotonic() - since > self._patience_s:
            raise TradewindError(
                f"the scheduler has had no usable worker for {format_seconds(self._patience_s)}; what is stored stays: "
                "start workers with  dask worker ADDRESS  and the study again"
            )

    def submit(self, job: _Job, done: Callable[[Any], None]) -> Any:
        """Return the future of a task on one worker; `done` is called when it ends."""
        future = self._ask(dask_run_task, job.address, job.task.with_threads(job.threads))
        future.add_done_callback(done)
        return future

    def _ask(self, function: Callable[..., Any], address: str, *arguments: Any) -> Any:
        """Has a function called on one worker, and on no other if that dies."""
        key = f"tradewind-{uuid.uuid4().hex}"
        return self._client.submit(function, *arguments, key=key, workers=[address], pure=False, retries=0)

    def check_connection(self) -> None:
        """Raises TradewindError where the scheduler is gone."""
        if self._client.status != "running":
            raise TradewindError("the scheduler is gone; what is stored stays: start it, and the study again")

    @property
    def attempts(self) -> int:
        """Number of attempts of a task, each on another worker."""
        return self._attempts


class _Shift:
    """The tasks of one phase of a study on the workers."""

    def __init__(self, workers: DaskWorkers, waiting: list[Task], finish: Finish, lose: Lose) -> None:
        self._workers, self._waiting, self._finish, self._lose = workers, waiting, finish, lose
        self._running: dict[Any, _Job] = {}
        self._begun: Counter[str] = Counter()
        self._done: queue.Queue[Any] = queue.Queue()

    def work(self) -> None:
        idle_since = time.monotonic()
        while self._waiting or self._running:
            self._workers.check_connection()
            present = self._workers.usable()
            if present:
                idle_since = time.monotonic()
            else:
                self._workers.wait_for_some(idle_since)
            self._take_back(present)
            self._hand_out(present)
            self._collect()

    def cancel(self) -> None:
        for future in self._running:
            future.cancel()

    def _take_back(self, present: Mapping[str, Worker]) -> None:
        for future, job in list(self._running.items()):
            if job.address not in present and not future.done():
                del self._running[future]
                future.cancel()
                self._again(job.task, f"its worker {job.address} is gone: killed, or out of memory")

    def _again(self, task: Task, reason: str) -> None:
        if self._begun[task.key] < self._workers.attempts:
            self._waiting.insert(0, task)
        else:
            self._lose(task, f"given up after {self._begun[task.key]} attempts: {reason}")

    def _hand_out(self, present: Mapping[str, Worker]) -> None:
        for job in list(assign(self._waiting, list(self._running.values()), present)):
            self._waiting.remove(job.task)
            self._begun[job.task.key] += 1
            self._running[self._workers.submit(job, self._done.put)] = job
        if present and self._waiting and not self._running:  # whatever still waits fits no worker
            largest = max(worker.memory_bytes for worker in present.values())
            for task in self._waiting:
                needed = format_bytes(WORKER_BYTES + task.memory_bytes)
                self._lose(task, f"it needs {needed} of memory, and the largest worker has {format_bytes(largest)}")
            self._waiting.clear()

    def _collect(self) -> None:
        """Waits a moment for a result, and takes all that are there."""
        try:
            future = self._done.get(timeout=LOOK_UP_S)
            while True:
                self._take(future)
                future = self._done.get_nowait()
        except queue.Empty:
            return

    def _take(self, future: Any) -> None:
        job = self._running.pop(future, None)
        if job is None:
            return  # taken back before
        try:
            result = future.result(timeout=RESULT_S)
        except Exception as error:  # whatever became of the worker or of the way to it
            self._again(job.task, f"{type(error).__name__}: {error}")
        else:
            self._finish(job.task, result)


def assign(waiting: Sequence[Task], running: Sequence[_Job], present: Mapping[str, Worker]) -> Iterator[_Job]:
    """Yield jobs for waiting tasks that free threads and memory suffice for. A large task takes all threads."""
    jobs = list(running)
    for task in waiting:
        for address, worker in present.items():
            threads = worker.threads if task.planned.cost_s > LARGE_S else 1
            mine = [job for job in jobs if job.address == address]
            memory = sum(job.memory_bytes for job in mine) + task.memory_bytes + WORKER_BYTES
            if sum(job.threads for job in mine) + threads <= worker.threads and memory <= worker.memory_bytes:
                job = _Job(task, address, threads)
                jobs.append(job)
                yield job
                break


def worker_environment() -> tuple[str, str | None]:
    """Return the version of Tradewind on a worker."""
    return here().version, here().commit


def dask_run_task(task: Task) -> CaseResult:
    """Compute a case on a worker, and log its progress."""
    from distributed import get_worker

    worker = get_worker()
    result = run_task(task, reporter(task.key, lambda message: worker.log_event(TOPIC, message)))
    return replace(result, environment=here().as_dict())
