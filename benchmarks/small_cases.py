"""Cost of many small simulations in one process: CPU seconds of all threads, beside the goals."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, getrusage

from tradewind.base.memory import peak_rss_bytes
from tradewind.simulation import simulate
from tradewind.simulation.advice import advise
from tradewind.workload.exchange import Exchange

CASES, CANDIDATES = 1000, 200


def small_cases() -> None:
    """Simulations of 16 ranks, the choice among many algorithms for 1000 ranks, and one simulation as a command."""
    _allreduce(1)  # imports
    seconds = _cpu_s(lambda: _allreduce(CASES))
    print(f"{CASES} simulations of an allreduce, 16 ranks of dragonfly-MM: {seconds:.2f} s of CPU; goal: at most 2")
    print(f"  {peak_rss_bytes() / 2**20:.0f} MiB of the process in all")
    _advise()
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tradewind", "simulate", "allreduce", "--ranks", "4", "--machine", "dragonfly-MM"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"tradewind simulate, 4 ranks: {seconds:.2f} s of CPU; goal: at most 0.5")


def _allreduce(cases: int) -> None:
    for number in range(cases):
        exchange = Exchange("allreduce", 16, algorithm="recursive-4", count=100 + number)
        simulate(exchange, "dragonfly-MM")


def _advise() -> None:
    algorithms = [f"recursive-{radix}" for radix in range(2, 2 + CANDIDATES)]
    exchange = Exchange("allreduce", 1000, count=100)
    seconds = _cpu_s(lambda: advise(exchange, "dragonfly-MM", algorithms=algorithms, budget_s=600))
    print(f"advise over {CANDIDATES} allreduces of 1000 ranks: {seconds:.2f} s of CPU; goal: at most 10")


def _cpu_s(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


if __name__ == "__main__":
    small_cases()
