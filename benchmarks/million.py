"""Cost of a million ranks: whole cases, two threads, unbounded buffers. An hour on two cores.

``python benchmarks/run.py million`` runs all; ``python benchmarks/million.py NAME ...`` some.
"""

from __future__ import annotations

import json
import subprocess
import sys

from peer import beside_sst_macro

GRID = "28800x14400x256"
TRANSPOSE = f"transpose --grid {GRID} --ranks 1000000 --split 250x4000 --algorithm ring-4 --packet 4KiB"
HALO = f"halo --grid {GRID} --ranks 1000000 --split 1000x1000 --width 20 --periodic xy --algorithm sweep"
BURST = f"transpose --grid {GRID} --ranks 100000 --split 250x400 --algorithm burst --packet message"
CASES = {
    # name: what, goals (none: that it runs at all); on dragonfly-ML, where no machine is named
    "allreduce": ("allreduce --count 3 --ranks 1000000 --algorithm recursive-21 --packet message", "at most 10 s"),
    "halo-messages": (f"{HALO} --packet message", "at most 10 s"),
    "halo-packets": (f"{HALO} --packet 4KiB", "at most 240 s"),
    "halo-torus": (f"{HALO} --packet 256KiB --machine torus-L", ""),
    "allreduce-10-million": (
        "allreduce --count 3 --ranks 10000000 --ranks-per-node 10 --algorithm recursive-21 --packet message",
        "",
    ),
    "burst": (BURST, ""),
    "transposition": (TRANSPOSE, "at most 1500 s, at least 20 M/s, at most 3 GiB"),
}


def million(names: tuple[str, ...] = tuple(CASES)) -> None:
    """Wall time, rate and memory of each case, in a process of its own."""
    times = {}
    for name in names:
        what, goal = CASES[name]
        machine = [] if "--machine" in what else ["--machine", "dragonfly-ML"]
        command = [sys.executable, "-m", "tradewind", "simulate", *what.split(), *machine]
        command += ["--buffers", "unbounded", "--threads", "2", "--json"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout)
        times[name] = result["time_s"]
        rate = result["packet_hops_per_s"] / 1e6
        print(
            f"{name}: {result['wall_s']:.1f} s for {result['time_s']:.6g} s simulated, "
            f"{result['packet_hops'] / 1e9:.3f} G packet-hops at {rate:.1f} M/s, "
            f"{result['peak_rss_bytes'] / 2**30:.2f} GiB"
            + (f"; goal: {goal}" if goal else "")
            + f"\n  on two threads; {beside_sst_macro(rate)}",
            flush=True,
        )
    if {"halo-messages", "halo-packets"} <= times.keys():
        apart = times["halo-messages"] / times["halo-packets"] - 1
        print(f"the halo with one packet per message is estimated {apart:+.2%} beside that with packets of 4 KiB")


if __name__ == "__main__":
    if unknown := [name for name in sys.argv[1:] if name not in CASES]:
        sys.exit(f"unknown case {', '.join(unknown)} (known: {', '.join(CASES)})")
    million(tuple(sys.argv[1:]) or tuple(CASES))
