"""Messages while a study runs."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from tradewind.simulation import Progress
from tradewind.study.cases.case import Case
from tradewind.study.plan.planned import Planned
from tradewind.study.runner import progress
from tradewind.workload.exchange import Exchange

CASE = Case("s", "simulate", Exchange("allreduce", 4, algorithm="recursive-2"), {"machine": "torus-M"})
PLANNED = Planned(CASE, {"n": 1})
QUARTER = Progress(simulated_s=1e-3, fraction=0.25, packet_hops=3e6, wall_s=2.0)


def test_lines_about_a_long_case_where_no_terminal_looks_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    observer = progress.LineObserver(stream)
    for now[0] in (0.0, 10.0, progress.LINE_PAUSE_S, progress.LINE_PAUSE_S + 1):
        observer.running(PLANNED, QUARTER)
    case = "simulate, allreduce 3x1 recursive-2, 4 ranks, torus-M"
    assert stream.getvalue() == f"    {case}: 25 %, simulated 1 ms, 1.5 M packet-hops/s, 6 s to go\n"


def test_a_bar_for_each_case_that_takes_long() -> None:
    stream = io.StringIO()
    observer = progress.BarObserver(Console(file=stream, force_terminal=True, width=200))
    observer.begin(3, 1)
    observer.running(PLANNED, QUARTER)
    observer.running(PLANNED, replace(QUARTER, fraction=0.5))
    observer._bars.refresh()
    assert "50 %" in stream.getvalue()
    assert "1.5 M packet-hops/s, 2 s to go" in stream.getvalue()
    observer.done(PLANNED, {"time_s": 2e-3}, 1.0)
    assert [task.completed for task in observer._bars.tasks] == [2], (
        "the bar of the case is gone, one case more is done"
    )
    observer.failed(replace(PLANNED, identity={"n": 2}), "no [luck]")
    observer.end()
    assert "no [luck]" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    assert observer._bars.tasks[0].completed == 3


def test_the_bar_of_the_study_has_the_time_left_by_the_cost_of_its_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    observer = progress.BarObserver(Console(file=io.StringIO(), width=200))
    long = replace(PLANNED, identity={"n": 2}, forecast={"wall_s": 30.0, "program": "p"})
    short = replace(PLANNED, identity={"n": 3}, forecast={"wall_s": 10.0, "program": "p"})
    observer.begin(3, 0, 40.0)
    now[0] = 100.0  # measured cases come first, and have no forecast
    observer.done(replace(PLANNED, case=replace(CASE, kind="verify")), {}, 1.0)
    assert observer.time_left() == ""
    now[0] = 120.0
    observer.done(short, {"time_s": 1.0}, 1.0)
    assert observer.time_left() == "60 s to go"
    observer.running(long, replace(QUARTER, fraction=1 / 3))
    assert observer.time_left() == "20 s to go"
    observer.end()
