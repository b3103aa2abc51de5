"""Who runs alone on all cores, who beside others, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tradewind.study.runner.core_allocation import alone_first, interleaved, side_by_side

MEMORY = 16e9


@dataclass(frozen=True)
class Fake:
    """A case with what it takes."""

    cost_s: float
    memory_bytes: float = 1e9

    @property
    def forecast(self) -> dict[str, float]:
        return {"memory_bytes": self.memory_bytes}


def alone(costs: list[Any], cores: int = 2) -> list[float]:
    cases = [cost if isinstance(cost, Fake) else Fake(cost) for cost in costs]
    return [case.cost_s for case in alone_first(cases, cores, MEMORY)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("costs", "cores", "expected"),
    [
        ([], 2, []),
        ([1.0], 2, []),  # not worth the threads
        ([100.0], 2, [100.0]),
        ([100.0], 1, []),  # there is nothing to share
        ([100.0, 100.0], 2, []),
        ([50.0, 100.0, 50.0], 2, []),
        ([3.0, 1000.0, 4.0, 5.0], 2, [1000.0]),
        ([100.0] * 3, 2, [100.0]),
        ([100.0] * 9, 2, [100.0]),
        ([100.0] * 5, 4, [100.0]),
        ([100.0, 99.0, 1.0, 1.0], 4, [100.0, 99.0]),
    ],
)
def test_all_are_done_soonest(costs: list[float], cores: int, expected: list[float]) -> None:
    assert alone(costs, cores) == expected


def test_what_leaves_no_memory_for_company_runs_alone() -> None:
    assert alone([Fake(100.0, 9e9), Fake(50.0, 7e9), Fake(49.0, 7e9)]) == [100.0]
    assert alone([Fake(100.0, 9e9), 50.0, 50.0, Fake(0.5, 9e9)]) == []
    assert alone([Fake(100.0, 7.9e9)] * 4) == [100.0] * 4  # with a worker's own memory no two of them fit
    assert alone([Fake(600.0, 5e9)] * 16, 16) == [600.0] * 16


def test_when_the_last_one_is_done() -> None:
    assert side_by_side([], 2, MEMORY) == 0
    assert side_by_side([(5.0, 1e9), (4.0, 1e9), (3.0, 1e9), (3.0, 1e9)], 2, MEMORY) == 8.0  # 5 + 3, 4 + 3
    assert side_by_side([(6.0, 1e9), (1.0, 1e9), (1.0, 1e9), (1.0, 1e9)], 3, MEMORY) == 6.0
    assert side_by_side([(6.0, 9e9), (5.0, 9e9), (4.0, 1e9)], 2, MEMORY) == 11.0  # 6 beside 4, then 5
    assert side_by_side([(6.0, 99e9), (5.0, 1e9)], 2, MEMORY) == 11.0  # too large for any company


@pytest.mark.parametrize(
    ("studies", "cores", "expected"),
    [
        ([], 2, []),
        ([[]], 2, []),
        ([[1.0, 3.0, 2.0]], 2, [3.0, 2.0, 1.0]),  # one study: the longest first
        ([[1.0, 3.0], [2.0, 4.0], [9.0, 5.0]], 1, [3.0, 1.0, 4.0, 2.0, 9.0, 5.0]),  # one core: as they come
        ([[30.0, 40.0], [50.0, 60.0]], 2, [60.0, 50.0, 40.0, 30.0]),  # any at the end leaves a core idle
        ([[30.0, 40.0] * 8, [25.0], [6.0] * 10], 2, [40.0] * 8 + [30.0] * 8 + [25.0] + [6.0] * 10),
        ([[30.0, 40.0] * 8, [6.0] * 10, [25.0]], 2, [25.0] + [40.0] * 8 + [30.0] * 8 + [6.0] * 10),
        ([[10.0] * 9, [100.0]], 2, [100.0] + [10.0] * 9),
        ([[10.0] * 50, [100.0], [1.0] * 240], 2, [10.0] * 50 + [100.0] + [1.0] * 240),  # enough is behind it
        ([[10.0] * 50, [100.0], [1.0] * 120], 2, [100.0] + [10.0] * 50 + [1.0] * 120),  # not if it takes but half of it
        ([[10.0] * 50, [100.0], [1.0] * 240], 4, [100.0] + [10.0] * 50 + [1.0] * 240),  # not for three other cores
    ],
)
def test_one_study_after_another_and_no_core_idle_at_the_end(
    studies: list[list[float]], cores: int, expected: list[float]
) -> None:
    cases = [[Fake(cost) for cost in study] for study in studies]
    order = interleaved(cases, cores)  # type: ignore[arg-type]
    assert [case.cost_s for case in order] == expected
