"""Findings that compare simulated cases with measured ones, and the sweeps that they are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tradewind.base.errors import InputError
from tradewind.study.cases.expand import expand
from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, NOT_TESTABLE, Verdict, judge
from tradewind.study.model.study import Finding
from tradewind.study.plan.load import load_study

MEASURED = {"isend-irecv": 1.0, "shared": 2.0, "alltoallv": 4.0}
SIMULATED = {"isend-irecv": 1.1, "shared": 1.0, "alltoallv": 4.4}


def records(measured: dict[str, float] = MEASURED, simulated: dict[str, float] = SIMULATED) -> list[dict[str, Any]]:
    here = {"sweep": "m", "kind": "measure"}
    there = {"sweep": "s", "kind": "simulate", "machine": "mine", "ranks_per_node": 2, "seed": 1, "routing": "direct"}
    return [
        {"exchange": "halo 3 direct", "ranks": 2, "transport": transport, "packing": "buffer", "time_s": time} | labels
        for labels, times in ((here, measured), (there, simulated))
        for transport, time in times.items()
    ]


def verdict(cases: list[dict[str, Any]], **test: Any) -> Verdict:
    return judge(Finding(figure="1", claim="so", than={"kind": "measure"}, **test), cases)


def test_predicts_by_the_median():
    found = verdict(records(), predicts={"kind": "simulate"}, tolerance=0.11)
    assert found.verdict == CONFIRMED
    assert found.figures[0] == "median error 10 %, 2 of 3 cases within 11 %"
    assert found.figures[1] == "halo 3 direct, shared, buffer: simulated 0.5 of measured"
    found = verdict(records(), predicts={"kind": "simulate"}, tolerance=0.09)
    assert (found.verdict, found.because) == (CONTRADICTED, "the median error of 3 cases is 10 %")


def test_ranked_by_pairs():
    """One of three pairs, isend-irecv and shared, is in the wrong order."""
    test = {"ranked": {"sweep": "s"}, "by": "transport"}
    found = verdict(records(), **test, share=(0.6, 1.0))
    assert found.verdict == CONFIRMED
    assert found.figures == [
        "2 of 3 pairs (66.7 %) are in the right order",
        "halo 3 direct, shared, buffer and isend-irecv: measured 2 times as slow",
    ]
    assert verdict(records(), **test, share=(0.7, 1.0)).verdict == CONTRADICTED
    assert verdict(records(), **test, share=(0.5, 0.6)).verdict == CONTRADICTED
    # Those that hardly differ do not count: of the others, alltoallv and the slower of the two, all are right.
    assert verdict(records(), **test, share=(1.0, 1.0), tolerance=1.5).verdict == CONFIRMED
    assert verdict(records(), **test, share=(1.0, 1.0), tolerance=9).verdict == NOT_TESTABLE


def test_only_like_cases_are_compared():
    other = [record | {"packing": "datatype"} for record in records() if record["kind"] == "measure"]
    simulated = [record for record in records() if record["kind"] == "simulate"]
    found = verdict([*other, *simulated], predicts={"kind": "simulate"})
    assert (found.verdict, found.because) == (NOT_TESTABLE, "no case of simulate is like one of measure")
    groups = [record | {"packing": "datatype"} for record in records(simulated=MEASURED)]
    found = verdict([*groups, *records()], ranked={"kind": "simulate"}, by="transport", share=(0.8, 1))
    assert found.figures[0] == "5 of 6 pairs (83.3 %) are in the right order"


STUDY = """
title = "both"
[[sweep]]
name = "m"
kind = "measure"
pattern = "halo"
grid = "64x64x8"
ranks = 2
transport = ["isend-irecv", "alltoallv"]
[[sweep]]
name = "s"
kind = "simulate"
pattern = "halo"
grid = "64x64x8"
ranks = 2
machine = "torus-M"
{transport}
[[finding]]
figure = "1"
claim = "so"
{test}
"""
GOOD = 'predicts = { sweep = "s" }\nthan = { sweep = "m" }'


def study(tmp_path: Path, transport: str = "", test: str = GOOD):
    path = tmp_path / "both.toml"
    path.write_text(STUDY.format(transport=transport, test=test))
    return load_study(path).study


def test_cases_name_a_transport_only_where_the_sweep_does(tmp_path):
    (plain,) = [case for case in expand(study(tmp_path))[0] if case.kind == "simulate"]
    assert not {"transport", "packing"} & set(plain.options), "or its key would be another than ever"
    cases, skips = expand(study(tmp_path, 'transport = ["isend-irecv", "alltoallv"]'))
    (carried,) = [case for case in cases if case.kind == "simulate"]
    assert (carried.options["transport"], carried.options["packing"]) == ("isend-irecv", "buffer")
    assert [skip.sweep for skip in skips] == ["m", "s"], "of two stages, which alltoallv does not carry"
    packed = [case for case in expand(study(tmp_path, 'packing = "direct"'))[0] if case.kind == "simulate"]
    assert [(case.options["transport"], case.options["packing"]) for case in packed] == [("isend-irecv", "direct")]


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ('predicts = { sweep = "s" }', "predicts needs than"),
        (f'{GOOD}\nby = "transport"', "by belongs to ranked, and not to predicts"),
        ('ranked = { sweep = "s" }\nthan = { sweep = "m" }\nshare = [0.8, 1]', "ranked needs by"),
        (
            'ranked = { sweep = "s" }\nthan = { sweep = "m" }\nshare = [0.8, 1]\nby = "transports"',
            "did you mean 'transport'",
        ),
        ('predicts = { sweep = "t" }\nthan = { sweep = "m" }', "unknown sweep 't'"),
    ],
)
def test_findings_that_cannot_be(test, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        study(tmp_path, test=test)


def test_an_unknown_transport_is_refused(tmp_path):
    with pytest.raises(InputError, match="did you mean 'shared'"):
        study(tmp_path, 'transport = "share"')
