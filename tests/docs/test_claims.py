"""The page of claims: what is known of why a claim is contradicted, and whether an experiment shows it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tradewind.base.toml_lines import TomlFile
from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, FITTED, NOT_TESTABLE, Verdict
from tradewind.study.model.study import Finding, Study
from tradewind.study.model.study_file import StudyFile

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    sys.path.insert(0, str(ROOT / "docs"))  # a program and no package
    return importlib.import_module("claims")


def kept(*findings: tuple[dict[str, Any], dict[str | None, str]]) -> Any:
    """A study with these findings and their verdicts by base."""
    kept_results = importlib.import_module("kept_results")
    sweep = {"name": "s", "kind": "verify", "pattern": "allreduce", "ranks": 2, "algorithm": "ring"}
    tables = [{"claim": "c", "falls": {}, **finding} for finding, _ in findings]
    study = Study.model_validate({"title": "t", "sweep": [sweep], "finding": tables})
    found = kept_results.Kept("k", StudyFile(study, TomlFile("k.toml", "")), [], {})
    found.__dict__["judged"] = [
        [Verdict(str(finding["figure"]), "c", word, "", base=base) for base, word in verdicts.items()]
        for finding, verdicts in findings
    ]
    return found


def claim(**keys: Any) -> dict[str, Any]:
    return {"figure": "1", **keys}


EXPERIMENT = {"figure": "1 (b)", "group": "variant"}
SHOWN = claim(cause="w", shown="1 (b)")


def test_a_contradicted_claim_of_a_source_says_why_or_that_nobody_knows(claims: ModuleType) -> None:
    for keys, reason in (
        ({"cause": "w"}, claims.ASSERTED),
        ({"decided_by": "unexplained"}, claims.UNEXPLAINED),
        ({"decided_by": "data"}, claims.DATA),
    ):
        study = kept((claim(**keys), {None: CONTRADICTED}))
        assert claims.reason(study, study.study.finding[0]) == reason
    study = kept((claim(decided_by="parameter"), {None: CONTRADICTED}))
    with pytest.raises(ValueError, match="k: 1, c: it is contradicted, and has neither a cause nor decided_by"):
        claims.reason(study, study.study.finding[0])


@pytest.mark.parametrize(
    ("claimed", "found", "turned"),
    [
        ({None: CONTRADICTED}, {None: CONFIRMED}, [None]),
        ({"near": CONTRADICTED, "far": CONFIRMED}, {"near": CONTRADICTED, "far": CONTRADICTED}, ["far"]),
        ({None: CONTRADICTED}, {None: CONTRADICTED}, None),
        ({None: CONTRADICTED}, {None: FITTED}, None),
        ({None: CONTRADICTED}, {None: NOT_TESTABLE}, None),
        ({"near": CONTRADICTED}, {"far": CONFIRMED}, None),
    ],
)
def test_an_experiment_shows_a_cause_if_it_turns_the_verdict_under_one_base(
    claims: ModuleType, claimed: dict[str | None, str], found: dict[str | None, str], turned: list[str | None] | None
) -> None:
    study = kept((SHOWN, claimed), (EXPERIMENT, found))
    finding: Finding = study.study.finding[0]
    if turned is not None:
        ((figure, verdicts),) = claims.experiments(study, finding)
        assert (figure, [verdict.base for verdict in verdicts]) == ("1 (b)", turned)
        assert claims.reason(study, finding, next(iter(claimed))) == claims.SHOWN
        return
    with pytest.raises(ValueError, match=r"k: 1, c: 1 \(b\) does not show its cause: it is "):
        claims.reason(study, finding)


def test_a_cause_is_asserted_under_a_base_of_which_its_experiment_says_nothing(claims: ModuleType) -> None:
    study = kept((SHOWN, {"near": CONTRADICTED, "far": CONTRADICTED}), (EXPERIMENT, {"near": CONFIRMED}))
    finding = study.study.finding[0]
    assert [claims.reason(study, finding, base) for base in ("near", "far")] == [claims.SHOWN, claims.ASSERTED]


def test_claims_are_counted_by_whose_they_are(claims: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    study = kept(
        (SHOWN, {"near": CONTRADICTED, "far": CONFIRMED}),
        (EXPERIMENT, {"near": CONFIRMED, "far": CONTRADICTED}),
    )
    monkeypatch.setattr(claims, "SOURCES", {"k": ("K (2000)", "k.md")})
    monkeypatch.setattr(claims, "_studies", lambda source: [study])
    assert claims.by_source().splitlines()[2:] == [
        "| [K (2000)](k.md) | of the source | near | 1 | 0 | 1 | 1 | 0 | 0 | 0 | 0 | 0 |",
        "| [K (2000)](k.md) | of the source | far | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "| [K (2000)](k.md) | variants | near | 1 | 1 | 0 |  |  |  |  | 0 | 0 |",
        "| [K (2000)](k.md) | variants | far | 1 | 0 | 1 |  |  |  |  | 0 | 0 |",
        "| our own studies | own questions |  | 4 | 2 | 2 |  |  |  |  | 0 | 0 |",
    ]
    assert claims.causes_shown().splitlines()[2:] == [
        "| K (2000) | 1 | c | w | 1 (b): confirmed under near, contradicted under far, unlike the claim |"
    ]
