"""Remarks of findings, whose numbers are filled from the results of the study.

``remark = "{torus} on 1000 ranks, {ratio} times what the fat-tree takes"`` with ``values = { torus = { of = {...} },
ratio = { of = {...}, over = {...} } }``: a value is the median of the cases that `of` selects, which differ in nothing
but their seed and order; with `over` it is their ratio to those of another selection, without a unit.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind.base.intervals import CONFIDENCE, median_interval
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place
from tradewind.base.units import format_seconds
from tradewind.study.claims.curve import Record, Selected, matches
from tradewind.study.claims.quantity import QUANTITIES, quantity_of
from tradewind.study.model.labels import LABELS
from tradewind.study.model.study import Finding, Headline, ValueOf

BASE = "base"
LEFT_OUT = "(not in this run)"
"""Placeholder for a number whose cases were not computed, as in a quick run."""
ALIKE = ("sweep", "seed", "order")
"""Labels in which the cases of one value may differ."""
_COMPARED = (BASE, *(label for label in LABELS if label not in (BASE, "exchange", *ALIKE)), "exchange")
"""The others: of those in which cases differ, the first is named. A base brings differences in other labels with it;
the exchange is made of other labels."""
_NAME = re.compile(r"\{(\w+)\}")


def remark_of(finding: Finding, base: str | None) -> str:
    """The remark of a finding under a base, with the names of its values as they are."""
    return finding.remark if isinstance(finding.remark, str) else finding.remark.get(base or "", "")


def filled(finding: Finding, base: str | None, records: Sequence[Record]) -> str:
    """The remark of a finding under a base, with its numbers: of cases of this base where a value does not name one."""
    return _filled(remark_of(finding, base), finding.values, base, records)


def headline_of(headline: Headline, records: Sequence[Record]) -> str:
    """The headline of a study, on one line and with its numbers; measured times with their confidence intervals."""

    def shown(found: re.Match[str]) -> str:
        value = headline.values[found[1]]
        return value_text(value, None, records) + _interval_text(value, records)

    return " ".join(_NAME.sub(shown, headline.text).split())


def _interval_text(value: ValueOf, records: Sequence[Record]) -> str:
    """Return the confidence interval of a measured time, in brackets; of few samples their range."""
    chosen = [case for case in records if matches(case, value.of)]
    if value.over is not None or value.quantity != "time" or not chosen or any(not _samples(case) for case in chosen):
        return ""
    stored = {case.get("key", number): case for number, case in enumerate(chosen)}  # it may stand in several sweeps
    samples = [seconds for case in stored.values() for seconds in _samples(case)]
    interval = median_interval(samples)
    low, high = (format_seconds(each) for each in interval or (min(samples), max(samples)))
    what = f"{100 * CONFIDENCE:.0f} % confidence" if interval else f"{len(samples)} samples"
    return f" ({what}: {low} to {high})"


def _samples(case: Record) -> list[float]:
    """The samples of a measured time; of a run, per step."""
    kind, result = case.get("kind"), case.get("result") or {}
    if kind == "measure":
        return list(result["results"][0].get("samples_s") or [])
    return [seconds / result["steps"] for seconds in result["samples_s"]] if kind == "run" else []


def _filled(text: str, values: Mapping[str, ValueOf], base: str | None, records: Sequence[Record]) -> str:
    return _NAME.sub(lambda found: value_text(values[found[1]], base, records), text)


def value_text(value: ValueOf, base: str | None, records: Sequence[Record]) -> str:
    """The number of a value under a base, as a remark shows it: with its unit, or of a ratio without one."""
    number = _median(value, value.of, base, records)
    if number is None:
        return LEFT_OUT
    if value.over is None:
        return QUANTITIES[value.quantity].show(number)
    other = _median(value, value.over, base, records)
    return f"{number / other:.3g}" if other else LEFT_OUT


def _median(value: ValueOf, selection: Selected, base: str | None, records: Sequence[Record]) -> float | None:
    chosen = [case for case in records if matches(case, selection)]
    if base is not None and BASE not in selection:
        chosen = [case for case in chosen if case.get(BASE) in (base, None)]
    numbers = [quantity_of(case, value.quantity) for case in chosen if case["time_s"] is not None]
    known = [number for number in numbers if number is not None]
    return statistics.median(known) if known else None


def name_problems(table: Mapping[str, Any], key: str = "remark") -> Iterator[tuple[Place, str]]:
    """Return the wrong names in the text of this key: no value has them, or a value is in no text."""
    remark, values = table.get(key, ""), table.get("values", {})
    texts = [text for text in (remark.values() if isinstance(remark, dict) else [remark]) if isinstance(text, str)]
    owner = "finding" if key == "remark" else "headline"
    used = dict.fromkeys(name for text in texts for name in _NAME.findall(text))
    if not isinstance(values, dict):
        return  # which is reported of the values
    for name in used:
        if name not in values:
            wrong = unknown("value", name, values) if values else f"the {owner} has no values"
            yield (key,), f"{key}: {{{name}}}: {wrong}"
    yield from ((("values", name), f"values.{name}: no {key} has {{{name}}}") for name in values if name not in used)


def base_problems(finding: Finding, bases: Sequence[str | None]) -> Iterator[tuple[Place, str]]:
    """Return the problems of a remark by base: texts for bases under which its finding is not judged."""
    if isinstance(finding.remark, str):
        return
    known = [base for base in bases if base is not None]
    if not known:
        yield ("remark",), "remark: a table has a text for each base, and this finding is judged under none: write text"
        return
    for name in finding.remark:
        if name not in known:
            yield ("remark", name), "remark: " + unknown("base of this finding", name, known)


def value_problems(
    finding: Finding, bases: Sequence[str | None], cases: Sequence[Mapping[str, Sequence[Any]]]
) -> Iterator[tuple[Place, str]]:
    """Return the problems of the values of a finding under these bases: a selection matches no case, or cases that
    differ in more than their seed and order. `cases`: their labels, with the values that a result may give them."""
    for base in bases:
        yield from _value_problems(remark_of(finding, base), finding.values, base, cases)


def headline_problems(headline: Headline, cases: Sequence[Mapping[str, Sequence[Any]]]) -> Iterator[tuple[Place, str]]:
    """Return the problems of the values of a headline, as of a remark."""
    yield from _value_problems(headline.text, headline.values, None, cases)


def _value_problems(
    text: str, values: Mapping[str, ValueOf], base: str | None, cases: Sequence[Mapping[str, Sequence[Any]]]
) -> Iterator[tuple[Place, str]]:
    for name in dict.fromkeys(_NAME.findall(text)):
        value = values.get(name)
        for key, selection in () if value is None else (("of", value.of), ("over", value.over)):
            if selection is not None and (problem := _problem(selection, base, cases)):
                under = f"under base {base}, " if base else ""
                yield ("values", name, key), f"values.{name}.{key}: {under}{problem}"


def _problem(selection: Selected, base: str | None, cases: Sequence[Mapping[str, Sequence[Any]]]) -> str | None:
    wanted = dict(selection)
    if base is not None and BASE not in wanted:
        wanted[BASE] = [base, None]
    chosen = _chosen(cases, wanted)
    if not chosen:
        for label, values in selection.items():
            others = _chosen(cases, {other: rest for other, rest in wanted.items() if other != label})
            known = dict.fromkeys(str(value) for case in others for value in case[label] if value is not None)
            if known:
                of_rest = " of the cases that are otherwise so" if len(wanted) > 1 else ""
                return unknown(label, ", ".join(map(str, values)), [*known]) + of_rest
        return "no case of the study is selected"
    for label in _COMPARED:
        different = {tuple(case[label]) for case in chosen}
        if len(different) > 1:
            some = ", ".join(sorted({str(value) for values in different for value in values if value is not None})[:4])
            return f"its cases differ in {label} ({some}): select one"
    return None


def _chosen(
    cases: Sequence[Mapping[str, Sequence[Any]]], wanted: Mapping[str, Sequence[Any]]
) -> list[Mapping[str, Sequence[Any]]]:
    return [
        case for case in cases if all(any(each in values for each in case[label]) for label, values in wanted.items())
    ]
