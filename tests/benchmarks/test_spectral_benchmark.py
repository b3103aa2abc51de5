"""The benchmark of the spherical-harmonics transform works, at sizes at which its figures mean nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_ratios_are_those_of_the_times_beside_them() -> None:
    program = "import spectral; spectral.whole('O24', 4, 2, 1); spectral.on_the_fly('O48', 4, (1, 2), 1)"
    command = [sys.executable, "-c", program]
    text = subprocess.run(command, cwd=BENCHMARKS, check=True, stdout=subprocess.PIPE, text=True).stdout
    times = {name: float(value) for name, value in re.findall(r"^  ([\w ,]+): ([\d.]+)$", text, re.MULTILINE)}
    assert len(times) == 8
    ratio = float(re.search(r"ours: ([\d.]+) of ducc0", text)[1])
    ours, theirs = (times[f"{who}inverse"] + times[f"{who}direct"] for who in ("", "ducc0 "))
    assert abs(ratio - ours / theirs) <= 0.02 * ratio + 0.01
    for goal in ("0.95", "1.5", "1.1", "0.05"):
        assert f"goal: at most {goal}" in text or f"goal: {goal}" in text
    assert len(re.findall(r"^  [12] fields: on the fly [\d.]+ of the time with tables", text, re.MULTILINE)) == 2
