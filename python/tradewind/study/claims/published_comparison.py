"""The test of findings that compares a curve with a published value."""

from __future__ import annotations

from collections.abc import Mapping

from tradewind.study.claims.curve import Record, TestOutcome, common_ranks, curve, name_of, text_of
from tradewind.study.claims.wording import value_limits
from tradewind.study.model.study import Finding


def near(finding: Finding, cases: list[Record]) -> TestOutcome:
    """A curve, or with `than` its ratio to another one, agrees with `value`, `gain` or `wording`.

    It does so at each number of ranks, or in the mean or the largest of them (`taken`).

    Of several seeds the lowest and the highest must; of a ratio, the lowest over the highest and the reverse.
    """
    assert finding.near is not None
    curves = [curve(finding, cases, selection) for selection in (finding.near, finding.than) if selection is not None]
    name = " over ".join(name_of(each) for each in (finding.near, finding.than) if each is not None)
    found = {ranks: _of_seeds([each[ranks] for each in curves]) for ranks in common_ranks(curves)}
    sought = _text(finding, _published(finding)) or f'"{finding.wording}"'
    which = "stated" if finding.group == "question" else "published"
    figures = [f"{n} {finding.along}: {name} {_text(finding, values)}, {which} {sought}" for n, values in found.items()]
    judged = _taken(finding, found)
    if finding.taken != "each":
        figures += [f"{where}: {_text(finding, values)}" for where, values in judged.items()]
    low, high = value_limits(finding)
    problems = [
        f"{where} {name} is {_text(finding, values)}, {_off(finding, values)}the {which} {sought}"
        for where, values in judged.items()
        if not low <= values[0] <= values[-1] <= high
    ]
    return problems, figures


def _of_seeds(values: list[list[float]]) -> list[float]:
    """The values of a curve, or the limits of its ratio to another one."""
    first, *other = values
    return first if not other else [first[0] / other[0][-1], first[-1] / other[0][0]]


def _taken(finding: Finding, found: Mapping[int, list[float]]) -> dict[str, list[float]]:
    """Return the values that are compared with the published one, by where they are."""
    if finding.taken == "mean":
        ends = [[values[end] for values in found.values()] for end in (0, -1)]
        return {f"in the mean over {len(found)} numbers of {finding.along}": [sum(each) / len(each) for each in ends]}
    if finding.taken == "largest":
        ranks = max(found, key=lambda each: found[each][-1])
        return {f"at most, at {ranks} {finding.along},": found[ranks]}
    return {f"at {ranks} {finding.along}": values for ranks, values in found.items()}


def _published(finding: Finding) -> list[float]:
    """Return what was published: one value or the ends of a span; of a gain, the ratio; of a word, nothing."""
    given, base = (finding.value or (), 0.0) if finding.gain is None else (finding.gain, 1.0)
    return [base + each for each in (given if isinstance(given, tuple) else (given,))]


def _off(finding: Finding, values: list[float]) -> str:
    """Return how far values are from the published one, "2 times "; of a span, "not "."""
    published = _published(finding)
    if len(published) != 1:
        return "not "
    return f"{max((value / published[0] for value in values), key=lambda ratio: abs(ratio - 1)):.3g} times "


def _text(finding: Finding, values: list[float]) -> str:
    if finding.than is None:
        return text_of(values, finding.quantity)
    return "..".join(dict.fromkeys(f"{value:.3g}" for value in values))
