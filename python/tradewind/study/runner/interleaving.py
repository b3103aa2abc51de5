"""Measured cases: each alone, or those that take turns, in rounds over all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from tradewind.study.cases.case import canonical
from tradewind.study.plan.planned import Result
from tradewind.study.runner.task import CaseResult, Task, method_of, run_task

Combine = Callable[[Sequence[Result]], Result]
"""One result of those of all rounds."""


class MeasuredGroup:
    """Cases that differ in algorithm, transport and packing alone. In each round one job of ranks measures all."""

    def __init__(self, tasks: list[Task], combine: Combine) -> None:
        self.tasks, self.combine = tasks, combine
        options = tasks[0].planned.case.options
        self.rounds, self.repeat = options["rounds"], options["repeat"]
        self.rounds_done: list[Result] = []
        self.wall_s = 0.0
        self.failed = False

    def take(self, round_: int) -> None:
        """One round more, where there is one."""
        if self.failed or round_ >= self.rounds:
            return
        start = time.perf_counter()
        methods = dict.fromkeys(method_of(task) for task in self.tasks)
        repeat = self.repeat // self.rounds + (round_ < self.repeat % self.rounds)
        try:
            self.rounds_done.append(
                self.tasks[0].executor(self.tasks[0].planned.case.workload, list(methods), repeat=repeat)
            )
        except Exception:
            self.failed = True  # which of them it was, and why, comes out when they are alone
        self.wall_s += time.perf_counter() - start

    def results(self) -> Iterator[tuple[Task, CaseResult]]:
        """Yield the result of each case. If a round failed, measure each case alone."""
        if self.failed:
            yield from ((task, run_task(task)) for task in self.tasks)
            return
        result = self.combine(self.rounds_done)
        for task in self.tasks:
            picked = run_task(replace(task, executor=lambda *_, **__: result))
            # Each case gets an equal share of the time of the jobs.
            yield task, replace(picked, wall_s=self.wall_s / len(self.tasks))


def measured(tasks: Iterable[Task], combine: Combine) -> Iterator[tuple[Task, CaseResult]]:
    """All results: first of cases that are alone, one by one; then of those that take turns."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        if not _is_interleaved(task):
            yield task, run_task(task)
            continue
        request = task.planned.case.request
        exchange = {key: value for key, value in request["exchange"].items() if key != "algorithm"}
        company = {key: value for key, value in request["options"].items() if key not in ("transport", "packing")}
        groups.setdefault(canonical([exchange, company]), []).append(task)
    found = [MeasuredGroup(group, combine) for group in groups.values()]
    for round_ in range(max((group.rounds for group in found), default=0)):
        for group in found:
            group.take(round_)
    for group in found:
        yield from group.results()


def _is_interleaved(task: Task) -> bool:
    case = task.planned.case
    return case.kind == "measure" and "rounds" in case.options
