"""What a million ranks cost: whole cases, two threads, unbounded buffers. An hour on two cores.

``python benchmarks/run.py million`` runs all; ``python benchmarks/million.py NAME ...`` some.
"""

from __future__ import annotations

import json
import subprocess
import sys

GRID = "28800x14400x256"
TRANSPOSE = f"transpose --grid {GRID} --ranks 1000000 --split 250x4000 --algorithm ring-4 --packet 4KiB"
HALO = f"halo --grid {GRID} --ranks 1000000 --split 1000x1000 --width 20 --periodic xy --algorithm sweep"
BURST = f"transpose --grid {GRID} --ranks 100000 --split 250x400 --algorithm burst --packet message"
CASES = {
    # name: what, goal in seconds (None: that it runs at all); on dragonfly-ML, where no machine is named
    "allreduce": ("allreduce --count 3 --ranks 1000000 --algorithm recursive-21 --packet message", 10),
    "halo-messages": (f"{HALO} --packet message", 10),
    "halo-packets": (f"{HALO} --packet 4KiB", 240),
    "halo-torus": (f"{HALO} --packet 256KiB --machine torus-L", None),
    "allreduce-10-million": (
        "allreduce --count 3 --ranks 10000000 --ranks-per-node 10 --algorithm recursive-21 --packet message",
        None,
    ),
    "burst": (BURST, None),
    "transposition": (TRANSPOSE, 25 * 60),
}


def million(names: tuple[str, ...] = tuple(CASES)) -> None:
    """Wall time, rate and memory of each case, in a process of its own."""
    for name in names:
        what, goal = CASES[name]
        machine = [] if "--machine" in what else ["--machine", "dragonfly-ML"]
        command = [sys.executable, "-m", "tradewind", "simulate", *what.split(), *machine]
        command += ["--buffers", "unbounded", "--threads", "2", "--json"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        answer = json.loads(done.stdout)
        print(
            f"{name}: {answer['wall_s']:.1f} s for {answer['time_s']:.6g} s simulated, "
            f"{answer['packet_hops'] / 1e9:.3f} G packet-hops at {answer['packet_hops_per_s'] / 1e6:.1f} M/s, "
            f"{answer['peak_rss_bytes'] / 2**30:.2f} GiB" + (f"; goal {goal} s" if goal else ""),
            flush=True,
        )


if __name__ == "__main__":
    if unknown := [name for name in sys.argv[1:] if name not in CASES]:
        sys.exit(f"unknown case {', '.join(unknown)} (known: {', '.join(CASES)})")
    million(tuple(sys.argv[1:]) or tuple(CASES))
