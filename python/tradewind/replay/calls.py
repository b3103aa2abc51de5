"""From a trace to the calls that the core replays and checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.replay.rows import LABELS, Left, rows_of
from tradewind.trace.model import Trace

DEFAULT_ALLREDUCE = "recursive-2"
"""Recursive doubling, as MPICH has it for short vectors."""


@dataclass
class Replayed:
    """The calls of a trace, and what they leave out."""

    calls: _core.Calls
    left: Left = field(default_factory=Left)


def calls_of(trace: Trace, scale: float = 1.0, allreduce: str = DEFAULT_ALLREDUCE) -> Replayed:
    """Return the calls of all ranks, with messages matched and collective calls as messages.

    `scale`: of the time of computations; `allreduce`: the algorithm of MPI_Allreduce. Raises InputError for a trace
    that lacks ranks, and for what the core does not take.
    """
    if missing := sorted({*range(trace.size)} - {*trace.ranks}):
        some = ", ".join(str(rank) for rank in missing[:5]) + (", ..." if len(missing) > 5 else "")
        here = f"{len(trace.ranks)} of {trace.size} ranks"
        raise InputError(f"the trace has {here}: {some} are missing, so it cannot be replayed")
    if not scale >= 0:
        raise InputError(f"computing scaled by {scale}: 0 or more is allowed")

    _core.make_schedule(_core.AllReduce(2, 1), allreduce)  # refuses what is none, also where it is not called

    @lru_cache(maxsize=256)
    def schedule(ranks: int, size: int) -> _core.Schedule:
        return _core.make_schedule(_core.AllReduce(ranks, max(1, size)), allreduce)

    builder = _core.CallsOfTrace(trace.size, LABELS, schedule)
    for number, each in enumerate(trace.communicators):
        builder.add_communicator(number, each.members.tolist())
    replayed = Left()
    for rank in trace.ranks:
        columns = rows_of(trace.events(rank), trace.communicators, replayed, scale)
        builder.add(rank=rank, **columns)
    return Replayed(builder.finish(), replayed)
