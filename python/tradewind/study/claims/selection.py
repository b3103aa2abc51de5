"""Selections of findings that no case of a study has: a finding that could never be tested is an error of its study.

A quick run leaves cases out, and lists what it cannot test; so a selection is compared with the cases of the full one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place
from tradewind.method.method import packing_names, transport_names
from tradewind.study.cases.bases import OwnMachine, own_routing
from tradewind.study.cases.case import Case
from tradewind.study.cases.expand import expand
from tradewind.study.cases.machines import own_machines
from tradewind.study.claims.curve import Selected, is_meant, name_of, number_along, some_of
from tradewind.study.claims.finding import base_of, selections_of
from tradewind.study.claims.remarks import base_problems, headline_problems, value_problems
from tradewind.study.model.study import Finding, Plot, Study
from tradewind.study.model.study_file import StudyFile

COMPARED = ("apart", "best")
"""The keys that hold a label, whose values are compared."""

BASE = "base"
COMPARING = ("time", "bars", "parts", "causes", "best", "delay")
"""The kinds of plots that show curves or bars side by side."""

Labels = Mapping[str, Sequence[Any]]
"""Return the values per label under which a case is found, or those that its result may give it."""


def selection_problems(study_file: StudyFile) -> list[str]:
    """Return selections of findings that match no case of the study, each with its line."""
    study = study_file.study
    findings = [
        (i, finding)
        for i, finding in enumerate(study.finding)
        if finding.untestable is None or finding.values or not isinstance(finding.remark, str)
    ]
    plots = [(i, plot) for i, plot in enumerate(study.plot)] if len(study.base) > 1 else []
    if not findings and not plots and not study.fitted and study.headline is None:
        return []
    machine_of = own_machines(study_file)
    expanded, skips = expand(study, machine_of)
    cases = [_labels(case, machine_of) for case in expanded]
    problems = [
        study_file.file.at(("finding", i, *place), f"finding {i + 1}: {text}")
        for i, finding in findings
        for place, text in _problems(finding, cases, study)
    ]
    problems += [
        study_file.file.at(("fitted", i, key, *place), f"fitted {i + 1}: {key}: {text}")
        for i, fit in enumerate(study.fitted)
        for key, selection in (("to", fit.to), ("of", fit.of))
        for place, text in _unmatched(selection, cases)
    ]
    if study.headline is not None:
        wrong = headline_problems(study.headline, cases)
        problems += [study_file.file.at(("headline", *place), f"headline: {text}") for place, text in wrong]
    if problems and skips:
        first = f"{skips[0].sweep}, {skips[0].name}: {skips[0].reason}"
        problems.append(f"{study_file.path}: {len(skips)} points of the study cannot be, the first: {first}")
    problems += [
        study_file.file.at(("plot", i), f"plot {i + 1}: {text}")
        for i, plot in plots
        for text in _mixed_bases(plot, cases)
    ]
    return problems


def _mixed_bases(plot: Plot, cases: Sequence[Labels]) -> Iterator[str]:
    """Return the problem of a plot whose curves have cases of several bases."""
    if BASE in (plot.curve, plot.panel, plot.along, *plot.over) or plot.kind not in COMPARING:
        return
    chosen = [case for selection in plot.of for case in _matching(cases, selection)]
    if len(found := {case[BASE][0] for case in chosen} - {None}) > 1:
        yield (
            f"its cases have {len(found)} bases: name base as curve, panel or along, or select one of them, "
            f'like {{ base = "{chosen[0][BASE][0]}" }}'
        )


def bases_of(finding: Finding, study: Study, cases: Sequence[Labels]) -> list[str | None]:
    """Return the bases that a finding is judged under: those of which all of its selections have cases.

    A single None stands for a study without bases, and for a finding that names bases itself and so is judged once.
    """
    names: list[str | None] = [base.name for base in study.base]
    if not names or _names_bases(finding):
        return [None]
    if finding.untestable is not None:
        return names
    within = _matching(cases, finding.where)
    chosen = [_matching(within, selection) for _, selection in selections_of(finding)] or [within]
    found = [name for name in names if all(any(_is_under(case, name) for case in each) for each in chosen)]
    own = {case[BASE][0] for each in chosen for case in each}
    return [name for name in found if name in own] or [None]


def _names_bases(finding: Finding) -> bool:
    compared = (finding.apart, finding.best, finding.by)
    return BASE in (*finding.where, *compared) or any(BASE in selection for _, selection in selections_of(finding))


def _is_under(case: Labels, base: str | None) -> bool:
    """Whether a case is one of a base: what was measured is so of every base."""
    return case[BASE][0] in (base, None)


def labels_of(study_file: StudyFile) -> list[Labels]:
    """Return what each case of a study can be found under."""
    machine_of = own_machines(study_file)
    return [_labels(case, machine_of) for case in expand(study_file.study, machine_of)[0]]


def _labels(case: Case, machine_of: OwnMachine) -> Labels:
    labels: dict[str, Sequence[Any]] = {label: (value,) for label, value in case.labels.items()}
    if case.kind == "simulate" and case.options["routing"] is None:
        labels["routing"] = (None, own_routing(machine_of, case.options["machine"], case.options["settings"]))
    if case.kind == "run":  # the plan of a run chooses what its sweep leaves open
        for label, known in (("transport", transport_names()), ("packing", packing_names())):
            labels[label] = known if labels[label] == (None,) else labels[label]
    return labels


def _has(case: Labels, label: str, values: Sequence[Any]) -> bool:
    return any(value in values for value in case[label])


def _matching(cases: Sequence[Labels], selection: Selected) -> list[Labels]:
    return [case for case in cases if all(_has(case, label, values) for label, values in selection.items())]


def _problems(finding: Finding, cases: Sequence[Labels], study: Study) -> Iterator[tuple[Place, str]]:
    wrong = list(_test_problems(finding, cases, study)) if finding.untestable is None else []
    yield from wrong
    bases = [base or base_of(finding) for base in bases_of(finding, study, cases)]
    if not wrong:  # else it is not known which bases it is judged under
        yield from base_problems(finding, bases)
    yield from value_problems(finding, bases, cases)


def _test_problems(finding: Finding, cases: Sequence[Labels], study: Study) -> Iterator[tuple[Place, str]]:
    found = list(_unlike(finding, cases))
    if found or not study.base:
        yield from found
        return
    if _names_bases(finding):
        yield from _several_bases(finding, cases)
        return
    bases = bases_of(finding, study, cases)
    if bases == [None] and any(case[BASE][0] for case in _matching(cases, finding.where)):
        test = next(selections_of(finding), ((), {}))[0]
        yield test, f"{_key_of(test)}: no base has cases of all its selections: name base in each of them"
    for base in bases if bases != [None] else ():
        for place, text in _unlike(finding, [case for case in cases if _is_under(case, base)], values=False):
            yield place, f"under base {base}: {text}"


def _several_bases(finding: Finding, cases: Sequence[Labels]) -> Iterator[tuple[Place, str]]:
    """Selections that name no base, beside others that do: the lowest of all bases would speak for them."""
    for place, selection in selections_of(finding):
        if BASE in (*finding.where, *selection, finding.apart, finding.best, finding.by):
            continue
        chosen = _matching(_matching(cases, finding.where), selection)
        if len(found := dict.fromkeys(case[BASE][0] for case in chosen if case[BASE][0] is not None)) > 1:
            yield place, f"{_key_of(place)}: its cases have {len(found)} bases ({', '.join(found)}): name one here, too"


def _unlike(finding: Finding, cases: Sequence[Labels], *, values: bool = True) -> Iterator[tuple[Place, str]]:
    """Return selections of a finding that match no case. `values`: each value of a selection must match some case."""
    chosen = _matching(cases, finding.where)
    if wrong := [(("where", *place), text) for place, text in _unmatched(finding.where, cases) if values]:
        yield from wrong
        return
    for place, selection in selections_of(finding):
        wrong = [((*place, *within), text) for within, text in _unmatched(selection, chosen) if values]
        wrong += [] if wrong else _ranks_problems(finding, place, _matching(chosen, selection))
        yield from ((where, f"{_key_of(place)}: {text}") for where, text in wrong)
    for key in COMPARED:
        label = getattr(finding, key)
        if label is None:
            continue
        known = {value for case in chosen for value in case[label]} - {None}
        if len(known) < 2:
            yield (key,), f"{key}: the cases have {len(known)} values of {label}; 2 or more are needed"


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
    numbers = (number_along(finding, {label: values[0] for label, values in case.items()}) for case in cases)
    known = sorted({number for number in numbers if number is not None})
    if isinstance(finding.ranks, list):
        missing: list[object] = [ranks for ranks in finding.ranks if ranks not in known]
    else:
        missing = [] if any(is_meant(finding, ranks) for ranks in known) else ["these"]
    return [(place, f"no case has {some_of(missing)} {finding.along} (known: {some_of(known)})")] if missing else []
