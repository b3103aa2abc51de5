"""Dwarfs on MPI ranks, recorded: in the calls of a whole program, its setup included, the patterns are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sent_messages import of_program

from tradewind.dwarfs import find
from tradewind.recognition.recognise import recognise
from tradewind.recognition.text import program_text
from tradewind.trace.read import open_trace
from tradewind.workload.program_file import load_program

pytestmark = [pytest.mark.ranks, pytest.mark.slow]
GRID = (64, 48, 16)


@pytest.mark.parametrize("name", ["helmholtz", "diffusion", "semi_lagrangian"])
def test_the_step_of_a_dwarf_is_found_among_all_its_calls(name: str, tmp_path: Path) -> None:
    """A solver has iterations of its own number, each with the same messages."""
    tradewind = [sys.executable, "-m", "tradewind"]
    command = [*tradewind, "run", name, "-n", "4", "--steps", "12", "--grid", "x".join(map(str, GRID))]
    subprocess.run([*tradewind, "record", "-o", tmp_path / "run.trace", "--", *command], check=True, timeout=200)
    found = recognise(open_trace(tmp_path / "run.trace"), GRID)
    assert found.repeats >= 12
    step = of_program(find(name)(ranks=4, grid=GRID).program())
    in_file = of_program(load_program("found.toml", program_text(found, "found")))
    large = [message for message in step if message[2] > 100]  # sums may be calls of MPI there
    assert {message for message in in_file if message[2] > 100} == {*large}
    ratios = {in_file[message] / step[message] for message in large}
    assert len(ratios) == 1
    assert name == "helmholtz" or ratios == {found.repeats}
