"""Reports of stored cases: processor time of `tradewind report` for 40 and for 10,000 of them, beside its goal."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tradewind.machine import machine_folder
from tradewind.study.cases.case import digest
from tradewind.study.cases.environment import here
from tradewind.study.cases.expand import expand
from tradewind.study.cases.store import Store
from tradewind.study.plan.load import load_study

GOALS_S = {40: 1.5, 10_000: 30.0}
STUDY = """
title = "Many cases"

[[sweep]]
name = "network"
kind = "simulate"
pattern = "allreduce"
ranks = [16, 32, 64, 128]
algorithm = ["recursive-2", "ring"]
machine = "torus-M"
packet = "message"
seed = {seeds}

[[plot]]
title = "Time"
of = {{ sweep = "network", seed = 0 }}
curve = "algorithm"
"""


def reports() -> None:
    """Four reports of each number of cases: the minimum of the first two, whose figures are drawn, and of the others,
    whose figures are unchanged."""
    for cases, goal in GOALS_S.items():
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "results"
            store_cases(results, cases)
            new = min(_report(results, new=True) for _ in range(2))
            again = min(_report(results, new=False) for _ in range(2))
        missed = "" if again <= goal else " (missed)"
        print(f"report of {cases} stored cases: {new:.2f} s of CPU; again, with unchanged figures: {again:.2f} s")
        print(f"  goal: at most {goal} s again{missed}")


def store_cases(folder: Path, count: int) -> None:
    """Make the results folder of a study with this many simulated cases, all with the same result."""
    text = STUDY.format(seeds=list(range(count // 8)))
    store = Store.create(folder, text)
    store.write(store.study_file, text.encode())
    store.write(store.machines / "torus-M.toml", (machine_folder() / "torus-M.toml").read_bytes())
    result = {"time_s": 1e-3, "step_time_s": {}, "messages": 1024, "bytes": 8192, "packet_hops": 4096, "bound_s": 1e-4}
    result |= {"imbalance": 1.5, "routing": "dimension-order", "packet_bytes": "message", "memory_bytes": 1e6}
    result |= {"delay": {"edges_s": [1e-9 * 2**i for i in range(41)], "counts": [10] * 40}}
    entries = []
    for case in expand(load_study(store.study_file).study)[0]:
        known = {"request": case.request}
        body = {"key": digest(known), "identity": known, "result": result, "wall_s": 0.1}
        store.save(digest(known), body | {"environment": here().as_dict(), "finished": "2026-01-01T00:00:00+00:00"})
        entries.append({"key": digest(known), "labels": case.labels, "layout_imbalance": 1.0, "settings": None})
    store.save_manifest({"cases": entries, "skipped": [], "failed": {}, "notes": []})


def _report(folder: Path, *, new: bool) -> float:
    """Return the processor time of the command and of what it starts. `new`: without the figures of a report before."""
    if new:
        shutil.rmtree(folder / "figures", ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [Path(sys.executable).parent / "tradewind", "report", folder]
    # Modules are compiled once for a user.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    reports()
