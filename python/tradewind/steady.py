"""An exchange that is repeated often: the first repetitions are simulated, the rest is reckoned from them.

Repetitions seldom become equal: ranks that are ahead disturb those that are behind, so that a time swings about its
mean, with recursive-2 between two values. What is left to simulate therefore counts with the mean of the second half of
what was. This is believed as soon as half as many repetitions say the same to `TOLERANCE`; where they never do, all are
simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tradewind.errors import InputError
from tradewind.exchange import Exchange, Step, Workload
from tradewind.program import Program

TOLERANCE = 5e-3
"""By how much the time of all repetitions may change, as a fraction, when twice as many are simulated."""
FIRST = 8
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

    @property
    def element_bytes(self) -> int:
        return self.exchange.element_bytes

    @property
    def split(self) -> tuple[int, int] | None:
        return self.exchange.split

    def one(self) -> list[Step]:
        """The steps of one repetition."""
        return replace(self.exchange, times=1).steps()

    def steps(self) -> list[Step]:
        return self.one() * self.simulated

    def as_dict(self) -> dict[str, Any]:
        return self.exchange.as_dict()


def first_attempt(exchange: Workload | Program) -> Repetitions:
    """What is simulated first. Raises InputError for a workload that is no exchange."""
    if not isinstance(exchange, Exchange):
        raise InputError("steady: only an exchange has repetitions")
    return Repetitions(exchange, min(FIRST, exchange.times))


def run_until_steady(exchange: Workload | Program, run: Callable[[Workload], dict[str, Any]]) -> dict[str, Any]:
    """Runs more and more repetitions until the last two are alike, and answers for all of them.

    `run` simulates a workload. Adds to its answer ``simulated_times`` (repetitions that were simulated) and
    ``reckoned_change`` (of the time, when twice as many were simulated; None where all were). ``messages``, ``bytes``,
    ``packet_hops`` and ``bound_s`` are those of all repetitions, ``delay`` counts only what was simulated, and
    ``wall_s`` sums up all attempts.
    """
    attempt = first_attempt(exchange)
    times, wall_s = attempt.exchange.times, 0.0
    while True:
        result = run(attempt)
        wall_s += result["wall_s"]
        steps = _by_repetition(attempt, result)
        durations = [sum(each) for each in steps]
        if attempt.simulated == times:
            change = None
            break
        change = _reckoned(durations, times) / _reckoned(durations[: len(durations) // 2], times) - 1
        if abs(change) <= TOLERANCE:
            break
        attempt = replace(attempt, simulated=min(times, 2 * attempt.simulated))
    scale = times / attempt.simulated
    scaled = {key: type(result[key])(result[key] * scale) for key in SCALED if key in result}
    by_step = [_reckoned(list(each), times) for each in zip(*steps, strict=True)]
    return (
        result
        | scaled
        | {
            "time_s": sum(by_step),
            "step_time_s": dict(zip((step.name for step in attempt.one()), by_step, strict=True)),
            "simulated_times": attempt.simulated,
            "reckoned_change": change,
            "wall_s": wall_s,
        }
    )


def _by_repetition(attempt: Repetitions, result: dict[str, Any]) -> list[list[float]]:
    """[repetition][step] -> seconds, from the end of the step before to its own."""
    each, steps = len(attempt.one()), list(result["step_time_s"].values())
    return [steps[i : i + each] for i in range(0, len(steps), each)]


def _reckoned(durations: list[float], times: int) -> float:
    """The time of all repetitions, by the first of them."""
    half = durations[len(durations) // 2 :]
    return sum(durations) + (times - len(durations)) * sum(half) / len(half)
