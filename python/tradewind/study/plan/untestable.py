"""Claims that the cases of a plan cannot test, found before any case is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tradewind.study.cases.bases import own_routing
from tradewind.study.cases.machines import own_machines
from tradewind.study.claims.finding import Verdict, base_of, why_untestable
from tradewind.study.claims.selection import bases_of, labels_of
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.planned import Planned


class _Open:
    """A value that a plan of MPI chooses when a case runs: equal to all."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


def untestable_claims(study_file: StudyFile, planned: Sequence[Planned]) -> list[Verdict]:
    """Return the verdicts, with their reasons, on all claims that these cases cannot test, whatever their results."""
    study = study_file.study
    if not study.finding:
        return []
    cases = labels_of(study_file) if study.base else []
    records = _records(study_file, planned)
    return [
        Verdict.untestable(finding, base or base_of(finding), reason)
        for finding in study.finding
        for base in bases_of(finding, study, cases)
        if (reason := why_untestable(finding, records, base)) is not None
    ]


def _records(study_file: StudyFile, planned: Sequence[Planned]) -> list[dict[str, Any]]:
    """Cases as a test finds them, with results that stand for any."""
    machine_of = own_machines(study_file)
    records = []
    for case in (each.case for each in planned):
        record = {**case.labels, "time_s": None if case.kind == "verify" else 1.0}
        record["result"] = {"delay": {"edges_s": [0.0, 1.0], "counts": [1]}}
        if case.kind == "simulate" and record["routing"] is None and record["model"] == "packet":
            record["routing"] = own_routing(machine_of, case.options["machine"], case.options["settings"])
        for label in ("transport", "packing"):
            if case.kind == "run" and record[label] is None:
                record[label] = _Open()
        records.append(record)
    return records
