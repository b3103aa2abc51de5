"""Every algorithm on real MPI ranks, against answers worked out in NumPy: one job a rank count runs all its cases."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("mpi4py.MPI")
sys.path.insert(0, str(Path(__file__).parent))

import cases  # noqa: E402

from tradewind import launch  # noqa: E402

RANKS = (1, 2, 3, 4, 6)


@cache
def outcomes(ranks: int) -> dict[str, str]:
    return launch.run(ranks, "cases:run", [asdict(case) for case in cases.cases(ranks)], timeout_s=240)


@pytest.mark.parametrize("ranks", RANKS)
def test_job_runs_every_case(ranks):
    assert set(outcomes(ranks)) == {case.name for case in cases.cases(ranks)}
    assert len(outcomes(ranks)) > 50


@pytest.mark.parametrize(("ranks", "case"), [(n, c) for n in RANKS for c in cases.cases(n)], ids=lambda v: getattr(v, "name", v))
def test_case(ranks, case):
    assert outcomes(ranks)[case.name] == ""
