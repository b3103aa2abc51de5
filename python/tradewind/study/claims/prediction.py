"""Tests of findings that compare simulated cases with measured ones of the same exchange, transport and packing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from statistics import median
from typing import Any

from tradewind.study.claims.curve import (
    NotTestableError,
    Record,
    Selected,
    TestOutcome,
    is_meant,
    matches,
    name_of,
    value_of,
)
from tradewind.study.model.labels import LABELS
from tradewind.study.model.study import Finding

_OF_A_KIND = {
    *("sweep", "kind", "machine", "routing", "model", "buffers", "packet", "placement", "ranks_per_node", "nodes"),
    *("seed", "settings", "steps", "base"),
}
"""Labels of how a case was computed, and not of what."""
_WORST = 5
"""Number of the worst errors that are listed."""

Pair = tuple[Record, float, float]
"""A simulated case, its value, and the measured one."""


def predicts(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The median of the errors, fractions of what was measured, is at most `tolerance`."""
    assert finding.predicts is not None
    found = sorted(pairs(finding, cases, finding.predicts), key=lambda pair: -_error(pair))
    middle = median(_error(pair) for pair in found)
    within = sum(_error(pair) <= finding.tolerance for pair in found)
    figures = [f"median error {_percent(middle)}, {within} of {len(found)} cases within {_percent(finding.tolerance)}"]
    figures += [f"{_name(pair[0])}: simulated {pair[1] / pair[2]:.3g} of measured" for pair in found[:_WORST]]
    problems = [] if middle <= finding.tolerance else [f"the median error of {len(found)} cases is {_percent(middle)}"]
    return problems, figures


def ranked(finding: Finding, cases: list[Record]) -> TestOutcome:
    """Test the order of pairs: a share within `share` is in the same order when simulated.

    Counted are pairs of values of the label `by` whose measured values differ by more than `tolerance`."""
    assert finding.ranked is not None
    assert finding.by is not None
    assert finding.share is not None
    right = total = 0
    wrong: list[tuple[float, str]] = []
    for group in _groups(pairs(finding, cases, finding.ranked), finding.by):
        for one, other in combinations(group, 2):
            slow, fast = sorted((one, other), key=lambda pair: -pair[2])
            if slow[2] <= (1 + finding.tolerance) * fast[2]:
                continue
            total += 1
            right += slow[1] > fast[1]
            if slow[1] <= fast[1]:
                names = f"{_name(slow[0])} and {fast[0][finding.by]}"
                wrong.append((slow[2] / fast[2], f"{names}: measured {slow[2] / fast[2]:.3g} times as slow"))
    if not total:
        raise NotTestableError(f"no two values of {finding.by} differ by more than {_percent(finding.tolerance)}")
    text = f"{right} of {total} pairs ({_percent(right / total)}) are in the right order"
    figures = [text, *(line for _, line in sorted(wrong, reverse=True)[:_WORST])]
    low, high = finding.share
    return [] if low <= right / total <= high else [text], figures


def pairs(finding: Finding, cases: Iterable[Record], selection: Selected) -> list[Pair]:
    """Each simulated case that has a measured one like it. Raises NotTestableError where there is none."""
    assert finding.than is not None
    chosen = [case for case in cases if is_meant(finding, case["ranks"])]
    measured = {_key(case): value_of(case, finding.quantity) for case in chosen if matches(case, finding.than)}
    found = [
        (case, value_of(case, finding.quantity), measured[_key(case)])
        for case in chosen
        if matches(case, selection) and _key(case) in measured
    ]
    if not found:
        raise NotTestableError(f"no case of {name_of(selection)} is like one of {name_of(finding.than)}")
    return found


def _key(case: Record, but: str = "") -> tuple[Any, ...]:
    return tuple(case.get(label) for label in LABELS if label not in _OF_A_KIND and label != but)


def _groups(found: list[Pair], label: str) -> Iterator[list[Pair]]:
    groups: dict[tuple[Any, ...], list[Pair]] = {}
    for pair in found:
        groups.setdefault(_key(pair[0], label), []).append(pair)
    yield from groups.values()


def _error(pair: Pair) -> float:
    return abs(pair[1] / pair[2] - 1)


def _name(case: Record) -> str:
    parts = (case.get(label) for label in ("exchange", "grid", "split", "transport", "packing"))
    return ", ".join(str(part) for part in parts if part is not None)


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"
