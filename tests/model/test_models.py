"""Model files: proved, simulated beside programs written by hand, and refused with lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import run_tradewind
from model.small_models import HALO, text_of
from validation.machines import CROSSBAR, machine

from tradewind.base.data import data_folder
from tradewind.base.errors import InputError
from tradewind.model import load_model
from tradewind.model.changes import tried_changes
from tradewind.simulation import simulate
from tradewind.simulation.energy import with_energy
from tradewind.workload.program_file import load_program

HEAD = """
title = "a model"
source = "these tests"
grid = "40x20x10"
step = "60s"

[numbers.tracers]
value = 3
source = "here"

[numbers.halo]
value = "=ceil(tracers / 2)"
source = "here"
"""
STEPS = """
[[exchange]]
name = "wide"
halo = "=halo"
periodic = "x"
fields = "=1 + tracers"

[[steps]]
part = "dynamics"
repeat = 2

[[steps.steps]]
exchange = "wide"

[[steps.steps]]
label = "tendencies"
compute = "xy"
bytes = "=1000 * tracers"

[[steps]]
label = "output"
every = 12
compute = "xy"
bytes = 6000
"""
BY_HAND = """
ranks = 8
grid = "40x20x10"
split = "4x2"
[[exchange]]
name = "wide"
halo = 2
periodic = "x"
fields = 4
[[step]]
exchange = "wide"
[[step]]
label = "tendencies 1"
compute = "xy"
bytes = 3000
[[step]]
exchange = "wide"
[[step]]
label = "tendencies 2"
compute = "xy"
bytes = 3000
"""
MACHINE = machine(CROSSBAR, node={"memory_bandwidth": "10GB/s"})


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(HEAD + STEPS)
    return path


def test_a_step_is_the_program_that_is_written_by_hand(own):
    model = simulate(load_model(own).program(8).program, MACHINE)
    program = simulate(load_program("by_hand.toml", BY_HAND), MACHINE)
    for key in ("time_s", "messages", "bytes", "packet_hops"):
        assert model[key] == program[key]


def test_what_is_done_every_twelfth_step_counts_a_twelfth(own):
    """A rank has 1000 points: 6000 bytes of each at 10 GB/s are 0.6 ms."""
    result = load_model(own).simulate(MACHINE, 8)
    plain = simulate(load_program("by_hand.toml", BY_HAND), MACHINE)["time_s"]
    assert result["time_s"] == pytest.approx(plain + 0.6e-3 / 12)
    assert result["part_s"]["output"] == pytest.approx(0.05e-3)
    assert sum(result["part_s"].values()) == pytest.approx(result["time_s"])
    assert result["computing_s"] == pytest.approx(2 * 0.3e-3 + 0.05e-3)
    assert result["computing_s"] + result["exchanging_s"] == pytest.approx(result["time_s"])
    assert result["forecast_days_per_day"] == pytest.approx(60 / result["time_s"])
    assert result["simulated_years_per_day"] == pytest.approx(60 / result["time_s"] / 365.25)


def test_joules_of_a_step_are_a_mean_too_and_make_those_of_a_forecast_day(own):
    """8 ranks add 200 W while they compute 0.6 ms, of output every 12th step 0.6 ms more, and 50 W else."""
    watts = {"idle": "100W", "waiting": "150W", "busy": "300W"}
    file = machine(CROSSBAR, node={"memory_bandwidth": "10GB/s"}, power=watts)
    result = load_model(own).simulate(file, 8)
    seconds, computing = 8 * result["time_s"], 8 * (0.6e-3 + 0.6e-3 / 12)
    joules = 100 * seconds + 200 * computing + 50 * (seconds - computing)
    assert result["energy_j"] == pytest.approx(joules)
    assert result["node_power_w"] == pytest.approx(joules / seconds)
    assert result["kwh_per_forecast_day"] == pytest.approx(joules * 86400 / 60 / 3.6e6)
    assert load_model(own).simulate(MACHINE, 8)["no_energy"] == "no power in this machine file"
    again = with_energy(result, file.machine.power)  # of the usage that studies keep
    for key in ("energy_j", "kwh_per_forecast_day", "node_power_w"):
        assert again[key] == pytest.approx(result[key])


def test_numbers_are_changed_and_what_follows_from_them(own):
    changed = load_model(own, {"tracers": 7})
    assert changed.numbers(8) == {"tracers": 7, "halo": 4}
    assert changed.simulate(MACHINE, 8)["bytes"] > 2 * load_model(own).simulate(MACHINE, 8)["bytes"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('step = "60s"', 'step = "60"', "own.toml:5: step: '60' has no unit"),
        ('grid = "40x20x10"', 'grid = "40x20"', "own.toml:4: grid"),
        ('grid = "40x20x10"', 'grid = "TC1279"\nlevels = 9', "unknown grid 'TC1279'; did you mean 'TCo1279'?"),
        ('grid = "40x20x10"', 'grid = "O80"', "grid O80: key 'levels' is missing, such as levels = 137"),
        ('step = "60s"', 'step = "60s"\nlevels = 9', "levels 9: grid 40x20x10 has them"),
        ('step = "60s"', 'step = "60s"\nspacing = "9"', "own.toml:6: spacing: '9' has no unit"),
        ('step = "60s"', 'step = "60s"\nassumed = ["stop"]', "unknown key 'stop'; did you mean 'step'?"),
        ('source = "these tests"\n', "", "key 'source' is missing"),
        ('value = 3\nsource = "here"', "value = 3", "own.toml:7: key 'source' is missing"),
        ("value = 3", "valeu = 3", "unknown key 'valeu'; did you mean 'value'?"),
        (
            "ceil(tracers / 2)",
            "ceil(traces / 2)",
            "12: formula 'ceil(traces / 2)': unknown name 'traces'; did you",
        ),
        ("ceil(tracers / 2)", "tracers / 0", "own.toml:12: formula 'tracers / 0': float division by zero"),
        ("ceil(tracers / 2)", "tracers +", "own.toml:12: formula 'tracers +'"),
        ('"=ceil(tracers / 2)"', '"two"', "own.toml:12: 'two': a number, or a formula that begins with ="),
        ("[numbers.halo]", "[numbers.nx]", "own.toml:11: number 'nx': every model has one of this name"),
        ('exchange = "wide"', 'exchange = "wild"', "own.toml:25: unknown exchange 'wild'; did you mean 'wide'?"),
        ("every = 12", "every = 0", "own.toml:35: every 0: 1..1000000 is allowed"),
        ("repeat = 2", "repeat = 1.5", "own.toml:23: repeat 1.5: 1..1000000 is allowed"),
        ("bytes = 6000", "bites = 6000", "own.toml:37: unknown key 'bites'; did you mean 'bytes'?"),
        (
            "repeat = 2",
            "repeat = 2\nlabel = 'x'",
            ":24: unknown key 'label' (known: repeat, steps, part, every)",
        ),
    ],
)
def test_what_is_wrong_has_its_line(tmp_path, before, after, words):
    text = HEAD + STEPS
    assert text.count(before) >= 1
    path = tmp_path / "own.toml"
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(InputError) as raised:
        load_model(path).program(8, every=12)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("ranks", "split", "words"),
    [
        (0, None, "0 ranks: 1..2000000 are allowed"),
        (1601, None, "1601 ranks: neither 1601x1 nor other factors of them fit 40x20x10 points"),
        (8, (3, 2), "split 3x2 makes 6 ranks, and 8 are asked for"),
    ],
)
def test_ranks_that_do_not_fit(own, ranks, split, words):
    with pytest.raises(InputError, match=words):
        load_model(own).program(ranks, split)


@pytest.mark.parametrize(
    ("model", "ranks", "split"),
    [
        ("gcr-1300m", 10_000, (100, 100)),
        ("arome-1300m", 1000, (40, 25)),
        ("arome-1300m", 10_000, (80, 125)),  # of 90 levels, which transpositions divide among the first
        ("arome-1300m", 100_000, (80, 1250)),
        ("hirlam", 3000, (40, 70)),  # of 40 levels, which its dwarf divides; as many servers as levels of 5 fields
    ],
)
def test_a_split_fits_all_layouts_of_a_step(model, ranks, split):
    assert load_model(model).split(ranks) == split


REPEATED = """
[[steps]]
every = 4
repeat = 3

