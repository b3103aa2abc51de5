"""The field server beside a model in C: how long it waits, as outputs/beside.py has it of a model in Python.

benchmarks/c/output.c is the model, which the main build makes when it is asked for. Its own loops run in turns beside
a server that writes, alone, and beside a process that has nothing to do with it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from languages import built

from outputs.beside import GOAL_SHARED
from outputs.model import memory_folder, plan_text
from outputs.neighbour import stopped_neighbour
from tradewind.launch.job import find_launcher

OTHER = "a process that writes the same, and is not its server"
WAYS = {
    "server, messages": ("write", "isend-irecv"),
    "server, messages, without a copy": ("start", "isend-irecv"),
    "server, shared": ("write", "shared"),
}


def run(program: Path, n: int, fields: int, steps: int, work_s: float, call: str, transport: str) -> dict[str, Any]:
    """Return what a run of the model prints."""
    with memory_folder() as folder, stopped_neighbour(n, fields) as neighbour:
        (folder / "plan.toml").write_text(plan_text(folder / "output") + described(fields))
        serve = [
            sys.executable,
            "-m",
            "tradewind",
            "serve",
            "plan.toml",
            "--transport",
            transport,
            "--packing",
            "direct",
        ]
        model = [str(program), *map(str, (n, fields, steps, work_s)), call, str(neighbour)]
        command = [*find_launcher().arguments(1), *model, ":", "-n", "1", *serve]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return found


def described(fields: int) -> str:
    """Return the attributes of fields in a plan, so that GRIB has numbers for them."""
    return "".join(f"\n[field.f{number}]\ngrib = [0, 191, {192 + number}]\n" for number in range(fields))


def in_c(n: int, fields: int, steps: int, work_s: float) -> None:
    """Print the figures of a model in C, with one server beside it."""
    if (program := built("output_in_c")) is None:
        print("skipped: libtradewind or its Fortran module was not built (no MPI, or no gfortran)")
        return
    for name, (call, transport) in WAYS.items():
        found = run(program, n, fields, steps, work_s, call, transport)
        waited = found["waited_s"]
        share = sum(waited) / found["total_s"]
        goal = f"; goal: most {100 * GOAL_SHARED:.0f} %" if transport == "shared" else ""
        print(
            f"C, {name}: blocked {100 * share:.1f} % of {len(waited)} steps, per step median "
            f"{1e3 * statistics.median(waited):.1f} ms, {1e3 * min(waited):.1f} to {1e3 * max(waited):.1f}{goal}"
        )
        whole = [a + b for a, b in zip(found["output_s"], found["served_s"], strict=True)]
        print(f"  a step with output {times(whole, found['alone_s'])} x one without")
        for key, text in (("served", "its server"), ("neighbour", OTHER)):
            wall, core = (times(found[f"{key}{kind}_s"], found[f"alone{kind}_s"]) for kind in ("", "_core"))
            print(f"  the model's own loops beside {text}: {wall} x alone, {core} x in time of the core")


def times(some: list[float], others: list[float]) -> str:
    """Return the median of the ratios of those that stand beside each other."""
    return f"{statistics.median(a / b for a, b in zip(some, others, strict=True)):.2f}"
