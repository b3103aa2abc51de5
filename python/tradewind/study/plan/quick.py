"""A quick run: of each sweep only what the study marks as such.

Its cases are cases of the full run too, which does not compute them again.
"""

from __future__ import annotations

from tradewind.study.cases.case import Case
from tradewind.study.cases.expand import expand
from tradewind.study.claims.curve import some_of
from tradewind.study.model.study import Study
from tradewind.study.model.values import RUN_QUICK_KEYS

Kept = dict[str, int]
"""Number of cases by sweep."""


def quick_study(study: Study) -> tuple[Study, list[str]]:
    """The study of a quick run, and in words what it leaves out, sweep by sweep."""
    sweeps = [sweep.model_copy(update=sweep.quick) for sweep in study.sweep if sweep.quick is not False]
    reduced = study.model_copy(update={"sweep": sweeps})
    all_cases, some = expand(study)[0], expand(reduced)[0]
    notes = [f"quick run: {len(some)} of {len(all_cases)} cases"]
    for sweep in study.sweep:
        full = [case for case in all_cases if case.sweep == sweep.name]
        kept = [case for case in some if case.sweep == sweep.name]
        if len(kept) < len(full):
            notes.append(f"quick run, {sweep.name}: {len(kept)} of {len(full)} cases{_left_out(full, kept)}")
    return reduced, notes


def _left_out(full: list[Case], kept: list[Case]) -> str:
    """The values of labels that no case of the quick run has."""
    gone = []
    for label in RUN_QUICK_KEYS:
        before = dict.fromkeys(case.labels[label] for case in full)
        after = {case.labels[label] for case in kept}
        if missing := [str(value) for value in before if value not in after]:
            gone.append(f"{label} {some_of(missing)}")
    return f"; left out: {'; '.join(gone)}" if kept else "; all are left out"
