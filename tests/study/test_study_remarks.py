"""Remarks of findings: their numbers come from the results, and what cannot be filled is an error of the study."""

from __future__ import annotations

from typing import Any

import pytest

from tradewind.base.errors import InputError
from tradewind.study.claims.finding import judge
from tradewind.study.claims.remarks import LEFT_OUT, headline_of
from tradewind.study.claims.selection import selection_problems
from tradewind.study.model.study import Finding, Headline
from tradewind.study.plan.load import load_study

ONE, FOUR = {"algorithm": "ring-1", "ranks": 100}, {"algorithm": "ring-4", "ranks": 100}


def record(algorithm: str, time: float | None, base: str | None = None, seed: int = 1) -> dict[str, Any]:
    known = {"sweep": "s", "exchange": "e", "ranks": 100, "routing": "minimal", "result": {"messages": 7}}
    return {**known, "algorithm": algorithm, "time_s": time, "base": base, "seed": seed}


def remark(records: list[dict[str, Any]], text: str | dict[str, str], base: str | None = None, **values: Any) -> str:
    return judge(Finding(figure="1", claim="c", untestable="u", remark=text, values=values), records, base).remark


def test_a_value_is_the_median_of_its_cases_with_its_unit() -> None:
    records = [record("ring-1", time, seed=seed) for seed, time in enumerate((2e-3, 9e-3, 3e-3))]
    assert remark(records, "It takes {t}, {t}.", t={"of": ONE}) == "It takes 3 ms, 3 ms."
    assert remark(records, "{n} messages", n={"of": ONE, "quantity": "messages"}) == "7 messages"
    assert remark(records, "a set {1, 2} and { t }") == "a set {1, 2} and { t }"


def test_a_ratio_has_no_unit_and_three_digits() -> None:
    records = [record("ring-1", 2.0), record("ring-4", 3.0)]
    assert remark(records, "{r} times", r={"of": ONE, "over": FOUR}) == "0.667 times"
    assert remark(records, "{r} times", r={"of": FOUR, "over": ONE}) == "1.5 times"


def test_a_value_is_of_the_base_that_is_judged_unless_it_names_another() -> None:
    records = [record("ring-1", 2.0, "near"), record("ring-1", 8.0, "far"), record("ring-4", 1.0)]
    values = {"t": {"of": ONE}, "r": {"of": ONE, "over": ONE | {"base": "near"}}, "m": {"of": FOUR}}
    text = "{t}, {r} of near, measured {m}"
    assert remark(records, text, "near", **values) == "2 s, 1 of near, measured 1 s"
    assert remark(records, text, "far", **values) == "8 s, 4 of near, measured 1 s", "what has no base is so of each"


def test_a_remark_by_base() -> None:
    texts = {"near": "as {t}", "far": "never"}
    records = [record("ring-1", 2.0, "near"), record("ring-1", 8.0, "far")]
    remarks = [remark(records, texts, base, t={"of": ONE}) for base in ("near", "far", "other")]
    assert remarks == ["as 2 s", "never", ""]


@pytest.mark.parametrize("records", [[], [record("ring-1", None)], [record("ring-4", 1.0)]])
def test_what_this_run_has_not_is_said_so(records: list[dict[str, Any]]) -> None:
    assert remark(records, "It takes {t}.", t={"of": ONE}) == f"It takes {LEFT_OUT}."
    assert remark(records, "{r} times", r={"of": ONE, "over": FOUR}) == f"{LEFT_OUT} times"
    assert remark(records, "{r} times", r={"of": FOUR, "over": ONE}) == f"{LEFT_OUT} times"


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
ranks = [4, 8]
algorithm = ["ring-1", "ring-2"]
machine = "torus-M"

[[sweep]]
name = "b"
kind = "simulate"
pattern = "allreduce"
ranks = 16
machine = "torus-M"
base = "far"
routing = "valiant"
seed = [1, 2, 3, 4, 5]

