"""An exchange that is repeated often: the first repetitions are simulated, the rest is extrapolated.

Repetitions seldom become equal: ranks that are ahead disturb those that are behind, so that a time swings about its
mean, with recursive-2 between two values. The repetitions that are not simulated therefore count with the mean of the
second half of the simulated ones. This estimate is accepted as soon as half as many repetitions give the same one to
`TOLERANCE`, or to the given tolerance; where they never do, all are simulated. It is one simulation, which ends early
when the estimate is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tradewind.base.errors import InputError
from tradewind.workload.exchange import Exchange
from tradewind.workload.workload import Step, Workload

TOLERANCE = 5e-3
"""By how much the time of all repetitions may change, as a fraction, when twice as many are simulated, where no other
one is asked for."""
FIRST = 8
"""Repetitions after which it is first asked whether that will do."""


@dataclass(frozen=True)
class Repetitions(Workload):
    """An exchange, each of its repetitions as steps of its own; simulated until they are steady."""

    exchange: Exchange
    tolerance: float = TOLERANCE

    @property
    def ranks(self) -> int:  # type: ignore[override]  # of the exchange
        """Number of ranks of the exchange."""
        return self.exchange.ranks

    @property
    def name(self) -> str:
        """Name of the exchange."""
        return self.exchange.name

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point with all fields."""
        return self.exchange.bytes_per_point

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return self.exchange.element_bytes

    @property
    def split(self) -> tuple[int, int] | None:  # type: ignore[override]  # of the exchange
        """(cx, cy) ranks over x and y, where the grid is divided so."""
        return self.exchange.split

    @property
    def asked(self) -> list[int]:
        """The numbers of repetitions after which it is decided whether they suffice: 8, 12, ..., 32, 40, 48, 60, ..."""
        asked, number = [], FIRST
        while number < self.exchange.times:
            asked.append(number)
            number += 4 * max(1, number // 16)
        return asked

    def one(self) -> list[Step]:
        """The steps of one repetition."""
        return replace(self.exchange, times=1).steps()

    def steps(self) -> list[Step]:
        """Return the steps of all repetitions."""
        return self.one() * self.exchange.times

    def enough(self, ends: Sequence[float]) -> bool:
        """Whether it will do to know when (s) each of the first steps was over."""
        return abs(self.change(durations_of(ends, len(self.one())))) <= self.tolerance

    def change(self, repetitions: Sequence[Sequence[float]]) -> float:
        """Return the relative change of the extrapolated time by the first [repetition][step] against half as many."""
        durations, times = [sum(steps) for steps in repetitions], self.exchange.times
        return extrapolated(durations, times) / extrapolated(durations[: len(durations) // 2], times) - 1

    def as_dict(self) -> dict[str, Any]:
        """Return the request of the exchange as plain values."""
        return self.exchange.as_dict()


def tolerance_of(steady: object) -> float:
    """The fraction that is asked for; True: `TOLERANCE`. Raises InputError for what is neither."""
    if steady is True:
        return TOLERANCE
    if not isinstance(steady, float) or not 0 < steady < 1:
        raise InputError(f"steady {steady!r}: true or a fraction is allowed, above 0 and below 1, such as 0.001")
    return steady


def repetitions_of(exchange: Workload, steady: bool | float = True) -> Repetitions:
    """Return the repetitions simulated until steady. Raises InputError without an exchange, and as `tolerance_of`."""
    if not isinstance(exchange, Exchange):
        raise InputError("steady: only an exchange has repetitions")
    return Repetitions(exchange, tolerance_of(steady))


def first_of(exchange: Workload, steady: bool | float = True) -> Repetitions:
    """Return the repetitions that are simulated in any case. Raises as `repetitions_of`."""
    whole = repetitions_of(exchange, steady)
    return Repetitions(replace(whole.exchange, times=min(FIRST, whole.exchange.times)))


def durations_of(ends: Sequence[float], steps: int) -> list[list[float]]:
    """[repetition][step] -> seconds, from the end of the step before to its own."""
    each = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    return [each[i : i + steps] for i in range(0, len(each), steps)]


def extrapolated(durations: Sequence[float], times: int) -> float:
    """The time of all repetitions, by the first of them."""
    half = durations[len(durations) // 2 :]
    return sum(durations) + (times - len(durations)) * sum(half) / len(half)
