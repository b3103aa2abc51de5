"""Coupled models: the program written by hand, the slower component sets the pace, what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from validation.machines import CROSSBAR, machine

from tradewind.base.errors import InputError
from tradewind.model import load_model
from tradewind.simulation import simulate
from tradewind.workload.program_file import load_program

COMPONENT = """
title = "a component"
source = "these tests"
grid = "{grid}"
step = "{step}"
[numbers.traffic]
value = {traffic}
source = "here"
assumed = true
[[exchange]]
name = "wide"
halo = 1
fields = 2
[[steps]]
label = "tendencies"
compute = "xy"
bytes = "=traffic"
[[steps]]
exchange = "wide"
"""
COUPLED = """
title = "two components"
source = "these tests"
[numbers.ocean_ranks]
value = 2
source = "here"
[[component]]
name = "air"
model = "air.toml"
grid = "16x8"
[[component]]
name = "sea"
model = "sea.toml"
grid = "10x6"
ranks = "=ocean_ranks"
[[coupling]]
name = "fluxes"
from = "air"
to = "sea"
fields = "=2 * ocean_ranks"
period = "240s"
interpolation = "conservative"
[[coupling]]
name = "surface"
from = "sea"
to = "air"
fields = 3
period = "240s"
interpolation = "bilinear"
periodic = "x"
bytes = 40
"""
BY_HAND = """
[[exchange]]
name = "air halo"
group = "air"
halo = 1
fields = 2
[[exchange]]
name = "sea halo"
group = "sea"
halo = 1
fields = 2
[[exchange]]
name = "fluxes"
from = "air"
to = "sea"
grid = "16x8x1"
target_grid = "10x6x1"
fields = 4
interpolation = "conservative"
[[exchange]]
name = "surface"
from = "sea"
to = "air"
grid = "10x6x1"
target_grid = "16x8x1"
fields = 3
interpolation = "bilinear"
periodic = "x"
[[group]]
name = "air"
ranks = 8
split = "4x2"
grid = "16x8x5"
[[group.step]]
label = "t1"
compute = "xy"
bytes = 4000
[[group.step]]
exchange = "air halo"
[[group.step]]
label = "t2"
compute = "xy"
bytes = 4000
[[group.step]]
exchange = "air halo"
[[group.step]]
start = "fluxes"
[[group.step]]
start = "surface"
[[group.step]]
wait = "fluxes"
[[group.step]]
wait = "surface"
[[group.step]]
label = "interpolation"
compute = "xy"
grid = "16x8x1"
bytes = 120
[[group]]
name = "sea"
ranks = 2
split = "2x1"
grid = "10x6x3"
[[group.step]]
label = "t1"
compute = "xy"
bytes = 1000
[[group.step]]
exchange = "sea halo"
[[group.step]]
start = "fluxes"
[[group.step]]
start = "surface"
[[group.step]]
wait = "fluxes"
[[group.step]]
wait = "surface"
"""
MACHINE = machine(CROSSBAR, node={"memory_bandwidth": "10GB/s"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "air.toml").write_text(COMPONENT.format(grid="16x8x5", step="60s", traffic=4000))
    (tmp_path / "sea.toml").write_text(COMPONENT.format(grid="10x6x3", step="2min", traffic=1000))
    (tmp_path / "coupled.toml").write_text(COUPLED)
    return tmp_path


def test_the_program_is_the_one_that_is_written_by_hand(folder):
    model = load_model(folder / "coupled.toml")
    assert (model.step_s, model.every(10)) == (120.0, [2])
    made = simulate(model.program(10, every=2).program, MACHINE)
    by_hand = simulate(load_program("by_hand.toml", BY_HAND), MACHINE)
    for key in ("time_s", "messages", "bytes", "packet_hops"):
        assert made[key] == by_hand[key]
    proved = model.verify(10)
    assert proved["bytes"] == made["bytes"]
    assert proved["deadlock_free"]


def test_couplings_count_by_their_period(folder):
    model = load_model(folder / "coupled.toml")
    plain, coupled = (simulate(model.program(10, every=every).program, MACHINE)["time_s"] for every in (1, 2))
    assert coupled > plain
    assert model.simulate(MACHINE, 10)["time_s"] == pytest.approx((plain + coupled) / 2)


def test_the_slower_component_sets_the_pace(folder):
    air = load_model(folder / "air.toml").simulate(MACHINE, 8)["time_s"]
    model = load_model(folder / "coupled.toml", {"sea.traffic": 0, "ocean_ranks": 2})
    alone = simulate(model.program(10).program, MACHINE)
    assert alone["time_s"] == pytest.approx(2 * air)
    slow = load_model(folder / "coupled.toml", {"sea.traffic": 1e6}).simulate(MACHINE, 10)
    assert slow["time_s"] > 9e-3
    assert slow["share"]["sea: tendencies"] + slow["share"]["coupling"] > 0.9
    assert slow["numbers"] == {"ocean_ranks": 2, "air.traffic": 4000, "sea.traffic": 1e6}


def test_components_one_after_another_on_all_ranks(folder):
    path = folder / "coupled.toml"
    path.write_text("concurrent = false\n" + COUPLED)
    model = load_model(path)
    made = simulate(model.program(8).program, MACHINE)
    air, sea = (load_model(folder / f"{name}.toml").simulate(MACHINE, 8)["time_s"] for name in ("air", "sea"))
    assert made["time_s"] == pytest.approx(2 * air + sea, rel=0.05)
    assert model.verify(8)["deadlock_free"]


def test_what_a_component_does_now_and_then_is_done_in_the_last_of_its_steps(folder):
    air = folder / "air.toml"
    air.write_text(air.read_text() + '[[steps]]\nlabel = "radiation"\nevery = 6\ncompute = "xy"\nbytes = 1\n')
    model = load_model(folder / "coupled.toml")
    assert model.every(10) == [2, 3]
    with_radiation, plain = (model.program(10, every=every).parts for every in (3, 1))
    assert with_radiation.count("air: radiation") == 1
    assert [part for part in with_radiation if part != "air: radiation"] == plain
    assert plain.count("air: tendencies") == 2


def test_what_is_assumed_in_components_is_named(folder):
    model = load_model(folder / "coupled.toml", {"sea.traffic": 3})
    assert model.assumed == ["air.traffic"]
    assert model.kinds(10) == ["halo"]


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ('to = "sea"', 'to = "see"', r"coupled.toml:19: unknown component 'see'; did you mean 'sea'\?"),
        ('from = "air"', 'form = "air"', r"coupled.toml:18: unknown key 'form'; did you mean 'from'\?"),
        ('from = "air"\nto = "sea"', 'from = "air"\nto = "air"', r"coupled.toml:19: from 'air' to itself: two"),
        ('name = "sea"', 'name = "air"', r"coupled.toml:11: two components have the name 'air'"),
        ('model = "sea.toml"', 'model = "coupled.toml"', r"coupled.toml:13: .*has components itself"),
        ('model = "sea.toml"', 'model = "hirlam"', r"coupled.toml:13: model 'hirlam' has servers"),
        ('model = "sea.toml"', 'model = "see"', r"coupled.toml:13: unknown model 'see'"),
        ('ranks = "=ocean_ranks"', "", r"coupled.toml:\d+: ranks of air, sea: of one they may be left out"),
        ('ranks = "=ocean_ranks"', "ranks = 10", r"coupled.toml:\d+: 10 ranks: .* 10 of sea and 1 or more of air"),
        ('ranks = "=ocean_ranks"', 'ranks = "=ocean_ranks / 4"', r"coupled.toml:15: ranks .*0.5; a whole number"),
        (
            'grid = "16x8"',
            'grid = "16x8"\nranks = 7',
            r"coupled.toml:\d+: 10 ranks: components have 7 of air \+ 2 of sea",
        ),
        ('interpolation = "bilinear"', 'interpolation = "cubic"', r"coupled.toml:29: .*unknown interpolation 'cubic'"),
        ("fields = 3", "fields = 0", r"coupled.toml:27: fields"),
        ('fields = "=2 * ocean_ranks"', 'fields = "=ocean_ranks / 4"', r"^[^:]*coupled.toml:20: fields .*0.5; a whole"),
        ("bytes = 40", 'bytes = "=-ocean_ranks"', r"coupled.toml:31: bytes '=-ocean_ranks': -2; 0 or more"),
        ('periodic = "x"', 'periodic = "q"', r"coupled.toml:30: periodic 'q'"),
        ('grid = "10x6"', 'grid = "10x6"\narea = [0, 1, 0, 1]', r"coupled.toml:\d+: the area of one grid alone"),
        ('grid = "10x6"', 'grid = "1x1"', r"coupled.toml:\d+: .*"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(folder, was, becomes, problem):
    path = folder / "coupled.toml"
    assert COUPLED.count(was) == 1
    path.write_text(COUPLED.replace(was, becomes))
    with pytest.raises(InputError, match=problem):
        load_model(path).program(10, every=None)


def test_periods_are_whole_steps_of_all_components(folder):
    path = folder / "coupled.toml"
    path.write_text(COUPLED.replace('period = "240s"', 'period = "180s"'))
    with pytest.raises(InputError, match=r"coupled.toml:21: period 180 s: a multiple of 120 s .*air 60 s, sea 120 s"):
        load_model(path)
    (folder / "sea.toml").write_text((folder / "sea.toml").read_text() + "every = 3\n")
    (folder / "air.toml").write_text((folder / "air.toml").read_text() + "every = 3\n")
    path.write_text(COUPLED)
    with pytest.raises(InputError, match=r"component 'air' does something every 3 steps: a multiple of 2 is allowed"):
        load_model(path).every(10)


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ('ranks = "=ocean_ranks"', "ranks = 61", "61 ranks: neither 61x1 nor other factors of them fit 10x6x3 points"),
        ('grid = "10x6"', 'grid = "1x1"', "2 ranks: neither 2x1 nor other factors of them fit 1x1x1 points"),
    ],
)
def test_ranks_are_checked_by_each_component(folder, was, becomes, problem):
    path = folder / "coupled.toml"
    path.write_text(COUPLED)
    load_model(path).check(66)
    path.write_text(COUPLED.replace(was, becomes))
    with pytest.raises(InputError, match=problem):
        load_model(path).check(66)


def test_numbers_and_splits_that_do_not_exist(folder):
    with pytest.raises(InputError, match="unknown number 'ocean_rank'"):
        load_model(folder / "coupled.toml", {"ocean_rank": 1})
    with pytest.raises(InputError, match=r"unknown number 'sea\.trafic'; did you mean 'sea\.traffic'"):
        load_model(folder / "coupled.toml", {"sea.trafic": 1})
    with pytest.raises(InputError, match="split 5x2: the components of coupled have splits of their own"):
        load_model(folder / "coupled.toml").program(10, (5, 2))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:packets of .* KiB")
@pytest.mark.parametrize(("name", "every"), [("coupled-arome-nemo", [24]), ("coupled-ifs-nemo", [])])
def test_the_models_that_come_with_tradewind(name, every):
    model = load_model(name)
    assert model.every(16) == every
    result = model.simulate("fattree-M", 16, packet="message")
    assert sum(result["part_s"].values()) == pytest.approx(result["time_s"])
    for ranks in (16, 100):
        proved = model.verify(ranks)
        assert proved["ok"]
        assert proved["deadlock_free"]
