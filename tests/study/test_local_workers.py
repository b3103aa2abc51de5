"""Which cases run side by side, and what is heard of those that run."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tradewind.simulation import Progress
from tradewind.study.cases.case import Case
from tradewind.study.plan.planned import Planned
from tradewind.study.runner.progress_messages import PAUSE_S, ProgressReceiver, datagram_sender, reporter
from tradewind.study.runner.task import CaseResult, Task
from tradewind.study.runner.workers import WORKER_BYTES, LocalWorkers
from tradewind.workload.exchange import Exchange

HALF_WAY = Progress(simulated_s=1e-3, fraction=0.5, packet_hops=3e6, wall_s=2.0)


def task(name: str, memory_bytes: float, executor: Any = None) -> Task:
    options = {"settings": {}, "machine": "torus-M"}
    case = Case("s", "simulate", Exchange("allreduce", 4, algorithm="recursive-2"), options)
    forecast = {"memory_bytes": memory_bytes, "wall_s": 1.0}
    return Task(Planned(case, {"name": name}, None, forecast), executor)


def together(exchange: Any, machine: Any, **options: Any) -> dict[str, Any]:
    """Returns how many of these calls there were at any time, by files in a folder that all of them share."""
    folder = Path(os.environ["TRADEWIND_TEST_CALLS"])
    mine = folder / str(time.monotonic_ns())
    mine.touch()
    time.sleep(0.3)
    number = len(list(folder.iterdir()))
    mine.unlink()
    return {"together": number}


def telling(exchange: Any, machine: Any, *, progress: Any, **options: Any) -> dict[str, Any]:
    """Says again and again that it is half way."""
    for _ in range(30):
        progress(HALF_WAY)
        time.sleep(PAUSE_S / 10)
    return {}


def run(workers: LocalWorkers, tasks: list[Task]) -> tuple[list[dict[str, Any]], list[Progress]]:
    results: list[dict[str, Any]] = []
    heard: list[Progress] = []

    def finish(task: Task, result: CaseResult) -> None:
        assert result.error is None, result.error
        results.append(result.result or {})

    def lose(task: Task, reason: str) -> None:
        raise AssertionError(reason)

    workers.run(tasks, finish, lose, lambda task, progress: heard.append(progress))
    return results, heard


def test_cases_whose_memory_does_not_fit_together_wait(calls: Any) -> None:
    tasks = [task(str(i), 1e9, together) for i in range(4)]
    one_by_one, _ = run(LocalWorkers(2, 2e9), tasks)
    assert [result["together"] for result in one_by_one] == [1] * 4
    side_by_side, _ = run(LocalWorkers(2, 2e9 + 2 * WORKER_BYTES), tasks)
    assert 2 in [result["together"] for result in side_by_side]
    assert max(result["together"] for result in side_by_side) == 2


def test_what_fits_beside_the_others_goes_first_and_the_largest_runs_alone() -> None:
    large, middle, small = task("large", 10e9), task("middle", 5e9), task("small", 1e9)
    workers = LocalWorkers(3, 7e9)
    assert workers._fitting([large, middle, small], []) == [large], "alone, though it is too large"
    assert workers._fitting([large, small], [middle]) == [small]
    assert workers._fitting([middle, small], [large]) == []
    assert workers._fitting([middle, small, small], []) == [middle, small]


def test_news_come_in_while_a_case_runs(calls: Any) -> None:
    _, heard = run(LocalWorkers(1, 1e9), [task("one", 0, telling)])
    assert heard
    assert set(heard) == {HALF_WAY}
    assert len(heard) <= 4, "no more than one in each pause"


def test_news_that_nobody_reads_do_not_stop_a_case() -> None:
    with ProgressReceiver() as news:
        send = datagram_sender(news.address)
        for _ in range(5000):  # more than the socket holds
            send({"key": "k", **vars(HALF_WAY)})
        read = list(news.read())
    assert 0 < len(read) < 5000
    assert set(read) == {("k", HALF_WAY)}
    send({"key": "k"})  # the receiver is gone
    with pytest.raises(OSError, match=r"."):
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect(news.address)


def test_a_case_is_told_of_now_and_then() -> None:
    sent: list[dict[str, object]] = []
    watch = reporter("k", sent.append)
    watch(HALF_WAY)
    assert sent == [], "a short case is none to tell of"
    time.sleep(PAUSE_S)
    watch(HALF_WAY)
    watch(HALF_WAY)
    assert sent == [{"key": "k", "simulated_s": 1e-3, "fraction": 0.5, "packet_hops": 3e6, "wall_s": 2.0}]


def test_progress_in_words() -> None:
    assert HALF_WAY.text == "simulated 1 ms, 1.5 M packet-hops/s, 2 s to go"
    assert Progress(0.0, 0.0, 0.0, 0.0).text == "simulated 0 ps, 0 packet-hops/s"
