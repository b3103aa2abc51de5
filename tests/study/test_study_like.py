"""Sweeps that are like another one."""

from __future__ import annotations

import pytest
from study_fakes import FAKES, HERE

from tradewind.base.errors import InputError
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan

FIRST = """\
title = "t"
[[sweep]]
name = "a"
kind = "simulate"
pattern = "transpose"
grid = "40x40x40"
ranks = [
  4,
  8,
]
split = { 4 = "4x1", 8 = "8x1" }
machine = "torus-M"
set = { "link.latency" = "1us", "nic.latency" = "1us" }
quick = { ranks = 4 }
"""
LINES = FIRST.count("\n")


def like(name: str, other: str, *keys: str) -> str:
    return "\n".join(("[[sweep]]", f'name = "{name}"', f'like = "{other}"', *keys, ""))


def problems_of(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        make_plan(load_study("a.toml", text), FAKES, HERE)
    return list(caught.value.problems)


def test_a_sweep_has_the_keys_of_the_one_it_is_like_but_for_its_own() -> None:
    shorter = ("ranks = 4", 'split = { 4 = "2x2" }')
    faster = ('set = { "link.latency" = "10ns" }', "quick = {}")
    text = FIRST + like("b", "a", *shorter) + like("c", "b", *faster) + like("d", "a", "set = {}")
    sweeps = load_study("a.toml", text).study.sweep
    head, rest = FIRST.split('"a"')
    kind, tables = rest[: rest.index("ranks")], rest[rest.index("machine") :]
    alone = ["\n".join((kind, *shorter, tables)), "\n".join((kind, *shorter, 'machine = "torus-M"', faster[0]))]
    alone.append("".join(line for line in rest.splitlines(keepends=True) if not line.startswith("set")))
    assert sweeps[0] == load_study("a.toml", FIRST).study.sweep[0]
    for sweep, name, keys in zip(sweeps[1:], "bcd", alone, strict=True):
        (written,) = load_study("a.toml", f'{head}"{name}"{keys}').study.sweep
        assert sweep == written


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('like = "aa"', "like: unknown sweep 'aa'; did you mean 'a'? (known: a)"),
        ('like = "b"', "like 'b': only a sweep that stands above this one is allowed"),
        ('like = "c"', "like 'c': only a sweep that stands above this one is allowed"),
        ('like = ["a"]', "like ['a']: the name of another sweep is allowed"),
    ],
)
def test_only_a_sweep_above_can_be_named(keys: str, problem: str) -> None:
    sweep = f'[[sweep]]\nname = "b"\n{keys}\nranks = 0\n'
    found = problems_of(FIRST + sweep + like("c", "b") + like("a", "a"))
    assert found == [
        f"a.toml:{LINES + 3}: sweep 2: {problem}",  # and nothing of the keys that b and c lack for it
        f"a.toml:{LINES + 9}: sweep 4: another sweep is called 'a'",
    ]


def test_a_key_that_several_sweeps_have_is_a_problem_once_where_it_stands() -> None:
    text = FIRST + like("b", "a", "ranks = 4", 'split = { 4 = "2x2" }', "quick = {}") + like("c", "a")
    assert problems_of(text.replace("  8", "  0")) == [
        "a.toml:9: sweep 1: ranks 0: 1 or more are allowed",
        "a.toml:11: sweep 1: split names 8 ranks, which ranks does not ([4, 0])",
    ]
    (problem,) = problems_of(text.replace("torus-M", "torus-N"))
    assert problem.startswith("a.toml:12: sweep 1: unknown machine 'torus-N'")
    assert len(problems_of(text.replace('"nic.latency"', '"nic.lat"'))) == 1


def test_a_key_that_suits_one_sweep_alone_is_a_problem_of_the_other() -> None:
    assert problems_of(FIRST + like("b", "a", "ranks = 8", 'pattern = "allreduce"', "quick = {}")) == [
        "a.toml:6: sweep 2, which is like this one: grid does not apply to allreduce: leave it out",
        "a.toml:11: sweep 2, which is like this one: split does not apply to allreduce: leave it out",
        "a.toml:11: sweep 2, which is like this one: split names 4 ranks, which ranks does not ([8])",
    ]
