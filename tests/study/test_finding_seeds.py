"""Comparisons over several seeds: the worst of them decides."""

from __future__ import annotations

from typing import Any

import pytest

from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, judge
from tradewind.study.model.study import Finding

Times = dict[str, dict[int, list[float]]]
A, B = {"algorithm": "a-1"}, {"algorithm": "b-2"}


def verdict(times: Times, **test: Any) -> str:
    cases = [
        {"algorithm": algorithm, "ranks": ranks, "time_s": time, "seed": seed, "routing": "minimal"}
        for algorithm, curve in times.items()
        for ranks, seeds in curve.items()
        for seed, time in enumerate(seeds)
    ]
    found = judge(Finding(figure="1", claim="c", **test), cases)
    assert found.verdict in (CONFIRMED, CONTRADICTED), found.because
    return found.verdict


@pytest.mark.parametrize(("before", "after", "expected"), [([5, 6], [3, 4], CONFIRMED), ([5, 6], [3, 5], CONTRADICTED)])
def test_a_curve_falls_with_all_seeds(before: list[float], after: list[float], expected: str) -> None:
    assert verdict({"a-1": {10: before, 20: after}}, falls=A) == expected
    assert verdict({"a-1": {10: after, 20: before}}, rises=A) == expected


@pytest.mark.parametrize(("fall", "expected"), [([1.0, 1.2], CONFIRMED), ([0.9, 1.2], CONTRADICTED)])
def test_the_flatter_curve_falls_less_with_the_worst_seeds(fall: list[float], expected: str) -> None:
    """From 4 to `fall` by 4 / 1 at most, or 4 / 0.9; from 8..9 to 1.9 by 8 / 1.9 at least."""
    times: Times = {"a-1": {10: [4.0, 4.0], 20: fall}, "b-2": {10: [8.0, 9.0], 20: [1.5, 1.9]}}
    assert verdict(times, flatter=A, than=B) == expected


def test_a_jump_is_from_the_highest_seed_to_the_lowest() -> None:
    times: Times = {"a-1": {10: [1.0, 1.0], 20: [1.0, 2.0], 40: [4.0, 6.0], 80: [4.0, 6.0]}}
    jump: dict[str, Any] = {"jumps": A, "between": (20, 40)}
    assert verdict(times, **jump, factor=2) == CONFIRMED
    assert verdict(times, **jump, factor=2.1) == CONTRADICTED


def test_a_jump_must_end_within_its_limits() -> None:
    times: Times = {"a-1": {10: [1.0], 20: [1.1], 40: [1.2], 80: [9.0]}}
    assert verdict(times, jumps=A, between=(20, 80), factor=2) == CONFIRMED
    assert verdict(times, jumps=A, between=(40, 80), factor=2) == CONFIRMED
    assert verdict({"a-1": {10: [1.0], 20: [9.0], 40: [9.0], 80: [9.0]}}, jumps=A, between=(20, 80)) == CONTRADICTED
    assert verdict(times, jumps=A, between=(10, 40), factor=2) == CONTRADICTED, "from 40 to 80"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ([0.3, 0.4], [0.6, 0.7], CONFIRMED),
        ([0.3, 0.5], [0.6, 0.7], CONTRADICTED),
        ([0.3, 0.4], [0.5, 0.7], CONTRADICTED),
    ],
)
def test_a_curve_passes_a_level_with_all_seeds(first: list[float], last: list[float], expected: str) -> None:
    assert verdict({"a-1": {10: first, 20: last}}, passes=A, level=0.5, between=(10, 20)) == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ([4.0, 5.0], [0.5, 0.9], CONFIRMED),
        ([3.0, 5.0], [0.5, 0.9], CONTRADICTED),
        ([4.0, 5.0], [0.5, 1.0], CONTRADICTED),
    ],
)
def test_curves_cross_with_all_seeds(first: list[float], last: list[float], expected: str) -> None:
    times: Times = {"a-1": {10: first, 20: last}, "b-2": {10: [2.0, 3.0], 20: [1.0, 2.0]}}
    assert verdict(times, crosses=A, than=B, between=(10, 20)) == expected


