"""Repetitions extrapolated from the first ones, against simulations of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from slow_tests import slow

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.simulation import forecast, prepare, simulate
from tradewind.simulation.steady import run_until_steady
from tradewind.workload.exchange import Exchange
from tradewind.workload.repetitions import TOLERANCE, Repetitions, first_of


class AtFirst(Repetitions):
    """Repetitions that are steady as soon as one asks."""

    def enough(self, ends: Any) -> bool:
        assert len(ends) == len(set(ends)) == self.asked[0] * len(self.one())
        return True


class Wrong(Repetitions):
    def enough(self, ends: Any) -> bool:
        return bool(1 / 0)


class OneByOne(Repetitions):
    """Repetitions that are never steady."""

    def enough(self, ends: Any) -> bool:
        return False


HALO = Exchange("halo", 16, grid=(400, 400, 8), split=(4, 4), periodic="xy", times=24)


def test_repetitions_one_by_one_take_as_long_as_in_a_row() -> None:
    whole = simulate(HALO, "torus-M", threads=1)
    parts = prepare(OneByOne(HALO), "torus-M", threads=1).run()
    assert parts["time_s"] == whole["time_s"]
    assert (parts["messages"], parts["bytes"], parts["packet_hops"]) == (
        whole["messages"],
        whole["bytes"],
        whole["packet_hops"],
    )


@pytest.mark.parametrize(
    ("exchange", "machine"),
    [
        (HALO, "dragonfly-MM"),
        *slow(
            (Exchange("allreduce", 100, algorithm="recursive-21", times=50), "dragonfly-ML"),
            (Exchange("allreduce", 300, algorithm="recursive-4", times=50), "dragonfly-ML"),
        ),
        (Exchange("allreduce", 130, algorithm="recursive-2", times=50), "torus-L"),
        (Exchange("transpose", 24, grid=(240, 240, 24), algorithm="ring-1", times=20), "fattree-M"),
    ],
    ids=str,
)
def test_extrapolated_time_is_that_of_all_repetitions(exchange: Exchange, machine: str) -> None:
    whole = simulate(exchange, machine, threads=1)
    steady = simulate(exchange, machine, threads=1, steady=True)
    assert steady["simulated_times"] < exchange.times
    assert abs(steady["extrapolated_change"]) <= TOLERANCE
    assert steady["time_s"] == pytest.approx(whole["time_s"], rel=TOLERANCE)
    assert sum(steady["step_time_s"].values()) == pytest.approx(steady["time_s"])
    for key in ("messages", "bytes", "packet_hops"):
        assert steady[key] == pytest.approx(whole[key]), key
    assert steady["bound_s"] == pytest.approx(whole["bound_s"])
    assert forecast(exchange, machine, steady=True)["packet_hops"] < forecast(exchange, machine)["packet_hops"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("exchange", "machine", "options"),
    [
        (HALO, "torus-M", {"buffers": "unbounded"}),
        (HALO, "dragonfly-MM", {"routing": "ugal"}),
        (Exchange("halo", 64, grid=(4000, 10, 8), split=(64, 1), times=40), "fattree-M", {"ranks_per_node": 4}),
        *slow((Exchange("allreduce", 300, algorithm="recursive-4", times=50), "dragonfly-ML", {"packet": "message"})),
        (Exchange("transpose", 24, grid=(240, 240, 24), algorithm="ring-1", times=20), "torus-M", {}),
    ],
    ids=str,
)
def test_what_ends_early_is_what_so_many_repetitions_are(
    exchange: Exchange, machine: str, options: dict[str, Any], threads: int
) -> None:
    """Ranks that were ahead do not get lost: the same bits as of a simulation that ends there from the start."""
    early = prepare(AtFirst(exchange), machine, threads=threads, **options).run()
    number = len(early["step_end_s"]) // len(AtFirst(exchange).one())
    assert 8 <= number < exchange.times
    whole = prepare(OneByOne(replace(exchange, times=number)), machine, threads=1, **options).run()
    for key in ("time_s", "step_time_s", "messages", "bytes", "packet_hops", "bound_s", "imbalance", "delay"):
        assert early[key] == whole[key], key


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_the_question_ends_the_simulation(threads: int) -> None:
    with pytest.raises(ZeroDivisionError):
        prepare(Wrong(HALO), "torus-M", threads=threads).run()


def test_questions_that_a_program_cannot_result_are_refused() -> None:
    simulation = prepare(HALO, "torus-M")
    machine, program, placement, _ = simulation._arguments()
    for steps, asked, refusal in (
        (2, [1], "repetitions of 2 steps: a program of 1 steps does not consist of such"),
        (1, [2], "an early end after 2 repetitions: 1 to 1 are allowed, in ascending order"),
        (1, [1, 1], "an early end after 1 repetitions"),
        (0, [1], "repetitions of 0 steps"),
    ):
        options = _core.SimulationOptions(packet_bytes=4096, repetition_steps=steps, asked=asked, enough=bool)
        for simulate_it in (_core.simulate_packets, _core.simulate_loggp):
            with pytest.raises(InputError, match=refusal):
                simulate_it(machine, program, placement, options)
    with pytest.raises(InputError, match="no function that decides"):
        _core.simulate_packets(machine, program, placement, _core.SimulationOptions(packet_bytes=4096, asked=[1]))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_formula_ends_early_too(threads: int) -> None:
    steady = simulate(HALO, "torus-M", model="loggp", steady=True, threads=threads)
    assert steady["simulated_times"] == 8
    assert steady["time_s"] == pytest.approx(simulate(HALO, "torus-M", model="loggp")["time_s"], rel=TOLERANCE)


def pretended(durations: list[float], ahead: int = 0) -> Any:
    """A simulator whose i-th repetition takes durations[i], and where some ranks are `ahead` repetitions in front."""

    def run(workload: Repetitions) -> dict[str, Any]:
        ends = np.cumsum(durations[: workload.exchange.times]).tolist()
        for number in workload.asked:
            if workload.enough(ends[:number]):
                ends = ends[: number + ahead]
                break
        return {"time_s": ends[-1], "step_end_s": ends, "messages": 10 * len(ends), "wall_s": 1.0}

    return run


REDUCE = Exchange("allreduce", 4, times=100)


@pytest.mark.parametrize("ahead", [0, 1, 20])
def test_more_are_simulated_until_half_as_many_say_the_same(ahead: int) -> None:
    run = pretended([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 3.0] + [2.0, 4.0] * 46, ahead)
    result = run_until_steady(REDUCE, run)
    # by 6: 39 + 94 x 5 = 509, by 8: 45 + 92 x 3.75 = 390, by 10: 51 + 90 x 3.2 = 339; by 12, 16, 20 and 24 it is 321
    assert result["time_s"] == pytest.approx(321.0)
    assert result["step_time_s"] == {"allreduce": pytest.approx(321.0)}
    assert (result["simulated_times"], result["messages"]) == (24 + ahead, 1000)
    assert result["extrapolated_change"] == pytest.approx(0.0, abs=1e-12)


def test_more_are_simulated_for_a_smaller_tolerance() -> None:
    run = pretended([1.0 + 0.5**i for i in range(1, 101)])  # 101, in all
    found = []
    for steady in (True, 0.001, 0.0001):
        result = run_until_steady(REDUCE, run, steady)
        assert abs(result["extrapolated_change"]) <= (TOLERANCE if steady is True else steady)
        found.append((result["simulated_times"], abs(result["time_s"] - 101)))
    assert found == sorted(found, key=lambda pair: (pair[0], -pair[1]))
    assert len({number for number, _ in found}) == 3


@pytest.mark.parametrize("steady", [0, 0.0, 1, 1.5, -0.1, float("nan"), "0.1%", None])
def test_a_tolerance_that_is_no_fraction_is_refused(steady: Any) -> None:
    for ask in (simulate, forecast):
        with pytest.raises(InputError, match="true or a fraction is allowed, above 0 and below 1"):
            ask(HALO, "torus-M", steady=steady)


def test_where_they_never_do_all_are_simulated() -> None:
    result = run_until_steady(REDUCE, pretended([float(i) for i in range(1, 101)]))
    assert (result["time_s"], result["simulated_times"], result["extrapolated_change"]) == (5050.0, 100, None)


def test_few_are_simulated_at_once() -> None:
    few = Exchange("allreduce", 4, times=2)
    assert Repetitions(few).asked == []
    result = run_until_steady(few, pretended([2.0, 1.0]))
    assert (result["simulated_times"], result["time_s"], result["extrapolated_change"]) == (2, 3.0, None)


def test_it_is_asked_after_so_many() -> None:
    assert Repetitions(replace(REDUCE, times=50)).asked == [8, 12, 16, 20, 24, 28, 32, 40, 48]
    assert Repetitions(replace(REDUCE, times=9)).asked == [8]
    assert Repetitions(replace(REDUCE, times=8)).asked == []


def test_what_is_no_exchange_has_no_repetitions() -> None:
    with pytest.raises(InputError, match="only an exchange"):
        first_of(Repetitions(REDUCE))
