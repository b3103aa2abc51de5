"""Curves: the values of the cases of a selection at each number of ranks, once for each seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.claims.quantity import QUANTITIES, quantity_of
from tradewind.study.model.labels import INTEGER_LABELS
from tradewind.study.model.study import Finding, Selection

STEADY_ROUTINGS = frozenset(
    {"dimension-order", "d-mod-k", "round-robin", "round-robin-staggered", "direct", "minimal", "ugal-sst71"}
)
"""Routings that send packets the same way whatever the queues; of all others, several seeds are asked for."""
SEEDS_NEEDED = 5
SEEDS_UP_TO = 10_000
"""Ranks up to which several seeds are asked for where chance plays a part."""

Record = Mapping[str, Any]
Selected = Mapping[str, Sequence[Any]]
Curve = dict[int, list[float]]
"""Ranks, or nodes where a finding is along nodes, -> the values of all seeds and orders, sorted."""

TestOutcome = tuple[list[str], list[str]]
"""The problems of a test (none: it holds) and the figures that it looked at."""


class NotTestableError(Exception):
    """Reason why a test cannot be made; `judge` turns it into a verdict."""


def matches(record: Record, selection: Selected) -> bool:
    """Whether a case has one of the selected values of every label."""
    return all(record.get(label) in values for label, values in selection.items())


def name_of(selection: Selected | Selection) -> str:
    """``{"algorithm": ["ring-1"]}`` -> ``"ring-1"``."""
    names = []
    for label, values in selection.items():
        if label != "sweep":
            prefix = f"{label} " if label in INTEGER_LABELS else ""
            names.append(prefix + ", ".join(str(v) for v in values))
    return " ".join(names) or ", ".join(str(v) for v in selection.get("sweep", ["all cases"]))


def depends_on_chance(case: Record) -> bool:
    """Return whether the result of a case depends on its seed: by random placement or by routing."""
    routing = case.get("routing")
    return case.get("placement") == "random" or (routing is not None and routing not in STEADY_ROUTINGS)


def value_of(case: Record, quantity: str) -> float:
    """Return the quantity that a finding compares. Raises NotTestableError where a case does not have it."""
    value = quantity_of(case, quantity)
    if value is None:
        raise NotTestableError(f"{case['exchange']} on {case['ranks']} ranks has no {quantity}")
    return value


def curve(finding: Finding, cases: Iterable[Record], selection: Selected) -> Curve:
    """The curve of a selection at the ranks of the finding. Raises NotTestableError where cases or seeds are missing.

    Where several cases have the same ranks (or nodes), seed and order, the lowest speaks for them.
    """
    name = name_of(selection)
    lowest: dict[int, dict[Any, float]] = {}
    needed: dict[int, int] = {}
    for case in cases:
        if matches(case, selection):
            at = number_along(finding, case)
            if at is None:
                raise NotTestableError(f"{case['exchange']} on {case['ranks']} ranks has no number of {finding.along}")
            seeds = lowest.setdefault(at, {})
            value = value_of(case, finding.quantity)
            chance = case.get("seed"), case.get("order")
            seeds[chance] = min(value, seeds.get(chance, float("inf")))
            asked = SEEDS_NEEDED if depends_on_chance(case) and case["ranks"] <= SEEDS_UP_TO else 1
            needed[at] = max(asked, needed.get(at, 1))
    wanted = _wanted(finding, lowest)
    if missing := [ranks for ranks in wanted if ranks not in lowest]:
        raise NotTestableError(f"no case of {name} at {some_of(missing)} {finding.along}")
    if not wanted:
        raise NotTestableError(f"no case of {name}" + (f" at these numbers of {finding.along}" if lowest else ""))
    for ranks in wanted:
        number = len({seed for seed, _ in lowest[ranks]})
        if number < needed[ranks]:
            raise NotTestableError(
                f"{name} at {ranks} {finding.along} depends on chance: {number} seeds, {SEEDS_NEEDED} are needed"
            )
    return {ranks: sorted(lowest[ranks].values()) for ranks in wanted}


def _wanted(finding: Finding, known: Iterable[int]) -> list[int]:
    """The numbers of ranks that a finding is about, of a span those that are known."""
    if isinstance(finding.ranks, list):
        return finding.ranks
    return sorted(ranks for ranks in known if is_meant(finding, ranks))


def number_along(finding: Finding, case: Record) -> int | None:
    """Return what a case counts as along the curves of a finding; what was measured here is on one node."""
    here = finding.along == "nodes" and case.get("kind") in HERE_ONLY
    number: int | None = 1 if here else case.get(finding.along)
    return number


def is_meant(finding: Finding, ranks: int) -> bool:
    """Whether a finding is about this number of ranks."""
    return finding.ranks is None or ranks in finding.ranks


def some_of(values: Sequence[object]) -> str:
    """Return all of a few values, else the first, the last and their number."""
    texts = [str(value) for value in values]
    return ", ".join(texts) if len(texts) <= 6 else f"{', '.join(texts[:3])}, ..., {texts[-1]} ({len(texts)})"


def common_ranks(curves: Iterable[Curve]) -> list[int]:
    """The numbers of ranks that all curves have. Raises NotTestableError where there are none."""
    common = set.intersection(*(set(each) for each in curves))
    if not common:
        raise NotTestableError("the curves have no number of ranks in common")
    return sorted(common)


def text_of(values: Sequence[float], quantity: str = "time") -> str:
    """One value, or the span of several seeds."""
    show = QUANTITIES[quantity].show
    return show(values[0]) if len(values) == 1 else f"{show(values[0])}..{show(values[-1])}"
