"""Whether a recorded program needs messages that MPI buffers, and would hang where it does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from tradewind.replay.calls import calls_of
from tradewind.replay.rows import events_of_rows
from tradewind.trace.model import Trace

SHOWN = 20
"""Unmatched messages that a result names."""


def verify_trace(trace: Trace) -> dict[str, Any]:
    """Return whether the recorded calls end if no message is buffered, and which messages have no other end.

    - ``eager_limit``: the calls end where messages of up to this number of bytes are buffered (1 also for those without
      any); 0: where none is, so the program is safe (MPI 4.1, 3.5); None: they do not end at all;
    - ``cycle``: where nothing is buffered, the ranks of a cyclic dependency (or of a chain to one that has ended):
      ``rank``, ``call`` (the function), ``event`` (its number on that rank), ``peer``, ``sends``, ``bytes``;
    - ``unmatched``: the first sends and receives without another end, as the cycle, and ``unmatched_messages``, all;
    - ``order``: where the collective calls of a communicator differ: ``communicator``, ``ranks``, ``number`` of the
      first one that does, and the ``calls``; one at most for each communicator;
    - ``not_replayed``: calls that are left out.

    Wildcard receives are those that happened: another order of messages may hang where this one does not. Raises
    InputError for a trace that cannot be replayed.
    """
    order = collective_order(trace)
    result: dict[str, Any] = {"ranks": trace.size, "events": len(trace), "order": order}
    if order:  # then ranks wait for different calls, and there are no messages to match
        return result | {"eager_limit": None, "cycle": [], "unmatched": [], "unmatched_messages": 0, "not_replayed": {}}
    replayed = calls_of(trace)
    unmatched = replayed.calls.unmatched
    return result | {
        "messages": replayed.calls.messages,
        "bytes": replayed.calls.bytes,
        "eager_limit": None if replayed.eager_limit < 0 else replayed.eager_limit,
        "cycle": [_waiting(trace, *each) for each in replayed.cycle],
        "unmatched": [
            {"rank": rank, "peer": peer, "sends": sends, "tag": tag, "bytes": size, **_event(trace, rank, row)}
            for rank, peer, sends, _, tag, size, row in unmatched[:SHOWN]
        ],
        "unmatched_messages": len(unmatched),
        "not_replayed": dict(replayed.left.calls),
    }


def _waiting(trace: Trace, rank: int, peer: int, sends: bool, size: int, label: str, row: int) -> dict[str, Any]:
    return {"rank": rank, "peer": peer, "sends": sends, "bytes": size, **_event(trace, rank, row), "call": label}


def _event(trace: Trace, rank: int, row: int) -> dict[str, Any]:
    events = trace.events(rank)
    number = int(events_of_rows(events, trace.communicators)[row])
    return {"event": events.first + number, "call": events.call(int(events.order[number])).name}


def collective_order(trace: Trace) -> list[dict[str, Any]]:
    """Return the first collective call of each communicator that is not the same on all of its ranks."""
    from tradewind.trace.calls import CALLS, COLLECTIVES, Kind

    bases = np.array([COLLECTIVES.index(call.base) + 1 if call.kind is Kind.COLLECTIVE else 0 for call in CALLS])
    found = []
    sequences: dict[int, dict[int, Any]] = {}
    for rank in trace.ranks:
        events = trace.events(rank)
        calls, places = events.operations["call"], events.operations["communicator"]
        keys = np.where(bases[calls] != 0, places, -1)[events.order]
        for place in np.unique(keys[keys >= 0]):
            sequences.setdefault(int(place), {})[rank] = calls[events.order][keys == place]
    for place, by_rank in sorted(sequences.items()):
        if trace.communicators[place].remote is not None:
            continue
        members = [int(rank) for rank in trace.communicators[place].members if int(rank) in trace.infos]
        first, *others = members
        mine = by_rank.get(first, np.zeros(0, int))
        for other in others:
            theirs = by_rank.get(other, np.zeros(0, int))
            both = min(len(mine), len(theirs))
            differs = np.flatnonzero(bases[mine[:both]] != bases[theirs[:both]])
            if not len(differs) and len(mine) == len(theirs):
                continue
            number = int(differs[0]) if len(differs) else both
            names = [CALLS[int(each[number])].name if number < len(each) else "none" for each in (mine, theirs)]
            found.append({"communicator": place, "ranks": [first, other], "number": number, "calls": names})
            break
    return found
