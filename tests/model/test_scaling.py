"""Scaling, changes and overlap of models, against steps that are known."""

from __future__ import annotations

import json
import re

import pytest
from command_line import run_tradewind
from model.small_models import COMPUTE, HALO, SUM, text_of
from validation.machines import CROSSBAR, machine

from tradewind.base.errors import InputError
from tradewind.dataset.open_table import open_table
from tradewind.model import load_model
from tradewind.model.changes import tried_changes
from tradewind.model.forecast import forecast
from tradewind.model.overlap import Overlapped, can_overlap
from tradewind.model.scaling import scaled, scaling

NODE = {"memory_bandwidth": "10GB/s", "flow_memory_bandwidth": "10GB/s", "flops": "10Gflop/s"}
FILE = machine(CROSSBAR, node=NODE)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "own.toml"
    found.write_text(text_of(HALO, COMPUTE, SUM, COMPUTE.replace("physics", "dynamics")))
    return found


def test_weak_scaling_keeps_the_points_of_a_rank(path):
    results = [result for _, result in scaling(load_model(path), FILE, [2, 8], scale="weak", threads=1)]
    assert [result["grid"] for result in results] == ["40x20x10", "80x40x10"]
    assert [result["computing_s"] for result in results] == [pytest.approx(2 * 4000 * 3e-7)] * 2
    assert results[1]["efficiency"] == results[0]["time_s"] / results[1]["time_s"]


def test_points_that_a_grid_is_rounded_to_are_no_efficiency(path):
    """3 ranks are 3x1 and 4 are 2x2: of 40x20 points 27x40."""
    first, second = (result for _, result in scaling(load_model(path), FILE, [3, 4], scale="weak", threads=1))
    assert second["grid"] == "27x40x10"
    points = 27 * 40 / 4 / (40 * 20 / 3)
    assert second["efficiency"] == pytest.approx(points * first["time_s"] / second["time_s"])


@pytest.mark.parametrize("scale", ["strong", "weak"])
def test_elements_of_each_rank_are_more_work_on_more_ranks(tmp_path, scale):
    path = tmp_path / "own.toml"
    path.write_text(text_of('[[steps]]\ndwarf = "nekbone"\nelements = "2x2x1"\n').replace('grid = "40x20x10"\n', ""))
    first, second = (result for _, result in scaling(load_model(path), FILE, [2, 8], scale=scale, threads=1))
    assert second["efficiency"] == first["time_s"] / second["time_s"]


def test_points_of_the_globe_do_not_grow():
    with pytest.raises(InputError, match="scale weak: the points of TCo319, 137 levels are fixed"):
        scaled(load_model("ifs-tco319"), "weak", [4])


def test_weak_scaling_takes_ranks_that_the_first_grid_does_not_hold(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text_of(HALO, COMPUTE, grid="4x4x2"))
    arguments = ("--machine", "fattree-M", "-n", "1,64", "--scale", "weak", "--no-causes", "--json")
    done = run_tradewind("simulate", "model", str(path), *arguments)
    assert done.code == 0, done.err
    results = json.loads(done.out)
    assert [(each["grid"], each["split"]) for each in results] == [("4x4x2", [1, 1]), ("32x32x2", [8, 8])]


def test_strong_scaling_is_work_over_ranks(path):
    first, second = (result for _, result in scaling(load_model(path), FILE, [2, 8], threads=1))
    assert second["computing_s"] == pytest.approx(first["computing_s"] / 4)
    assert first["efficiency"] == 1
    assert second["efficiency"] == first["time_s"] / second["time_s"] / 4


@pytest.mark.parametrize(("pattern", "hidden"), [("halo", "halo"), ("allreduce", "sum")])
def test_what_is_overlapped_waits_for_the_longer_of_both(path, pattern, hidden):
    """Computations are far longer than exchanges here: what overlaps is hidden but for what the CPU does."""
    model = load_model(path)
    plain = model.simulate(FILE, 2, threads=1)
    assert can_overlap(model.program(2), pattern)
    time_s = tried(Overlapped(model, pattern))
    assert time_s == pytest.approx(plain["time_s"] - plain["part_s"][hidden], rel=1e-6)


