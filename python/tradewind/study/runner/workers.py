"""Worker processes of this machine: as many cases at a time as cores and memory allow.

A case waits until the memory that it is forecast to need is free beside that of the cases that run. A case whose
worker dies takes no other with it: what was lost is computed once more, each case alone.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

from tradewind.simulation import Progress
from tradewind.study.runner.progress_messages import ProgressReceiver, datagram_sender, reporter
from tradewind.study.runner.task import CaseResult, Task, run_task

WORKER_BYTES = 150e6
"""Bytes of a worker process without its case: Python, NumPy and the compiled core."""
LOOK_UP_S = 0.25
"""Seconds between two readings of the progress of running cases."""

Finish = Callable[[Task, CaseResult], None]
Lose = Callable[[Task, str], None]
Report = Callable[[Task, Progress], None]


class Workers(Protocol):
    """Workers that compute tasks: each ends in `finish`, or in `lose` with the reason; `report` receives progress."""

    def run(self, tasks: Sequence[Task], finish: Finish, lose: Lose, report: Report) -> None:
        """Compute all tasks, in any order, several at a time."""


class LocalWorkers:
    """A pool of processes on this machine."""

    def __init__(self, count: int, memory_bytes: float) -> None:
        """`count` cases at a time, that are forecast to need no more than `memory_bytes` together."""
        self.count, self.memory_bytes = count, memory_bytes

    def run(self, tasks: Sequence[Task], finish: Finish, lose: Lose, report: Report) -> None:
        """Compute all tasks on processes of this machine. A task whose process dies twice is lost."""
        waiting = list(tasks)
        while waiting:
            for task in self._until_one_dies(waiting, finish, report):
                if self._until_one_dies([task], finish, report):
                    lose(task, "its worker process died twice: killed, or out of memory")

    def _until_one_dies(self, waiting: list[Task], finish: Finish, report: Report) -> list[Task]:
        """Takes tasks from `waiting` and finishes them. Where a worker dies, returns the tasks that were lost."""
        running: dict[Future[CaseResult], Task] = {}
        lost: list[Task] = []
        with ProgressReceiver() as progress_receiver:
            pool = _pool(min(self.count, len(waiting)), progress_receiver.address)
            try:
                while (waiting or running) and not lost:
                    for task in self._fitting(waiting, running.values()):
                        running[pool.submit(_run_task, task)] = task
                        waiting.remove(task)
                    done, _ = wait(running, LOOK_UP_S, FIRST_COMPLETED)
                    lost += _collect(done, running, finish)
                    _report_progress(progress_receiver, running.values(), report)
            except BrokenProcessPool:
                pass  # before the pool took another task, which waits on
            finally:
                pool.shutdown(cancel_futures=True)
            return lost + _collect(set(running), running, finish)

    def _fitting(self, waiting: Iterable[Task], running: Iterable[Task]) -> list[Task]:
        """The waiting tasks that can begin beside those that run; one that is too large for any company runs alone."""
        tasks = list(waiting)
        needs, taken = ([task.memory_bytes for task in some] for some in (tasks, running))
        return [tasks[i] for i in beginning(needs, taken, self.count, self.memory_bytes)]


def beginning(waiting: Sequence[float], running: Sequence[float], count: int, memory_bytes: float) -> list[int]:
    """Which waiting cases begin beside those that run, of both what they need beside their worker, in bytes.

    `count` at a time, with no more than `memory_bytes` together; one that is too large for any company runs alone.
    """
    begin: list[int] = []
    number, taken = len(running), sum(running) + WORKER_BYTES * len(running)
    for i, needed in enumerate(waiting):
        if number == count:
            break
        if number == 0 or taken + WORKER_BYTES + needed <= memory_bytes:
            begin.append(i)
            number, taken = number + 1, taken + WORKER_BYTES + needed
    return begin


def _collect(done: set[Future[CaseResult]], running: dict[Future[CaseResult], Task], finish: Finish) -> list[Task]:
    """Finishes the tasks that are done and returns those whose worker died."""
    lost = []
    for future in done:
        task = running.pop(future)
        try:
            result = future.result()
        except BrokenProcessPool:
            lost.append(task)
        else:
            finish(task, result)
    return lost


def _report_progress(receiver: ProgressReceiver, running: Iterable[Task], report: Report) -> None:
    by_key = {task.key: task for task in running}
    for key, progress in receiver.read():
        if key in by_key:
            report(by_key[key], progress)


def _pool(count: int, address: str) -> ProcessPoolExecutor:
    """Return a pool whose processes are forked from one that has loaded this module, and nothing else.

    The import takes most of a second, and is needed once for all studies of a process, not once per worker. A fork of
    the study itself would copy its threads' locks, and the MPI library that a script may have loaded.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return ProcessPoolExecutor(count, context, initializer=_begin, initargs=(address, dict(os.environ)))


_send: Callable[[dict[str, object]], None]
"""Sends progress to the study, in a worker process."""


def _begin(address: str, environment: dict[str, str]) -> None:
    """Set up a new worker process, with the environment of its study: the process that it is a fork of may be older.

    It ends with its study: the pool alone would leave it waiting for ever.
    """
    global _send
    os.environ.clear()
    os.environ.update(environment)
    _send = datagram_sender(address)

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_task(task: Task) -> CaseResult:
    return run_task(task, reporter(task.key, _send))
