"""The books of a run: seconds by part, messages, bytes and events, of one plan and of several."""

from __future__ import annotations

from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

from mpi4py import MPI

from tradewind import mpi
from tradewind.device import Copies
from tradewind.dwarfs.frame.running import Running
from tradewind.method.method import Method


class FakePlan:
    """A plan that counts its calls, and takes 1 s to pack and 2 s to wait for each."""

    messages, bytes_sent = 3, 100

    def __init__(self) -> None:
        self.log: list[str] = []
        self.ends: list[float] = []

    def __call__(self) -> None:
        self.start()
        self.wait()

    def start(self) -> None:
        self.log.append("start")

    def wait(self) -> None:
        self.log.append("wait")
        self.ends.append(perf_counter())

    def clear(self) -> None:
        self.log.clear()
        self.ends.clear()

    @property
    def seconds(self) -> dict[str, float]:
        calls = self.log.count("wait")
        return {"pack": 1.0 * calls, "wait": 2.0 * calls}

    @property
    def events(self) -> list[Any]:
        return [("wait", -1, -1, 0, end, end) for end in self.ends]


def two_at_a_time(run: Running, steps: int) -> int:
    return 2


class Toy(Running):
    minimum_bytes = 8

    def diagnose(self) -> None:
        return None

    def gathered(self) -> None:
        return None


def request(work: int = 1) -> Any:
    return SimpleNamespace(
        precision="f8",
        device_name="host",
        element_bytes=8,
        threads=1,
        work=work,
        strategy="pairs",
        strategies={"pairs": two_at_a_time},
        plans={"halo": "halo", "norm": "allreduce"},
        method=lambda plan: Method(),
        plan_options=lambda plan: {"check": plan == "norm"},
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options of all plans that were made, none of which is real."""
    options: list[dict[str, Any]] = []

    def plan(pattern: object, comm: object, *arrays: np.ndarray, **given: Any) -> FakePlan:
        options.append({"arrays": len(arrays), **given})
        return FakePlan()

    monkeypatch.setattr(mpi, "plan", plan)
    return options


def test_each_array_has_its_plan(asked):
    run = Toy(request(), MPI.COMM_SELF, "totals")
    a, b = np.zeros(2), np.zeros(2)
    halo = run.plan("halo", None, a, b)
    halo(a)
    halo.start(b)
    halo.wait(b)
    assert [plan.log for plan in halo.plans] == [["start", "wait"], ["start", "wait"]]
    assert (run.exchanges, run.messages, run.bytes_sent) == (2, 6, 200)
    assert run.seconds() == {"compute": 0.0, "pack": 2.0, "wait": 4.0}
    assert asked == [{"arrays": 1, "record": "totals", "check": False}] * 2


def test_copies_of_steps_alone_are_counted(asked):
    """Not those of output and checks between them."""

    def copies_there_and_back(run: Running, steps: int) -> int:
        run.device.to_host(run.device.to_device(np.zeros(2)))
        return 1

    chosen = request()
    chosen.device_name, chosen.strategies = "simulated", {"pairs": copies_there_and_back}
    run = Toy(chosen, MPI.COMM_SELF, "totals")
    run.reset()
    run.advance(2)
    run.device.to_host(run.device.to_device(np.zeros(9)))
    run.advance(1)
    assert run.copies == Copies(3, 48, 3, 48)
    run.reset()
    assert run.copies == Copies()


def test_parts_of_several_plans_have_their_names(asked):
    run = Toy(request(), MPI.COMM_SELF, "totals")
    source, target, total = np.zeros(2), np.zeros(2), np.zeros(1)
    halo = run.plan("halo", None, (source, target))
    norm = run.plan("norm", None, total, operation="max", warm=False)
    halo(source)
    norm(total)
    norm(total)
    assert run.seconds() == {"compute": 0.0, "halo-pack": 1.0, "halo-wait": 2.0, "norm-pack": 2.0, "norm-wait": 4.0}
    assert run.messages == 9
    assert list(run.plans) == ["halo", "norm"]
    assert asked == [
        {"arrays": 2, "record": "totals", "check": False},
        {"arrays": 1, "record": "totals", "check": True, "operation": "max"},
    ]


def test_a_reset_warms_plans_and_begins_anew(asked):
    run = Toy(request(), MPI.COMM_SELF, "events")
    a, total = np.zeros(2), np.zeros(1)
    halo, norm = run.plan("halo", None, a), run.plan("norm", None, total, warm=False)
    halo(a)
    norm(total)
    run.timed(lambda: None)
    calls: list[str] = []
    for name, exchanges in (("halo", halo), ("norm", norm)):
        kind = type(exchanges.plans[0])
        exchanges.plans[0].clear = lambda name=name, plan=exchanges.plans[0], kind=kind: (  # type: ignore[method-assign]
            calls.append(f"{name} {plan.log.count('wait')}"),
            kind.clear(plan),
        )
    run.reset()
    assert calls == ["halo 2", "norm 1"]  # the halo was exchanged once more, the sum was not
    assert (run.exchanges, run.messages, run.events()) == (0, 0, [])
    assert set(run.seconds().values()) == {0.0}


@pytest.mark.parametrize(("record", "events"), [("totals", 0), ("events", 2)])
def test_computations_are_timed_as_often_as_there_is_work(asked, record, events):
    run = Toy(request(work=3), MPI.COMM_SELF, record)
    a, done = np.zeros(2), []
    halo = run.plan("halo", None, a)
    run.timed(done.append, "point")
    halo(a)
    assert done == ["point"] * 3
    assert run.seconds()["compute"] > 0
    assert len(run.events()) == events
    run.timed(done.append, "row", part="filter")
    assert run.seconds()["filter"] > 0


def test_a_diagnosis_is_not_counted(asked):
    run = Toy(request(), MPI.COMM_SELF, "events")
    a = np.zeros(2)
    halo = run.plan("halo", None, a)

    def step() -> None:
        run.timed(lambda: None)
        halo(a)

    step()
    before = run.seconds(), run.events(), run.exchanges
    with run.uncounted():
        step()
    assert (run.seconds(), run.events(), run.exchanges) == before
    step()
    assert (run.seconds()["wait"], len(run.events()), run.exchanges) == (4.0, 4, 2)


def test_a_strategy_says_how_far_it_went(asked):
    run = Toy(request(), MPI.COMM_SELF, "totals")
    steps: list[int] = []
    run._request.strategies = {"pairs": lambda run, left: steps.append(left) or 2}  # type: ignore[func-returns-value]
    run.advance(5)
    assert steps == [5, 3, 1]


def test_an_array_is_full_of_nan(asked):
    run = Toy(request(), MPI.COMM_SELF, "totals")
    array = run.array(SimpleNamespace(source_shape=lambda rank: (2, 3)))  # type: ignore[arg-type]
    assert array.shape == (2, 3)
    assert np.isnan(array).all()
