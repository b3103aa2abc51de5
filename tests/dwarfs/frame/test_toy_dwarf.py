"""A dwarf is one short file and a row: a toy one is added from outside, and is seen wherever dwarfs are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAT = Path(__file__).with_name("toy_dwarf.py")
DRIFTING = """

def drifting(run, steps):
    exchange(run, steps)
    run.field[run.own] *= 1 + 1e-9
    return 1


Heat.strategies["drifting"], Heat.not_simulated = drifting, ("drifting",)
"""
# Every process of a test has the row, also the ranks that a command starts.
ROW = """
from tradewind.dwarfs import DWARFS, Entry

DWARFS["heat"] = Entry("heat_dwarf:Heat", "a toy: heat on a torus, without its mean", "no source")
"""
STUDY = """
title = "A toy dwarf"

[[sweep]]
name = "here"
kind = "run"
dwarf = "heat"
grid = "16x12x2"
ranks = [1, 2]
rate = [0.1, 0.2]
steps = 3
repeat = 2

[[sweep]]
name = "there"
kind = "run"
dwarf = "heat"
machine = "torus-M"
set = { "node.flops" = "1TFlop/s" }
grid = "512x512x64"
ranks = [64, 256]
mean_method = ["recursive-2", "ring"]

[[plot]]
title = "Parts"
kind = "parts"
of = [{ sweep = "here" }]
curve = "rate"

