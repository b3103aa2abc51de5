"""Judges the findings of a source by the cases of a study.

A finding is one test over *curves*: the time of the cases that a selection means, against their number of ranks.
Where several cases of a selection have the same ranks and seed, the fastest speaks for it, so that
``{ algorithm = ["recursive-8", "recursive-21"] }`` is the better of the two.

===================== ==================================================================================
``better``, ``than``  one curve lies below the other, by `factor` or more
``same``              curves differ by no more than the fraction `tolerance` of the fastest
``falls``, ``rises``  a curve goes down, or up, from each number of ranks to the next
``flatter``, ``than`` from the first to the last number of ranks, one curve falls by a smaller factor
``apart``             somewhere the values of this label differ by `factor` or more
``untestable``        why these cases cannot show it
===================== ==================================================================================

Where the routing or the placement is random, a comparison must hold for the worst of at least 5 seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tradewind.study.labels import INTEGER_LABELS
from tradewind.study.model import Finding, Selection
from tradewind.units import format_seconds

TESTS = ("better", "flatter", "than", "same", "falls", "rises", "apart", "untestable")
PAIRED = ("better", "flatter")
"""The tests that compare with `than`."""

REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE = "reproduced", "not reproduced", "not testable here"
RANDOM_ROUTINGS = frozenset({"valiant", "valiant-router", "ugal", "UGAL", "ugal-sst71", "par", "adaptive"})
SEEDS_NEEDED = 5
SEEDS_UP_TO = 10_000
"""Ranks up to which several seeds are asked for where chance plays a part."""

Record = Mapping[str, Any]
Curve = dict[int, list[float]]
"""Ranks -> the time (s) for each seed."""


@dataclass(frozen=True)
class Verdict:
    """What became of a finding."""

    figure: str
    claim: str
    verdict: str
    because: str
    figures: list[str] = field(default_factory=list)
    """The times that decided, as text."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "figure": self.figure,
            "claim": self.claim,
            "verdict": self.verdict,
            "because": self.because,
            "figures": self.figures,
        }


class _NotTestableError(Exception):
    """Why a test cannot be made; never leaves this file."""


