"""Time line of a benchmark: a few further exchanges, with recording."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tradewind.timeline import gather
from tradewind.workload.exchange import Exchange

if TYPE_CHECKING:
    from tradewind.mpi.library import MPI, Plan
    from tradewind.timeline.measured import Event
    from tradewind.timeline.model import TimeLine

EXCHANGES = 3


def time_line(
    comm: MPI.Intracomm, exchange: Exchange, plans: Mapping[str, Plan], warmup: int, title: str
) -> TimeLine | None:
    """The time line of some exchanges, on rank 0; None on the others. Collective.

    `plans`: of each step by its name, made to record events.
    """
    events: list[Event] = []
    for _ in range(warmup):
        _exchange(exchange, plans)
    comm.Barrier()
    for _ in range(EXCHANGES):
        events += _exchange(exchange, plans)
    return gather(comm, events, title)


def _exchange(exchange: Exchange, plans: Mapping[str, Plan]) -> list[Event]:
    """Steps, each before what its plan does in it."""
    events: list[Event] = []
    for step in exchange.steps():
        plan = plans[step.name]
        for _ in range(step.repeat):
            plan.clear()
            begin = time.perf_counter()
            plan()
            events.append((step.name, -1, -1, 0, begin, time.perf_counter()))
            events += plan.events
    return events
