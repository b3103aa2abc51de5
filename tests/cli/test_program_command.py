"""`verify program`, `simulate program` and `bench program` on the command line."""

import json
from pathlib import Path

from command_line import run_tradewind

STEP = str(Path(__file__).parents[2] / "examples" / "step.toml")


def test_verify_and_simulate_count_alike():
    proved = json.loads(run_tradewind("verify", "program", STEP, "--json").out)
    simulated = json.loads(run_tradewind("simulate", "program", STEP, "--machine", "dragonfly-MM", "--json").out)
    assert [proved[key] for key in ("stages", "messages", "bytes")] == [15, 30, 5037504]
    assert [simulated[key] for key in ("stages", "messages", "bytes")] == [15, 30, 5037504]
    assert proved["orders"][0] == "own"
    assert "time_s" in simulated


def test_what_a_reader_sees():
    said = run_tradewind("verify", "program", STEP, "--transport", "even-odd").out
    assert "even where every send is synchronous: own, even-odd" in " ".join(said.split())
    said = run_tradewind("simulate", "program", STEP, "--machine", "dragonfly-MM", "--mpi-progress", "thread").out
    assert "7 wait winds" in said
    assert "15 stages, 30 messages" in said


def test_help_is_that_of_programs():
    said = run_tradewind("simulate", "program", "--help").out
    assert "--mpi-progress" in said
    assert "--width" not in said


def test_bad_input_is_refused(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text('ranks = 2\ngrid = "8x6x4"\n[[step]]\nhalo = 1\nwidth = 2\n')
    result = run_tradewind("verify", "program", str(file))
    assert result.code == 2
    assert f"{file}:5: unknown key 'width'" in " ".join(result.err.split()).replace(" ", "").replace(
        "unknownkey'width'", " unknown key 'width'"
    )
    result = run_tradewind("verify", "program", STEP, "--transport", "pigeon")
    assert result.code == 2
    assert "unknown posting order 'pigeon'" in result.err
    result = run_tradewind("simulate", "program", STEP, "--machine", "dragonfly-MM", "--mpi-progress", "magic")
    assert result.code == 2
    assert "unknown progress of MPI 'magic'" in result.err
