"""Which simulations take all cores of this machine, and which one core each beside others."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tradewind.study.plan import Planned
from tradewind.study.task import LARGE_S

EFFICIENCY = 0.7
"""What of each core a simulation on all of them makes use of. Measured: 0.95 where most packets move at once, and 0.55
where few do, as behind a congested link; side by side, on a core each, simulations hardly hinder each other."""
MOST = 64
"""Of so many cases at most is it tried whether they are better alone."""


def in_turn(cases: Sequence[Planned], cores: int, memory_bytes: float) -> tuple[list[Planned], list[Planned]]:
    """The cases that run one after another on all cores; and the others, side by side, the longest first.

    Alone runs what leaves too little memory for one of its size, and what is so long that the others would be done
    before it.
    """
    longest = sorted(cases, key=lambda planned: -planned.cost_s)
    alone: list[Planned] = []
    company: list[Planned] = []
    for planned in longest:
        fills = planned.cost_s > LARGE_S and 2 * _memory(planned) > memory_bytes
        (alone if fills else company).append(planned)
    costs = [planned.cost_s for planned in company]
    count = min(MOST, sum(cost > LARGE_S for cost in costs))
    best = min(range(count + 1), key=lambda n: sum(costs[:n]) / (EFFICIENCY * cores) + side_by_side(costs[n:], cores))
    return alone + company[:best], company[best:]


def side_by_side(costs: Sequence[float], cores: int) -> float:
    """When the last one is done, where the next one begins on the core that is free first."""
    busy = [0.0] * cores
    for cost in costs:
        heapq.heapreplace(busy, busy[0] + cost)
    return max(busy)


def _memory(planned: Planned) -> float:
    return float(planned.forecast["memory_bytes"]) if planned.forecast else 0.0