def test_what_is_overlapped_computes_at_the_rates_of_its_model(tmp_path):
    """A machine without a rate of flops takes that of the model, also where exchanges are open."""
    path = tmp_path / "own.toml"
    number = '[numbers.flops_per_byte]\nvalue = 10\nsource = "these tests"\n'
    compute = COMPUTE.replace("bytes = 3000", "flops = 30000")
    path.write_text(text_of(number, HALO, compute))
    model = load_model(path)
    plain = model.simulate("fattree-M", 2, threads=1)
    found = Overlapped(model, "halo")
    time_s = forecast(found, "fattree-M", 2, threads=1)["time_s"]
    assert time_s == pytest.approx(plain["time_s"] - plain["part_s"]["halo"], rel=1e-6)


def tried(model):
    return forecast(model, FILE, 2, threads=1)["time_s"]


def test_nothing_overlaps_without_a_computation_behind_it(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text_of(COMPUTE, HALO))
    assert not can_overlap(load_model(path).program(2), "halo")


def test_changes_that_touch_too_little_are_not_tried(path):
    lines: list[str] = []
    found = tried_changes(load_model(path), "fattree-M", 2, report=lines.append, threads=1)
    idle = [each["change"] for each in found if "touches" in each]
    assert "latencies halved" in idle
    assert not any("factor" in each for each in found if each["change"] in idle)
    assert len(lines) == len(found) - len(idle)
    assert re.fullmatch(r"change 2 of \d+: .*; about .* left", lines[1])


CORES = {"node.cores": "8", "node.core_flops": "1Gflop/s"}


@pytest.mark.parametrize(
    ("options", "threads", "others"),
    [
        ({}, 2, ["2 ranks on the same nodes, 4 threads each", "8 ranks on the same nodes, 1 thread each"]),
        ({"threads_per_rank": 1}, 1, ["2 ranks on the same nodes, 2 threads each"]),
    ],
)
def test_ranks_fill_their_nodes_unless_threads_are_named_and_others_on_the_same_cores_take_as_long(
    tmp_path, options, threads, others
):
    path = tmp_path / "own.toml"
    path.write_text(text_of(COMPUTE.replace("bytes = 3000", "flops = 1e6")))
    model, chosen = load_model(path), {"settings": CORES, "ranks_per_node": 4, "threads": 1, **options}
    result = model.simulate("fugaku", 4, **chosen)
    assert (result["threads_per_rank"], result["usage"]["node_share"]) == (threads, threads / 8)
    assert result["time_s"] == pytest.approx(8000 / 4 * 1e6 / (threads * 1e9))
    tried = [each for each in tried_changes(model, "fugaku", 4, **chosen) if "same nodes" in each["change"]]
    assert sorted(each["change"] for each in tried) == others
    for each in tried:
        assert (each["factor"], each["energy_j"]) == pytest.approx((1, result["energy_j"]))


def test_json_of_a_model_is_a_table_with_its_parts_causes_and_settings(path, tmp_path):
    picture = tmp_path / "scaling.svg"
    setting = ("--set", "node.memory_bandwidth=10GB/s", "--threads", "1")
    done = run_tradewind(
        *("simulate", "model", str(path), "--machine", "fattree-M", "-n", "2,8", "--json", "--out", str(picture)),
        *setting,
    )
    assert done.code == 0, done.err
    (tmp_path / "result.json").write_text(done.out)
    first = json.loads(done.out)[0]
    assert first["settings"] == {"node.memory_bandwidth": "10GB/s"}
    table = open_table(tmp_path / "result.json")
    assert set(table.settings) == {"node.memory_bandwidth=10GB/s"}
    small = table[table.case == 0].set_index(["quantity", "part"]).value
    assert small["time", "physics"] == first["part_s"]["physics"]
    assert small["cause", "latency"] == first["cause_s"]["latency"]
    assert "Time of a step of own: 2 ranks" in picture.read_text()
