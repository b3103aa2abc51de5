"""Who runs alone on all cores, and who beside others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tradewind.study.shares import in_turn, side_by_side

MEMORY = 16e9


@dataclass(frozen=True)
class Fake:
    """A case with what it takes."""

    cost_s: float
    memory_bytes: float = 1e9

    @property
    def forecast(self) -> dict[str, float]:
        return {"memory_bytes": self.memory_bytes}


def alone(costs: list[Any], cores: int = 2) -> tuple[list[float], list[float]]:
    cases = [cost if isinstance(cost, Fake) else Fake(cost) for cost in costs]
    turns = in_turn(cases, cores, MEMORY)  # type: ignore[arg-type]
    return [case.cost_s for case in turns[0]], [case.cost_s for case in turns[1]]


@pytest.mark.parametrize(
    ("costs", "cores", "expected"),
    [
        ([], 2, ([], [])),
        ([1.0], 2, ([], [1.0])),  # not worth the threads
        ([100.0], 2, ([100.0], [])),
        ([100.0], 1, ([], [100.0])),  # there is nothing to share
        ([100.0, 100.0], 2, ([], [100.0, 100.0])),
        ([50.0, 100.0, 50.0], 2, ([], [100.0, 50.0, 50.0])),
        ([3.0, 1000.0, 4.0, 5.0], 2, ([1000.0], [5.0, 4.0, 3.0])),
        ([100.0] * 3, 2, ([100.0], [100.0, 100.0])),
        ([100.0] * 9, 2, ([100.0], [100.0] * 8)),
        ([100.0] * 5, 4, ([100.0], [100.0] * 4)),
        ([100.0, 99.0, 1.0, 1.0], 4, ([100.0, 99.0], [1.0, 1.0])),
    ],
)
def test_all_are_done_soonest(costs: list[float], cores: int, expected: tuple[list[float], list[float]]) -> None:
    assert alone(costs, cores) == expected


def test_one_that_leaves_no_memory_for_company_runs_alone() -> None:
    large, small = Fake(100.0, 9e9), Fake(0.5, 9e9)
    assert alone([large, 100.0, 100.0, small]) == ([100.0], [100.0, 100.0, 0.5])


def test_when_the_last_one_is_done() -> None:
    assert side_by_side([], 2) == 0
    assert side_by_side([5.0, 4.0, 3.0, 3.0], 2) == 8.0  # 5 + 3, 4 + 3
    assert side_by_side([6.0, 1.0, 1.0, 1.0], 3) == 6.0
