"""Selections of findings that no case of a study has: a finding that could never be tested is an error of its study.

A quick run leaves cases out, and what it cannot test it says; so a selection is held against the cases of the full one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from tradewind.errors import InputError
from tradewind.exchange import unknown
from tradewind.machine import load_machine
from tradewind.study.case import AnyCase, expand
from tradewind.study.curve import Selected, is_meant, name_of, some_of
from tradewind.study.load import StudyFile
from tradewind.study.model import PACKINGS, POSTING_ORDERS, Finding
from tradewind.study.plan import located
from tradewind.toml_lines import Place

SELECTIONS = (
    *("better", "order", "same", "crosses", "falls", "rises", "flatter", "jumps", "passes", "than"),
    *("near", "delays", "alike", "bands", "proved", "predicts", "ranked"),
)
"""The keys of a finding that hold one selection, or several; `where` belongs to all of them."""
COMPARED = ("apart", "best")
"""The keys that hold a label, whose values are compared."""

Labels = Mapping[str, Sequence[Any]]
"""What a case can be found under: of each label the value, or those that its answer may give it."""


def selection_problems(study_file: StudyFile) -> list[str]:
    """What findings ask for and no case of the study has, each with its line."""
    findings = [(i, finding) for i, finding in enumerate(study_file.study.finding) if finding.untestable is None]
    if not findings:
        return []
    routing_of = _routings(study_file)
    expanded, skips = expand(study_file.study)
    cases = [_labels(case, routing_of) for case in expanded]
    problems = [
        study_file.file.at(("finding", i, *place), f"finding {i + 1}: {text}")
        for i, finding in findings
        for place, text in _problems(finding, cases)
    ]
    if problems and skips:
        first = f"{skips[0].sweep}, {skips[0].name}: {skips[0].reason}"
        problems.append(f"{study_file.path}: {len(skips)} points of the study cannot be, the first: {first}")
    return problems


def _routings(study_file: StudyFile) -> Any:
    """A function from a simulated machine and its changed values to its own routing."""

    @cache
    def routing_of(machine: str, settings: tuple[tuple[str, str], ...]) -> str | None:
        try:
            return load_machine(located(machine, study_file.path.parent), dict(settings)).machine.routing
        except InputError:
            return None  # which is a problem of the sweep, and told there

    return routing_of


def _labels(case: AnyCase, routing_of: Any) -> Labels:
    labels: dict[str, Sequence[Any]] = {label: (value,) for label, value in case.labels.items()}
    if case.kind == "simulate" and case.options["routing"] is None:
        labels["routing"] = (None, routing_of(case.options["machine"], tuple(case.options["settings"].items())))
    if case.kind == "run":  # the plan of a run chooses what its sweep leaves open
        for label, known in (("transport", POSTING_ORDERS), ("packing", PACKINGS)):
            labels[label] = known if labels[label] == (None,) else labels[label]
    return labels


def _has(case: Labels, label: str, values: Sequence[Any]) -> bool:
    return any(value in values for value in case[label])


def _matching(cases: Sequence[Labels], selection: Selected) -> list[Labels]:
    return [case for case in cases if all(_has(case, label, values) for label, values in selection.items())]


def _selections(finding: Finding) -> Iterator[tuple[Place, Selected]]:
    for key in SELECTIONS:
        value = getattr(finding, key)
        if isinstance(value, list):
            yield from (((key, i), each) for i, each in enumerate(value))
        elif value is not None:
            yield (key,), value


def _problems(finding: Finding, cases: Sequence[Labels]) -> Iterator[tuple[Place, str]]:
    chosen = _matching(cases, finding.where)
    if wrong := [(("where", *place), text) for place, text in _unmatched(finding.where, cases)]:
        yield from wrong
        return
    for place, selection in _selections(finding):
        wrong = [((*place, *within), text) for within, text in _unmatched(selection, chosen)]
        wrong += [] if wrong else _ranks_problems(finding, place, _matching(chosen, selection))
        yield from ((where, f"{_key_of(place)}: {text}") for where, text in wrong)
    for key in COMPARED:
        label = getattr(finding, key)
        if label is None:
            continue
        values = {value for case in chosen for value in case[label]} - {None}
        if len(values) < 2:
            yield (key,), f"{key}: the cases have {len(values)} values of {label}; 2 or more are needed"


def _key_of(place: Place) -> str:
    """``("order", 1)`` -> ``"order 2"``."""
    return " ".join(str(part + 1) if isinstance(part, int) else part for part in place)


def _unmatched(selection: Selected, cases: Sequence[Labels]) -> Iterator[tuple[Place, str]]:
    """Each value that no case has which is as the rest of its selection asks; or that there is no such case."""
    found = False
    for label, values in selection.items():
        rest = {other: wanted for other, wanted in selection.items() if other != label}
        others = _matching(cases, rest)
        known = dict.fromkeys(str(value) for case in others for value in case[label] if value is not None)
        behind = f" of the cases of {name_of(rest)}" if rest else ""
        for value in values if known else ():
            if not any(_has(case, label, [value]) for case in others):
                found = True
                yield (label,), unknown(label, str(value), [*known]) + behind
    if not found and not _matching(cases, selection):
        yield (), f"no case of the study is {name_of(selection)}"


def _ranks_problems(finding: Finding, place: Place, cases: Sequence[Labels]) -> list[tuple[Place, str]]:
    """Numbers of ranks that a finding asks for and a selection does not have. Of a proof that is what it finds out."""
    if finding.proved is not None:
        return []
    known = sorted({case["ranks"][0] for case in cases})
    if isinstance(finding.ranks, list):
        missing: list[object] = [ranks for ranks in finding.ranks if ranks not in known]
    else:
        missing = [] if any(is_meant(finding, ranks) for ranks in known) else ["these"]
    return [(place, f"no case has {some_of(missing)} ranks (known: {some_of(known)})")] if missing else []
