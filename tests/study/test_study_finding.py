from __future__ import annotations

from typing import Any

import pytest

from tradewind.study.finding import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED, judge
from tradewind.study.model import Finding

TIMES = {
    "ring-1": {100: 10.0, 1000: 2.0, 10000: 0.5},
    "ring-4": {100: 9.8, 1000: 1.9, 10000: 0.5},
    "bruck": {100: 30.0, 1000: 4.0, 10000: 0.4},
}


def records(**changes: Any) -> list[dict[str, Any]]:
    return [
        {"sweep": "s", "algorithm": algorithm, "ranks": ranks, "time_s": time, "seed": 1, "routing": "minimal"}
        | changes
        for algorithm, times in TIMES.items()
        for ranks, time in times.items()
    ]


def verdict(cases: list[dict[str, Any]] | None = None, **test: Any) -> tuple[str, str]:
    result = judge(Finding(figure="1", claim="so", **test), records() if cases is None else cases)
    return result.verdict, result.because


RING_1, RING_4, BRUCK = {"algorithm": "ring-1"}, {"algorithm": "ring-4"}, {"algorithm": "bruck"}


def test_better() -> None:
    assert verdict(better=RING_1, than=BRUCK, ranks=[100, 1000])[0] == REPRODUCED
    answer, because = verdict(better=RING_1, than=BRUCK)
    assert answer == NOT_REPRODUCED
    assert because == "at 10000 ranks ring-1 (500 ms) is not below bruck (400 ms)"
    assert verdict(better=RING_1, than=BRUCK, ranks=100, factor=2.9)[0] == REPRODUCED
    assert verdict(better=RING_1, than=BRUCK, ranks=100, factor=3)[0] == NOT_REPRODUCED
    assert verdict(better={"algorithm": ["bruck", "ring-4"]}, than=RING_1, ranks=[100, 1000, 10000])[0] == REPRODUCED


def test_same() -> None:
    assert verdict(same=[RING_1, RING_4])[0] == REPRODUCED
    answer, because = verdict(same=[RING_1, RING_4], tolerance=0.03)
    assert answer == NOT_REPRODUCED
    assert "differ by 5 %" in because
    assert verdict(same=[RING_1, RING_4, BRUCK])[0] == NOT_REPRODUCED


def test_slopes() -> None:
    assert verdict(falls=RING_1)[0] == REPRODUCED
    assert verdict(rises=RING_1)[0] == NOT_REPRODUCED
    flat = [record | {"time_s": 1.0} for record in records()]
    assert verdict(flat, falls=RING_1)[0] == NOT_REPRODUCED
    assert verdict(flat, rises=RING_1)[0] == NOT_REPRODUCED
    assert verdict(flatter=RING_1, than=BRUCK)[0] == REPRODUCED
    assert verdict(flatter=BRUCK, than=RING_1)[0] == NOT_REPRODUCED
    assert verdict(falls=RING_1, ranks=100)[0] == NOT_TESTABLE


def test_apart() -> None:
    assert verdict(apart="algorithm", factor=3)[0] == REPRODUCED
    answer, because = verdict(apart="algorithm", factor=5)
    assert answer == NOT_REPRODUCED
    assert because == "the widest gap is 3.06 times, at 100 ranks"
    assert verdict(where=RING_1, apart="algorithm")[0] == NOT_TESTABLE


def test_not_testable() -> None:
    assert verdict(untestable="no such machine") == (NOT_TESTABLE, "no such machine")
    assert verdict(falls={"algorithm": "burst"}) == (NOT_TESTABLE, "no case of burst")
    assert verdict(falls=RING_1, ranks=[100, 20000]) == (NOT_TESTABLE, "no case of ring-1 at 20000 ranks")
    assert verdict([record | {"time_s": None} for record in records()], falls=RING_1)[0] == NOT_TESTABLE


@pytest.mark.parametrize("chance", [{"routing": "valiant"}, {"placement": "random"}])
def test_chance_needs_five_seeds_and_a_gap_beyond_their_spread(chance: dict[str, str]) -> None:
    answer, because = verdict(records(**chance), better=RING_1, than=BRUCK, ranks=100)
    assert answer == NOT_TESTABLE
    assert "1 seeds, 5 are needed" in because
    seeds = [record | {"seed": seed} for seed in range(5) for record in records(**chance)]
    assert verdict(seeds, better=RING_1, than=BRUCK, ranks=100)[0] == REPRODUCED
    seeds[0] = seeds[0] | {"time_s": 31.0}  # one seed of ring-1 on 100 ranks is slower than bruck
    assert verdict(seeds, better=RING_1, than=BRUCK, ranks=100)[0] == NOT_REPRODUCED