[[steps.steps]]
label = "solver"
compute = "xy"
bytes = 1000
"""


def test_repetitions_are_one_part_and_done_as_often_as_the_step_around_them(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(HEAD + '[[steps]]\nhalo = 1\nlabel = "halo"\n' + REPEATED)
    model = load_model(path)
    assert model.every(8) == [4]
    made = model.program(8, every=4)
    assert made.parts == ["halo", *["solver"] * 3]
    assert [step.name for step in made.program.computes] == ["solver 1", "solver 2", "solver 3"]


@pytest.mark.parametrize(
    ("before", "after", "problems"),
    [
        ("bytes = 1000", "every = 3", ["22: every 3: the step around it has every 4; one of both is allowed"]),
        ("repeat = 3", "repeat = 100001", ["17: repeat 100001 of 1 steps: at most 100000 steps are written out"]),
        (
            "repeat = 3\n\n[[steps.steps]]",
            "repeat = 1000\n\n[[steps.steps]]\nrepeat = 1000\n\n[[steps.steps.steps]]",
            ["17: repeat 1000 of 1000 steps: at most 100000 steps are written out"],
        ),
    ],
)
def test_repetitions_that_are_refused(tmp_path, before, after, problems):
    path = tmp_path / "own.toml"
    path.write_text(HEAD + REPEATED.replace(before, after))
    with pytest.raises(InputError) as raised:
        load_model(path).program(8, every=None)
    assert [each.removeprefix(f"{path}:") for each in raised.value.problems] == problems


def test_unknown_models_and_numbers():
    with pytest.raises(InputError, match=r"unknown model 'arome'.*known: arome-1300m"):
        load_model("arome")
    with pytest.raises(InputError, match="unknown number 'tracer'; did you mean 'tracers'"):
        load_model("arome-1300m", {"tracer": 3})


def test_tiles_of_a_globe_take_splits(tmp_path):
    text = (data_folder("models") / "nemo-orca025.toml").read_text()
    path = tmp_path / "own.toml"
    path.write_text(text.replace("ORCA025", "ORCA2"))
    model = load_model(path, {"substeps": 1})
    usual, turned = (model.program(16, split).program for split in ((4, 4), (2, 8)))
    assert simulate(usual, "fattree-M")["bytes"] != simulate(turned, "fattree-M")["bytes"]
    with pytest.raises(InputError, match="split 4x4"):
        load_model("icon-r2b6").program(16, (4, 4))
    changes = tried_changes(model, "fattree-M", 16)
    assert not [each for each in changes if each["change"].startswith("split")]


def test_each_change_is_tried_alone(own):
    """Twice the memory saves half of the computing."""
    model = load_model(own)
    plain = model.simulate("fattree-M", 8)
    found = {each["change"]: each for each in tried_changes(model, "fattree-M", 8)}
    assert found["memory twice as fast"]["time_s"] == pytest.approx(plain["time_s"] - plain["computing_s"] / 2)
    assert found["memory twice as fast"]["factor"] == plain["time_s"] / found["memory twice as fast"]["time_s"]
    assert found["halo by sweep"]["time_s"] == plain["time_s"]  # which it has already
    assert found["split 8x1"]["time_s"] == model.simulate("fattree-M", 8, split=(8, 1))["time_s"]
    assert {each["kind"] for each in found.values()} == {"machine", "user"}
    assert not any(name.startswith(("path", "allreduce", "processors", "overheads")) for name in found)
    times = [each["time_s"] for each in found.values()]
    assert times == sorted(times)


def test_a_change_that_does_not_fit_says_why(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(HEAD + '[[steps]]\npath = "xy-zy"\n')
    *_, last = tried_changes(load_model(path), "fattree-M", 9)
    assert last["change"] == "path by ring-16"
    assert "radix 16 is out of range, 1..2 are allowed" in last["refused"]


RARE = """
[[exchange]]
name = "coupling"
halo = 5

