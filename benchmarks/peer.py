"""The packet engine beside SimGrid, on the same exchange in the same run; and beside what SST/macro is known to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SST_MACRO = (0.2, 0.75)
"""Packet-hops per second, in millions, of SST/macro's packet model PISCES for all-to-alls of 4 KiB among 1024 and 64
ranks of a torus, on one core of another machine. Not run here: it is built from source, with a compiler of its own."""
ROOT = Path(__file__).parents[1]


def beside_sst_macro(rate: float) -> str:
    """Return the text on our rate, in millions of packet-hops per second: the ratio to both ends of SST/macro's."""
    slow, fast = (f"{rate / theirs:.0f} times its {theirs}" for theirs in SST_MACRO)
    return f"SST/macro, one core of another machine: {SST_MACRO[0]} to {SST_MACRO[1]} M/s; ours is {slow}, {fast}"


def peer() -> None:
    """An all-to-all of 4 KiB among 1024 ranks of a torus; a minute or two of one core, most of it SimGrid's."""
    command = [sys.executable, "-m", "validation.simgrid", "--speed", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        print(done.stderr.removeprefix("error: ").strip())
        return
    done.check_returncode()
    (row,) = json.loads(done.stdout)
    slower = row["SimGrid took s"] / row["ours took s"]
    rate = row["packet-hops"] / row["ours took s"] / 1e6
    print(
        f"{row['exchange']}, {row['ranks']} ranks of a {row['network']}: {row['ours took s']:.2f} s of one core, "
        f"SimGrid {row['SimGrid took s']:.1f} s: {slower:.0f} times as long; goal: 100\n"
        f"  simulated times: {row['ours us']:.0f} us, SimGrid {row['SimGrid us']:.0f} us\n"
        f"  {rate:.1f} M packet-hops/s of one core; {beside_sst_macro(rate)}; goal: 50"
    )
