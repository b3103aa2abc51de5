"""Calls of a trace written in GOAL's text form, for LogGOPSim and ATLAHS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tradewind.replay.message_tags import COMPUTE, SEND, WAIT, MessageTags

if TYPE_CHECKING:
    from tradewind import _core

PS_PER_NS = 1000


def goal_lines(calls: _core.Calls, comments: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a schedule, which hold what the calls do, wait for and compute; times in whole ns."""
    yield from (f"// {comment}\n" for comment in comments)
    yield f"num_ranks {calls.ranks}\n"
    tags = MessageTags(calls)
    for rank in range(calls.ranks):
        yield f"\nrank {rank} {{\n"
        yield from _Operations(tags).lines(calls.table(rank).tolist(), tags.of_receives(rank).tolist())
        yield "}\n"


class _Operations:
    """Writes the operations of a rank: each begins behind the one before, and ends where a call waits for it."""

    def __init__(self, tags: MessageTags) -> None:
        self._tags = tags
        self._label = 0
        self._computes = False
        """The operation before is a computation."""
        self._requests: list[int] = []
        self._waits: list[int] = []
        self._rest_ps = 0

    def lines(self, calls: list[Any], tags: list[int]) -> Iterator[str]:
        """Yield them. `tags`: of the messages that the rank receives."""
        for kind, _, peer, message, _, amount in calls:
            if kind == WAIT:
                self._waits.append(self._requests[peer])
            elif kind == COMPUTE:
                time_ns, self._rest_ps = divmod(amount + self._rest_ps, PS_PER_NS)
                yield self._add(f"calc {time_ns}", computes=True)
            elif kind == SEND:
                yield self._begin(f"send {amount}b to {peer} tag {self._tags.of_send(peer, message)}")
            else:
                yield self._begin(f"recv {amount}b from {peer} tag {tags[message]}")
        if self._waits:
            yield self._add("calc 0", computes=True)

    def _begin(self, text: str) -> str:
        self._requests.append(self._label + 1)
        return self._add(text, computes=False)

    def _add(self, text: str, computes: bool) -> str:
        before = self._label
        self._label += 1
        text = f"l{self._label}: {text}\n" + "".join(f"l{self._label} requires l{each}\n" for each in self._waits)
        if before and before not in self._waits:
            text += f"l{self._label} {'requires' if self._computes else 'irequires'} l{before}\n"
        self._waits.clear()
        self._computes = computes
        return text