[[steps]]
label = "physics"
compute = "xy"
bytes = 1000

[[steps]]
every = 3
exchange = "coupling"

[[steps]]
every = "=3 * ranks"
label = "radiation"
compute = "xy"
bytes = 8000
"""


def test_what_is_done_now_and_then_is_proved_and_counted_for_the_ranks_asked_for(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(HEAD + RARE)
    model = load_model(path)
    assert [model.every(ranks) for ranks in (1, 4)] == [[3], [3, 12]]
    assert [each["name"] for each in model.verify(4)["exchanges"]] == ["coupling"]
    result = model.simulate(MACHINE, 4)
    assert result["part_s"]["radiation"] == pytest.approx(8 * result["part_s"]["physics"] / 12)
    assert (result["program"], result["numbers"], result["split"]) == ("own", {"tracers": 3, "halo": 2}, [2, 2])


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ('[[steps]]\nevery = 2\nlabel = "x"\ncompute = "xy"\n', "one step without `every`, at least, is needed"),
        (2 * '[[steps]]\nlabel = "x"\ncompute = "xy"\n', "own.toml:18: label 'x': another step has it"),
    ],
)
def test_steps_that_make_no_program(tmp_path, steps, words):
    path = tmp_path / "own.toml"
    path.write_text(HEAD + steps)
    with pytest.raises(InputError, match=re.escape(words)):
        load_model(path).program(4)


def test_a_step_that_takes_no_time_is_refused(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text_of(HALO))
    with pytest.raises(InputError, match="a step of own takes no time on 1 ranks: a computation or messages"):
        load_model(path).simulate("fugaku", ranks=1)


def test_all_numbers_of_ranks_are_checked_before_the_first_is_simulated():
    done = run_tradewind("simulate", "model", "gcr-1300m", "--machine", "fattree-M", "-n", "4,7919")
    assert (done.code, done.out) == (2, "")
    assert "7919 ranks: neither 7919x1 nor other factors of them fit" in done.err
