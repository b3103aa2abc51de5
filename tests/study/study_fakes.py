"""Executors with known results, in place of the real ones: what is tested is the study around them."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tradewind.base.errors import TradewindError
from tradewind.launch.samples import combined
from tradewind.method.method import Method
from tradewind.simulation import forecast
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.store import Store
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.planned import Executors, Plan
from tradewind.study.runner.run import Outcome, StudyRun, run_studies

HERE = Environment(
    host="here", cpu="a processor", cores=2, mpi="an MPI", commit="abc", version="1", python="3", system="Linux"
)

PATIENCE_S = 240.0


def record_call(kind: str) -> None:
    """Leaves a file for each call, because the calls happen in other processes."""
    folder = Path(os.environ["TRADEWIND_TEST_CALLS"])
    (folder / f"{kind}-{os.getpid()}-{time.monotonic_ns()}").touch()


def wait_for_go() -> None:
    """Wait in the n-th simulation and in all later ones, where TRADEWIND_TEST_HOLD is n, until there is a file `go`."""
    folder, hold = Path(os.environ["TRADEWIND_TEST_CALLS"]), os.environ.get("TRADEWIND_TEST_HOLD")
    if hold is None or len(list(folder.glob("simulate-*"))) < int(hold):
        return
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "go").exists():
        assert time.monotonic() < deadline, "no test lets this simulation go on"
        time.sleep(0.01)


def verify(exchange: Any, transport: str) -> dict[str, Any]:
    record_call("verify")
    return {"ok": True}


def bench(exchange: Any, methods: list[Method], *, repeat: int, rounds: int = 1) -> dict[str, Any]:
    """All take the same; MPI refuses put-fence, and shared fails with all that is measured beside it."""
    record_call("measure")
    if any(method.transport == "shared" for method in methods):
        raise TradewindError("shared fails today")
    times = {"median_s": 2e-3, "min_s": 1e-3, "samples_s": [1e-3, 2e-3, 3e-3], "bytes_per_s": 1e9}
    rows = [asdict(method) | times | {"steps": []} for method in methods if method.transport != "put-fence"]
    refused = [asdict(method) | {"reason": "no windows here"} for method in methods if method.transport == "put-fence"]
    copy = {"floor_s": 1e-3, "copy_bytes_per_s": 4e9, "ranks_per_core": 2.0, "oversubscribed": True}
    return {"results": rows, "skipped": refused, "bytes": 1000, **copy}


def simulate(exchange: Any, machine: Any, *, threads: int, seed: int, **options: Any) -> dict[str, Any]:
    """Burst fails and bruck dies; all else takes 100 s over the ranks."""
    record_call("simulate")
    if exchange.algorithm == "burst":
        raise TradewindError("burst cannot be simulated today")
    if exchange.algorithm == "bruck":
        os._exit(9)
    wait_for_go()
    return {
        "time_s": 100.0 / exchange.ranks,
        "step_time_s": {"xz": 1.0},
        "messages": 10,
        "bytes": 4000,
        "packet_hops": 30,
        "bound_s": 0.5,
        "imbalance": 1.5,
        "packet_bytes": 100,
        "routing": "dimension-order",
        "delay": {"edges_s": [0.0, 1e-6, 2e-6], "counts": [5.0, 5.0]},
        "wall_s": 0.1,
        "peak_rss_bytes": 1000,
    }


def run(dwarf: Any, steps: int, *, repeat: int) -> dict[str, Any]:
    """A step takes 1 ms over the ranks, half of it to compute."""
    record_call("run")
    wall_s = 1e-3 * steps / dwarf.ranks
    return {
        "steps": steps,
        "transport": dwarf.transport or "isend-irecv",
        "packing": "buffer",
        "wall_s": wall_s,
        "samples_s": [wall_s] * repeat,
        "parts": [{"part": "compute", "median_s": wall_s / 2}, {"part": "all", "median_s": wall_s}],
        "ratio_to_copy": 3.0,
        "copy_bytes_per_s": 4e9,
        "threads_per_core": 1.0,
        "oversubscribed": False,
    }


FAKES = Executors(
    verify=verify,
    bench=bench,
    combine=combined,
    simulate=simulate,
    run=run,
    forecast=forecast,
    model_version=lambda machine, ranks_per_node, steady, routing: 7,
)


def run_study(
    study_file: StudyFile, plan: Plan, store: Store, executors: Executors, environment: Environment, **how: Any
) -> Outcome:
    """How a run of one study alone ends."""
    study = StudyRun(study_file, plan, store)
    run_studies([study], executors, environment, **how)
    return study.outcome
