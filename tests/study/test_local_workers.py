"""Cases that run side by side, and their progress."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from study_fakes import PATIENCE_S

from tradewind.simulation import Progress
from tradewind.study.cases.case import Case
from tradewind.study.plan.planned import Planned
from tradewind.study.runner import progress_messages
from tradewind.study.runner.progress_messages import PAUSE_S, ProgressReceiver, datagram_sender, reporter
from tradewind.study.runner.task import CaseResult, Task
from tradewind.study.runner.workers import WORKER_BYTES, LocalWorkers
from tradewind.workload.exchange import Exchange

CALLS = 4
HALF_WAY = Progress(simulated_s=1e-3, fraction=0.5, packet_hops=3e6, wall_s=2.0)


def task(name: str, memory_bytes: float, executor: Any = None) -> Task:
    options = {"settings": {}, "machine": "torus-M"}
    case = Case("s", "simulate", Exchange("allreduce", 4, algorithm="recursive-2"), options)
    forecast = {"memory_bytes": memory_bytes, "wall_s": 1.0}
    return Task(Planned(case, {"name": name}, None, forecast), executor)


def together(exchange: Any, machine: Any, **options: Any) -> dict[str, Any]:
    """Returns how many of these calls there were at most beside this one, with it, by files that all of them share.

    Waits for as many as TRADEWIND_TEST_TOGETHER says, unless all CALLS have begun, and then a little for others.
    """
    folder, expected = Path(os.environ["TRADEWIND_TEST_CALLS"]), int(os.environ["TRADEWIND_TEST_TOGETHER"])
    mine = f"{os.getpid()}-{time.monotonic_ns()}"
    (folder / f"began-{mine}").touch()
    deadline, most = time.monotonic() + PATIENCE_S, 0
    while True:
        began, ended = (len(list(folder.glob(f"{what}-*"))) for what in ("began", "ended"))
        most = max(most, began - ended)
        if most >= expected or began == CALLS:
            break
        assert time.monotonic() < deadline, f"{most} together"
        time.sleep(0.01)
    time.sleep(0.2)
    began, ended = (len(list(folder.glob(f"{what}-*"))) for what in ("began", "ended"))
    (folder / f"ended-{mine}").touch()
    return {"together": max(most, began - ended)}


def reporting(exchange: Any, machine: Any, *, progress: Any, **options: Any) -> dict[str, Any]:
    """Says again and again that it is half way; returns how long."""
    began = time.monotonic()
    for _ in range(30):
        progress(HALF_WAY)
        time.sleep(PAUSE_S / 10)
    return {"took_s": time.monotonic() - began}


def run(workers: LocalWorkers, tasks: list[Task]) -> tuple[list[dict[str, Any]], list[Progress]]:
    results: list[dict[str, Any]] = []
    received: list[Progress] = []

    def finish(task: Task, result: CaseResult) -> None:
        assert result.error is None, result.error
        results.append(result.result or {})

    def lose(task: Task, reason: str) -> None:
        raise AssertionError(reason)

    workers.run(tasks, finish, lose, lambda task, progress: received.append(progress))
    return results, received


@pytest.mark.parametrize(("memory_bytes", "number"), [(2e9, 1), (2e9 + 2 * WORKER_BYTES, 2)])
def test_cases_whose_memory_does_not_fit_together_wait(
    calls: Any, memory_bytes: float, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADEWIND_TEST_TOGETHER", str(number))
    found, _ = run(LocalWorkers(2, memory_bytes), [task(str(i), 1e9, together) for i in range(CALLS)])
    assert max(result["together"] for result in found) == number
    assert len(found) == CALLS


def test_what_fits_beside_the_others_goes_first_and_the_largest_runs_alone() -> None:
    large, middle, small = task("large", 10e9), task("middle", 5e9), task("small", 1e9)
    workers = LocalWorkers(3, 7e9)
    assert workers._fitting([large, middle, small], []) == [large], "alone, though it is too large"
    assert workers._fitting([large, small], [middle]) == [small]
    assert workers._fitting([middle, small], [large]) == []
    assert workers._fitting([middle, small, small], []) == [middle, small]


def test_news_come_in_while_a_case_runs(calls: Any) -> None:
    (result,), received = run(LocalWorkers(1, 1e9), [task("one", 0, reporting)])
    assert received
    assert set(received) == {HALF_WAY}
    assert len(received) <= result["took_s"] / PAUSE_S + 1, "no more than one in each pause"


def test_news_that_nobody_reads_do_not_stop_a_case() -> None:
    with ProgressReceiver() as receiver:
        send = datagram_sender(receiver.address)
        for _ in range(5000):  # more than the socket holds
            send({"key": "k", **vars(HALF_WAY)})
        read = list(receiver.read())
    assert 0 < len(read) < 5000
    assert set(read) == {("k", HALF_WAY)}
    send({"key": "k"})  # the receiver is gone
    with pytest.raises(OSError, match=r"."):
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect(receiver.address)


def test_a_case_is_told_of_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress_messages, "time", SimpleNamespace(monotonic=lambda: now[0]))
    sent: list[dict[str, object]] = []
    watch = reporter("k", sent.append)
    now[0] += 0.9 * PAUSE_S
    watch(HALF_WAY)
    assert sent == [], "a short case has no progress"
    now[0] += 0.2 * PAUSE_S
    watch(HALF_WAY)
    watch(HALF_WAY)
    assert sent == [{"key": "k", "simulated_s": 1e-3, "fraction": 0.5, "packet_hops": 3e6, "wall_s": 2.0}]


def test_progress_in_words() -> None:
    assert HALF_WAY.text == "simulated 1 ms, 1.5 M packet-hops/s, 2 s to go"
    assert Progress(0.0, 0.0, 0.0, 0.0).text == "simulated 0 ps, 0 packet-hops/s"
