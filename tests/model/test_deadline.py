"""The ranks that a forecast needs, against all numbers of ranks, one by one."""

from __future__ import annotations

import re

import pytest
from command_line import run_tradewind
from model.small_models import COMPUTE, HALO, SUM, TRANSPOSE, text_of
from validation.machines import CROSSBAR, machine

from tradewind.base.errors import InputError
from tradewind.model import load_model
from tradewind.model.deadline import ranks_within
from tradewind.model.forecast import forecast_s

NODE = {"memory_bandwidth": "10GB/s", "flow_memory_bandwidth": "10GB/s", "flops": "10Gflop/s"}
FILE = machine(CROSSBAR, node=NODE)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text_of(COMPUTE, HALO, SUM))
    return load_model(path)


def taken_s(model, ranks):
    return forecast_s(10, model.simulate(FILE, ranks, causes=False, threads=1))


@pytest.mark.parametrize("limit", [12, 24])
def test_it_is_the_smallest_number_that_meets_the_deadline(model, limit):
    """But for those whose parts are too long to be tried, and a few percent."""
    within_s = 1.001 * taken_s(model, limit)
    found = ranks_within(model, FILE, within_s=within_s, days=10, threads=1)["side_by_side"]
    numbers = [n for n in range(1, 33) if max(model.split(n)) <= 3 * min(model.split(n))]
    assert found["ranks"] == min(n for n in numbers if taken_s(model, n) <= within_s)
    assert found["forecast_s"] == pytest.approx(taken_s(model, found["ranks"]))
    assert found["enough_nodes"]


def test_few_levels_that_transpositions_divide_do_not_limit_the_ranks(tmp_path):
    """With 2 levels 16 ranks are 2 x 8."""
    path = tmp_path / "own.toml"
    path.write_text(text_of(COMPUTE, TRANSPOSE, grid="64x64x2"))
    model = load_model(path)
    within_s = 1.001 * taken_s(model, 16)
    assert ranks_within(model, FILE, within_s=within_s, days=10, threads=1)["side_by_side"]["ranks"] == 16


SPECTRAL = """
title = "a model"
source = "these tests"
grid = "TCo15"
levels = 2
step = "60s"
[[steps]]
label = "physics"
compute = "points"
bytes = 30000
[[steps]]
dwarf = "spherical_harmonics"
"""


def test_numbers_of_ranks_that_a_dwarf_refuses_are_passed_over(tmp_path):
    """16 wavenumbers and 2 levels: of more than 16 ranks the even numbers work, up to 32."""
    path = tmp_path / "own.toml"
    path.write_text(SPECTRAL)
    model = load_model(path)
    found = ranks_within(model, FILE, within_s=1.001 * taken_s(model, 18), days=10, threads=1)["side_by_side"]
    assert found["ranks"] == 18
    none = ranks_within(model, FILE, within_s=1e-3, days=10, threads=1)["side_by_side"]
    assert none["reason"].startswith("more ranks have no nodes, or do not fit the model")
    assert none["reason"].endswith("on 32 ranks")


def test_the_nodes_of_the_machine_are_counted_where_ranks_are_limited(model, monkeypatch):
    monkeypatch.setattr("tradewind.model.deadline.MAX_RANKS", 8)
    within_s = 1.001 * taken_s(model, 4)
    found = ranks_within(model, FILE, within_s=within_s, days=10, threads=1, members=16)["side_by_side"]
    assert (found["all_nodes"], found["enough_nodes"]) == (64, True)


def test_a_model_that_fits_nowhere_tells_why(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text_of(COMPUTE, grid="3x3x1"))
    found = ranks_within(load_model(path), FILE, within_s=1, days=10, ranks_per_node=16)["side_by_side"]
    assert found["reason"].startswith("no number of ranks fits the model: ")
    assert found["reason"].endswith("other factors of them fit 3x3x1 points")


def test_a_mistake_of_a_model_is_no_reason_of_its_ranks(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text_of(COMPUTE, HALO + 'algorithm = "nonsense"\n'))
    with pytest.raises(InputError, match=r"own.toml:\d+: unknown halo algorithm 'nonsense'"):
        ranks_within(load_model(path), FILE, within_s=1, days=10)


def test_an_ensemble_side_by_side_needs_the_nodes_of_a_member_for_each(model):
    within_s = 1.001 * taken_s(model, 4)
    one = ranks_within(model, FILE, within_s=within_s, days=10, threads=1)["side_by_side"]
    many = ranks_within(model, FILE, within_s=within_s, days=10, threads=1, members=3)
    assert many["side_by_side"]["all_nodes"] == 3 * one["nodes"]
    in_turn = ranks_within(model, FILE, within_s=within_s / 3, days=10, threads=1)["side_by_side"]
    assert [many["one_after_another"][key] for key in ("ranks", "all_nodes")] == [in_turn["ranks"], in_turn["nodes"]]
    assert not ranks_within(model, FILE, within_s=within_s, days=10, threads=1, members=50)["side_by_side"][
        "enough_nodes"
    ]


def test_where_no_number_of_ranks_will_do_the_fastest_is_named(model):
    found = ranks_within(model, FILE, within_s=1e-3, days=10, threads=1)["side_by_side"]
    assert re.fullmatch(
        r"(more ranks do not help|more ranks have no nodes, or do not fit the model in parts of at most 3:1); "
        r"the fastest forecast takes [\d.]+ s, on [\d,]+ ranks",
        found["reason"],
    )


def test_questions_that_cannot_be_answered(model):
    with pytest.raises(InputError) as raised:
        ranks_within(model, FILE, within_s=0, days=-1, members=0)
    assert list(raised.value.problems) == [
        "deadline 0: a number above 0 is allowed",
        "days of the forecast -1: a number above 0 is allowed",
        "members 0: 1 or more are allowed",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--ranks is missing; or let them be found, with --within and --forecast such as 1h and 10d"),
        (["--within", "1h"], "--forecast is missing, such as 10d"),
        (["--members", "50", "-n", "4"], "--members: --within and --forecast are needed, too"),
        (["--within", "1h", "--forecast", "10d", "-n", "4"], "--ranks: not beside --within"),
        (["--within", "1h", "--forecast", "10d", "--scale", "strong"], "--scale: not beside --within"),
        (["--within", "1h", "--forecast", "10d", "--no-causes"], "--no-causes: not beside --within"),
        (["--within", "1", "--forecast", "10 days"], "--within: '1' has no unit"),
        (["-n", "4", "--scale", "week"], "unknown scale 'week'; did you mean 'weak'?"),
        (["-n", "4", "--out", "picture.gif"], "picture.gif: a name that ends in .svg, .png, .pdf, .html is allowed"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_one_error(arguments, words):
    done = run_tradewind("simulate", "model", "gcr-1300m", "--machine", "fattree-M", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
