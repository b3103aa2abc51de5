"""Calls of a trace written as SimGrid's time-independent trace, for `smpirun -replay`."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.replay.calls import Replayed
from tradewind.replay.message_tags import COMPUTE, KIND, PEER, ROW, SEND, WAIT, MessageTags
from tradewind.replay.one_sided import accesses_of
from tradewind.replay.rows import events_of_rows
from tradewind.trace.calls import Form, Kind
from tradewind.trace.model import RankEvents, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

PS_PER_FLOP = 1000
"""Computing is written as operations, one per ns: hosts of 1 Gflop/s take the recorded time."""
MOST_BYTES = (1 << 31) - 1
"""Bytes of a message, which SimGrid counts as an int of C."""
Key = tuple[int, int, int]


class TimeIndependent:
    """Writes the actions of ranks. Blocking collective calls of all ranks stay what they are, others are messages."""

    def __init__(self, trace: Trace, replayed: Replayed) -> None:
        self._trace, self._calls = trace, replayed.calls
        self._tags = MessageTags(replayed.calls, by_waits=True)
        threaded = any(trace.events(rank).operations["thread"].any() for rank in trace.ranks)
        self._keeps_collectives = not replayed.at_once and not threaded
        self._most_collectives = min(
            (len(_places(events, self._collectives(events))) for events in map(trace.events, trace.ranks)), default=0
        )
        """Kept ones that all ranks have: those behind would wait for a rank that is cut."""

    def check(self) -> None:
        """Raises InputError for what `lines` of some rank would, before anything is written."""
        if self._calls.largest_message > MOST_BYTES:  # which may be one of a collective call that stays one
            for rank in self._trace.ranks:
                deque(self.lines(rank), maxlen=0)

    def lines(self, rank: int) -> Iterator[str]:
        """Yield the lines of a rank. Raises InputError for a message that is too large."""
        yield f"{rank} init\n"
        table = self._calls.table(rank)
        events = self._trace.events(rank)
        kept = self._collectives(events)
        begin = 0
        writer = _Actions(rank, self._tags)
        if kept:
            of_call = events_of_rows(events, self._trace.communicators, accesses_of(self._trace))[table[:, ROW]]
            places = _places(events, kept)
            begins, ends = (np.searchsorted(of_call, places, side) for side in ("left", "right"))
            for number, (place, first, last) in enumerate(zip(places, begins, ends, strict=True)):
                first += first < last and table[first, KIND] == COMPUTE
                yield from writer.lines(table[begin:first].tolist())
                writer.leave_out(table[first:last])
                if number < self._most_collectives:
                    yield f"{rank} {kept[int(events.order[place])]}\n"
                begin = last
        yield from writer.lines(table[begin:].tolist())
        yield f"{rank} finalize\n"

    def _collectives(self, events: RankEvents) -> dict[int, str]:
        """Return the actions of operations that are blocking collective calls of all ranks."""
        if not self._keeps_collectives:
            return {}
        found = {}
        for number, operation in enumerate(events.operations):
            call = events.call(number)
            if call.kind is not Kind.COLLECTIVE or call.form is not Form.BLOCKING:
                continue
            if operation["communicator"] < 0:  # one that is not known
                continue
            place = self._trace.communicators[int(operation["communicator"])]
            if place.remote is None and np.array_equal(place.members, np.arange(self._trace.size)):
                action = _action(call.base, operation, events.blocks_of(number), self._trace.size)
                if action:
                    found[number] = action
        return found


def _places(events: RankEvents, kept: Collection[int]) -> NDArray[np.int64]:
    """Return the events of operations that are kept."""
    is_kept = np.array([number in kept for number in range(len(events.operations))], bool)
    return np.flatnonzero(is_kept[events.order])


def _action(base: str, operation: Any, blocks: NDArray[np.int64], size: int) -> str:
    """Return the action of a collective call; "" where SimGrid has none with the same bytes."""
    given, obtained, root = int(operation["bytes"]), int(operation["received"]), int(operation["peer"])
    most = max(given, obtained)
    each = {"Gather": given, "Scatter": obtained}.get(base, most)  # on all ranks the same, as all have to choose alike
    if base == "Reduce_scatter" and len(blocks) != size:
        return ""
    found = {
        "Barrier": "barrier",
        "Bcast": f"bcast {most} {root}",
        "Reduce": f"reduce {most} 0 {root}",
        "Allreduce": f"allreduce {most} 0",
        "Scan": f"scan {most} 0",
        "Exscan": f"exscan {most} 0",
        "Gather": f"gather {given} {given} {root}",
        "Scatter": f"scatter {obtained} {obtained} {root}",
        "Allgather": f"allgather {given} {given}",
        "Allgatherv": f"allgather {obtained // size} {obtained // size}",
        "Alltoall": f"alltoall {given // size} {given // size}",
        "Reduce_scatter": f"reducescatter {' '.join(map(str, blocks))} 0",
        "Reduce_scatter_block": f"reducescatter {' '.join([str(given // size)] * size)} 0",
    }
    return found.get(base, "") if each <= MOST_BYTES else ""


class _Actions:
    """Writes calls of a rank as actions, block by block."""

    def __init__(self, rank: int, tags: MessageTags) -> None:
        self._rank, self._tags = rank, tags
        self._received = tags.of_receives(rank)
        self._keys: list[Key | None] = []
        """[request]: sender, receiver and tag."""
        self._open: set[int] = set()
        self._waits: list[int] = []

    def leave_out(self, table: NDArray[np.int64]) -> None:
        """Number the requests of calls that another action stands for."""
        requests = int(np.count_nonzero((table[:, KIND] != WAIT) & (table[:, KIND] != COMPUTE)))
        self._keys += [None] * requests

    def lines(self, calls: list[Any]) -> Iterator[str]:
        """Yield the actions of calls."""
        for number, (kind, _, peer, message, _, amount) in enumerate(calls):
            if kind == WAIT:
                self._waits.append(peer)
                continue
            yield from self._waited()
            if kind == COMPUTE:
                whole, rest = divmod(amount, PS_PER_FLOP)
                yield f"{self._rank} compute {whole if rest == 0 else amount / PS_PER_FLOP}\n"
                continue
            request = len(self._keys)
            ended = number + 1 < len(calls) and calls[number + 1][KIND] == WAIT and calls[number + 1][PEER] == request
            yield self._begin(kind == SEND, peer, message, amount, ended)
        yield from self._waited()

    def _begin(self, sends: bool, peer: int, message: int, amount: int, ended: bool) -> str:
        if amount > MOST_BYTES:
            raise InputError(f"rank {self._rank}: a message of {amount} bytes: SimGrid's form holds up to {MOST_BYTES}")
        tag = self._tags.of_send(peer, message) if sends else int(self._received[message])
        if not ended:
            self._open.add(len(self._keys))
        self._keys.append((self._rank, peer, tag) if sends else (peer, self._rank, tag))
        name = f"{'' if ended else 'i'}{'send' if sends else 'recv'}"
        return f"{self._rank} {name} {peer} {tag} {amount}\n"

    def _waited(self) -> Iterator[str]:
        """Yield the waits since the last other action; one for all requests where they are all that are open."""
        waits = [request for request in self._waits if request in self._open]
        self._waits.clear()
        self._open.difference_update(waits)
        if len(waits) > 1 and not self._open:
            yield f"{self._rank} waitall\n"
            return
        for request in waits:
            sender, receiver, tag = self._keys[request] or (0, 0, 0)
            yield f"{self._rank} wait {sender} {receiver} {tag}\n"
