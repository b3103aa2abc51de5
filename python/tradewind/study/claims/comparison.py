"""Tests of findings that compare curves with one another, at each number of ranks.

Over several seeds, "below" means that the highest of one lies below the lowest of the other.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

from tradewind.study.claims.curve import (
    Curve,
    NotTestableError,
    Record,
    TestOutcome,
    common_ranks,
    curve,
    matches,
    name_of,
    some_of,
    text_of,
)
from tradewind.study.claims.wording import likeness_limits, ratio_limits
from tradewind.study.model.study import Finding, Selection


def better(finding: Finding, cases: list[Record]) -> TestOutcome:
    """One curve lies below the other, by `factor` or more, or by what `wording` allows."""
    assert finding.better is not None
    assert finding.than is not None
    return _below(finding, cases, [finding.better, finding.than], ratio_limits(finding))


def order(finding: Finding, cases: list[Record]) -> TestOutcome:
    """Each curve lies below the next."""
    assert finding.order is not None
    return _below(finding, cases, finding.order, (1.0, inf))


def _below(
    finding: Finding, cases: list[Record], selections: list[Selection], limits: tuple[float, float]
) -> TestOutcome:
    names = [name_of(selection) for selection in selections]
    curves = [curve(finding, cases, selection) for selection in selections]
    factor, most = limits
    by = f" by {factor:.3g}" if factor != 1 else ""
    problems, figures = [], []
    for ranks in common_ranks(curves):
        values = [each[ranks] for each in curves]
        texts = [text_of(value, finding.quantity) for value in values]
        figures.append(
            f"{ranks} {finding.along}: " + ", ".join(f"{name} {text}" for name, text in zip(names, texts, strict=True))
        )
        for i, (low, high) in enumerate(pairwise(values)):
            if low[-1] * factor >= high[0]:
                problems.append(
                    f"at {ranks} {finding.along} {names[i]} ({texts[i]}) is not below "
                    f"{names[i + 1]} ({texts[i + 1]}){by}"
                )
            elif low[0] * most < high[-1]:
                problems.append(
                    f"at {ranks} {finding.along} {names[i]} ({texts[i]}) is below "
                    f"{names[i + 1]} ({texts[i + 1]}) by more than {most:.3g}"
                )
    return problems, figures


def same(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The curves differ by no more than the fraction `tolerance` of the lowest, or by what `wording` allows."""
    assert finding.same is not None
    names = [name_of(selection) for selection in finding.same]
    curves = [curve(finding, cases, selection) for selection in finding.same]
    most = likeness_limits(finding)[1]
    problems, figures = [], []
    for ranks in common_ranks(curves):
        values = [each[ranks] for each in curves]
        low, high = min(value[0] for value in values), max(value[-1] for value in values)
        listed = _listed(finding, names, values)
        figures.append(f"{ranks} {finding.along}: {listed}")
        if high > low * most:
            problems.append(f"at {ranks} {finding.along} {listed} differ by {100 * (high / low - 1):.3g} %")
    return problems, figures


def apart(finding: Finding, cases: list[Record]) -> TestOutcome:
    """Where the values of a label differ most, they do so by `factor` or more, or by what `wording` allows."""
    label = finding.apart
    assert label is not None
    values = list(dict.fromkeys(case[label] for case in cases if case.get(label) is not None))
    if len(values) < 2:
        raise NotTestableError(f"the cases have {len(values)} values of {label}")
    curves = {value: curve(finding, cases, {label: [value]}) for value in values}
    figures, widest = [], (0.0, 0.0, 0)
    for ranks in common_ranks(curves.values()):
        times = [each[ranks] for each in curves.values()]
        ratio = max(t[0] for t in times) / min(t[-1] for t in times)
        widest = max(widest, (ratio, max(t[-1] for t in times) / min(t[0] for t in times), ranks))
        figures.append(
            f"{ranks} {finding.along}: {_listed(finding, [str(v) for v in values], times)} ({ratio:.3g} times)"
        )
    low, high = ratio_limits(finding)
    text = f"the widest gap is {widest[0]:.3g} times, at {widest[2]} {finding.along}"
    if widest[0] < low:
        return [text], figures
    return ([f"{text}, more than {high:.3g}"] if widest[1] > high else []), figures


def crosses(finding: Finding, cases: list[Record]) -> TestOutcome:
    """A curve lies above the other up to the first number of ranks of `between`, and below it from the second on."""
    assert finding.crosses is not None
    assert finding.than is not None
    assert finding.between is not None
    names = name_of(finding.crosses), name_of(finding.than)
    curves = [curve(finding, cases, selection) for selection in (finding.crosses, finding.than)]
    first, last = finding.between
    ranks = common_ranks(curves)
    if not [n for n in ranks if n <= first] or not [n for n in ranks if n >= last]:
        raise NotTestableError(f"cases up to {first} ranks and from {last} on are needed, not only {ranks}")
    problems, figures = [], []
    for n in ranks:
        one, other = (each[n] for each in curves)
        listed = _listed(finding, names, [one, other])
        figures.append(f"{n} {finding.along}: {listed}")
        if n <= first and one[0] <= other[-1]:
            problems.append(f"at {n} {finding.along} {names[0]} is not above {names[1]} ({listed})")
        if n >= last and one[-1] >= other[0]:
            problems.append(f"at {n} {finding.along} {names[0]} is not below {names[1]} ({listed})")
    return problems, [*figures, _meeting(ranks, curves, finding.along)]


def _meeting(ranks: list[int], curves: list[Curve], along: str) -> str:
    """Return in words where the means of two curves change sides."""
    sides = [sum(curves[0][n]) / len(curves[0][n]) < sum(curves[1][n]) / len(curves[1][n]) for n in ranks]
    found = [f"{a} and {b}" for (a, before), (b, after) in pairwise(zip(ranks, sides, strict=True)) if before != after]
    return f"they cross between {'; between '.join(found)} {along}" if found else "they do not cross"


def _listed(finding: Finding, names: list[str] | tuple[str, ...], values: list[list[float]]) -> str:
    return ", ".join(f"{name} {text_of(value, finding.quantity)}" for name, value in zip(names, values, strict=True))


def proved(finding: Finding, cases: list[Record]) -> TestOutcome:
    """A case of each number of ranks ended well; of each transport where the selection names several."""
    assert finding.proved is not None
    assert finding.ranks is not None
    found: dict[str, set[int]] = {}
    for case in cases:
        if matches(case, finding.proved):
            found.setdefault(str(case["transport"]), set()).add(case["ranks"])
    if not found:
        raise NotTestableError(f"no case of {name_of(finding.proved)}")
    listed = finding.ranks if isinstance(finding.ranks, list) else sorted(set().union(*found.values()))
    wanted = [ranks for ranks in listed if ranks in finding.ranks]
    asked = finding.proved.get("transport", list(found))
    problems = []
    for transport in map(str, asked):
        if missing := [ranks for ranks in wanted if ranks not in found.get(transport, set())]:
            problems.append(f"{transport} has no result on {some_of(missing)} ranks")
    return problems, [f"{transport}: {some_of(sorted(ranks))} ranks" for transport, ranks in found.items()]
