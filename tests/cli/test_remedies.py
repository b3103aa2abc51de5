"""Errors that name what to do instead, and what is kept of work that is interrupted."""

import pytest
from command_line import run_tradewind
from test_help import asked

from tradewind.cli import command_for, ranks

STUDY = """
title = "Two messages"
[[sweep]]
name = "sums"
kind = "simulate"
pattern = "allreduce"
count = [1, 2]
ranks = 4
machine = "torus-M"
"""


@pytest.mark.parametrize("words", list(asked()), ids=" ".join)
def test_n_is_the_number_of_ranks(words):
    named = {each.name: each.flags for each in command_for(words[0], words[1:]).parameters}
    assert named.get("ranks", ["-n", "--ranks"]) == ["-n", "--ranks"]
    assert [name for name, flags in named.items() if "-n" in flags] in ([], ["ranks"])


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("simulate halo -n 4 --ranks 2 --machine torus-M", "-n, --ranks: given 2 times (4, 2); once is allowed"),
        (
            "simulate halo -n 4 --machine torus-M --slab xz",
            "--slab does not apply to halo: leave it out (transpose takes it); did you mean '--split'? "
            "(halo takes --grid, --split, --width, --periodic, --times, --fields, --dtype)",
        ),
        (
            "run mpdata -n 4 --simulate lumi-c",
            "`tradewind calibrate` measures the first ones on this machine; or assume one, such as "
            "--set node.core_flops=10Gflop/s",
        ),
        ("run mpdata -n 4 --simulate lumi-c,alps", "one machine is allowed here, not a list: repeat it for each"),
        ("bench halo", "how many ranks? Say -n RANKS, or start this command with mpiexec or srun"),
        ("simulate allreduce -n 4 --machine torus-M --packing datatype", "tradewind calibrate measures them"),
    ],
)
def test_an_error_names_its_remedy(line, remedy):
    done = run_tradewind(*line.split(), columns=80)
    assert done.code == 2
    assert max(map(len, done.err.splitlines())) <= 80
    assert remedy in " ".join(done.err.split())


def interrupt(*_, **__):
    raise KeyboardInterrupt


def test_an_interrupted_study_names_the_cases_that_are_stored(tmp_path, monkeypatch):
    (tmp_path / "sums.toml").write_text(STUDY)
    with monkeypatch.context() as patched:
        patched.setattr("tradewind.cli.sweep_table.show_sweep", interrupt)
        done = run_tradewind("study", "sums.toml", "--workers", "1", folder=tmp_path)
    assert done.code == 1
    assert done.err == ("error: interrupted: 2 of 2 cases are stored in results/sums; the same command goes on\n")
    assert "0 cases computed, 2 stored already" in run_tradewind("study", "sums.toml", folder=tmp_path).out


@pytest.mark.parametrize(
    ("line", "interrupted", "kept"),
    [
        ("tune allreduce -n 2 -o t.toml", "tradewind.launch.tune.tune", "t.toml is as it was"),
        ("calibrate -n 2 -o m.toml", "tradewind.launch.calibrate.calibrate", "m.toml is as it was"),
        ("verify halo -n 4", "tradewind.cli.options.exchange", "no result is kept"),
        ("run diffusion -n 2", "tradewind.launch.dwarf.run", "no result is kept"),
    ],
)
def test_an_interrupted_command_names_what_is_kept(tmp_path, monkeypatch, line, interrupted, kept):
    monkeypatch.setattr(interrupted, interrupt)
    done = run_tradewind(*line.split(), folder=tmp_path)
    assert (done.code, done.err) == (1, f"error: interrupted: {kept}\n")


def test_the_time_left_follows_from_the_part_that_is_done(monkeypatch):
    now = iter((0.0, 10.0, 20.0, 30.0, 30.0, 33.0))
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    shown = []
    line = ranks.ProgressLine("tuning", shown.append)
    line("first", 0.0)
    line("second", 0.5)
    line("next table", 0.0)  # begins anew at 30 s
    line("half", 0.5)
    assert shown == ["tuning: first", "tuning: second, 20 s to go", "tuning: next table", "tuning: half, 3 s to go"]
