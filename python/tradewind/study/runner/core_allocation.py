"""Allocation of the cores of this machine: simulations on all cores, or on one core each beside others."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tradewind.study.plan.planned import Planned
from tradewind.study.runner.task import LARGE_S
from tradewind.study.runner.workers import beginning

EFFICIENCY = 0.7
"""Parallel efficiency of a simulation on all cores. Measured: 0.95 where most packets move at once, 0.55 where few do,
as behind a congested link. Simulations side by side, on one core each, hardly slow each other down."""
MAX_LARGE = 64
"""Maximum number of cases for which running alone is tried."""
WORTH = 0.02
"""Share of the whole time that cores may be idle at the end without another order."""
DOUBT = 2.0
"""Factor by which the forecast of other cases may be too high: they keep the other cores busy for less."""


def alone_first(cases: Sequence[Planned], cores: int, memory_bytes: float) -> list[Planned]:
    """The cases that run one after another on all cores, before the others run side by side.

    Alone runs what the others would have to wait for: it takes longer than they do, or leaves them no memory.
    """
    longest = sorted(cases, key=lambda planned: -planned.cost_s)
    large = [(planned.cost_s, _memory(planned)) for planned in longest if planned.cost_s > LARGE_S]
    small_s = sum(planned.cost_s for planned in longest[len(large) :]) / cores

    def done_s(alone: int) -> float:
        together = sum(cost for cost, _ in large[:alone]) / (EFFICIENCY * cores)
        return together + side_by_side(large[alone:], cores, memory_bytes) + small_s

    ideal_s = sum(cost for cost, _ in large) / cores + small_s
    if cores == 1 or done_s(0) <= (1 + WORTH) * ideal_s:
        return []
    return longest[: min(range(min(MAX_LARGE, len(large)) + 1), key=done_s)]


def interleaved(studies: Sequence[Sequence[Planned]], cores: int) -> list[Planned]:
    """The cases of studies in the order in which they begin, side by side.

    Those of one study after another, so that the first is complete early, and of each the longest first. Before them
    all go those that would leave the other cores with nothing to do at the end.
    """
    order = [planned for cases in studies for planned in sorted(cases, key=lambda planned: -planned.cost_s)]
    whole_s = sum(planned.cost_s for planned in order) / cores
    first: list[Planned] = []
    rest: list[Planned] = []
    behind_s = 0.0
    """Seconds of work for the other cores when a case begins."""
    for planned in reversed(order):
        waiting_s = planned.cost_s - behind_s / DOUBT / (cores - 1) if cores > 1 else 0.0
        if waiting_s > WORTH * whole_s:
            first.append(planned)
        else:
            rest.append(planned)
            behind_s += planned.cost_s
    return sorted(first, key=lambda planned: -planned.cost_s) + rest[::-1]


def side_by_side(cases: Sequence[tuple[float, float]], cores: int, memory_bytes: float) -> float:
    """Return when the last of cases with these seconds and bytes is done."""
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
