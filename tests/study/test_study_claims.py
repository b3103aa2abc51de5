"""Claims: judged under each base, counted by whose they are, and laid side by side."""

from __future__ import annotations

from typing import Any

from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, FITTED, NOT_TESTABLE, Verdict
from tradewind.study.claims.judgement import (
    Claim,
    bases_in,
    claims_of,
    counted,
    counts,
    figures_of,
    judge_all,
    reasons,
)
from tradewind.study.claims.selection import selection_problems
from tradewind.study.plan.load import load_study

STUDY = """\
title = "t"

[[base]]
name = "near"

[[base]]
name = "far"
packet = "1KiB"

[[sweep]]
name = "a"
kind = "simulate"
pattern = "transpose"
grid = "40x40x40"
slab = "xz"
ranks = 4
algorithm = ["ring-1", "ring-2"]
machine = "torus-M"

[[sweep]]
name = "b"
like = "a"
algorithm = ["bruck", "burst"]
base = "far"

[[sweep]]
name = "m"
kind = "measure"
pattern = "transpose"
grid = "40x40x40"
slab = "xz"
ranks = 4
algorithm = "ring-1"
"""
TIMES = {
    ("a", "near", "ring-1"): 1.0,
    ("a", "near", "ring-2"): 2.0,
    ("a", "far", "ring-1"): 4.0,
    ("a", "far", "ring-2"): 3.0,
    ("b", "far", "bruck"): 1.0,
    ("b", "far", "burst"): 5.0,
    ("m", None, "ring-1"): 3.5,
}


def records() -> list[dict[str, Any]]:
    same = {"ranks": 4, "seed": 1, "routing": "dimension-order", "exchange": "e"}
    return [
        {**same, "sweep": sweep, "base": base, "algorithm": algorithm, "time_s": time}
        | ({} if sweep == "m" else {"machine": "torus-M"})
        for (sweep, base, algorithm), time in TIMES.items()
    ]


def judged(test: str, study: str = STUDY) -> list[tuple[str | None, str]]:
    finding = f'\n[[finding]]\nfigure = "1"\nclaim = "c"\n{test}\n'
    return [(v.base, v.verdict) for v in judge_all(load_study("a.toml", study + finding), records())]


def test_a_finding_is_judged_under_each_base_by_its_cases_alone() -> None:
    test = 'better = { sweep = "a", algorithm = "ring-1" }\nthan = { sweep = "a", algorithm = "ring-2" }'
    assert judged(test) == [("near", CONFIRMED), ("far", CONTRADICTED)]


def test_what_is_measured_is_of_each_base() -> None:
    test = 'better = { sweep = "a", algorithm = "ring-1" }\nthan = { sweep = "m" }'
    assert judged(test) == [("near", CONFIRMED), ("far", CONTRADICTED)]


def test_what_is_measured_alone_is_judged_once() -> None:
    assert judged('where = { sweep = "m" }\nnear = {}\nvalue = 3.5') == [(None, CONFIRMED)]


def test_a_finding_is_judged_under_those_bases_that_have_cases_of_all_its_selections() -> None:
    assert judged('better = { sweep = "b", algorithm = "bruck" }\nthan = { sweep = "b", algorithm = "burst" }') == [
        ("far", CONFIRMED)
    ]
    assert judged('better = { sweep = "a", algorithm = "ring-2" }\nthan = { sweep = "b", algorithm = "burst" }') == [
        ("far", CONFIRMED)
    ]


def test_a_finding_that_names_bases_is_judged_once() -> None:
    ring_1 = 'where = { sweep = "a", algorithm = "ring-1" }\n'
    assert judged(ring_1 + 'better = { base = "near" }\nthan = { base = "far" }\nfactor = 3.9') == [(None, CONFIRMED)]
    assert judged(ring_1 + 'better = { base = "near" }\nthan = { base = "far" }\nfactor = 5') == [(None, CONTRADICTED)]
    assert judged(ring_1 + 'apart = "base"\nfactor = 3.9') == [(None, CONFIRMED)]
    one = 'where = { sweep = "a", base = "far" }\nbetter = { algorithm = "ring-2" }\nthan = { algorithm = "ring-1" }'
    assert judged(one) == [("far", CONFIRMED)], "of one base it is a claim under it"


def test_what_cannot_be_tested_is_so_under_each_base_and_once_without_any() -> None:
    assert judged('untestable = "u"') == [("near", NOT_TESTABLE), ("far", NOT_TESTABLE)]
    bare = 'title = "t"\n\n' + STUDY[STUDY.index("[[sweep]]") :].replace('base = "far"\n', "")
    assert judged('untestable = "u"', bare) == [(None, NOT_TESTABLE)]


BETTER_THAN_MEASURED = 'better = { sweep = "a", algorithm = "ring-1" }\nthan = { sweep = "m" }'
TAKEN = '\n[[fitted]]\nto = { sweep = "m" }\nof = { sweep = "a" }\nvalues = "the rate is taken from it"\n'


