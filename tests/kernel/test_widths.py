"""The width of the vectors of loops, as the environment names it."""

from __future__ import annotations

import os
import subprocess
import sys


def test_a_width_that_is_not_there_is_refused():
    words = [sys.executable, "-c", "from tradewind import _core; _core.Team()"]
    done = subprocess.run(
        words, env={**os.environ, "TRADEWIND_VECTORS": "7"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "InputError: TRADEWIND_VECTORS='7': " in done.stderr
    assert done.stderr.strip().endswith("allowed here (bytes)")
