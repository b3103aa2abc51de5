"""Measured cases: each alone, or those that take turns, together in one job of ranks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tradewind.study.case import Case, canonical
from tradewind.study.task import Answer, Task, answer, samples_of, way_of


def groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """Cases of several rounds that differ in algorithm, transport and packing alone, together; each other one alone."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(_company(task), []).append(task)
    return list(found.values())


def answers(tasks: Sequence[Task]) -> list[Answer]:
    """The answers of one group. Where it fails as a whole each case is measured alone: none takes another with it."""
    if len(tasks) > 1:
        start = time.perf_counter()
        try:
            ways = dict.fromkeys(way_of(task) for task in tasks)
            result = tasks[0].executor(tasks[0].planned.case.workload, list(ways), **samples_of(tasks[0]))
        except Exception:
            pass  # which of them it was, and why, comes out when they are alone
        else:
            # Their own times are in the result; of the job's, each is said to have taken its share.
            share_s = (time.perf_counter() - start) / len(tasks)
            return [replace(answer(replace(task, executor=lambda *_, **__: result)), wall_s=share_s) for task in tasks]
    return [answer(task) for task in tasks]


def _company(task: Task) -> str:
    case = task.planned.case
    if not isinstance(case, Case) or case.kind != "measure" or "rounds" not in case.options:
        return task.key
    exchange = {key: value for key, value in case.request["exchange"].items() if key != "algorithm"}
    return canonical({"exchange": exchange, **samples_of(task)})
