"""Tests of findings about the shape of curves over the number of ranks."""

from __future__ import annotations

from itertools import pairwise

from tradewind.study.claims.curve import (
    Curve,
    NotTestableError,
    Record,
    TestOutcome,
    common_ranks,
    curve,
    name_of,
    text_of,
)
from tradewind.study.claims.wording import ratio_limits
from tradewind.study.model.study import Finding, Selection


def falls(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The curve goes down from each number of ranks to the next."""
    assert finding.falls is not None
    return _slope(finding, cases, finding.falls, falling=True)


def rises(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The curve goes up from each number of ranks to the next."""
    assert finding.rises is not None
    return _slope(finding, cases, finding.rises, falling=False)


def _slope(finding: Finding, cases: list[Record], selection: Selection, falling: bool) -> TestOutcome:
    name = name_of(selection)
    values = curve(finding, cases, selection)
    if len(values) < 2:
        raise NotTestableError(f"{name} has one number of ranks only")
    ranks = sorted(values)
    problems = []
    for first, second in pairwise(ranks):
        before, after = values[first], values[second]
        if after[-1] >= before[0] if falling else after[0] <= before[-1]:
            texts = [text_of(value, finding.quantity) for value in (before, after)]
            problems.append(f"{name} is at {texts[0]} on {first} {finding.along} and at {texts[1]} on {second}")
    return problems, [f"{name}: {_listed(finding, values)}"]


def flatter(finding: Finding, cases: list[Record]) -> TestOutcome:
    """Test whether one curve falls by a smaller factor than the other, from the first to the last number of ranks."""
    assert finding.flatter is not None
    assert finding.than is not None
    factors, figures = [], []
    curves = [curve(finding, cases, selection) for selection in (finding.flatter, finding.than)]
    ranks = common_ranks(curves)
    if len(ranks) < 2:
        raise NotTestableError("the curves have one number of ranks in common")
    for selection, values in zip((finding.flatter, finding.than), curves, strict=True):
        first, last = values[ranks[0]], values[ranks[-1]]
        factors.append((first[0] / last[-1], first[-1] / last[0]))  # minimum and maximum, over the seeds
        fall = f"{text_of(first, finding.quantity)} to {text_of(last, finding.quantity)}, by {factors[-1][0]:.3g}"
        figures.append(f"{ranks[0]} to {ranks[-1]} {finding.along}: {name_of(selection)} from {fall}")
    holds = factors[0][1] < factors[1][0]
    return ([] if holds else [f"{name_of(finding.flatter)} falls by as much: {'; '.join(figures)}"]), figures


def jumps(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The steepest rise from one number of ranks to the next is by `factor` or what `wording` allows, and lies within
    `between`."""
    assert finding.jumps is not None
    assert finding.between is not None
    values = curve(finding, cases, finding.jumps)
    if len(values) < 3:
        raise NotTestableError(f"{name_of(finding.jumps)} has fewer than three numbers of ranks")
    steps = {(a, b): values[b][0] / values[a][-1] for a, b in pairwise(sorted(values))}
    first, last = finding.between
    if not any(first <= a and b <= last for a, b in steps):
        raise NotTestableError(f"no two numbers of ranks within {first}..{last}")
    (before, after), steepest = max(steps.items(), key=lambda step: step[1])
    found = f"the steepest step is from {before} to {after} {finding.along}, by {steepest:.3g}"
    figures = [f"{name_of(finding.jumps)}: {_listed(finding, values)}"]
    low, high = ratio_limits(finding)
    holds = low <= steepest <= high and first <= before and after <= last
    return ([] if holds else [found]), [*figures, found]


def passes(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The curve lies below a level up to the first number of ranks of `between`, and above it from the second on."""
    assert finding.passes is not None
    assert finding.level is not None
    assert finding.between is not None
    values = curve(finding, cases, finding.passes)
    first, last = finding.between
    if min(values) > first or max(values) < last:
        raise NotTestableError(f"cases up to {first} ranks and from {last} on are needed, not only {sorted(values)}")
    name, problems = name_of(finding.passes), []
    for ranks in sorted(values):
        text = f"at {ranks} {finding.along} {name} is at {text_of(values[ranks], finding.quantity)}"
        if (ranks <= first and values[ranks][-1] >= finding.level) or (
            ranks >= last and values[ranks][0] <= finding.level
        ):
            problems.append(text)
    return problems, [f"{name}: {_listed(finding, values)}"]


def _listed(finding: Finding, values: Curve) -> str:
    """Return all values of a curve, in words."""
    return ", ".join(f"{ranks} {finding.along} {text_of(values[ranks], finding.quantity)}" for ranks in sorted(values))
