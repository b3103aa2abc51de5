"""The figures that benchmarks print, read back from their lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"-?[\d.]+"
_LINE = re.compile(
    rf" *(?P<what>.*): (?P<ratio>{_NUMBER}) x (?P<to>.*) "
    rf"\(middle half (?P<low>{_NUMBER}) to (?P<high>{_NUMBER}) of (?P<of>\d+)\), "
    rf"median (?P<median>{_NUMBER}) ms, minimum (?P<minimum>{_NUMBER}) ms"
    rf"(?:; goal: at (?P<side>most|least) (?P<goal>{_NUMBER})(?P<missed> \(missed\))?)?"
)
_GIVEN_UP = re.compile(rf" *(?P<what>.*): given up, (?P<ratio>{_NUMBER}) x (?P<to>.*)")


@dataclass(frozen=True)
class Figure:
    """A line of a benchmark: one contender beside another."""

    what: str
    to: str
    ratio: float
    samples: int
    goal: tuple[str, float] | None
    missed: bool


def figures(lines: list[str]) -> tuple[list[Figure], set[str]]:
    """Read all lines that are no headings: their figures, and the contenders that were given up as far slower."""
    given_up = {found["what"]: float(found["ratio"]) for line in lines if (found := _GIVEN_UP.fullmatch(line))}
    assert all(ratio >= 20 for ratio in given_up.values()), given_up
    return [figure(line) for line in lines if ", median " in line], set(given_up)


def figure(line: str) -> Figure:
    """Read a line. Fails where it is none, or where its numbers contradict each other."""
    found = _LINE.fullmatch(line)
    assert found, line
    ratio, low, high, median, minimum = (float(found[name]) for name in ("ratio", "low", "high", "median", "minimum"))
    assert low <= ratio <= high, line  # the median lies in the middle half
    assert 0 <= minimum <= median, line
    goal = (found["side"], float(found["goal"])) if found["side"] else None
    missed = bool(found["missed"])
    if goal is not None and abs(ratio - goal[1]) > 0.005:  # as it is printed
        assert missed == (ratio > goal[1] if goal[0] == "most" else ratio < goal[1]), line
    return Figure(found["what"], found["to"], ratio, int(found["of"]), goal, missed)
