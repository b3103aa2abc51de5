"""The test of findings that compares a curve with a published value."""

from __future__ import annotations

from tradewind.study.claims.curve import Record, TestOutcome, common_ranks, curve, name_of, text_of
from tradewind.study.model.study import Finding


def near(finding: Finding, cases: list[Record]) -> TestOutcome:
    """A curve, or with `than` its ratio to another one, differs from `value` by no more than the fraction `tolerance`.

    Of several seeds the lowest and the highest must; of a ratio, the lowest over the highest and the reverse.
    """
    assert finding.near is not None
    assert finding.value is not None
    curves = [curve(finding, cases, selection) for selection in (finding.near, finding.than) if selection is not None]
    name, wanted = (
        " over ".join(name_of(each) for each in (finding.near, finding.than) if each is not None),
        finding.value,
    )
    problems, figures = [], []
    for ranks in common_ranks(curves):
        first, *other = (each[ranks] for each in curves)
        values = first if not other else [first[0] / other[0][-1], first[-1] / other[0][0]]
        text = text_of(values, finding.quantity) if not other else _span(values)
        sought = text_of([wanted], finding.quantity) if not other else f"{wanted:.3g}"
        figures.append(f"{ranks} {finding.along}: {name} {text}, published {sought}")
        off = max((abs(value / wanted - 1), value / wanted) for value in values)[1]
        if abs(off - 1) > finding.tolerance:
            problems.append(f"at {ranks} {finding.along} {name} is {text}, {off:.3g} times the published {sought}")
    return problems, figures


def _span(values: list[float]) -> str:
    texts = dict.fromkeys(f"{value:.3g}" for value in values)
    return "..".join(texts)
