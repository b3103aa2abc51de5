"""Ranks of the tests: compare clocks that are known to differ, and gather events."""

from __future__ import annotations

import time
from typing import Any

from tradewind.timeline import clock, measured


def compare(comm: Any, ahead_s: list[float]) -> list[tuple[float, float]]:
    """By rank (offset, error), where each rank's clock is so much ahead of one that all share."""
    mine = ahead_s[comm.rank]
    clocks = clock.compare(comm, lambda: time.perf_counter() + mine)
    assert comm.allgather(clocks) == [clocks] * comm.size
    return [(each.offset_s, each.error_s) for each in clocks]


def gather(comm: Any, ahead_s: list[float]) -> list[Any]:
    """Rank 0 packs for rank 1 while the shared clock goes from 100 to 101, rank 1 unpacks from 103 to 103.5."""
    mine = ahead_s[comm.rank]
    events: list[measured.Event] = [("pack", 2, 1, 80, 100 + mine, 101 + mine)]
    if comm.rank == 1:
        events = [("unpack", 2, 0, 80, 103 + mine, 103.5 + mine)]
    line = measured.gather(comm, events, "run", lambda: time.perf_counter() + mine)
    assert (line is None) == (comm.rank > 0)
    spans = [] if line is None else line.events()
    return [[track.rank, span.name, span.begin_ns, span.end_ns, span.starts, span.ends] for track, _, span in spans]
