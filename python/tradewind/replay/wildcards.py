"""Receives from any source: whether a recorded program ends whichever message each of them takes."""

from __future__ import annotations

from typing import Any

from tradewind import _core
from tradewind.replay.calls import NamedEvents, Replayed
from tradewind.trace.calls import CALLS, Kind

MAX_STATES = 20_000
"""States that are visited beyond those of the matching that happened, with few buffers and with many."""
ALL_BUFFERED = 2**62
"""Larger than any message."""
SHOWN = 5
"""Receives that took another message, of those that a result names."""

_FIRST_COME = ("MPI_Waitany", "MPI_Waitsome")
_TESTS = [False, *(call.kind is Kind.TEST or call.name in _FIRST_COME for call in CALLS)]
"""[label] whether a call ends with whatever comes first."""


def wildcards(named: NamedEvents, replayed: Replayed, max_states: int = MAX_STATES) -> dict[str, Any]:
    """Return whether the calls end in every matching that was possible.

    They are tried twice: with as much buffered as the matching that happened needs, and with everything. Ranks make the
    same calls in all of them. A receive whose rank turns to the sender next, as to answer it, keeps the message that it
    took.

    - ``receives`` from any source or of any tag, and ``kept``, those of them that keep their message;
    - ``states`` that were visited, ``complete``: whether these are all, and ``unclear``: in how many of them ranks wait
      in vain, but one in a test (or MPI_Waitany), which would have ended with another message, or one for a message
      that another receive keeps;
    - ``hang``: None, or ``buffers``, where that is (always; few: unless more is buffered; many: where messages are
      buffered), ``waiting``, a chain of ranks that wait (``peer`` None: for anyone), and ``taken``, the receives that
      lead there: ``recorded``, whose message each took, and ``source``, whose it takes.
    """
    calls = replayed.calls
    few, many = (calls.matchings(limit, _TESTS, max_states) for limit in (replayed.eager_limit, ALL_BUFFERED))
    hang: dict[str, Any] | None = None
    if few.hangs or many.hangs:
        buffers = "always" if few.hangs and many.hangs else "few" if few.hangs else "many"
        hang = {"buffers": buffers, **_hang(named, calls, few if few.hangs else many)}
    return {
        "receives": few.receives,
        "kept": few.kept,
        "states": few.states + many.states,
        "complete": few.complete and many.complete,
        "unclear": few.unclear + many.unclear,
        "hang": hang,
    }


def _hang(named: NamedEvents, calls: _core.Calls, found: _core.Matchings) -> dict[str, Any]:
    return {
        "waiting": [
            {
                "rank": rank,
                "peer": None if peer < 0 else peer,
                "sends": sends,
                "bytes": size,
                **named.of_row(rank, row),
                "call": calls.labels[label],
            }
            for rank, peer, sends, size, label, row in found.waiting
        ],
        "taken": [
            {"rank": rank, "recorded": recorded, "source": source, **named.of_row(rank, row)}
            for rank, recorded, source, row in found.taken[:SHOWN]
        ],
    }
