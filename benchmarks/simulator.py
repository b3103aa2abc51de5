"""How fast the packet engine is: ring-4 transposition on dragonfly-MM, statistics on, by threads and processes."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time

from peer import beside_sst_macro

from tradewind import _core
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

CASES = (
    # Ranks, split, grid, packet, slab, buffers, goals in M packet-hops/s of one thread and of two. Those of one are 1.3
    # times, with finite buffers 1.5 times, what two cores of an idle Zen 5 did before actions were put in order by node
    # (10,000 ranks with finite buffers were not measured there: two fifths of the rate without).
    (10_000, "100x100", "28800x3600x256", "4KiB", "xz", "unbounded", 62, 45),
    (10_000, "100x100", "28800x3600x256", "4KiB", "xy", "unbounded", 58, 45),
    (100_000, "250x400", "28800x14400x256", "8KiB", "xz", "unbounded", 53, 45),
    (100_000, "250x400", "28800x3600x256", "4KiB", "xy", "unbounded", 42, 45),
    (10_000, "100x100", "28800x3600x256", "4KiB", "xz", "credits", 28, 15),
    (100_000, "250x400", "28800x3600x256", "4KiB", "xz", "credits", 20, 15),
)
REPEATS = 3
FASTER = 1.6
"""Minimum speed-up of two threads over one, on 100,000 ranks; on fewer they must not be slower."""
FEW, MANY = 10_000, 10_000_000
"""Ranks whose set-up is timed."""


def simulator() -> None:
    """Rates, best of three, each run in a process of its own (so that memory is its own)."""
    for ranks, split, grid, packet, slab, buffers, goal_of_one, goal in CASES:
        alone = 0.0
        for processes, threads in ((1, 1), (1, 2), (2, 1)):
            runs = [_run(ranks, split, grid, packet, slab, buffers, processes, threads) for _ in range(REPEATS)]
            best = max(runs, key=lambda run: float(run["packet_hops_per_s"]))
            rates = sorted(float(run["packet_hops_per_s"]) / 1e6 for run in runs)
            print(
                f"{ranks:>7} ranks, slab {slab}, {buffers}, packets of {packet}, "
                f"{processes} process{'es' * (processes > 1)} of {threads} thread{'s' * (threads > 1)}: "
                f"{rates[-1]:5.1f} M packet-hops/s (median {rates[len(rates) // 2]:.1f}, minimum {rates[0]:.1f}), "
                f"{best['packet_hops'] / 1e6:.0f} M in {best['wall_s']:.1f} s, "
                f"{best['packet_hops'] / best['cpu_s'] / 1e6:.1f} M per second of CPU time with the start of Python, "
                f"{best['peak_rss_bytes'] / 2**20:.0f} MiB a process"
                + (f"; goal {goal if threads == 2 else goal_of_one}" if processes == 1 else "")
            )
            if threads == 1 and processes == 1:
                alone = rates[-1]
                print(f"        {beside_sst_macro(alone)}")
            elif threads == 2:
                minimum = FASTER if ranks >= 100_000 and buffers == "unbounded" else 1
                print(f"        two threads are {rates[-1] / alone:.2f} times as fast as one; goal: at least {minimum}")
    print(f"bytes per rank beside ports and packets in flight: {_core.rank_bytes}; goal: at most 128")
    set_up()


def set_up(ranks: tuple[int, int] = (FEW, MANY), samples: int = 25) -> None:
    """Time of `prepare` for an allreduce, ten ranks per node; the state of ranks is allocated when they run."""
    medians = []
    for count in ranks:
        exchange = Exchange("allreduce", count, algorithm="recursive-21", count=3)
        seconds = []
        for number in range(-1, samples):  # the first one finds nothing in caches
            begin = time.perf_counter()
            prepare(exchange, "dragonfly-ML", ranks_per_node=10, packet="message", buffers="unbounded", threads=2)
            if number >= 0:
                seconds.append(time.perf_counter() - begin)
        medians.append(statistics.median(seconds))
        print(
            f"set-up of an allreduce, {count} ranks, ten per node of dragonfly-ML: {medians[-1]:.6f} s "
            f"({medians[-1] / count * 1e9:.3g} ns per rank), median of {samples}, minimum {min(seconds):.6f} s"
        )
    more = (medians[1] - medians[0]) / (ranks[1] - ranks[0]) * 1e9
    ratio = medians[1] / medians[0]
    print(f"  {ranks[1]} ranks: {ratio:.2f} x {ranks[0]} ranks; each rank more costs {more:.3g} ns; goal: nothing")


def _run(
    ranks: int, split: str, grid: str, packet: str, slab: str, buffers: str, processes: int, threads: int
) -> dict[str, float]:
    command = [sys.executable, "-m", "tradewind", "simulate", "transpose", "--json", "--algorithm", "ring-4"]
    command += ["--machine", "dragonfly-MM", "--ranks", str(ranks), "--split", split, "--grid", grid]
    command += ["--packet", packet, "--slab", slab, "--threads", str(threads), "--buffers", buffers]
    if processes > 1:
        command += ["-n", str(processes)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result: dict[str, float] = json.loads(done.stdout)
    return result | {"cpu_s": cpu_s}
