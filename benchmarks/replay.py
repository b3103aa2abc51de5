"""Replays of long traces beside those of SimGrid, on the same trace in the same run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOAL = 20
"""Times as fast as SimGrid, at least, on ten million calls of 64 ranks."""


def replay(calls: int | None = None) -> None:
    """A halo exchange, and a transposition, of 64 ranks; a quarter of an hour, most of it SimGrid's."""
    command = [sys.executable, "-m", "validation.simgrid.trace_speed", "--json"]
    command += [] if calls is None else ["--calls", str(calls)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        print(done.stderr.removeprefix("error: ").strip())
        return
    done.check_returncode()
    for row in json.loads(done.stdout):
        ours, theirs = row["ours took s"], row["SimGrid took s"]
        print(
            f"{row['steps']}, {row['calls']:,} calls of {row['ranks']} ranks, {row['messages']:,} messages: "
            f"{ours:.2f} s of one core, SimGrid {theirs:.1f} s: {theirs / ours:.1f} times as long; "
            f"goal: at least {GOAL}\n"
            f"  with reading the trace {theirs / row['with reading s']:.1f} times, with reading the text that SimGrid "
            f"reads {theirs / row['with reading text s']:.1f} times\n"
            f"  simulated times: {row['ours s']:.4g} s, SimGrid {row['SimGrid s']:.4g} s"
        )