[[finding]]
figure = "1"
claim = "a ring takes longer"
better = { sweep = "there", mean_method = "recursive-2" }
than = { sweep = "there", mean_method = "ring" }
"""


@pytest.fixture
def tradewind(tmp_path: Path):
    """Runs the command line, in whose registry the toy stands: exit code, output, errors."""
    (tmp_path / "heat_dwarf.py").write_text(HEAT.read_text() + DRIFTING)
    (tmp_path / "sitecustomize.py").write_text(ROW)

    def run(arguments: str) -> tuple[int, str, str]:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "150"}
        command = [sys.executable, "-m", "tradewind", *arguments.split()]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.parametrize("strategy", ["exchange", "overlap"])
def test_sixty_lines_run_are_proved_simulated_and_drawn(strategy, tmp_path):
    """A strategy is written once: the run and the program are what it asks for."""
    pytest.importorskip("mpi4py.MPI")
    from mpi4py import MPI
    from toy_dwarf import Heat

    assert len(HEAT.read_text().splitlines()) <= 60
    alone = Heat(1, (16, 12, 2), strategy=strategy, rate=0.1)
    run = alone.on(MPI.COMM_SELF)
    before = run.gathered()
    run.advance(5)
    assert not alone.difference(run.gathered(), alone.reference(before, 5))
    assert (run.exchanges, run.steps) == (10, 5)
    dwarf = Heat(8, (64, 64, 8), strategy=strategy)
    assert dwarf.verify()["ok"]
    options = {"settings": {"node.flops": "1TFlop/s"}, "timeline": tmp_path / "ranks.svg"}
    result = dwarf.simulate("torus-M", **options)
    assert result["messages"] == dwarf.verify()["messages"] > 0
    assert list(result["step_time_s"])[-2:] == ["sum", "4 allreduce recursive-2"]
    assert "compute" in (tmp_path / "ranks.svg").read_text()


def test_it_is_listed_and_shows_its_options(tradewind):
    rows = json.loads(tradewind("list dwarfs --json")[1])
    (row,) = (row for row in rows if row["name"] == "heat")
    assert row["strategies"] == ["exchange", "overlap", "drifting"]
    assert {"--rate", "--mean-method", "--grid"} <= set(row["options"])
    assert "heat a toy: heat on a torus, without its mean" in " ".join(tradewind("run --help")[1].split())
    code, text, _ = tradewind("run heat --help")
    assert code == 0
    assert "Share of each neighbour. [default: 0.2]" in text
    assert "Method of the mean: ALGORITHM,TRANSPORT,PACKING; parts may be empty." in text
    assert "--width" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--rate 0.3", "rate 0.3: 0.0..0.25 are allowed"),
        ("--width 4", "--width does not apply to heat: leave it out (diffusion, semi_lagrangian take it)"),
        pytest.param("--mean-method recursive-2,put", "unknown transport 'put'", marks=pytest.mark.slow),
        pytest.param("--mean-method sweep", "unknown allreduce algorithm 'sweep'", marks=pytest.mark.slow),
        pytest.param("--rat 0.1", "unknown option '--rat'; did you mean '--rate'?", marks=pytest.mark.slow),
    ],
)
def test_bad_input(tradewind, arguments, words):
    code, _, errors = tradewind(f"run heat -n 2 {arguments}")
    assert code == 2
    assert words in " ".join(errors.split())


@pytest.mark.slow
def test_it_runs_and_is_checked_to_its_tolerance(tradewind, tmp_path):
    pytest.importorskip("mpi4py.MPI")
    arguments = "run heat -n 2 --grid 16x12x2 --steps 4 --rate 0.1 --check"
    more = "--transport persistent --mean-method ring,sendrecv --picture heat.svg --timeline ranks.svg"
    code, text, errors = tradewind(f"{arguments} {more} --json")
    assert code == 0, errors
    found = json.loads(text)
    assert (found["dwarf"], found["rate"], found["agreement"]) == ("heat", 0.1, "within 1e-12 of the reference")
    assert found["plans"] == [
        {"plan": "halo", "transport": "persistent", "packing": "buffer"},
        {"plan": "mean", "transport": "sendrecv", "packing": "buffer"},
    ]
    assert abs(found["sum"]) < 1e-12
    parts = [row["part"] for row in found["parts"]]
    assert parts[:2] == ["compute", "halo-pack"]
    assert "mean-wait" in parts
    # Each step: two messages along x, none along y, where a rank is its own neighbour; and the sum of one number.
    assert found["messages"] == 4 * (2 + 1)
    for picture in ("heat.svg", "ranks.svg"):
        assert (tmp_path / picture).read_text().startswith("<svg")
    code, text, errors = tradewind(f"{arguments} --strategy drifting")
    assert code == 1
    assert "heat, drifting, after 4 steps:" in errors
    assert "differ from the reference by more than 1e-12 of its largest value" in " ".join(errors.split())


@pytest.mark.slow
def test_its_strategies_stand_in_one_table(tradewind):
    pytest.importorskip("mpi4py.MPI")
    code, text, errors = tradewind("run heat -n 2 --grid 16x12x2 --steps 4 --strategy all")
    assert code == 0, errors
    assert "heat 16x12x2, 4 steps, 2 ranks" in text
    assert {"exchange", "overlap", "drifting"} <= {line.split()[0] for line in text.splitlines() if line}
    assert "exchange, overlap: sum" in text  # these end with the same numbers
    assert "drifting: sum" in text


@pytest.mark.slow
def test_a_study_sweeps_it_and_its_report_shows_it(tradewind, tmp_path):
    pytest.importorskip("mpi4py.MPI")
    (tmp_path / "toy.toml").write_text(STUDY)
    code, text, errors = tradewind("study toy.toml --json")
    assert code == 0, text + errors
    found = json.loads(text)
    assert (found["computed"], found["failed"], found["skipped"]) == (8, [], [])
    assert [each["verdict"] for each in found["findings"]] == ["confirmed"]
    page = (tmp_path / "results" / "toy" / "report.html").read_text()
    assert "heat exchange" in page
    (tmp_path / "toy.toml").write_text(STUDY.replace("rate = [0.1, 0.2]", "width = [3, 5]"))
    code, _, errors = tradewind("study toy.toml --dry-run")
    assert code == 2
    assert "width does not apply to heat: leave it out" in errors
    (tmp_path / "toy.toml").write_text(STUDY.replace('grid = "16x12x2"\n', ""))
    code, _, errors = tradewind("study toy.toml --dry-run")
    assert code == 2
    assert "toy.toml:4: sweep 1: key 'grid' is missing" in errors
