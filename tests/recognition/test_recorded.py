"""Dwarfs on MPI ranks, recorded: in the calls of a whole program, its setup included, the patterns are found."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sent_messages import of_program

from tradewind.dwarfs import find
from tradewind.recognition.recognise import recognise
from tradewind.recognition.text import program_text
from tradewind.trace.read import open_trace
from tradewind.workload.program_file import load_program

pytestmark = [pytest.mark.ranks, pytest.mark.slow]
GRID = (64, 48, 16)


DWARFS: dict[str, dict[str, Any]] = {"helmholtz": {"iterations": 6}, "diffusion": {}, "semi_lagrangian": {}}


@pytest.mark.parametrize("name", DWARFS)
def test_the_step_of_a_dwarf_is_found_among_all_its_calls(name: str, tmp_path: Path) -> None:
    options = {"grid": GRID, **DWARFS[name]}
    given = [f"--{key}={'x'.join(map(str, value)) if key == 'grid' else value}" for key, value in options.items()]
    tradewind = [sys.executable, "-m", "tradewind"]
    command = [*tradewind, "run", name, "-n", "4", "--steps", "12", *given]
    subprocess.run([*tradewind, "record", "-o", tmp_path / "run.trace", "--", *command], check=True, timeout=200)
    found = recognise(open_trace(tmp_path / "run.trace"), GRID)
    step = of_program(find(name)(ranks=4, **options).program())
    in_file = of_program(load_program("found.toml", program_text(found, "found")))
    messages = {message for message in step if message[2] > 100}  # sums may be calls of MPI there
    assert found.repeats >= 12
    assert Counter({message: in_file[message] for message in messages}) == Counter(
        {message: found.repeats * step[message] for message in messages}
    )
