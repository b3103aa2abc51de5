"""Cases of two results are matched by their problems."""

from __future__ import annotations

from typing import Any

from tradewind.dataset.matching import match


def case(key: str, **labels: Any) -> dict[str, Any]:
    return {"key": key, "kind": "simulate", "pattern": "transpose", "ranks": 4, **labels}


def keys(cases: Any) -> list[str]:
    return [each["key"] for each in cases]


def test_equal_problems_match_and_others_are_named() -> None:
    old = [case("a", algorithm="ring-1"), case("b", algorithm="ring-2"), case("c", algorithm="ring-2", ranks=8)]
    new = [case("d", algorithm="ring-2"), case("e", algorithm="ring-1"), case("f", algorithm="ring-1", ranks=9)]
    found = match(old, new)
    assert [(keys(pair.old), keys(pair.new)) for pair in found.pairs] == [(["a"], ["e"]), (["b"], ["d"])]
    assert (keys(found.only_old), keys(found.only_new), found.differences) == (["c"], ["f"], {})


def test_what_differs_throughout_is_a_difference_of_the_results() -> None:
    old = [case(f"t{n}", ranks=n, machine="torus-M", routing="dimension-order") for n in (4, 8)]
    new = [case(f"d{n}", ranks=n, machine="dragonfly-MM", routing="minimal") for n in (4, 8)]
    found = match(old, new)
    assert [(keys(pair.old), keys(pair.new)) for pair in found.pairs] == [(["t4"], ["d4"]), (["t8"], ["d8"])]
    assert found.differences == {
        "machine": ("torus-M", "dragonfly-MM"),
        "routing": ("dimension-order", "minimal"),
    }


def test_another_problem_never_matches() -> None:
    found = match([case("a", grid="8x8x8")], [case("b", grid="9x9x9")])
    assert (found.pairs, found.differences) == ([], {})
    assert (keys(found.only_old), keys(found.only_new)) == (["a"], ["b"])


def test_seeds_and_sweeps_of_a_problem_belong_together() -> None:
    old = [case("a", seed=1, sweep="one"), case("b", seed=2, sweep="one"), case("a", seed=1, sweep="two")]
    new = [case("c", seed=3), case("d", seed=4)]
    (pair,) = match(old, new, across=("seed",)).pairs
    assert (keys(pair.old), keys(pair.new)) == (["a", "b"], ["c", "d"])
    assert match(old, new).pairs == [], "each seed is a case of its own"
