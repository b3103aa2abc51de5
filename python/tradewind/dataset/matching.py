"""Matches the cases of two results: which cases of both pose the same problem, and what differs between the results.

The problem of a case is what must be moved or computed: its kind, pattern, grid, ranks and the like. All other labels
(`HOW`) name how and where it was solved: machine, routing, algorithm, transport. Cases match where all labels are
equal, but for the labels of `HOW` that have one value throughout the first result and another one throughout the
second. So two results of two machines match, although their routings differ, too; two algorithms in one result do not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tradewind.study.model.labels import LABELS

Record = Mapping[str, Any]

REPEATED = frozenset({"sweep", "exchange"})
"""Labels that name a case, or repeat its other labels."""
HOW = frozenset(
    {
        *("algorithm", "strategy", "transport", "packing", "posting", "order", "threads"),
        *("machine", "routing", "model", "buffers", "packet", "placement", "ranks_per_node", "nodes", "seed"),
        *("settings", "base", "mpi_progress"),
    }
)
"""Labels that do not belong to the problem of a case."""


@dataclass(frozen=True)
class Pair:
    """The cases of one problem in the first and in the second result; several where only their seeds differ."""

    old: list[Record]
    new: list[Record]


@dataclass(frozen=True)
class Matching:
    """The cases of two results, by problem."""

    pairs: list[Pair]
    """In the order of the first result."""
    only_old: list[Record]
    only_new: list[Record]
    differences: dict[str, tuple[Any, Any]]
    """Labels that differ between the results as a whole: their values in the first and in the second."""


def match(old: Sequence[Record], new: Sequence[Record], across: Collection[str] = ()) -> Matching:
    """Return the cases of two results by problem. `across`: further labels in which matching cases may differ."""
    differences = _differences(old, new)
    ignored = {*REPEATED, *differences, *across}
    labels = [label for label in LABELS if label not in ignored]
    first, second = _by_problem(old, labels), _by_problem(new, labels)
    return Matching(
        [Pair(cases, second[problem]) for problem, cases in first.items() if problem in second],
        [case for problem, cases in first.items() if problem not in second for case in cases],
        [case for problem, cases in second.items() if problem not in first for case in cases],
        differences,
    )


def _differences(old: Sequence[Record], new: Sequence[Record]) -> dict[str, tuple[Any, Any]]:
    """The labels of `HOW` that have one value in each of the results, and not the same."""
    found = {}
    for label in (label for label in LABELS if label in HOW):
        first, second = ({case.get(label) for case in cases} for cases in (old, new))
        if len(first) == len(second) == 1 and first != second:
            found[label] = (first.pop(), second.pop())
    return found


def _by_problem(cases: Sequence[Record], labels: Sequence[str]) -> dict[tuple[Any, ...], list[Record]]:
    """The cases with equal labels; a case that stands in several sweeps counts once."""
    found: dict[tuple[Any, ...], dict[Any, Record]] = {}
    for number, case in enumerate(cases):
        problem = tuple(case.get(label) for label in labels)
        found.setdefault(problem, {}).setdefault(case.get("key", number), case)
    return {problem: list(same.values()) for problem, same in found.items()}
