"""`tradewind run` and `tradewind list dwarfs`, as a user types them and as MPI's launcher starts them."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from slow_tests import slow

from tradewind.base.errors import VerificationError
from tradewind.cli import make_app, output
from tradewind.dwarfs import DWARFS
from tradewind.launch.job import find_launcher

pytest.importorskip("mpi4py.MPI")

SMALL = "run diffusion -n 2 --grid 32x24x4 --steps 5"


def tradewind(capsys: pytest.CaptureFixture[str], arguments: str) -> tuple[int, str]:
    code = output.run(make_app(), arguments.split())
    return code, capsys.readouterr().out


def under_launcher(ranks: int, arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*find_launcher().arguments(ranks), sys.executable, "-m", "tradewind", *arguments.split()]
    return subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=240, check=False)


OF_DWARF = {
    "diffusion": "--grid 32x24x4",
    "spherical_harmonics": "--truncation 15 --levels 4",
    "mpdata": "--grid O6 --levels 5",
    "bifourier": "--grid 32x24x2",
    "hirlam": "--grid 16x12x4",
    "helmholtz": "--grid 16x12x6",
    "semi_lagrangian": "--grid 32x24x4",
    "nekbone": "--elements 2x2x1 --nx1 5",
}
"""Options of each dwarf for a small run."""


class _Counter:
    """A run whose state is the number of its steps; the check takes the last 3 again."""

    kind, strategy, agreement, checked_steps = "counter", "plain", "the same", 3

    def __init__(self) -> None:
        self.state, self.advanced, self.asked = 0, [], []

    def reset(self) -> None: ...

    def advance(self, steps: int) -> None:
        self.state += steps
        self.advanced.append(steps)

    def gathered(self) -> int:
        return self.state

    def seconds(self) -> dict[str, float]:
        return {}

    def reference(self, whole: int, steps: int) -> int:
        self.asked.append((whole, steps))
        return whole + steps

    def difference(self, found: int, wanted: int) -> str:
        return "" if found == wanted else f"{found} for {wanted}"


@pytest.mark.parametrize(
    ("steps", "repeat", "asked", "over"),
    [
        (5, 2, (7, 3), ", over the last 3 of 10 steps"),
        (2, 3, (4, 2), ", over the last 2 of 6 steps"),
        (3, 1, (0, 3), ""),
    ],
)
def test_a_check_may_take_the_last_steps_alone(steps: int, repeat: int, asked: tuple[int, int], over: str) -> None:
    from mpi4py import MPI

    from tradewind.launch import dwarf as launch_dwarf

    run = _Counter()
    check = launch_dwarf._Check(run, run, steps, repeat)
    for number in range(repeat):
        launch_dwarf._timed(MPI.COMM_SELF, run, steps, None, check if number + 1 == repeat else None)
    assert run.state == sum(run.advanced) == steps * repeat
    check.compare(MPI.COMM_SELF)
    assert (run.asked, check.agreement) == ([asked], f"the same{over}")
    run.state += 1
    with pytest.raises(VerificationError, match=f"counter, plain, after {steps * repeat} steps: "):
        check.compare(MPI.COMM_SELF)


@pytest.mark.parametrize("name", DWARFS)
def test_every_dwarf_is_listed_and_runs_by_all_its_strategies(capsys, name):
    code, text = tradewind(capsys, "list dwarfs --json")
    assert code == 0
    (row,) = (row for row in json.loads(text) if row["name"] == name)
    assert row["description"]
    assert row["source"]
    kind = DWARFS[name].load()
    assert kind.kind == name
    assert row["strategies"] == [*kind.strategies]
    code, text = tradewind(capsys, f"run {name} -n 2 {OF_DWARF[name]} --steps 5 --strategy all --check --json")
    assert code == 0
    found = json.loads(text)
    assert found["skipped"] == []
    assert [result["strategy"] for result in found["results"]] == [*kind.strategies]
    diagnoses = [[result[key] for key in kind.diagnostics] for result in found["results"]]
    for result, diagnosis in zip(found["results"], diagnoses, strict=True):
        assert result["agreement"]
        assert diagnosis == diagnoses[0] or result["agreement"].startswith("within")


@pytest.mark.parametrize(
    ("name", "ranks"),
    [("nekbone", 3), *slow(*(case for case in itertools.product(DWARFS, (1, 2, 3)) if case != ("nekbone", 3)))],
)
def test_every_dwarf_passes_its_check_in_single_precision(capsys, name, ranks):
    """The tests of each dwarf have cases of it on several ranks, which no command starts."""
    code, text = tradewind(capsys, f"run {name} -n {ranks} {OF_DWARF[name]} --steps 2 --precision f4 --check --json")
    assert code == 0, text
    result = json.loads(text)
    assert result["precision"] == "f4"
    assert result["agreement"]


@pytest.mark.parametrize("name", DWARFS)
def test_messages_in_single_precision_have_half_the_bytes(capsys, name):
    sent = {}
    for precision in ("f4", "f8"):
        code, text = tradewind(
            capsys, f"run {name} -n 3 {OF_DWARF[name]} --precision {precision} --simulate barbora --json"
        )
        assert code == 0, text
        sent[precision] = json.loads(text)["bytes"]
    # Scalar products may stay doubles, but are a small part.
    assert sent["f4"] / sent["f8"] == pytest.approx(0.5, rel=0.1)


def test_result(capsys):
    code, text = tradewind(capsys, f"{SMALL} --strategy wide --width 4 --precision f4 --threads 2 --json")
    assert code == 0
    result = json.loads(text)
    assert (result["dwarf"], result["ranks"], result["steps"], result["split"]) == ("diffusion", 2, 5, [2, 1])
    assert (result["transport"], result["packing"]) == ("isend-irecv", "buffer")
    parts = {row["part"]: row for row in result["parts"]}
    assert [*parts] == ["compute", "pack", "post", "copy", "wait", "unpack", "loop", "all"]
    for row in parts.values():
        assert 0 <= row["min_s"] <= row["median_s"] <= row["max_s"]
    assert parts["compute"]["min_s"] > 0
    assert parts["all"]["max_s"] == result["wall_s"]
    # Five steps in rounds of two: three exchanges, each with two messages of 4 columns of 24 points on 4 levels.
    assert result["messages"] == 3 * 2
    assert result["bytes_sent"] == 3 * 2 * 4 * 24 * 4 * 4
    assert result["minimum_bytes"] == 5 * 16 * 24 * 4 * 4
    assert result["points_per_s"] == pytest.approx(5 * 32 * 24 * 4 / result["wall_s"])
    assert result["limit_s"] == pytest.approx(result["minimum_bytes"] / result["copy_bytes_per_s"])
    assert result["ratio_to_copy"] == pytest.approx(result["wall_s"] / result["limit_s"])
    assert result["threads_per_core"] == pytest.approx(2 * 2 / result["cores"])
    assert result["oversubscribed"] == (result["threads_per_core"] > 1)


def test_repeated_and_with_more_work(capsys):
    code, text = tradewind(capsys, f"{SMALL} --repeat 3 --work 4 --check --json")
    assert code == 0
    result = json.loads(text)
    assert (len(result["samples_s"]), result["work"], result["steps"]) == (3, 4, 5)
    assert result["wall_s"] == sorted(result["samples_s"])[1]
    code, text = tradewind(capsys, "run diffusion -n 2 --grid 32x24x4 --steps 15 --json")
    assert json.loads(text)["sum_of_squares"] == result["sum_of_squares"]


def test_simulated_with_the_time_of_a_point(capsys):
    code, text = tradewind(
        capsys,
        "run diffusion -n 1 --grid 10x10x10 --simulate piz-daint --point-time 1us "
        "--set node.memory_bandwidth=1TB/s --json",
    )
    assert code == 0
    assert json.loads(text)["step_time_s"]["step 1"] == pytest.approx(1e-3 + 8e3 / 1e12)


def test_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    code, text = tradewind(capsys, f"{SMALL} --strategy overlap --check")
    assert code == 0
    assert "diffusion 32x24x4, 5 steps, overlap, 2 ranks" in text
    assert "Gpoint/s" in text
    assert "the same bits as the reference" in text


def test_all_strategies_in_one_table_and_one_chart(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "150")
    chart = tmp_path / "parts.svg"
    code, text = tradewind(capsys, f"{SMALL} --strategy all --check --chart {chart}")
    assert code == 0
    lines = text.splitlines()
    assert lines[0].startswith("diffusion 32x24x4, 5 steps, 2 ranks")
    first = next(i for i, line in enumerate(lines) if line.startswith("──")) + 1
    rows = [line.split() for line in lines[first : first + 5]]
    assert sorted(row[0] for row in rows) == ["barrier", "exchange", "objects", "overlap", "wide"]
    assert "all end with sum 384.0, of squares" in text
    assert "the same bits as the reference" in text
    drawn = chart.read_text()
    assert [
        word for word in ("barrier", "objects", "wide", "compute", "unpack", "other") if f">{word}<" not in drawn
    ] == []


def test_a_list_of_strategies_as_json(capsys):
    code, text = tradewind(capsys, f"{SMALL} --strategy wide,exchange --json")
    assert code == 0
    found = json.loads(text)
    assert [each["strategy"] for each in found["results"]] == ["wide", "exchange"]
    assert [each["messages"] for each in found["results"]] == [6, 10]
    assert found["skipped"] == []


def test_of_all_strategies_those_that_cannot_be_are_skipped(capsys):
    code, text = tradewind(capsys, f"{SMALL} --strategy all --width 3 --transport isend-irecv --json")
    assert code == 0
    found = json.loads(text)
    assert [each["strategy"] for each in found["results"]] == ["exchange", "overlap", "barrier"]
    reasons = {each["strategy"]: each["reason"] for each in found["skipped"]}
    assert "a multiple of 2 is allowed" in reasons["wide"]
    assert "the strategy objects has no plan" in reasons["objects"]


def test_all_strategies_simulated(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "150")
    chart = tmp_path / "parts.svg"
    more = f"--simulate torus-M --set topology.shape=[4,4,4] --set node.flops=1TFlop/s --chart {chart}"
    code, text = tradewind(capsys, f"run diffusion -n 64 --strategy all {more}")
    assert code == 0
    assert "diffusion 128x128x64 on 64 ranks of torus-M" in text
    assert "skipped barrier: strategy barrier: what it adds is not simulated" in text
    assert ">interior<" in chart.read_text()


def test_help_shows_the_options_of_the_dwarf(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    code, text = tradewind(capsys, "run diffusion --help")
    assert code == 0
    assert "--width WIDTH            Halo width: points on every side. [default: what the strategy needs]" in text
    assert "--grid GRID              Points NXxNYxNZ. [default: 128x128x64]" in text
    assert "Comma list of exchange, overlap, wide" in text
    code, text = tradewind(capsys, "run --help")
    assert "diffusion fourth-order diffusion" in " ".join(text.split())
    assert "--width" not in text


def test_picture(capsys, tmp_path):
    path = tmp_path / "field.svg"
    code, text = tradewind(capsys, f"{SMALL} --picture {path} --json")
    assert code == 0
    result = json.loads(text)
    assert result["picture"] == str(path)
    assert "levels" not in result
    assert path.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("more", "spans"),
    [
        ("-n 2 --steps 2 --strategy overlap", ["step 0", "step 2", "compute", "pack", "wait"]),
        ("-n 2 --steps 2 --strategy wide --width 8", ["4 steps", "compute", "pack"]),
        ("-n 4 --simulate torus-M --set topology.shape=[4,4,4] --set node.flops=1TFlop/s", ["compute", "wait"]),
    ],
)
def test_time_line(capsys, tmp_path, more, spans):
    path = tmp_path / "run.pftrace"
    code, text = tradewind(capsys, f"run diffusion --grid 32x24x4 {more} --timeline {path} --json")
    assert code == 0
    assert json.loads(text)["timeline"] == str(path)
    written = path.read_bytes()
    assert [span for span in spans if span.encode() not in written] == []


def test_simulated(capsys):
    more = "--set topology.shape=[4,4,4] --set node.flops=1TFlop/s --json"
    times = {}
    for strategy in ("exchange", "wide --width 8"):
        code, text = tradewind(
            capsys, f"run diffusion -n 64 --grid 512x512x8 --strategy {strategy} --simulate torus-M {more}"
        )
        assert code == 0
        result = json.loads(text)
        assert result["time_s"] == pytest.approx(sum(result["step_time_s"].values()))
        times[result["strategy"]] = result
    assert (times["exchange"]["steps"], times["wide"]["steps"]) == (1, 4)
    assert times["exchange"]["messages"] == times["wide"]["messages"] == 64 * 4
    assert len(times["wide"]["step_time_s"]) == 1 + 4


def test_simulated_as_text(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    more = "--set topology.shape=[4,4,4] --set node.flops=1TFlop/s"
    code, text = tradewind(capsys, f"run diffusion -n 64 --strategy overlap --simulate torus-M {more}")
    assert code == 0
    assert "diffusion, overlap, on 64 ranks of torus-M" in text
    assert "interior: " in text


def test_all_problems_at_once(capsys):
    asked = (
        "run diffusion -n 2 --grid 64x64 --steps 0 --precision f2 --strategy x --width 1 --split 3x4 --transport put"
    )
    code, text = tradewind(capsys, f"{asked} --threads 0 --watchdog -1 --picture field.gif --json")
    assert code == 2
    problems = [line.partition(":")[0].partition("'")[0] for line in json.loads(text)["error"].splitlines()]
    assert [problem.split(" ")[0] for problem in problems] == [
        *("steps", "picture", "grid", "unknown", "unknown", "threads", "watchdog", "unknown", "width", "split"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run diffusion", "how many ranks? Say -n RANKS"),
        ("run difusion -n 2", "unknown dwarf 'difusion'; did you mean 'diffusion'?"),
        ("run -n 2", "which dwarf? diffusion"),
        ("run diffusion -n 2 --widht 4", "unknown option '--widht'; did you mean '--width'?"),
        ("run diffusion -n 2 --strategy exchange,overlop", "unknown strategy 'overlop'; did you mean 'overlap'?"),
        ("run diffusion -n 2 --strategy all --precision f2", "unknown precision 'f2'"),
        ("run diffusion -n 2 --strategy all --timeline a.pftrace", "--timeline: it shows one strategy, not 5"),
        ("run diffusion -n 2 --chart a.gif", "chart a.gif: a name that ends in"),
        ("run diffusion -n 2 --strategy wide --width 5", "width 5: with the strategy wide, a multiple of 2"),
        ("run diffusion -n 2 --picture no/folder/a.svg", "there is no folder"),
        ("run diffusion -n 2 --timeline no/folder/a.pftrace", "there is no folder"),
        ("run diffusion -n 2 --transport neighbor --algorithm sweep", "neighbor"),
        ("run diffusion -n 200 --grid 4x4x4", "200 ranks: no split"),
        ("run diffusion -n 2 --simulate torus-M", "no rate for them: kernel.diffusion, node.core_flops or"),
        ("run diffusion -n 2 --simulate torus-M --check", "it has no field"),
        ("run diffusion -n 0", "ranks 0: 1 or more are allowed"),
        ("run diffusion -n -2 --simulate torus-M --set node.flops=1TFlop/s", "ranks -2: 1 or more are allowed"),
        ("run diffusion -n 2 --repeat 0", "repeat 0: 1 or more are allowed"),
        ("run diffusion -n 2 --point-time 1ns", "--point-time: a real run takes the time that it takes"),
        ("run diffusion -n 2 --simulate torus-M --point-time 1", "'1' has no unit"),
        ("run diffusion -n 2 --strategy objects --packing direct", "the strategy objects has no plan"),
        ("run diffusion -n 2 --strategy barrier --simulate piz-daint", "simulate exchange"),
        ("run diffusion -n 2 --set node.flops=1TFlop/s", "--set: only for simulations"),
    ],
)
def test_bad_input(capsys, arguments, message):
    code, text = tradewind(capsys, arguments + " --json")
    assert code == 2
    assert message in json.loads(text)["error"]


@pytest.mark.slow
def test_command_under_the_launcher(tmp_path: Path):
    picture = tmp_path / "field.svg"
    done = under_launcher(2, f"run diffusion --grid 32x24x4 --steps 5 --picture {picture} --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ranks"] == 2
    assert picture.exists()


def test_bad_input_under_the_launcher():
    done = under_launcher(2, "run diffusion --simulate torus-M --json")
    assert done.returncode != 0
    assert "it needs no MPI ranks" in done.stdout + done.stderr


def test_what_overlapped_packing_could_save_is_bounded_by_both_of_its_sides(capsys):
    from tradewind.launch.dwarf import packing_overlap

    assert packing_overlap({"compute": 9.0, "pack": 1.0, "unpack": 2.0, "wait": 5.0}) == 3.0
    two = {"rows-pack": 1.0, "rows-unpack": 1.0, "rows-wait": 0.5, "rows-back-pack": 0.25, "rows-back-wait": 4.0}
    assert packing_overlap(two) == 0.75
    assert packing_overlap({"compute-fft": 1.0, "columns-wait": 3.0}) == 0
    code, text = tradewind(capsys, "run spherical_harmonics -n 2 --truncation 31 --levels 4 --steps 5")
    assert code == 0
    assert "packing while messages travel could save at most" in " ".join(text.split())
