"""Which simulations take all cores of this machine, and which one core each beside others."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tradewind.study.plan import Planned
from tradewind.study.task import LARGE_S
from tradewind.study.workers import beginning

EFFICIENCY = 0.7
"""What of each core a simulation on all of them makes use of. Measured: 0.95 where most packets move at once, and 0.55
where few do, as behind a congested link; side by side, on a core each, simulations hardly hinder each other."""
MOST = 64
"""Of so many cases at most is it tried whether they are better alone."""


def alone_first(cases: Sequence[Planned], cores: int, memory_bytes: float) -> tuple[list[Planned], list[Planned]]:
    """The cases that run one after another on all cores; and the others, side by side, the longest first.

    Alone runs what the others would have to wait for: it takes longer than they do, or leaves them no memory.
    """
    longest = sorted(cases, key=lambda planned: -planned.cost_s)
    large = [(planned.cost_s, _memory(planned)) for planned in longest if planned.cost_s > LARGE_S]
    small_s = sum(planned.cost_s for planned in longest[len(large) :]) / cores

    def done_s(alone: int) -> float:
        together = sum(cost for cost, _ in large[:alone]) / (EFFICIENCY * cores)
        return together + side_by_side(large[alone:], cores, memory_bytes) + small_s

    best = min(range(min(MOST, len(large)) + 1), key=done_s) if cores > 1 else 0
    return longest[:best], longest[best:]


def side_by_side(cases: Sequence[tuple[float, float]], cores: int, memory_bytes: float) -> float:
    """When the last of cases with so many seconds and bytes is done."""
    waiting = list(cases)
    running: list[tuple[float, float]] = []  # when each is done, and its bytes
    now = 0.0
    while waiting or running:
        needs, taken = ([memory for _, memory in some] for some in (waiting, running))
        for i in reversed(beginning(needs, taken, cores, memory_bytes)):
            cost_s, memory = waiting.pop(i)
            heapq.heappush(running, (now + cost_s, memory))
        now, _ = heapq.heappop(running)
    return now


def _memory(planned: Planned) -> float:
    return float(planned.forecast["memory_bytes"]) if planned.forecast else 0.0
