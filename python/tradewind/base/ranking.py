"""The shortest of several times, in a sentence; times whose spreads overlap are called equal."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

EQUAL = 0.01
"""Times that differ by less than this fraction are called equal."""
_NAMED = 6
"""Maximum number of contenders that a sentence names as equal."""


@dataclass(frozen=True)
class Contender:
    """A curve at one place: its median, and the span that its seeds, or the middle half of its samples, fill."""

    name: str
    value: float
    low: float
    high: float
    oversubscribed: bool = False


@dataclass(frozen=True)
class Race:
    """The contenders at one place of a panel, the fastest first."""

    panel: str
    place: str
    contenders: list[Contender]

    @property
    def leaders(self) -> list[Contender]:
        """The fastest, and all that cannot be distinguished from it."""
        best = self.contenders[0]
        return [each for each in self.contenders if each.low <= best.high or each.value < best.value * (1 + EQUAL)]

    @property
    def to_next(self) -> float:
        """Ratio of the next time to the fastest."""
        return self.contenders[1].value / self.contenders[0].value

    @property
    def to_slowest(self) -> float:
        """Ratio of the slowest time to the fastest."""
        return self.contenders[-1].value / self.contenders[0].value


def ranking(race: Race, show: Callable[[float], str]) -> str:
    """Return "a (1 ms) is the fastest, 2 times as fast as b, the next, and 3 times as fast as c, the slowest"."""
    best, leaders = race.contenders[0], race.leaders
    others = [each for each in race.contenders if each not in leaders]
    doubt = " (oversubscribed: no times of this machine)" if any(c.oversubscribed for c in race.contenders) else ""
    if len(leaders) > 1:
        names = [each.name for each in leaders[:_NAMED]]
        names += [f"{len(leaders) - _NAMED} more"] if len(leaders) > _NAMED else []
        text = f"{listed(names)} cannot be distinguished ({show(leaders[0].value)}"
        text += f" to {show(leaders[-1].value)})" if show(leaders[-1].value) != show(leaders[0].value) else ")"
        if others:
            text += f"; {best.name} is {factor(race.to_slowest)} times as fast as {others[-1].name}, the slowest"
        return text + doubt
    text = f"{best.name} ({show(best.value)}) is the fastest, {factor(race.to_next)} times as fast as {others[0].name}"
    if len(others) > 1:
        text += f", the next, and {factor(race.to_slowest)} times as fast as {others[-1].name}, the slowest"
    return text + doubt


def middle_half(samples: Sequence[float]) -> tuple[float, float]:
    """The first and the third quartile of one sample or more."""
    low, _, high = statistics.quantiles([*samples, *samples], method="inclusive")  # twice: one sample will do
    return low, high


def factor(value: float) -> str:
    """Return a ratio as a sentence has it."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}".replace(",", "\u202f")


def listed(names: Sequence[str]) -> str:
    """Return a text like "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
