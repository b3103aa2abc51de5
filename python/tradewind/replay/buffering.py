"""Whether a recorded program needs messages that MPI buffers, and would hang where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.replay.calls import NamedEvents, calls_of
from tradewind.replay.wildcards import wildcards
from tradewind.trace.model import NONE, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN = 20
"""Unmatched messages, requests that are never waited for, and ranks that are cut, that a result names."""


def verify_trace(trace: Trace) -> dict[str, Any]:
    """Return whether the recorded calls end if no message is buffered, and which messages have no other end.

    Of ranks that are cut (see `Trace.cut_ranks`) this holds as far as they were recorded. A call is recorded when it
    returns, so those in which ranks hang stand behind their last ones.

    Calls of a rank with several threads are taken in the one order in which they ended, each begun where it did; what
    threads wait for of each other is not recorded. So they may need no buffers where this order does.

    - ``threaded_ranks``: number of ranks that call in several threads;
    - ``problems``: `Trace.problems`; ``cut_ranks``, and ``cut``: the first of them: ``rank``, ``ending`` (that of
      `RankInfo`), and its last call: ``event``, ``call``, ``place``, None where it has none;
    - ``eager_limit``: the calls end where messages of up to this number of bytes are buffered (1 also for those without
      any); 0: where none is, so the program is safe (MPI 4.1, 3.5); None: they do not end at all;
    - ``cycle``: where nothing is buffered, the ranks of a cyclic dependency (or of a chain to one that has ended):
      ``rank``, ``call`` (the function), ``event`` (its number on that rank), ``place`` (where it stands in the program:
      ``function``, ``file``, ``line``, ``object`` and ``offset`` of `tradewind.trace.source_lines`; or None), ``peer``,
      ``sends``, ``bytes``;
    - ``unmatched``: the first sends and receives without another end, as the cycle, and ``unmatched_messages``, all;
      ``unknown_messages``: those whose other end would stand behind the last calls of a rank that is cut;
    - ``order``: where the collective calls of a communicator differ: ``communicator``, ``ranks``, ``number`` of the
      first one that does, and the two ``calls`` (or "none"), their ``events`` and ``places``; one at most for each
      communicator;
    - ``never_awaited``: the first calls whose request is neither waited for nor freed before MPI_Finalize: ``rank``,
      ``event``, ``call``, ``place``; and ``requests_never_awaited``, all;
    - ``wildcards``: whether the calls end whichever message each receive from any source takes, see
      `tradewind.replay.wildcards`; None where they do not end anyway, and where a rank is cut, as messages that it
      would send are missing;
    - ``not_replayed``: calls that are left out.

    All but ``wildcards`` is of the matching that happened. Raises InputError for a trace that cannot be replayed.
    """
    named = NamedEvents(trace)
    order = collective_order(trace, named)
    result: dict[str, Any] = {"ranks": trace.size, "events": len(trace), "problems": list(trace.problems)}
    result["threaded_ranks"] = sum(bool(trace.events(rank).operations["thread"].any()) for rank in trace.ranks)
    result |= {"cut_ranks": len(trace.cut_ranks), "cut": _cut(trace, named), "order": order}
    if order:  # then ranks wait for different calls, and there are no messages to match
        lists: dict[str, list[Any]] = {name: [] for name in ("cycle", "unmatched", "never_awaited")}
        counts = dict.fromkeys(("unmatched_messages", "unknown_messages", "requests_never_awaited"), 0)
        return result | lists | counts | {"eager_limit": None, "wildcards": None, "not_replayed": {}}
    replayed = calls_of(trace)
    unmatched = replayed.unmatched
    finalized = {rank for rank, info in trace.infos.items() if info.ending == "finalized"}
    open_requests = [each for each in replayed.calls.never_awaited if each[0] in finalized]
    return result | {
        "messages": replayed.calls.messages,
        "bytes": replayed.calls.bytes,
        "eager_limit": None if replayed.eager_limit < 0 else replayed.eager_limit,
        "cycle": [_waiting(named, *each) for each in replayed.cycle],
        "unmatched": [
            {"rank": rank, "peer": peer, "sends": sends, "tag": tag, "bytes": size, **named.of_row(rank, row)}
            for rank, peer, sends, _, tag, size, row in unmatched[:SHOWN]
        ],
        "unmatched_messages": len(unmatched),
        "unknown_messages": replayed.not_known,
        "never_awaited": [{"rank": rank, **named.of_row(rank, row)} for rank, row in open_requests[:SHOWN]],
        "requests_never_awaited": len(open_requests),
        "wildcards": wildcards(named, replayed) if replayed.eager_limit >= 0 and not trace.cut_ranks else None,
        "not_replayed": dict(replayed.left.calls),
    }


def _cut(trace: Trace, named: NamedEvents) -> list[dict[str, Any]]:
    """Return the first ranks that are cut, with their last calls."""
    found = []
    for rank in sorted(trace.cut_ranks)[:SHOWN]:
        events = len(trace.events(rank))
        last = named.of(rank, events - 1) if events else dict.fromkeys(("event", "call", "place"))
        found.append({"rank": rank, "ending": trace.infos[rank].ending, **last})
    return found


def _waiting(named: NamedEvents, rank: int, peer: int, sends: bool, size: int, label: str, row: int) -> dict[str, Any]:
    return {"rank": rank, "peer": peer, "sends": sends, "bytes": size, **named.of_row(rank, row), "call": label}


def collective_order(trace: Trace, named: NamedEvents) -> list[dict[str, Any]]:
    """Return the first collective call of each communicator that is not the same on all of its ranks.

    A rank that is cut may have fewer than others.
    """
    from tradewind.trace.calls import CALLS, COLLECTIVES, Kind

    bases = np.array([COLLECTIVES.index(call.base) + 1 if call.kind is Kind.COLLECTIVE else 0 for call in CALLS])
    sequences: dict[int, dict[int, NDArray[np.int64]]] = {}
    for rank in trace.ranks:
        events = trace.events(rank)
        communicators = np.where(bases[events.operations["call"]] != 0, events.operations["communicator"], NONE)
        keys = communicators[events.order]
        for number in np.unique(keys[keys != NONE]).tolist():
            sequences.setdefault(number, {})[rank] = np.flatnonzero(keys == number)

    def called(rank: int, numbers: NDArray[np.int64]) -> Any:
        events = trace.events(rank)
        return bases[events.operations["call"][events.order[numbers]]]

    found = []
    nothing = np.zeros(0, np.int64)
    for communicator, by_rank in sorted(sequences.items()):
        if trace.communicators[communicator].remote is not None:
            continue
        members = [int(rank) for rank in trace.communicators[communicator].members if int(rank) in trace.infos]
        first = max(members, key=lambda rank: len(by_rank.get(rank, nothing)))
        mine = by_rank.get(first, nothing)
        for other in members:
            theirs = by_rank.get(other, nothing)
            both = min(len(mine), len(theirs))
            differs = np.flatnonzero(called(first, mine[:both]) != called(other, theirs[:both]))
            if not len(differs) and (len(mine) == len(theirs) or other in trace.cut_ranks):
                continue
            number = int(differs[0]) if len(differs) else both
            calls = [
                named.of(rank, int(each[number])) if number < len(each) else _NO_CALL
                for rank, each in ((first, mine), (other, theirs))
            ]
            row = {"communicator": communicator, "ranks": [first, other], "number": number}
            found.append(row | {name: [call[key] for call in calls] for name, key in _OF_CALLS.items()})
            break
    return found


_NO_CALL = {"event": None, "call": "none", "place": None}
_OF_CALLS = {"calls": "call", "events": "event", "places": "place"}
"""Keys of a result, and of a named event that they have of the two calls that differ."""