def test_where_curves_cross_is_told_by_their_means() -> None:
    """Three seeds of one and two of the other: the means are 3 and 2.5, and then 3 and 4."""
    cases = [
        {"algorithm": name, "ranks": ranks, "time_s": time, "seed": seed, "routing": "minimal"}
        for name, curve in {"a-1": {10: [2, 3, 4], 20: [2, 3, 4]}, "b-2": {10: [2, 3], 20: [3, 5]}}.items()
        for ranks, seeds in curve.items()
        for seed, time in enumerate(seeds)
    ]
    finding = Finding(figure="1", claim="c", crosses=A, than=B, between=(10, 20))
    assert judge(finding, cases).figures[-1] == "they cross between 10 and 20 ranks"


def test_values_are_apart_by_their_nearest_seeds() -> None:
    """From 3, the highest of one, to 4, the lowest of the other."""
    times: Times = {"a-1": {10: [1.0, 3.0]}, "b-2": {10: [4.0, 10.0]}}
    assert verdict(times, apart="algorithm", factor=1.3) == CONFIRMED
    assert verdict(times, apart="algorithm", factor=1.4) == CONTRADICTED


def test_the_best_value_is_that_of_the_lowest_median() -> None:
    times: Times = {"a-1": {10: [1.0, 8.0, 9.0]}, "b-2": {10: [4.0, 5.0, 6.0]}}
    assert verdict(times, best="algorithm", within=(2, 2)) == CONFIRMED
    assert verdict(times, best="algorithm", within=(1, 1)) == CONTRADICTED


@pytest.mark.parametrize(("wanted", "expected"), [(9, CONFIRMED), (7, CONTRADICTED)])
def test_a_median_may_differ_by_a_part_of_itself(wanted: float, expected: str) -> None:
    times: Times = {"a-10": {ranks: [1.0] for ranks in range(5)}, "b-2": {ranks: [2.0] for ranks in range(5)}}
    assert verdict(times, best="algorithm", median=wanted, tolerance=0.2) == expected


@pytest.mark.parametrize(("value", "expected"), [(2.0, CONFIRMED), (2.5, CONTRADICTED)])
def test_a_ratio_is_near_with_the_worst_seeds(value: float, expected: str) -> None:
    """From 3 / 2 to 4 / 1.5: 0.75 to 1.33 of 2."""
    times: Times = {"a-1": {10: [3.0, 4.0]}, "b-2": {10: [1.5, 2.0]}}
    assert verdict(times, near=A, than=B, value=value, tolerance=0.34) == expected


def test_a_share_above_a_limit_is_one_less_the_share_below() -> None:
    """30 to 60 % lie below 3 us, and so 40 to 70 % above."""
    delay = {"edges_s": [0.0, 2e-6, 4e-6, 8e-6], "counts": [3.0, 3.0, 4.0]}
    case = {"algorithm": "a-1", "ranks": 10, "time_s": 1.0, "seed": 1, "routing": "minimal", "result": {"delay": delay}}
    for share, expected in (((0.4, 0.7), CONFIRMED), ((0.4, 0.69), CONTRADICTED), ((0.41, 0.7), CONTRADICTED)):
        finding = Finding(figure="1", claim="c", delays=A, above="3us", share=share)
        assert judge(finding, [case]).verdict == expected


@pytest.mark.parametrize(("longest", "expected"), [(3.9, CONFIRMED), (4.1, CONTRADICTED)])
def test_a_comparison_holds_for_all_orders_of_packets(longest: float, expected: str) -> None:
    cases = [
        {"algorithm": algorithm, "ranks": 10, "time_s": time, "seed": 1, "order": order, "routing": "minimal"}
        for algorithm, times in (("a-1", [3.0, longest]), ("b-2", [4.0, 5.0]))
        for order, time in zip(("seed=1", "seed=2"), times, strict=True)
    ]
    assert judge(Finding(figure="1", claim="c", better=A, than=B), cases).verdict == expected
    for case in cases:
        case["routing"] = "valiant"
    found = judge(Finding(figure="1", claim="c", better=A, than=B), cases)
    assert "depends on chance: 1 seeds, 5 are needed" in found.because
