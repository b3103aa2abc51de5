"""HIRLAM's three hours on 12 ranks with 3 servers: proved, and simulated beside input and output in the time loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from slow_tests import slow

import tradewind as tw

EXAMPLES = Path(__file__).parents[3] / "examples"
HOURS, STEPS_S, WRITE_S, READ_S = 3, 10, 4, 5


@pytest.mark.parametrize(
    ("name", "longest_s"),
    [("hirlam_io", HOURS * STEPS_S), *slow(("hirlam_sequential", HOURS * (STEPS_S + WRITE_S + READ_S)))],
)
def test_servers_take_reading_and_writing_out_of_the_time_loop(name, longest_s):
    program = tw.load_program(EXAMPLES / f"{name}.toml")
    assert tw.verify(program)["ok"]
    found = tw.simulate(program, "torus-M")
    fields_bytes = 610 * 568 * 40 * 8 * 5
    assert found["bytes"] >= HOURS * 2 * fields_bytes  # input and output, and the words of who waits
    assert longest_s <= found["time_s"] <= 1.02 * longest_s
