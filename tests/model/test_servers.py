"""Output of models that goes to servers."""

from __future__ import annotations

import pytest
from validation.machines import CROSSBAR, machine

from tradewind.base.errors import InputError
from tradewind.model import load_model

MACHINE = machine(CROSSBAR, node={"memory_bandwidth": "10GB/s"})
MODEL = """
title = "a model"
source = "these tests"
grid = "40x20x10"
step = "60s"

[numbers.servers]
value = "=ranks // 3"
source = "here"

[[steps]]
label = "physics"
compute = "xy"
bytes = 1000

[[steps]]
label = "fields"
every = 12
output = 3
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(MODEL)
    return path


def test_servers_collect_the_fields_of_a_model(path):
    model = load_model(path)
    made = model.program(6, every=12)
    assert [(group.name, group.ranks) for group in made.program.groups] == [("model", 4), ("servers", 2)]
    (output,) = model.verify(6)["exchanges"]
    assert output["bytes"] == 40 * 20 * 10 * 3 * 8
    assert output["messages"] == 4 * 2  # each rank has a part of the levels of each server
    assert (model.split(6), model.program(6).program.ranks) == ((2, 2), 6)


def test_servers_hold_their_nodes_in_all_steps(path):
    power = {"idle": "50W", "waiting": "90W", "busy": "120W"}
    result = load_model(path).simulate(machine(CROSSBAR, node={"memory_bandwidth": "10GB/s"}, power=power), 6)
    assert result["usage"]["nodes"] == result["usage"]["ranks"] == result["nodes"] == 6
    assert result["energy_parts_j"]["idle"] == pytest.approx(6 * 50 * result["time_s"])
    assert result["node_power_w"] > 90


def test_what_servers_take_counts_as_often_as_they_take_it(path):
    """A rank of four has 2000 points: 1000 bytes of each at 10 GB/s are 0.2 ms."""
    result = load_model(path).simulate(MACHINE, 6)
    assert result["part_s"]["physics"] == pytest.approx(0.2e-3)
    assert 0 < result["part_s"]["fields"] == pytest.approx(result["time_s"] - 0.2e-3)
    every_step = load_model(path).simulate(MACHINE, 6)["part_s"]["fields"] * 12
    assert every_step >= 40 * 20 * 10 * 3 * 8 / 2 / 10e9  # half of the fields through the link of a server


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("ranks // 3", "ranks", "own.toml:8: servers 6 of 6 ranks: 0 or more, and fewer than ranks, are allowed"),
        ("ranks // 3", "ranks / 4", "own.toml:8: servers 1.5 of 6 ranks"),
        ("ranks // 3", "0 * ranks", "own.toml:16: output: 1 server or more is needed"),
        ("numbers.servers", "numbers.serves", "own.toml:19: output 3: number 'servers' is missing"),
        ("output = 3", "output = 0", "own.toml:19: output 0: 1..1000000 is allowed"),
        (
            "output = 3",
            'output = 3\ndtype = "f4"',
            "own.toml:20: unknown key 'dtype' (known: output, label,",
        ),
        ('grid = "40x20x10"', 'grid = "O40"\nlevels = 9', "output of O40, 9 levels: a grid NXxNYxNZ is allowed"),
    ],
)
def test_what_is_wrong_with_servers_has_its_line(path, before, after, words):
    assert MODEL.count(before) == 1
    path.write_text(MODEL.replace(before, after))
    with pytest.raises(InputError) as raised:
        load_model(path).program(6, every=12)
    assert words in str(raised.value)


def test_a_split_is_that_of_the_ranks_that_compute(path):
    with pytest.raises(InputError, match="split 3x2 makes 6 ranks, and 4 are asked for beside 2 servers"):
        load_model(path).program(6, (3, 2))
