"""Workers of a real Dask scheduler on this machine; some are killed."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen

import pytest
from dask_processes import PATIENCE_S, running, scheduler, start_worker
from study_fakes import FAKES, run_study

from tradewind.base.errors import InputError, TradewindError
from tradewind.study.cases.case import Case
from tradewind.study.cases.environment import here
from tradewind.study.cases.records import read_records
from tradewind.study.cases.store import Store
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import Planned, make_plan
from tradewind.study.runner.dask_workers import DaskWorkers, Worker, assign, connect
from tradewind.study.runner.run import Outcome
from tradewind.study.runner.task import Task

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="no module distributed")
Calls = Callable[[str], int]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scheduler(tmp_path_factory.mktemp("dask")) as (address, _):
        yield address


def run(path: Path, address: str, notes: list[str] | None = None, **options: object) -> tuple[Outcome, Store]:
    study_file = load_study(path)
    store = Store.create(path.parent / "results", study_file.file.text)
    plan = make_plan(study_file, FAKES, here())
    with connect(address) as client:
        remote_workers = DaskWorkers(client, here(), (notes if notes is not None else []).append, **options)  # type: ignore[arg-type]
        return run_study(study_file, plan, store, FAKES, here(), remote_workers=remote_workers), store


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_a_worker_killed_in_mid_case_loses_no_case(
    small_study: Path, calls: Calls, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADEWIND_TEST_HOLD", "1")  # inherited by the workers
    outcomes: list[tuple[Outcome, Store]] = []
    with running(start_worker(address, "first")) as first, running(start_worker(address, "second")) as second:
        with connect(address) as client:  # else one may have done all before the other has begun
            client.wait_for_workers(2, timeout=PATIENCE_S)
        study = threading.Thread(target=lambda: outcomes.append(run(small_study, address)))
        study.start()
        called = small_study.parent / "calls"

        def at_work() -> list[Popen[bytes]]:  # on a busy machine perhaps one alone
            return [worker for worker in (first, second) if list(called.glob(f"simulate-{worker.pid}-*"))]

        wait_for(lambda: bool(at_work()))
        killed = at_work()[0]
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        (called / "go").touch()
        study.join(PATIENCE_S)
        assert not study.is_alive()
    outcome, store = outcomes[0]
    assert (outcome.computed, outcome.failed) == (10, {})
    assert len(read_records(store, here()).records) == 10
    assert calls("simulate") == 7, "one case was begun twice"
    assert calls("measure") == 2
    assert not list(called.glob(f"measure-{killed.pid}-*")), "measured on a worker"


@pytest.mark.slow
def test_a_case_that_kills_every_worker_is_given_up_and_takes_no_other_with_it(
    small_study: Path, calls: Calls, address: str
) -> None:
    text = small_study.read_text().replace('["ring-1", "ring-5"]', '["bruck", "burst", "ring-1"]')
    small_study.write_text(
        text.replace('["torus-M", "fattree-M"]', '"torus-M"')
        .replace("ranks = [4, 8]", "ranks = 8")
        .replace('4 = "4x1", ', "")
    )
    with running(start_worker(address, "restarted", nanny=True)):
        outcome, store = run(small_study, address, attempts=2)
    reasons = sorted(outcome.failed.values())
    assert [reason.split()[0] for reason in reasons] == ["burst", "given"]
    assert "after 2 attempts: its worker" in reasons[1]
    assert [r["algorithm"] for r in read_records(store, here()).records if r["kind"] == "simulate"] == ["ring-1"]
    assert len(list((small_study.parent / "calls").glob("simulate-*"))) == 4, "bruck twice, the others once"


@pytest.mark.slow
def test_a_scheduler_that_dies_ends_the_study_which_goes_on_later(
    small_study: Path, calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADEWIND_TEST_HOLD", "2")
    with scheduler(tmp_path) as (address, process), running(start_worker(address, "one")):
        killer = threading.Thread(target=lambda: (wait_for(lambda: calls("simulate") >= 2), process.kill()))
        killer.start()
        with pytest.raises(TradewindError, match="the scheduler is gone"):
            run(small_study, address)
        killer.join()
        (small_study.parent / "calls" / "go").touch()
    stored = len(list((small_study.parent / "results" / "cases").glob("*.json")))
    assert stored == 5
    with scheduler(small_study.parent / "calls") as (address, _), running(start_worker(address, "two")):
        outcome, _ = run(small_study, address)
    assert (outcome.computed, outcome.reused, outcome.failed) == (10 - stored, stored, {})


def test_without_workers_patience_ends(small_study: Path, calls: Calls, address: str) -> None:
    with pytest.raises(TradewindError, match="no usable worker for 1 s"):
        run(small_study, address, patience_s=1.0)


def test_a_scheduler_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(InputError, match=r"no Dask scheduler responds at 'tcp://127\.0\.0\.1:9'"):
        connect("tcp://127.0.0.1:9", timeout_s=0.5)


@pytest.mark.parametrize("address", ["nonsense", "", "://", "tcp://", "tcp://host", "tcp://host:port", "host:1 2"])
def test_what_is_no_address_of_a_scheduler(address: str) -> None:
    with pytest.raises(InputError, match="the address of a scheduler is allowed, like tcp://HOST:8786"):
        connect(address)


@pytest.mark.slow
def test_a_worker_with_another_tradewind_is_not_used(small_study: Path, calls: Calls, address: str) -> None:
    notes: list[str] = []
    with running(start_worker(address, "other")), connect(address) as client:
        remote_workers = DaskWorkers(client, replace(here(), version="0.0.0"), notes.append)
        wait_for(lambda: not remote_workers.usable() and bool(notes))
    assert "is not used: it has Tradewind" in notes[0]


def task(small_study: Path, memory_gb: float, wall_s: float = 1.0) -> Task:
    from tradewind.workload.exchange import Exchange

    case = Case("s", "simulate", Exchange("allreduce", 4, algorithm="recursive-2"), {"seed": wall_s})
    forecast = {"memory_bytes": memory_gb * 1e9, "wall_s": wall_s, "messages": 1.0, "packet_hops": 1.0}
    return Task(Planned(case, {"n": [memory_gb, wall_s]}, None, forecast), FAKES.simulate)


def test_cases_share_a_worker_as_far_as_its_memory_goes(small_study: Path) -> None:
    workers = {"a": Worker(4, 10e9), "b": Worker(1, 4e9)}
    tasks = [task(small_study, 6, 1.1), task(small_study, 5, 1.2), task(small_study, 3, 1.3), task(small_study, 1, 1.4)]
    jobs = list(assign(tasks, [], workers))
    assert [(job.task.memory_bytes, job.address) for job in jobs] == [(6e9, "a"), (3e9, "a"), (1e9, "b")]
    assert list(assign([tasks[1]], jobs, workers)) == []


@pytest.mark.slow
def test_a_large_case_takes_all_threads_of_a_worker(small_study: Path) -> None:
    large, small = task(small_study, 1, 100.0), task(small_study, 1, 1.0)
    jobs = list(assign([large, small], [], {"a": Worker(4, 64e9)}))
    assert [(job.task, job.threads) for job in jobs] == [(large, 4)]
    assert [job.threads for job in assign([small, large], [], {"a": Worker(4, 64e9)})] == [1]
