"""Memory per rank, measured from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TRADEWIND = Path(sys.executable).with_name("tradewind")
MAXIMUM = 256
"""Bytes a rank, beside ports and packets in flight."""


def peak(ranks: int) -> int:
    """Bytes of a process that simulates an allreduce: packets in flight count too, of at most half of the ranks."""
    command = [TRADEWIND, "simulate", "allreduce", "--count", "3", "--algorithm", "binomial", "--ranks", str(ranks)]
    command += ["--machine", "torus-L", "--packet", "message", "--buffers", "unbounded", "--threads", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout)["peak_rss_bytes"])


def test_bytes_per_rank() -> None:
    """The machine, its ports and the program itself are the same on both sides, so the difference is that of ranks."""
    few, many = 2**17, 2**19
    a_rank = (peak(many) - peak(few)) / (many - few)
    assert 0 < a_rank <= MAXIMUM, f"{a_rank:.0f} bytes per rank"


def test_a_process_does_not_count_what_its_parent_has_had() -> None:
    """The child of a process of 400 MB, which getrusage would tell as its own."""
    ask = "from tradewind.base.memory import peak_rss_bytes; print(peak_rss_bytes())"
    parent = f"import subprocess, sys; held = bytearray(400_000_000); subprocess.run([sys.executable, '-c', {ask!r}])"
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)
    assert 1_000_000 < int(done.stdout) < 300_000_000
