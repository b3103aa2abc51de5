"""The option for the order of packets that come to a switch at one time; the order itself: tie_order.cpp."""

import pytest
from command_line import run_tradewind
from small import all_to_all, machine

from tradewind.base.errors import InputError
from tradewind.simulation import Progress, prepare, simulate
from tradewind.study.cases.expand import expand
from tradewind.study.plan.load import load_study

RING = machine({"kind": "torus", "shape": [8], "nodes_per_switch": 1}, switch={"buffer": "4KiB"})
EXCHANGE = all_to_all(8, "ring-4", 4096)


def test_each_order_has_a_time_and_the_result_is_that_of_the_first():
    found = simulate(EXCHANGE, RING, order="ports,seed=2..4", threads=1)
    times = {each: simulate(EXCHANGE, RING, order=each)["time_s"] for each in ("ports", "seed=2", "seed=3", "seed=4")}
    assert found["order_time_s"] == times
    assert len(set(times.values())) == 4
    assert (found["order"], found["time_s"]) == ("ports", times["ports"])
    assert "order" not in simulate(EXCHANGE, RING)
    many = prepare(EXCHANGE, RING, order="seed=1..8", threads=1).forecast()
    assert many["wall_s"] == 8 * prepare(EXCHANGE, RING, threads=1).forecast()["wall_s"]


def test_the_progress_of_several_orders_is_that_of_all():
    seen = []
    watch = prepare(EXCHANGE, RING, order="seed=1..4")._watch(seen.append, begin=0.0, done=1, hops=100)
    watch(Progress(simulated_s=1e-6, fraction=0.5, packet_hops=20, wall_s=0.1))
    assert (seen[0].fraction, seen[0].packet_hops) == (1.5 / 4, 120)
    assert seen[0].wall_s > 0.1  # since the first began


def test_the_command_shows_the_spread():
    asked = ["simulate", "allreduce", "--ranks", 64, "--count", 8192, "--machine", "torus-M"]
    asked += ["--order", "ports,seed=1..3"]
    shown = run_tradewind(*asked)
    assert "4 orders of packets that come at one time: " in " ".join(shown.out.split())
    columns = run_tradewind(*asked, "--model", "loggp")
    assert columns.code == 2
    assert "order ports,seed=1..3: only the packet model knows ports, not loggp" in columns.err
    times = run_tradewind(*asked, "--json").json["order_time_s"]
    assert list(times) == ["ports", "seed=1", "seed=2", "seed=3"]


@pytest.mark.parametrize("order", ["seed=0", "seed=3..2", "seed=1..1001", "seed", "ports,", 7])
def test_orders_that_are_refused(order):
    word = "''" if order == "ports," else repr(str(order))
    with pytest.raises(InputError) as refused:
        prepare(EXCHANGE, RING, order=order)
    (problem,) = refused.value.problems
    assert problem == (
        f"order {word}: ports, seed=N or seed=N..M are allowed, with seeds of 1 to 9223372036854775807, "
        "at most 1000 of them"
    )


def test_repetitions_until_steady_have_one_order():
    with pytest.raises(InputError, match="one order is allowed where repetitions are simulated until steady"):
        simulate(all_to_all(8, "ring-4", 8, times=20), RING, steady=True, order="seed=1..2")


def test_each_order_of_a_study_is_a_case():
    text = """\
title = "Orders"

[[sweep]]
name = "sum"
kind = "simulate"
pattern = "allreduce"
count = 8
ranks = 8
machine = "torus-M"
"""
    (plain,), _ = expand(load_study("study.toml", text).study)
    assert "order" not in plain.options
    cases, _ = expand(load_study("study.toml", f'{text}order = ["ports", "seed=1..2"]\n').study)
    assert [case.labels["order"] for case in cases] == ["ports", "seed=1", "seed=2"]
    with pytest.raises(InputError, match="order 'seeds=1': ports, seed=N or"):
        load_study("study.toml", f'{text}order = "seeds=1"\n')
