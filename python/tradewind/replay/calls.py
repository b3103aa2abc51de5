"""From a trace to the calls that the core replays and checks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.replay.one_sided import accesses_of
from tradewind.replay.row import LABELS, Left
from tradewind.replay.rows import blocks_of, events_of_rows
from tradewind.trace.model import Trace, missing_ranks
from tradewind.trace.source_lines import SourceLines

DEFAULT_ALLREDUCE = "recursive-2"
"""Recursive doubling, as MPICH has it for short vectors."""


@dataclass
class Replayed:
    """The calls of a trace, which messages have to be buffered, and what is left out."""

    calls: _core.Calls
    eager_limit: int
    """Messages up to this number of bytes have to be buffered; 0: none, -1: the calls do not end whatever is."""
    cycle: list[tuple[int, int, bool, int, str, int]]
    """The ranks that wait for each other where nothing is buffered: see _core.Calls.buffering."""
    left: Left = field(default_factory=Left)
    at_once: bool = False
    """Non-blocking collective calls begin all their stages once a rank waits for something else."""
    cut_ranks: frozenset[int] = frozenset()
    """See `Trace.cut_ranks`."""

    @cached_property
    def unmatched(self) -> list[tuple[int, int, bool, int, int, int, int]]:
        """Sends and receives without another end, as _core.Calls.unmatched, of ranks that are there to their end."""
        if not self.cut_ranks:
            return self.calls.unmatched
        return [each for each in self.calls.unmatched if each[1] >= 0 and each[1] not in self.cut_ranks]

    @property
    def not_known(self) -> int:
        """Number of sends and receives whose other end would stand behind the last calls of a rank that is cut."""
        return len(self.calls.unmatched) - len(self.unmatched)


def fitting(allreduce: str, ranks: int) -> str:
    """Return an algorithm with a radix of at most the number of ranks, as for recursive-4 in a pair."""
    name, _, radix = allreduce.rpartition("-")
    return f"{name}-{min(int(radix), ranks)}" if radix.isdecimal() else allreduce


def calls_of(trace: Trace, scale: float = 1.0, allreduce: str = DEFAULT_ALLREDUCE) -> Replayed:
    """Return the calls of all ranks, with messages matched and collective calls as messages.

    Non-blocking collective calls go on to their next stage while a rank waits for them. If ranks then wait for each
    other, as where they wait for two of them in different order, all stages begin once a rank waits for something else:
    MPI brings them on in the background, so this is no hang.

    `scale`: of the time of computations; `allreduce`: the algorithm of MPI_Allreduce. Raises InputError for a trace
    that lacks ranks, and for what the core does not take.
    """
    for missing in missing_ranks(trace.size, trace.infos):
        raise InputError(f"{missing}; so the trace cannot be replayed")
    if not scale >= 0:
        raise InputError(f"computing scaled by {scale}: 0 or more is allowed")

    # Refuses an unknown name, also where nothing calls it.
    _core.make_schedule(_core.AllReduce(max(2, trace.size), 1), allreduce)

    @lru_cache(maxsize=256)
    def schedule(ranks: int, size: int) -> _core.Schedule:
        return _core.make_schedule(_core.AllReduce(ranks, max(1, size)), fitting(allreduce, ranks))

    def made(at_once: bool) -> Replayed:
        builder = _core.CallsOfTrace(trace.size, LABELS, schedule, at_once)
        for number, each in enumerate(trace.communicators):
            if each.is_whole:
                builder.add_communicator(number, each.members.tolist())
        left, accesses = Left(), accesses_of(trace)
        for rank in trace.ranks:
            builder.add(rank=rank, **blocks_of(trace.events(rank), trace.communicators, left, scale, accesses))
        calls = builder.finish()
        return Replayed(calls, *calls.buffering(), left, at_once, trace.cut_ranks)

    by_stages = made(False)
    if by_stages.eager_limit == 0:
        return by_stages
    at_once = made(True)
    return by_stages if at_once.eager_limit == by_stages.eager_limit else at_once


class NamedEvents:
    """The events of a trace as results name them: by number, function, and place in the program."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._lines = SourceLines()

    def of_row(self, rank: int, row: int) -> dict[str, Any]:
        """Return the event of which a row was made, as `of`."""
        trace = self._trace
        return self.of(rank, int(events_of_rows(trace.events(rank), trace.communicators, accesses_of(trace))[row]))

    def of(self, rank: int, number: int) -> dict[str, Any]:
        """Return an event: `event`, `call` and `place`, of the fields of source_lines.Place, or None."""
        events = self._trace.events(rank)
        operation = int(events.order[number])
        place = self._lines.of(events, operation)
        return {
            "event": events.first + number,
            "call": events.call(operation).name,
            "place": None if place is None else asdict(place),
        }
