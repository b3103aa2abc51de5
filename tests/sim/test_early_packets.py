"""Packets that come for stages far ahead: the table that holds them, against a map."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
def test_the_table_of_early_packets_is_a_map(tmp_path: Path) -> None:
    program = tmp_path / "early_packets"
    source = Path(__file__).parent / "programs" / "early_packets.cpp"
    assert COMPILER is not None
    subprocess.run(
        [
            COMPILER,
            "-std=c++20",
            "-O1",
            "-fsanitize=undefined",
            "-fno-sanitize-recover",
            f"-I{ROOT / 'src'}",
            "-o",
            program,
            source,
        ],
        check=True,
        timeout=240,
    )
    done = subprocess.run([program], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (0, "all as in the map\n")
