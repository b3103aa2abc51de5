"""Loops on one core that take turns, so that what disturbs the machine disturbs all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def seconds(
    loops: Mapping[str, Callable[[], object]], samples: int, fewer: Mapping[str, int] | None = None
) -> dict[str, list[float]]:
    """Return samples of the CPU time of this thread in each loop. `fewer`: of slow ones, by name.

    CPU time, as a busy machine takes the core away now and then. Each loop runs once before: that touches memory, and
    may compile.
    """
    taken: dict[str, list[float]] = {name: [] for name in loops}
    for sample in range(samples + 1):
        for name, loop in loops.items():
            if sample <= (fewer or {}).get(name, samples):
                begin = time.thread_time()
                loop()
                if sample:
                    taken[name].append(time.thread_time() - begin)
    return taken