[[finding]]
figure = "1"
claim = "c"
"""
FALLS = 'falls = { algorithm = "ring-1" }\n'
GOOD = '{ of = { algorithm = "ring-1", ranks = 4 } }'


def problems_of(finding: str, study: str = STUDY) -> list[str]:
    try:
        return selection_problems(load_study("a.toml", study + finding))
    except InputError as error:
        return list(error.problems)


@pytest.mark.parametrize(
    "finding",
    [
        FALLS + 'remark = "{x}"\nvalues = { x = ' + GOOD + " }",
        FALLS + 'remark = { near = "{x}", far = "x" }\nvalues = { x = ' + GOOD + " }",
        FALLS + 'remark = { near = "only there" }',
        FALLS + 'group = "variant"\ndecided_by = "model"',
        FALLS.replace("}", ', base = "far" }') + 'remark = { far = "x" }',
        'untestable = "u"\nremark = { near = "{x}" }\nvalues = { x = ' + GOOD + " }",
        'where = { sweep = "b" }\nnear = {}\nvalue = 1\nremark = "{x}"\nvalues = { x = { of = { sweep = "b" } } }',
        'apart = "base"\nremark = "{x}"\nvalues = { x = ' + GOOD.replace("ranks", 'base = "far", ranks') + " }",
        # Values of one base alone are no problem in a remark that is read under that one.
        FALLS + 'remark = { far = "{x}" }\nvalues = { x = { of = { sweep = "b" } } }',
    ],
)
def test_what_can_be_filled_is_no_problem(finding: str) -> None:
    assert problems_of(finding) == []


@pytest.mark.parametrize(
    ("finding", "line", "problem"),
    [
        ("remark = 3", 1, "remark: a text is allowed, or a table with a text for each base"),
        ('remark = ["a"]', 1, "remark: a text is allowed, or a table with a text for each base"),
        ("remark = { near = 3 }", 1, "remark: a text is allowed, or a table with a text for each base"),
        ('remark = { nera = "x" }', 1, "remark: unknown base of this finding 'nera'; did you mean 'near'?"),
        ('remark = "{x}"', 1, "remark: {x}: the finding has no values"),
        ('remark = "{y}{x}"\nvalues = { x = ' + GOOD + " }", 1, "remark: {y}: unknown value 'y' (known: x)"),
        ('remark = "x"\nvalues = { x = ' + GOOD + " }", 2, "values.x: no remark has {x}"),
        ('remark = "{x}"\nvalues = 3', 2, "values 3: a table is allowed, like { name = { of = "),
        ('remark = "{x}"\nvalues = { x = 3 }', 2, "x 3: a table is allowed, like { of = "),
        ('remark = "{x}"\nvalues = { x = {} }', 2, "key 'of' is missing"),
        (
            'remark = "{x}"\nvalues = { x = { of = { ranks = 4 }, ovre = {} } }',
            2,
            "unknown key 'ovre'; did you mean 'over'? (known: of, over, quantity)",
        ),
        ('remark = "{x}"\nvalues = { x = { of = { rnaks = 4 } } }', 2, "unknown label 'rnaks'; did you mean 'ranks'?"),
        ('remark = "{x}"\nvalues = { x = { of = { sweep = "c" } } }', 2, "unknown sweep 'c' (known: a, b)"),
        (
            'remark = "{x}"\nvalues = { x = { of = { base = "fra" } } }',
            2,
            "unknown base 'fra'; did you mean 'far'? (known: near, far)",
        ),
        (
            'remark = "{x}"\nvalues = { x = { of = { ranks = 4 }, quantity = "tiem" } }',
            2,
            "quantity 'tiem': input should be 'time'",
        ),
        (
            'remark = { far = "{x}" }\nvalues = { x = { of = { sweep = "a", ranks = 4, algorithm = "ring-3" } } }',
            2,
            "values.x.of: under base far, unknown algorithm 'ring-3'; did you mean 'ring-2'? (known: ring-1, ring-2)",
        ),
        (
            'remark = { far = "{x}" }\nvalues = { x = { of = { sweep = "a", ranks = 4 } } }',
            2,
            "values.x.of: under base far, its cases differ in algorithm (ring-1, ring-2): select one",
        ),
        (
            'remark = { far = "{x}" }\nvalues = { x = { of = { sweep = "b" }, over = { algorithm = "ring-1" } } }',
            2,
            "values.x.over: under base far, its cases differ in ranks (4, 8): select one",
        ),
        # Under near there is no case of the other sweep.
        (
            'remark = "{x}"\nvalues = { x = { of = { sweep = "b" } } }',
            2,
            "values.x.of: under base near, unknown sweep 'b'",
        ),
        ('group = "varaint"', 1, "group 'varaint': input should be 'source', 'variant' or 'question'"),
        ('decided_by = "chance"', 1, "decided_by 'chance': input should be 'parameter', 'simulator', 'model', 'data'"),
    ],
)
def test_what_cannot_be_filled_is_told_with_its_line(finding: str, line: int, problem: str) -> None:
    found = problems_of(FALLS + finding)
    assert len(found) == 1, found
    assert found[0].startswith(f"a.toml:{len((STUDY + FALLS).splitlines()) + line}: finding 1: {problem}"), found


def test_a_remark_by_base_of_a_finding_that_is_judged_under_none_is_an_error() -> None:
    for finding, study in (('apart = "base"\n', STUDY), (FALLS, "title" + STUDY.partition("[[base]]")[0][5:])):
        whole = study if study is STUDY else study + STUDY[STUDY.index("[[sweep]]") :].replace('base = "far"\n', "")
        (problem,) = problems_of(finding + 'remark = { near = "x" }', whole)
        assert problem.endswith(
            "remark: a table has a text for each base, and this finding is judged under none: write text"
        )


def test_values_of_a_finding_over_bases_name_theirs() -> None:
    (problem,) = problems_of('apart = "base"\nremark = "{x}"\nvalues = { x = ' + GOOD + " }")
    assert problem.endswith("values.x.of: its cases differ in base (far, near): select one")


def test_values_of_what_cannot_be_tested_are_checked_too() -> None:
    found = problems_of('untestable = "u"\nremark = { far = "{x}" }\nvalues = { x = { of = { machine = "t" } } }')
    assert [problem.partition("finding 1: ")[2] for problem in found] == [
        "values.x.of: under base far, unknown machine 't' (known: torus-M) of the cases that are otherwise so"
    ]


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ([2.0, 3.0, 1.0, 5.0, 4.0, 6.0], "3.5 s (95 % confidence: 1 s to 6 s)"),
        ([2.0, 3.0, 1.0], "3.5 s (3 samples: 1 s to 3 s)"),
    ],
)
def test_a_measured_time_of_a_headline_has_its_interval(samples: list[float], text: str) -> None:
    headline = Headline.model_validate({"text": "{t}", "values": {"t": {"of": ONE}}})
    case = record("ring-1", 3.5) | {"kind": "measure", "result": {"results": [{"samples_s": samples}]}}
    assert headline_of(headline, [case]) == text
    assert headline_of(headline, [case | {"key": "a", "sweep": sweep} for sweep in ("one", "two")]) == text


def test_a_headline_is_filled_as_remarks_are() -> None:
    values = {"t": {"of": ONE}, "r": {"of": FOUR, "over": ONE}}
    headline = Headline.model_validate({"text": "It takes {t}, \n{r} times as long.", "values": values})
    assert headline_of(headline, [record("ring-1", 2.0), record("ring-4", 3.0)]) == "It takes 2 s, 1.5 times as long."


@pytest.mark.parametrize(
    ("headline", "problem"),
    [
        ("headline = 3", "headline"),
        ('headline = { txt = "x" }', "headline: unknown key 'txt'; did you mean 'text'? (known: text, values)"),
        ('headline = { text = "{x}" }', "headline: text: {x}: the headline has no values"),
        ('headline = { text = "{x}", values = { x = { off = {} } } }', "unknown key 'off'; did you mean 'of'?"),
        ('headline = { text = "{x}", values = { x = { of = { sweep = "c" } } } }', "headline: unknown sweep 'c'"),
        (
            'headline = { text = "{x}", values = { x = { of = { sweep = "a", algorithm = "ring-1" } } } }',
            "headline: values.x.of: its cases differ in base (far, near): select one",
        ),
    ],
)
def test_what_cannot_be_filled_in_a_headline(headline: str, problem: str) -> None:
    title, rest = STUDY.lstrip().split("\n", 1)
    try:
        problems = selection_problems(load_study("s.toml", f"{title}\n{headline}\n{rest}{FALLS}"))
    except InputError as error:
        problems = list(error.problems)
    assert any(each.startswith("s.toml:2: ") and problem in each for each in problems), problems
