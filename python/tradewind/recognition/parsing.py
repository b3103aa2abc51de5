"""A stream cut into exchanges: which exchange each rank's messages belong to, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tradewind.recognition import all_to_all, neighbors, reduction
from tradewind.recognition.box_sizes import Known
from tradewind.recognition.exchange import Exchange
from tradewind.recognition.streams import Sent, Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.trace.model import Trace

VAIN = 128
"""Guesses in a row that may fail before a stream is only searched for exchanges that are known."""


@dataclass(eq=False)
class Instance:
    """An exchange as it took place once."""

    exchange: Exchange
    begin: NDArray[np.int64]
    """[rank]: the event of its first message; -1 for a rank that sends none."""
    first: NDArray[np.int64]
    """[rank]: number of its first message in the stream."""
    end: NDArray[np.int64]
    """[rank]: the event in which it is awaited, if the rank posts all its messages at once; else that of `begin`."""
    time_ns: int = 0
    """When the first of the ranks that take part began it."""


@dataclass(eq=False)
class Parsed:
    """A stream, and what was found in it."""

    stream: Stream
    found: list[Instance] = field(default_factory=list)

    def marks(self, chosen: set[int]) -> tuple[list[NDArray[np.bool_]], list[NDArray[np.bool_]]]:
        """Return [rank][message] whether it belongs to one of the instances with these identities, or to another."""
        marks = tuple([np.zeros(len(sent), bool) for sent in self.stream.sent] for _ in range(2))
        for instance in self.found:
            mark = marks[id(instance) not in chosen]
            for rank, count in enumerate(instance.exchange.counts):
                at = int(instance.first[rank])
                mark[rank][at : at + count] = True
        return marks[0], marks[1]


class Parser:
    """Cuts streams into exchanges; what one stream shows of the grid is known for the next."""

    def __init__(self, trace: Trace, known: Known) -> None:
        self.trace = trace
        self.known = known
        self.exchanges: list[Exchange] = []
        self._by_identity: dict[object, Exchange] = {}

    def parse(self, stream: Stream) -> Parsed:
        """Return the exchanges of a stream. What belongs to none is passed over in the order of time."""
        parsed = Parsed(stream)
        if not stream.is_of_all:
            return parsed
        times = [self.trace.events(rank).begin_ns[sent.events] for rank, sent in enumerate(stream.sent)]
        cursors = [0] * len(stream.sent)
        after: dict[int, list[Exchange]] = {}
        last: Exchange | None = None
        vain = 0
        while any(at < len(sent) for at, sent in zip(cursors, stream.sent, strict=True)):
            expected = after.setdefault(id(last), [])
            exchange = self._known_at(stream, cursors, expected)
            if exchange is None and vain < VAIN:
                exchange = self._guess(stream, cursors)
                vain = vain + 1 if exchange is None else 0
            if exchange is None:
                self._pass_over(stream, cursors, times)
                continue
            if exchange not in expected:
                expected.append(exchange)
            parsed.found.append(self._take(parsed, exchange, cursors, times))
            last = exchange
        return parsed

    def _known_at(self, stream: Stream, cursors: list[int], expected: list[Exchange]) -> Exchange | None:
        """Return the exchange that begins at the cursors of all ranks: one that came here before, or the largest."""
        for exchange in (*expected, *self.exchanges):
            if _begins(stream, cursors, exchange):
                return exchange
        return None

    def _guess(self, stream: Stream, cursors: list[int]) -> Exchange | None:
        for exchange in self._guesses(stream, cursors):
            if _begins(stream, cursors, exchange):
                known = self._by_identity.get(exchange.identity)
                if known is None:
                    known = self._by_identity[exchange.identity] = replace(exchange)  # guesses are kept for others
                    self.exchanges.append(known)
                    self.exchanges.sort(key=lambda each: -each.messages)
                    self._learn(known)
                return known
        return None

    def _learn(self, exchange: Exchange) -> None:
        if exchange.box is not None and exchange.box.parts not in self.known.parts:
            self.known.parts.append(exchange.box.parts)

    def _guesses(self, stream: Stream, cursors: list[int]) -> Iterator[Exchange]:
        """Yield what may come next, the most likely first."""
        yield from reduction.calls_of_all(stream, cursors)
        heads = [int(sent.peers[at]) for sent, at in zip(stream.sent, cursors, strict=True) if at < len(sent)]
        if min(heads) < 0:  # a collective call, which is no exchange of ours
            return
        sizes = [int(sent.sizes[at]) for sent, at in zip(stream.sent, cursors, strict=True) if at < len(sent)]
        small = max(sizes) <= reduction.SMALL
        alike = reduction.recursive(len(stream.sent))
        yield from reduction.algorithms(stream, cursors, reduction.unmistakable())
        if small:
            yield from reduction.algorithms(stream, cursors, alike)
        found = list(neighbors.halos(stream, cursors, self.known))
        yield from (each for each in found if each.axes > 1)
        yield from all_to_all.transpositions(stream, cursors, self.known)
        yield from (each for each in found if each.axes <= 1)
        if not small:
            yield from reduction.algorithms(stream, cursors, alike)

    def _take(self, parsed: Parsed, exchange: Exchange, cursors: list[int], times: list[NDArray[np.int64]]) -> Instance:
        ranks = len(cursors)
        begin, first = np.full(ranks, -1, np.int64), np.array(cursors, np.int64)
        end = begin.copy()
        time_ns = 0
        for rank in range(ranks - 1, -1, -1):
            count, at = exchange.counts[rank], cursors[rank]
            if count:
                sent = parsed.stream.sent[rank]
                begin[rank] = end[rank] = sent.events[at : at + count].min()
                if sent.phases[at] == sent.phases[at + count - 1]:
                    end[rank] = sent.ends[at : at + count].max()
                time_ns = int(times[rank][at : at + count].min())
                cursors[rank] = at + count
        return Instance(exchange, begin, first, end, time_ns)

    def _pass_over(self, stream: Stream, cursors: list[int], times: list[NDArray[np.int64]]) -> None:
        """Pass over what belongs to no exchange: a collective call of all ranks, else the earliest messages that are
        posted together, and those that other ranks post before the last of them."""
        waiting = [rank for rank, sent in enumerate(stream.sent) if cursors[rank] < len(sent)]
        heads = {stream.sent[rank].codes[cursors[rank]] for rank in waiting}
        if len(waiting) == len(cursors) and len(heads) == 1 and next(iter(heads)) < 0:
            for rank in waiting:
                cursors[rank] += 1
            return
        plain = [rank for rank in waiting if stream.sent[rank].peers[cursors[rank]] >= 0] or waiting
        earliest = min(plain, key=lambda rank: int(times[rank][cursors[rank]]))
        last = int(times[earliest][_end_of_phase(stream.sent[earliest], cursors[earliest]) - 1])
        for rank in plain:
            if int(times[rank][cursors[rank]]) <= last:
                cursors[rank] = _end_of_phase(stream.sent[rank], cursors[rank])


def _end_of_phase(sent: Sent, at: int) -> int:
    """Return the end of the messages that are posted together with one, up to the next collective call."""
    end = at + 1
    while end < len(sent) and sent.phases[end] == sent.phases[at] and sent.peers[end] >= 0 and sent.peers[at] >= 0:
        end += 1
    return end


def _begins(stream: Stream, cursors: list[int], exchange: Exchange) -> bool:
    return all(
        exchange.begins(rank, sent.codes, at) for rank, (sent, at) in enumerate(zip(stream.sent, cursors, strict=True))
    )
