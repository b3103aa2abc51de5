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
    printed = run_tradewind("verify", "program", STEP, "--transport", "even-odd").out
    assert "even where every send is synchronous: own, even-odd" in " ".join(printed.split())
    printed = run_tradewind("simulate", "program", STEP, "--machine", "dragonfly-MM", "--mpi-progress", "thread").out
    assert "7 wait winds" in printed
    assert "15 stages, 30 messages" in printed


def test_help_is_that_of_programs():
    printed = run_tradewind("simulate", "program", "--help").out
    assert "--mpi-progress" in printed
    assert "--width" not in printed


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


CIRCLE = """
exchange = [{ name = "a", allreduce = 4 }, { name = "b", allreduce = 4 }]
[[group]]
name = "one"
ranks = 2
step = [{ exchange = "a" }, { exchange = "b" }]
[[group]]
name = "two"
ranks = 2
step = [{ exchange = "b" }, { exchange = "a" }]
"""


def test_groups_that_wait_for_each_other_are_named_alike(tmp_path):
    file = tmp_path / "circle.toml"
    file.write_text(CIRCLE)
    proved = run_tradewind("verify", "program", file)
    simulated = run_tradewind("simulate", "program", file, "--machine", "dragonfly-MM")
    assert proved.code == simulated.code == 1
    assert "rank 0 of group 'one' waits in stage 1 of exchange 'a' to receive from rank 2" in proved.err
    assert simulated.err.splitlines()[1:] == proved.err.splitlines()


def test_a_program_of_groups_without_steps_is_refused(tmp_path):
    file = tmp_path / "none.toml"
    file.write_text('[[group]]\nname = "one"\nranks = 2\n')
    for command in (["verify"], ["simulate", "--machine", "dragonfly-MM"]):
        result = run_tradewind(command[0], "program", file, *command[1:])
        assert (result.code, result.err) == (2, f"error: {file}:1: a program without steps\n")


def test_ranks_per_node_are_those_of_the_machine_file():
    simulated = run_tradewind(
        "simulate", "program", STEP, "--machine", "beaufix", "--ranks-per-node", "cores", "--json"
    )
    assert simulated.json["packet_hops"] == 0, "both ranks are on one node"
