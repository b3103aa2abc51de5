"""Tags for matched messages, so that their order alone matches them again: by sender, receiver and tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPUTE, SEND, RECEIVE, WAIT = (_core.call_kinds.index(kind) for kind in ("compute", "send", "receive", "wait"))
"""Kinds of calls in `_core.Calls.table`."""
KIND, LABEL, PEER, MESSAGE, ROW, AMOUNT = range(6)
"""Columns of `_core.Calls.table`."""
_NEVER = np.iinfo(np.int64).max


class MessageTags:
    """The tag of each message: 0 unless one would overtake another of the same two ranks.

    The n-th send of a rank to another with a tag is received by the n-th receive there with that tag. `by_waits`: its
    ranks also wait for them in that order, as where a wait names no request but sender, receiver and tag.
    """

    def __init__(self, calls: _core.Calls, by_waits: bool = False) -> None:
        self._received: list[NDArray[np.int32]] = []
        """[receiver][message]: tag."""
        waited = []
        for rank in range(calls.ranks):
            table = calls.table(rank)
            self._received.append(np.zeros(np.count_nonzero(table[:, KIND] == RECEIVE), np.int32))
            waited.append(_waited(table)[requests_of(table)[:, KIND] == RECEIVE] if by_waits else None)
        for rank in range(calls.ranks):
            self._add_sends(calls.table(rank), waited)

    def _add_sends(self, table: NDArray[np.int64], waited: list[NDArray[np.int64] | None]) -> None:
        requests = requests_of(table)
        is_send = requests[:, KIND] == SEND
        sends = requests[is_send]
        by_receiver = np.argsort(sends[:, PEER], kind="stable")
        begins = np.flatnonzero(np.diff(sends[by_receiver, PEER], prepend=-1))
        own = _waited(table)[is_send] if waited and waited[0] is not None else None
        for group in np.split(by_receiver, begins[1:]) if len(sends) else ():
            receiver, messages = int(sends[group[0], PEER]), sends[group, MESSAGE]
            columns = [messages]
            theirs = waited[receiver]
            if own is not None and theirs is not None:
                columns += [own[group], theirs[messages]]
            if any(np.any(np.diff(column) < 0) for column in columns):
                self._received[receiver][messages] = _chains(np.stack(columns, axis=1))

    def of_receives(self, receiver: int) -> NDArray[np.int32]:
        """Return the tags of the messages of a receiver, in the order of their receives."""
        return self._received[receiver]

    def of_send(self, receiver: int, message: int) -> int:
        """Return the tag of a message."""
        return int(self._received[receiver][message])


def requests_of(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sends and receives of a rank, in the order of their requests."""
    return np.asarray(table[(table[:, KIND] == SEND) | (table[:, KIND] == RECEIVE)])


def _waited(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the call that waits for each request; a large one where none does."""
    found = np.full(len(requests_of(table)), _NEVER)
    waits = np.flatnonzero(table[:, KIND] == WAIT)
    found[table[waits, PEER]] = waits
    return found


def _chains(rows: NDArray[np.int64]) -> list[int]:
    """Return a number for each row, such that rows of a number never decrease in any column."""
    ends: list[NDArray[np.int64]] = []
    found = []
    for row in rows:
        number = next((n for n, end in enumerate(ends) if np.all(end <= row)), len(ends))
        ends[number : number + 1] = [row]
        found.append(number)
    return found
