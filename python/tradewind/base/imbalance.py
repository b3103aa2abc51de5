"""Imbalance of computations: a random factor by which ranks take longer, or shorter, than the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tradewind.base.errors import InputError
from tradewind.base.names import unknown

LARGEST_SPREAD = {"normal": 1 / 3, "uniform": 1 / math.sqrt(3), "lognormal": 10.0, "exponential": 1.0}
"""By distribution: with more a factor could be negative; of normal one in a thousand is then, and counts as 0."""
PERIODS = ("rank", "step")
"""A rank keeps its factor of a computation, or draws a new one each time that it does the computation."""


@dataclass(frozen=True)
class Imbalance:
    """Factor on the time of a computation, with a mean of 1 and a standard deviation of `spread`.

    `per`: "rank", where a rank has the same factor each time, as if it had more points than others; "step", where it
    draws a new one. The factor depends on the seed of the simulation, the rank, and the step of the program; with
    "step" also on how often the step has been done. Raises InputError.
    """

    distribution: str
    spread: float
    per: str = PERIODS[0]

    def __post_init__(self) -> None:
        problems = [
            unknown(what, value, known)
            for what, value, known in (
                ("distribution", self.distribution, tuple(LARGEST_SPREAD)),
                ("period of an imbalance", self.per, PERIODS),
            )
            if value not in known
        ]
        largest = LARGEST_SPREAD.get(self.distribution, math.inf)
        if not 0 <= self.spread <= largest:
            of = f" for {self.distribution}" if self.distribution in LARGEST_SPREAD else ""
            problems.append(f"spread {self.spread:g}: 0 to {largest:.3g} is allowed{of}")
        if problems:
            raise InputError(*(f"imbalance: {problem}" for problem in problems))

    @property
    def text(self) -> str:
        """The same as a user writes it."""
        return f"{self.distribution},{self.spread:g}" + ("" if self.per == PERIODS[0] else f",{self.per}")


def imbalance_of(text: str) -> Imbalance:
    """Return the imbalance of a text like ``normal,0.05`` or ``normal,0.05,step``. Raises InputError."""
    parts = text.split(",")
    try:
        spread = float(parts[1]) if len(parts) in (2, 3) else math.nan
    except ValueError:
        spread = math.nan
    if math.isnan(spread):
        raise InputError(
            f"imbalance {text!r}: distribution and spread are allowed, such as normal,0.05 (a rank keeps its factor) "
            "or normal,0.05,step (it draws one each time)"
        )
    return Imbalance(parts[0], spread, *parts[2:])
