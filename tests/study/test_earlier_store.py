"""Results that an earlier version stored are still the same when they are computed again, under the same keys.

`earlier` was written before machines had port buffers, output buffers, buffers for NICs, receives, a distance of what
bypasses the network, and power. (Of its figures wall times and memory alone are about the computer.)"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EARLIER = Path(__file__).parent / "earlier"
OF_THIS_RUN = ("wall_s", "packet_hops_per_s", "peak_rss_bytes", "processes", "threads")
WORDS = ("topology",)
"""Descriptions, whose wording may change."""


def study(folder: Path) -> str:
    command = [sys.executable, "-m", "tradewind", "study", str(EARLIER / "study.toml"), "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def results(folder: Path) -> dict[str, dict[str, Any]]:
    found = {}
    for path in (folder / "cases").glob("*.json"):
        result = json.loads(path.read_text())["case"]["result"]
        found[path.stem] = {key: value for key, value in result.items() if key not in OF_THIS_RUN + WORDS}
    return found


@pytest.mark.slow
def test_cases_that_an_earlier_version_stored_are_computed_again_and_come_out_the_same(tmp_path: Path) -> None:
    """They have no hash of a program beside their keys, by which a later model of the same work is noticed."""
    shutil.copytree(EARLIER, tmp_path / "results")
    printed = " ".join(study(tmp_path / "results").split())
    assert "29 stored cases are computed again: no hash of a program is stored with them" in printed
    assert "29 cases computed, 0 stored already" in printed
    now, before = results(tmp_path / "results"), results(EARLIER)
    assert len(before) == 29
    for key, kept in before.items():  # a figure that was not kept then differs from nothing
        assert {name: now[key].get(name) for name in kept} == kept, key
    assert "0 cases computed, 29 stored already" in study(tmp_path / "results")
