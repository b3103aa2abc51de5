"""Exchanges as a program with MPI calls would make them: their traces."""

from __future__ import annotations

from tradewind import _core
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import NONE, Trace
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.steps import WholeExchange


def trace_of(schedule: _core.Schedule, bytes_per_point: int, times: int = 1) -> Trace:
    """Each stage posts its receives, then its sends, and waits for all."""
    builder = TraceBuilder(schedule.ranks)
    for _ in range(times):
        add_exchange(builder, schedule, bytes_per_point)
    return builder.trace()


def add_exchange(builder: TraceBuilder, schedule: _core.Schedule, bytes_per_point: int) -> None:
    """Add the calls of an exchange."""
    for stage in range(schedule.stages):
        for rank in range(schedule.ranks):
            calls = builder.rank(rank)
            ended = []
            for message in schedule.receives(rank, stage):
                if message.count:
                    size, slot = message.count * bytes_per_point, len(ended)
                    calls.call("MPI_Irecv", source=message.peer, source_tag=stage, received=size, request=slot)
                    ended.append((slot, message.peer, stage, size))
            for message in schedule.sends(rank, stage):
                if message.count:
                    size, slot = message.count * bytes_per_point, len(ended)
                    calls.call("MPI_Isend", peer=message.peer, tag=stage, bytes=size, request=slot)
                    ended.append((slot, NONE, NONE, 0))
            calls.call("MPI_Waitall", asked=[slot for slot, *_ in ended], ended=ended)


def trace_of_program(program: ProgramWorkload, times: int) -> Trace:
    """The exchanges of the steps of a program, all on MPI_COMM_WORLD."""
    builder = TraceBuilder(program.ranks)
    for _ in range(times):
        for step in program.ordered_steps():
            if isinstance(step, WholeExchange):
                for _ in range(step.repeat):
                    add_exchange(builder, step.exchange.core, step.exchange.bytes_per_point)
    return builder.trace()