def matches(record: Record, selection: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a case has one of the selected values of every label."""
    return all(record.get(label) in values for label, values in selection.items())


def judge(finding: Finding, records: Iterable[Record]) -> Verdict:
    """Puts one finding to its test."""
    if finding.untestable is not None:
        return Verdict(finding.figure, finding.claim, NOT_TESTABLE, finding.untestable)
    test = next(name for name in TESTS if getattr(finding, name) is not None)
    cases = [record for record in records if record["time_s"] is not None and matches(record, finding.where)]
    try:
        problems, figures = _TESTS[test](finding, cases)
    except _NotTestableError as reason:
        return Verdict(finding.figure, finding.claim, NOT_TESTABLE, str(reason))
    if problems:
        return Verdict(finding.figure, finding.claim, NOT_REPRODUCED, "; ".join(problems), figures)
    return Verdict(finding.figure, finding.claim, REPRODUCED, "", figures)


def name_of(selection: Selection) -> str:
    """``{"algorithm": ["ring-1"]}`` -> ``"ring-1"``."""
    names = []
    for label, values in selection.items():
        if label != "sweep":
            prefix = f"{label} " if label in INTEGER_LABELS else ""
            names.append(prefix + ", ".join(str(v) for v in values))
    return " ".join(names) or ", ".join(str(v) for v in selection.get("sweep", ["all cases"]))


def _curve(finding: Finding, cases: list[Record], selection: Mapping[str, Sequence[Any]]) -> Curve:
    """The curve of a selection at the ranks of the finding. Raises _NotTestableError where cases are missing."""
    name = name_of({label: list(values) for label, values in selection.items()})
    fastest: dict[int, dict[Any, float]] = {}
    needed: dict[int, int] = {}
    for case in cases:
        if matches(case, selection):
            seeds, ranks = fastest.setdefault(case["ranks"], {}), case["ranks"]
            seeds[case.get("seed")] = min(case["time_s"], seeds.get(case.get("seed"), float("inf")))
            is_random = case.get("routing") in RANDOM_ROUTINGS or case.get("placement") == "random"
            needed[ranks] = SEEDS_NEEDED if is_random and ranks <= SEEDS_UP_TO else needed.get(ranks, 1)
    wanted = finding.ranks or sorted(fastest)
    if missing := [str(ranks) for ranks in wanted if ranks not in fastest]:
        raise _NotTestableError(f"no case of {name} at {', '.join(missing)} ranks")
    if not wanted:
        raise _NotTestableError(f"no case of {name}")
    for ranks in wanted:
        if len(fastest[ranks]) < needed[ranks]:
            raise _NotTestableError(
                f"{name} at {ranks} ranks depends on chance: {len(fastest[ranks])} seeds, {SEEDS_NEEDED} are needed"
            )
    return {ranks: sorted(fastest[ranks].values()) for ranks in wanted}


def _text(times: list[float]) -> str:
    """One time, or the span of several seeds."""
    return format_seconds(times[0]) if len(times) == 1 else f"{format_seconds(times[0])}..{format_seconds(times[-1])}"


Answer = tuple[list[str], list[str]]
"""The problems of a test (none: it holds) and the figures that it looked at."""


def _common(curves: Iterable[Curve]) -> list[int]:
    common = set.intersection(*(set(curve) for curve in curves))
    if not common:
        raise _NotTestableError("the curves have no number of ranks in common")
    return sorted(common)


def _better(finding: Finding, cases: list[Record]) -> Answer:
    assert finding.better is not None
    assert finding.than is not None
    names = name_of(finding.better), name_of(finding.than)
    curves = [_curve(finding, cases, selection) for selection in (finding.better, finding.than)]
    problems, figures = [], []
    for ranks in _common(curves):
        low, high = (curve[ranks] for curve in curves)
        figures.append(f"{ranks} ranks: {names[0]} {_text(low)}, {names[1]} {_text(high)}")
        if low[-1] * finding.factor >= high[0]:
            wanted = f" by {finding.factor:g}" if finding.factor != 1 else ""
            problems.append(
                f"at {ranks} ranks {names[0]} ({_text(low)}) is not below {names[1]} ({_text(high)}){wanted}"
            )
    return problems, figures


def _flatter(finding: Finding, cases: list[Record]) -> Answer:
    assert finding.flatter is not None
    assert finding.than is not None
    falls, figures = [], []
    curves = [_curve(finding, cases, selection) for selection in (finding.flatter, finding.than)]
    ranks = _common(curves)
    if len(ranks) < 2:
        raise _NotTestableError("the curves have one number of ranks in common")
    for selection, curve in zip((finding.flatter, finding.than), curves, strict=True):
        first, last = curve[ranks[0]], curve[ranks[-1]]
        falls.append((first[0] / last[-1], first[-1] / last[0]))  # least and most, over the seeds
        fall = f"{_text(first)} to {_text(last)}, by {falls[-1][0]:.3g}"
        figures.append(f"{ranks[0]} to {ranks[-1]} ranks: {name_of(selection)} from {fall}")
    holds = falls[0][1] < falls[1][0]
    return ([] if holds else [f"{name_of(finding.flatter)} falls by as much: {'; '.join(figures)}"]), figures


def _same(finding: Finding, cases: list[Record]) -> Answer:
    assert finding.same is not None
    names = [name_of(selection) for selection in finding.same]
    curves = [_curve(finding, cases, selection) for selection in finding.same]
    problems, figures = [], []
    for ranks in _common(curves):
        times = [curve[ranks] for curve in curves]
        low, high = min(t[0] for t in times), max(t[-1] for t in times)
        listed = ", ".join(f"{name} {_text(time)}" for name, time in zip(names, times, strict=True))
        figures.append(f"{ranks} ranks: {listed}")
        if high > low * (1 + finding.tolerance):
            problems.append(f"at {ranks} ranks {listed} differ by {100 * (high / low - 1):.0f} %")
    return problems, figures


def _slope(finding: Finding, cases: list[Record], selection: Selection, falling: bool) -> Answer:
    name = name_of(selection)
    curve = _curve(finding, cases, selection)
    if len(curve) < 2:
        raise _NotTestableError(f"{name} has one number of ranks only")
    ranks = sorted(curve)
    problems = []
    for first, second in pairwise(ranks):
        before, after = curve[first], curve[second]
        if after[-1] >= before[0] if falling else after[0] <= before[-1]:
            problems.append(f"{name} takes {_text(before)} on {first} ranks and {_text(after)} on {second}")
    return problems, [f"{name}: " + ", ".join(f"{n} ranks {_text(curve[n])}" for n in ranks)]


def _falls(finding: Finding, cases: list[Record]) -> Answer:
    assert finding.falls is not None
    return _slope(finding, cases, finding.falls, falling=True)


def _rises(finding: Finding, cases: list[Record]) -> Answer:
    assert finding.rises is not None
    return _slope(finding, cases, finding.rises, falling=False)


def _apart(finding: Finding, cases: list[Record]) -> Answer:
    label = finding.apart
    assert label is not None
    values = list(dict.fromkeys(case[label] for case in cases if case.get(label) is not None))
    if len(values) < 2:
        raise _NotTestableError(f"the cases have {len(values)} values of {label}")
    curves = {value: _curve(finding, cases, {label: [value]}) for value in values}
    figures, widest = [], (0.0, 0)
    for ranks in _common(curves.values()):
        times = {value: curve[ranks] for value, curve in curves.items()}
        ratio = max(t[0] for t in times.values()) / min(t[-1] for t in times.values())
        widest = max(widest, (ratio, ranks))
        listed = ", ".join(f"{value} {_text(time)}" for value, time in times.items())
        figures.append(f"{ranks} ranks: {listed} ({ratio:.3g} times)")
    problems = [f"the widest gap is {widest[0]:.3g} times, at {widest[1]} ranks"] if widest[0] < finding.factor else []
    return problems, figures


_TESTS: dict[str, Callable[[Finding, list[Record]], Answer]] = {
    "better": _better,
    "flatter": _flatter,
    "same": _same,
    "falls": _falls,
    "rises": _rises,
    "apart": _apart,
}
