"""The published values of measured.csv, and the predictions beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from validation.between_nodes.predictions import Prediction, read
from validation.between_nodes.questions import HERE, Case, questions
from validation.published import factor, geometric_mean, rows_of

FILE = HERE / "measured.csv"
UNITS = {"us": 1e-6, "MB/s": 1e6, "GB/s": 1e9}
PASS_LIMIT = "pass limit"
"""Value of `spread` for a reference value, whose range is what the site accepts and not what was measured."""

At = tuple[str, str, int, int]
"""id, what, nodes, size."""


@dataclass(frozen=True)
class Measured:
    """A line of the file, in seconds or bytes per second."""

    at: At
    variant: str
    value: float
    unit: str
    low: float | None
    high: float | None
    spread: str
    source: str
    caution: str


@dataclass(frozen=True)
class Compared:
    """A prediction with the published values of the same question.

    A factor is a predicted time over a measured one; of a bandwidth the measured over the predicted one, so that a
    factor above one always means that the prediction is too slow.
    """

    at: At
    case: Case
    """As predicted, with the algorithm that is bet on."""
    predicted: float
    measured: tuple[float, ...]
    unit: str
    factor: float
    """Of the geometric mean of the published values."""
    fastest: tuple[str, float]
    """The algorithm of the shortest simulated time, and its factor."""
    closest: tuple[str, float]
    """The algorithm whose factor is nearest to one: known only after the answers."""
    caution: str

    @property
    def kind(self) -> str:
        """Return what is exchanged, without the grid of a halo."""
        return self.case.what.split(" ")[0] if self.case.what.startswith("halo ") else self.case.what


@cache
def measured(path: Path = FILE) -> tuple[Measured, ...]:
    """Return the lines of a file."""
    return tuple(map(_measured, rows_of(path)))


def _measured(row: dict[str, str]) -> Measured:
    scale = UNITS[row["unit"]]
    low, high = (float(row[end]) * scale if row[end] else None for end in ("low", "high"))
    unit = "s" if row["unit"] == "us" else "B/s"
    at: At = (row["id"], row["what"], int(row["nodes"]), int(row["size"]))
    return Measured(
        at, row["variant"], float(row["value"]) * scale, unit, low, high, row["spread"], row["source"], row["caution"]
    )


def bets() -> dict[At, Case]:
    """Return the case that is bet on, by question."""
    found: dict[At, Case] = {}
    for question in questions():
        for case, bet in question.cases():
            if bet:
                found[question.id, case.what, case.nodes, case.size] = case
    return found


@cache
def compared() -> tuple[Compared, ...]:
    """Return all predictions that have a published value, in the order of the questions."""
    by_algorithm: dict[At, list[Prediction]] = {}
    for prediction in read().values():
        by_algorithm.setdefault(prediction.key[:4], []).append(prediction)
    published: dict[At, list[Measured]] = {}
    for each in measured():
        published.setdefault(each.at, []).append(each)
    cases = bets()
    return tuple(_compared(cases[at], by_algorithm[at], values) for at, values in published.items())


def _compared(case: Case, predictions: Sequence[Prediction], values: Sequence[Measured]) -> Compared:
    bet = next(each for each in predictions if each.bet)
    assert all(each.unit == bet.unit for each in values), f"{bet.key}: units differ"
    numbers = tuple(each.value for each in values)
    mean = geometric_mean(numbers)
    factors = {each: factor(each.figure, mean, bet.unit) for each in predictions}
    fastest = min(predictions, key=lambda each: each.seconds)
    closest = min(predictions, key=lambda each: abs(math.log(factors[each])))
    return Compared(
        at=values[0].at,
        case=case,
        predicted=bet.figure,
        measured=numbers,
        unit=bet.unit,
        factor=factors[bet],
        fastest=(fastest.key[4], factors[fastest]),
        closest=(closest.key[4], factors[closest]),
        caution="; ".join(dict.fromkeys(each.caution for each in values if each.caution)),
    )


@cache
def spreads() -> dict[Case, float]:
    """Return the largest over the smallest published value of each case that was measured more than once.

    Values of one case are those of transports, partitions, systems, libraries, dates, and repeated runs. The ranks
    or pairs of one run are no repetition, nor is what a site accepts.
    """
    cases = bets()
    found: dict[Case, list[float]] = {}
    for each in measured():
        found.setdefault(cases[each.at], []).extend(_repeated(each))
    return {case: max(values) / min(values) for case, values in found.items() if len(values) > 1}


def _repeated(each: Measured) -> Iterator[float]:
    yield each.value
    if each.spread.endswith(" runs"):
        yield from (end for end in (each.low, each.high) if end is not None)
