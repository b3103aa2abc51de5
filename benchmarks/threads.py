"""Each dwarf on 2 ranks of one thread and on 1 rank of 2 threads, in turns, in one job on two cores.

The rank that does not take part sleeps meanwhile. Times need an idle machine: on a busy one threads that meet several
times per step wait for each other's time slices. The CPU time of the first thread counts 0.1 ms of that per loop at
most; it is half of that of one thread where all of a step is shared. ``python benchmarks/threads.py NAME ...`` measures
some dwarfs only.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.dwarfs import find
from tradewind.launch import job

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.running import Running

GOAL = 0.9
"""Time of 2 ranks over time of 1 rank of 2 threads, at least."""
ROUNDS = 15
CASES: dict[str, dict[str, Any]] = {
    "diffusion": {"grid": (512, 512, 32)},
    "spherical_harmonics": {"truncation": 159, "levels": 16},
    "mpdata": {"grid": "O160", "levels": 32},
    "bifourier": {"grid": (256, 256, 16)},
    "hirlam": {"grid": (256, 256, 16)},
    "helmholtz": {"grid": (128, 128, 64), "rtol": 0.0, "iterations": 20},
    "semi_lagrangian": {"grid": (256, 256, 20), "tracers": 4},
    "nekbone": {"elements": (8, 8, 8), "nx1": 10},
}
SHOWN = 0.05
"""Parts of a step that take less of it are not printed."""
HYBRID, RANKS = "1 rank of 2 threads", "2 ranks"


def hybrid(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Return the line of one dwarf, how much of its step threads share, and the parts of its step. Collective."""
    from exchanges import sampling

    from tradewind.mpi import MPI

    kind, steps = find(payload["dwarf"]), payload["steps"]
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in payload["options"].items()}
    both = kind(ranks=comm.Get_size(), **options).on(comm)
    alone: dict[int, Running] = {}
    if comm.Get_rank() == 0:
        alone = {n: kind(ranks=1, threads=n, **options).on(MPI.COMM_SELF) for n in (1, comm.Get_size())}
    cpu_s: dict[int, list[float]] = {n: [] for n in alone}

    def on_first(threads: int) -> float:
        comm.Barrier()
        begin, cpu_begin = MPI.Wtime(), time.thread_time()
        if alone:
            alone[threads].advance(steps)
            cpu_s[threads].append(time.thread_time() - cpu_begin)
        seconds = MPI.Wtime() - begin
        ended = comm.Ibarrier()
        while not ended.Test():  # a rank that waits for MPI would take a core from the other's threads
            time.sleep(1e-3)
        return seconds if alone else 0.0

    contenders = {
        HYBRID: partial(on_first, comm.Get_size()),
        "1 rank of 1 thread": partial(on_first, 1),
        RANKS: sampling.calls(comm, lambda: both.advance(steps)),
    }
    sampling.contest(comm, contenders, 1)
    for running in (both, *alone.values()):
        running.reset()
    samples = sampling.contest(comm, contenders, payload["rounds"], warmup=0)
    samples = {name: [seconds / steps for seconds in taken] for name, taken in samples.items()}
    lines = [sampling.line(f"{payload['dwarf']}, {RANKS}", samples, RANKS, HYBRID, at_least=GOAL)]
    if alone:
        one, first = (statistics.median(taken[-payload["rounds"] :]) for taken in cpu_s.values())
        lines.append(f"  CPU time of the first of 2 threads: {first / one:.2f} of that of 1 thread; ideal: 0.5")
        count = steps * payload["rounds"]
        lines += [parts(RANKS, both, count), parts(HYBRID, alone[comm.Get_size()], count)]
    return lines


def parts(name: str, running: Running, steps: int) -> str:
    """Return the text on the larger parts of a step on this rank."""
    seconds = running.seconds()
    total = sum(seconds.values())
    return f"  {name}, ms per step: " + ", ".join(
        f"{part} {1e3 * taken / steps:.2f}" for part, taken in seconds.items() if taken > SHOWN * total
    )


def threads(rounds: int = ROUNDS, steps: int = 2, cases: Mapping[str, dict[str, Any]] = CASES) -> None:
    """Goals of a quiet machine of two cores."""
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    for name, options in cases.items():
        payload = {"dwarf": name, "options": options, "rounds": rounds, "steps": steps}
        for line in job.run(2, "threads:hybrid", payload):
            print(line, flush=True)


if __name__ == "__main__":
    threads(cases={name: CASES[name] for name in sys.argv[1:] or CASES})
