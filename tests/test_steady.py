"""Repetitions that are reckoned from the first ones, against simulations of all of them."""

from __future__ import annotations

from typing import Any

import pytest

from tradewind.errors import InputError
from tradewind.exchange import Exchange
from tradewind.simulation import forecast, prepare, simulate
from tradewind.steady import TOLERANCE, Repetitions, first_attempt, run_until_steady

HALO = Exchange("halo", 16, grid=(400, 400, 8), split=(4, 4), periodic="xy", times=24)


def test_repetitions_one_by_one_take_as_long_as_in_a_row() -> None:
    whole = simulate(HALO, "torus-M", threads=1)
    parts = prepare(Repetitions(HALO, 24), "torus-M", threads=1).run()
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
        (Exchange("allreduce", 100, algorithm="recursive-21", times=50), "dragonfly-ML"),
        (Exchange("allreduce", 300, algorithm="recursive-4", times=50), "dragonfly-ML"),
        (Exchange("allreduce", 130, algorithm="recursive-2", times=50), "torus-L"),
        (Exchange("transpose", 24, grid=(240, 240, 24), algorithm="ring-1", times=20), "fattree-M"),
    ],
    ids=str,
)
def test_what_is_reckoned_is_what_all_repetitions_take(exchange: Exchange, machine: str) -> None:
    whole = simulate(exchange, machine, threads=1)
    steady = simulate(exchange, machine, threads=1, steady=True)
    assert steady["simulated_times"] < exchange.times
    assert abs(steady["reckoned_change"]) <= TOLERANCE
    assert steady["time_s"] == pytest.approx(whole["time_s"], rel=TOLERANCE)
    assert sum(steady["step_time_s"].values()) == pytest.approx(steady["time_s"])
    for key in ("messages", "bytes", "packet_hops"):
        assert steady[key] == pytest.approx(whole[key]), key
    assert steady["bound_s"] == pytest.approx(whole["bound_s"])
    assert forecast(exchange, machine, steady=True)["packet_hops"] < forecast(exchange, machine)["packet_hops"]


def pretended(durations: list[float]) -> Any:
    """A simulator whose i-th repetition takes durations[i]; it keeps a list of what it was asked."""

    def run(workload: Repetitions) -> dict[str, Any]:
        run.asked.append(workload.simulated)
        times = durations[: workload.simulated]
        steps = {f"allreduce {i}": time for i, time in enumerate(times)}
        return {"time_s": sum(times), "step_time_s": steps, "messages": 10 * workload.simulated, "wall_s": 1.0}

    run.asked = []
    return run


REDUCE = Exchange("allreduce", 4, times=100)


def test_more_are_simulated_until_half_as_many_say_the_same() -> None:
    run = pretended([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 3.0] + [2.0, 4.0] * 16)
    result = run_until_steady(REDUCE, run)
    assert run.asked == [8, 16, 32]
    # by 8: 45 + 92 x 3.75 = 390; by 16: 69 + 84 x 3 = 321; by 32: 117 + 68 x 3 = 321
    assert result["time_s"] == pytest.approx(321.0)
    assert result["step_time_s"] == {"allreduce": pytest.approx(321.0)}
    assert (result["simulated_times"], result["messages"]) == (32, 1000)
    assert result["reckoned_change"] == pytest.approx(0.0, abs=1e-12)
    assert result["wall_s"] == 3.0


def test_where_they_never_do_all_are_simulated() -> None:
    run = pretended([float(i) for i in range(1, 101)])
    result = run_until_steady(REDUCE, run)
    assert run.asked == [8, 16, 32, 64, 100]
    assert (result["time_s"], result["simulated_times"], result["reckoned_change"]) == (5050.0, 100, None)


def test_few_are_simulated_at_once() -> None:
    run = pretended([2.0, 1.0])
    result = run_until_steady(Exchange("allreduce", 4, times=2), run)
    assert (run.asked, result["time_s"], result["reckoned_change"]) == ([2], 3.0, None)


def test_what_is_no_exchange_has_no_repetitions() -> None:
    with pytest.raises(InputError, match="only an exchange"):
        first_attempt(Repetitions(REDUCE, 2))
