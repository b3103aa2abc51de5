"""Exchanges as a program with MPI calls would make them: their traces."""

from __future__ import annotations

from tradewind import _core
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import NONE, Trace


def trace_of(schedule: _core.Schedule, bytes_per_point: int, times: int = 1) -> Trace:
    """Each stage posts its receives, then its sends, and waits for all."""
    builder = TraceBuilder(schedule.ranks)
    for _ in range(times):
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
    return builder.trace()
