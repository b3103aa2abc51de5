"""Messages of traces, schedules and programs: sender, receiver and bytes of each, and how often it is sent."""

from __future__ import annotations

from collections import Counter

from tradewind import _core
from tradewind.trace.model import Trace
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.steps import WholeExchange

Messages = Counter[tuple[int, int, int]]


def sent(trace: Trace) -> Messages:
    """Sender, receiver and bytes of all messages of a trace."""
    found: Messages = Counter()
    for rank in trace.ranks:
        events = trace.events(rank)
        for peer, size in zip(events.column("peer").tolist(), events.column("bytes").tolist(), strict=True):
            if peer >= 0:
                found[rank, peer, size] += 1
    return found


def of_schedule(schedule: _core.Schedule, size: int, times: int = 1) -> Messages:
    found: Messages = Counter()
    for rank in range(schedule.ranks):
        for stage in range(schedule.stages):
            for message in schedule.sends(rank, stage):
                if message.count:
                    found[rank, message.peer, message.count * size] += times
    return found


def of_program(program: ProgramWorkload) -> Messages:
    """Those of a program of one group."""
    found: Messages = Counter()
    for step in program.ordered_steps():
        if isinstance(step, WholeExchange):
            times = step.repeat * (program.groups[0].repeat if program.groups else 1)
            found += of_schedule(step.exchange.core, step.exchange.bytes_per_point, times)
    return found