def test_a_claim_about_data_that_values_were_taken_from_is_fitted() -> None:
    fitted = STUDY + TAKEN
    assert judged(BETTER_THAN_MEASURED, fitted) == [("near", FITTED), ("far", CONTRADICTED)]
    assert judged(BETTER_THAN_MEASURED, fitted.replace('of = { sweep = "a" }\n', "")) == judged(
        BETTER_THAN_MEASURED, fitted
    )
    assert judged(BETTER_THAN_MEASURED, fitted.replace('of = { sweep = "a" }', 'of = { sweep = "b" }'))[0] == (
        "near",
        CONFIRMED,
    )
    assert judged('where = { sweep = "m" }\nnear = {}\nvalue = 3.5', fitted) == [(None, CONFIRMED)]
    elsewhere = fitted.replace('to = { sweep = "m" }', 'to = { sweep = "m", ranks = 2 }').replace(
        "ranks = 4", "ranks = [2, 4]"
    )
    assert judged(BETTER_THAN_MEASURED + "\nranks = [4]", elsewhere)[0] == ("near", CONFIRMED)
    own = 'where = { sweep = "a", algorithm = "ring-1" }\nnear = {}\nvalue = 1\nfitted = "so chosen"'
    assert judged(own) == [("near", FITTED), ("far", CONTRADICTED)]


def test_data_that_values_were_taken_from_are_cases_of_the_study() -> None:
    wrong = TAKEN.replace('"m"', '"n"').replace('"a"', '"c"')
    problems = selection_problems(load_study("a.toml", STUDY + wrong))
    assert "fitted 1: to: unknown sweep 'n'" in problems[0]
    assert "fitted 1: of: unknown sweep 'c'" in problems[1]


def verdict(claim: str, word: str, base: str | None = None, group: str = "source", **more: Any) -> Verdict:
    values = {"figure": "1", "claim": claim, "verdict": word, "because": "", "figures": [], **more}
    return Verdict(**values, base=base, group=group)


BOTH = [
    verdict("c", CONFIRMED, "near", figures=["1 s"], remark="so"),
    verdict("c", CONTRADICTED, "far", figures=["2 s"], remark="so", because="2 s is more"),
    verdict("q", CONFIRMED, "near", "question"),
    verdict("q", NOT_TESTABLE, "far", "question", because="no case"),
    verdict("v", CONFIRMED, None, "variant"),
    verdict("d", CONFIRMED, "near"),
]


def test_claims_are_counted_apart_by_group_and_base() -> None:
    assert [(count.name, count.text) for count in counts(BOTH)] == [
        ("of the source, under near", "2 confirmed, 0 contradicted, 0 not testable"),
        ("of the source, under far", "0 confirmed, 1 contradicted, 0 not testable"),
        ("variants, between bases", "1 confirmed, 0 contradicted, 0 not testable"),
        ("own questions, under near", "1 confirmed, 0 contradicted, 0 not testable"),
        ("own questions, under far", "0 confirmed, 0 contradicted, 1 not testable"),
    ]
    assert counts(BOTH)[1].as_dict() == {
        "group": "source",
        "base": "far",
        "confirmed": 0,
        "contradicted": 1,
        "fitted": 0,
        "not testable": 0,
    }
    assert counted(BOTH).startswith("of the source, under near: 2 confirmed, 0 contradicted, 0 not testable; of the ")


def test_without_bases_a_group_is_named_where_it_is_not_the_sources_alone() -> None:
    assert counted([verdict("c", CONFIRMED)]) == "1 confirmed, 0 contradicted, 0 not testable"
    both = [verdict("q", CONTRADICTED, None, "question"), verdict("c", CONFIRMED)]
    assert counted(both) == (
        "of the source: 1 confirmed, 0 contradicted, 0 not testable; "
        "own questions: 0 confirmed, 1 contradicted, 0 not testable"
    )


def test_verdicts_on_a_claim_lie_side_by_side() -> None:
    claims = claims_of(BOTH)
    bases = bases_in(BOTH)
    assert bases == ["near", "far"]
    assert [(claim.text, claim.words(bases)) for claim in claims] == [
        ("c", [CONFIRMED, CONTRADICTED]),
        ("q", [CONFIRMED, NOT_TESTABLE]),
        ("v", ["confirmed (between bases)", ""]),
        ("d", [CONFIRMED, ""]),
    ]
    alone = claims_of([verdict("c", CONFIRMED)])
    assert [claim.words([]) for claim in alone] == [[CONFIRMED]]


def test_like_named_claims_of_one_base_are_several() -> None:
    twice = [verdict("c", CONFIRMED, "near"), verdict("c", CONTRADICTED, "near"), verdict("c", CONFIRMED)]
    assert [[*claim.verdicts] for claim in claims_of(twice)] == [["near"], ["near"], [None]]
    others = [verdict("c", CONFIRMED, "near"), verdict("c", CONFIRMED, "far", decided_by="model")]
    assert len(claims_of(others)) == 2


def test_reasons_name_the_bases_only_where_they_differ() -> None:
    (claim, *_) = claims_of(BOTH)
    assert reasons(claim.each) == ["far: 2 s is more", "so"]
    assert figures_of(claim.each) == ["near: 1 s", "far: 2 s"]
    same = [verdict("c", CONTRADICTED, base, because="too slow", figures=["1 s"]) for base in ("near", "far")]
    assert reasons(same) == ["too slow"]
    assert figures_of(same[:1]) == ["1 s"], "of one base alone it goes without saying"
    remarks = [verdict("c", CONFIRMED, base, remark=f"as {base}") for base in ("near", "far")]
    assert reasons(remarks) == ["near: as near", "far: as far"]
    assert reasons(Claim("1", "c", "source", None).each) == []
