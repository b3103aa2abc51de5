from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SMALL = """\
title = "Small"
seed = 3

[[sweep]]
name = "proof"
kind = "verify"
pattern = "halo"
grid = "40x40x4"
ranks = 4
algorithm = ["sweep", "direct"]

[[sweep]]
name = "timing"
kind = "measure"
pattern = "transpose"
grid = "40x40x40"
ranks = 2
split = "2x1"
algorithm = ["burst", "native"]

[[sweep]]
name = "network"
kind = "simulate"
pattern = "transpose"
grid = "40x40x40"
slab = "xz"
ranks = [4, 8]
split = { 4 = "4x1", 8 = "8x1" }
algorithm = ["ring-1", "ring-5"]
machine = ["torus-M", "fattree-M"]
packet = "1KiB"
"""


@pytest.fixture
def small_study(tmp_path: Path) -> Path:
    """A study of 2 proofs, 2 measurements and 6 simulations; ring-5 does not fit 4 ranks."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """Return the number of calls of an executor of one kind."""
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("TRADEWIND_TEST_CALLS", str(folder))
    return lambda kind: len(list(folder.glob(f"{kind}-*")))
