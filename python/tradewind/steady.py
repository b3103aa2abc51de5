"""An exchange that is repeated often: simulated until its repetitions have become alike, the rest reckoned.

The network of one repetition holds what the one before has left, so the first differ. As soon as one takes as long as
the one before (`TOLERANCE`), all that follow count as that long. Where they never become alike, all are simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from tradewind.errors import InputError
from tradewind.exchange import Exchange, Step, Workload

TOLERANCE = 1e-3
"""By how much a repetition may differ from the one before, as a fraction."""
FIRST = 3
"""Repetitions of the first attempt; each next one has twice as many."""
SCALED = ("messages", "bytes", "packet_hops", "bound_s")
"""What grows with the repetitions."""


@dataclass(frozen=True)
class Repetitions:
    """The first `simulated` repetitions of an exchange, each as steps of its own."""

    exchange: Exchange
    simulated: int

    @property
    def ranks(self) -> int:
        return self.exchange.ranks

    @property
    def name(self) -> str:
        return self.exchange.name

    @property
    def bytes_per_point(self) -> int:
        return self.exchange.bytes_per_point

    def one(self) -> list[Step]:
        """The steps of one repetition."""
        return replace(self.exchange, times=1).steps()

    def steps(self) -> list[Step]:
        return self.one() * self.simulated

    def as_dict(self) -> dict[str, Any]:
        return self.exchange.as_dict()


def first_attempt(exchange: Workload) -> Repetitions:
    """What is simulated first. Raises InputError for a workload that is no exchange."""
    if not isinstance(exchange, Exchange):
        raise InputError("steady: only an exchange has repetitions")
    return Repetitions(exchange, min(FIRST, exchange.times))


def run_until_steady(exchange: Workload, run: Callable[[Workload], dict[str, Any]]) -> dict[str, Any]:
    """Runs more and more repetitions until the last two are alike, and answers for all of them.

    `run` simulates a workload. Adds ``simulated_times`` (repetitions that were simulated), ``repetition_s`` (the last
    of them) and ``repetition_change`` (the last over the one before, minus 1; None of a single one) to its answer.
    ``messages``, ``bytes``, ``packet_hops`` and ``bound_s`` are those of all repetitions, ``delay`` counts only what
    was simulated, and ``wall_s`` sums up all attempts.
    """
    attempt = first_attempt(exchange)
    times, wall_s = attempt.exchange.times, 0.0
    while True:
        result = run(attempt)
        wall_s += result["wall_s"]
        durations = _durations(attempt, result)
        change = durations[-1] / durations[-2] - 1 if len(durations) > 1 and durations[-2] > 0 else None
        if attempt.simulated == times or (change is not None and abs(change) <= TOLERANCE):
            break
        attempt = replace(attempt, simulated=min(times, 2 * attempt.simulated))
    rest = times - attempt.simulated
    scale = times / attempt.simulated
    last = list(result["step_time_s"].values())[-len(attempt.one()) :]
    return (
        result
        | {
            key: result[key] * scale if isinstance(result[key], float) else round(result[key] * scale)
            for key in SCALED
            if key in result
        }
        | {
            "time_s": result["time_s"] + rest * durations[-1],
            "step_time_s": _by_step(attempt, result, rest, last),
            "simulated_times": attempt.simulated,
            "repetition_s": durations[-1],
            "repetition_change": change,
            "wall_s": wall_s,
        }
    )


def _durations(attempt: Repetitions, result: dict[str, Any]) -> list[float]:
    """The time of each repetition, from the end of the one before to its own."""
    ends = list(accumulate(result["step_time_s"].values()))[len(attempt.one()) - 1 :: len(attempt.one())]
    return [end - begin for begin, end in zip([0.0, *ends], ends, strict=False)]


def _by_step(attempt: Repetitions, result: dict[str, Any], rest: int, last: list[float]) -> dict[str, float]:
    """The time of each step of the exchange, over all repetitions."""
    each, times = attempt.one(), list(result["step_time_s"].values())
    return {step.name: sum(times[i :: len(each)]) + rest * last[i] for i, step in enumerate(each)}
