"""Memory of processes, measured by themselves."""

from __future__ import annotations

import subprocess
import sys


def test_a_process_does_not_count_what_its_parent_has_had() -> None:
    """The child of a process of 400 MB, which getrusage would count as its own."""
    ask = "from tradewind.base.memory import peak_rss_bytes; print(peak_rss_bytes())"
    parent = f"import subprocess, sys; held = bytearray(400_000_000); subprocess.run([sys.executable, '-c', {ask!r}])"
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)
    assert 1_000_000 < int(done.stdout) < 300_000_000
