"""Causes of errors, looked for after the answers: one thing of a machine or of a model is changed alone.

Nothing of this goes back into files or predictions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from validation.published import factor
from validation.whole_models.compare import Compared, compared
from validation.whole_models.predictions import At, prediction, simulate
from validation.whole_models.questions import Case, questions


@dataclass(frozen=True)
class Change:
    """One thing that is changed: values of the machine, by its name, or numbers of the model."""

    name: str
    settings: dict[str, dict[str, str]] = field(default_factory=dict)
    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    """By the name of the model."""


CORE = "dynamical core and tracers"
ATS: tuple[At, ...] = (
    ("P63", CORE, 64),
    ("P63", CORE, 1024),
    ("P82", "whole model", 384),
    ("P86", "whole model", 1024),
    ("P87", "whole model", 128),
    ("P139", "1001 steps", 8),
)
CHANGES = (
    Change(
        "half of the memory's bandwidth",
        settings={
            "summit": {"node.memory_bandwidth": "1.35TB/s"},
            "perlmutter": {"node.memory_bandwidth": "1.555TB/s"},
            "piz-daint": {"node.memory_bandwidth": "183GB/s"},
            "juwels-booster": {"node.memory_bandwidth": "1.555TB/s"},
            "archer2": {"node.memory_bandwidth": "102.5GB/s"},
        },
    ),
    Change(
        "NICs twice as fast",
        settings={
            "summit": {"nic.injection_bandwidth": "25GB/s", "nic.ejection_bandwidth": "25GB/s"},
            "perlmutter": {"nic.injection_bandwidth": "50GB/s", "nic.ejection_bandwidth": "50GB/s"},
            "piz-daint": {"nic.injection_bandwidth": "20GB/s", "nic.ejection_bandwidth": "20GB/s"},
            "juwels-booster": {"nic.injection_bandwidth": "50GB/s", "nic.ejection_bandwidth": "50GB/s"},
            "archer2": {"nic.injection_bandwidth": "25GB/s", "nic.ejection_bandwidth": "25GB/s"},
        },
    ),
    Change(
        "radiation twice as much",
        numbers={"scream-ne1024": {"radiation_accesses": 12000}, "icon-5km": {"radiation_accesses": 12000}},
    ),
)


def experiment(row: Compared, change: Change) -> float:
    """Return the factor of a prediction with a change."""
    each = row.prediction
    question = next(question for question in questions() if (question.id, question.what) == each.at[:2])
    case = Case(each.model, each.machine, each.at[2], question.ranks_per_node)
    result = simulate(case, change.settings.get(each.machine), change.numbers.get(each.model))
    return factor(prediction(question, case, result).figure, row.published, each.unit)


def experiments() -> list[dict[str, object]]:
    """Return the factors with and without each change, of the predictions that it touches."""
    rows = {row.prediction.at: row for row in compared()}
    return [
        {
            "changed": change.name,
            "id": at[0],
            "model": f"{rows[at].prediction.model}, {rows[at].prediction.machine}",
            "nodes": at[2],
            "factor": rows[at].factor,
            "with the change": experiment(rows[at], change),
        }
        for change in CHANGES
        for at in ATS
        if at in rows
        and (rows[at].prediction.machine in change.settings or rows[at].prediction.model in change.numbers)
    ]
