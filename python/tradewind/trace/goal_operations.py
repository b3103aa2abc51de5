"""The operations of a rank in GOAL's text form, and the order in which they can be carried out."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Any

from tradewind.base.errors import quoted
from tradewind.trace.builder import RankBuilder
from tradewind.trace.goal_calls import Calls
from tradewind.trace.goal_walk import CALC, RECEIVE, SEND, BusyTime, WalkedRank
from tradewind.trace.model import ANY, NONE
from tradewind.trace.text import MOST, TextFile

_LABEL = r"([A-Za-z]\w*)"
_PLACE = r"(?:\s*cpu\s*(\d+))?(?:\s*nic\s*\d+)?\s*"
_MESSAGE = re.compile(
    rf"(?:{_LABEL}\s*:\s*)?(send|recv)\s+(\d+)\s*b\s*(to|from)\s*(-1|\d+)(?:\s*tag\s*(-1|\d+))?{_PLACE}", re.ASCII
)
_CALC = re.compile(rf"(?:{_LABEL}\s*:\s*)?calc\s+(\d+)(?:\s*cpu\s*(\d+))?\s*", re.ASCII)
_DEPENDENCY = re.compile(rf"{_LABEL}\s+(requires|irequires)\s+{_LABEL}\s*", re.ASCII)
_MOST_TAG = (1 << 31) - 1
_MOST_PROCESSOR = 255


class Operations:
    """The operations of a rank and their dependencies."""

    def __init__(self, rank: int, size: int, file: TextFile) -> None:
        self.rank = rank
        self._size, self._file = size, file
        self._labels: dict[str, int] = {}
        self.kinds = array("b")
        self.amounts = array("q")
        self.peers = array("i")
        self.tags = array("i")
        self.ended: dict[int, list[int]] = {}
        self.begun: dict[int, list[int]] = {}
        self._in_order = True
        self.processors = array("i")
        self.wildcards = False
        """Some receive takes messages of any rank, or of any tag."""

    def read(self, line: str) -> bool:
        """Read an operation or a dependency; return whether it was one."""
        if found := _DEPENDENCY.fullmatch(line):
            self._depend(*found.groups())
        elif found := _MESSAGE.fullmatch(line):
            self._message(*found.groups())
        elif found := _CALC.fullmatch(line):
            label, amount, processor = found.groups()
            self._add(label, CALC, amount, NONE, NONE, processor)
        else:
            return False
        return True

    def _message(
        self, label: str | None, kind: str, amount: str, way: str, peer: str, tag: str | None, cpu: Any
    ) -> None:
        receives = kind == "recv"
        if (way == "from") != receives:
            raise self._file.error(f"'{kind} {way}': 'send to' and 'recv from' are allowed")
        of = ANY if receives and peer == "-1" else self._file.whole_number(peer, "rank", 0, self._size - 1)
        number = ANY if tag == "-1" else self._file.whole_number(tag or "0", "tag", 0, _MOST_TAG)
        self.wildcards = self.wildcards or ANY in (of, number)
        self._add(label, RECEIVE if receives else SEND, amount, of, number, cpu)

    def _add(self, label: str | None, kind: int, amount: str, peer: int, tag: int, processor: str | None) -> None:
        if label is not None:
            if label in self._labels:
                raise self._file.error(f"label {quoted(label)} is there already in rank {self.rank}")
            self._labels[label] = len(self.kinds)
        self.kinds.append(kind)
        self.amounts.append(self._file.whole_number(amount, "bytes" if kind else "time", 0, MOST))
        self.peers.append(peer)
        self.tags.append(tag)
        self.processors.append(self._file.whole_number(processor or "0", "cpu", 0, _MOST_PROCESSOR))

    def _depend(self, tail: str, how: str, head: str) -> None:
        for label in (tail, head):
            if label not in self._labels:
                raise self._file.error(f"label {quoted(label)} is not there yet in rank {self.rank}")
        last, first = self._labels[tail], self._labels[head]
        self._in_order = self._in_order and first < last
        (self.ended if how == "requires" else self.begun).setdefault(last, []).append(first)

    def _order(self) -> Iterator[int] | range:
        """Return the operations, each behind those that it depends on; else as in the file."""
        count = len(self.kinds)
        if self._in_order:
            return range(count)
        return self._sorted(count)

    def _sorted(self, count: int) -> Iterator[int]:
        missing = array("l", bytes(count * array("l").itemsize))
        later: dict[int, list[int]] = {}
        for dependencies in (self.ended, self.begun):
            for last, heads in dependencies.items():
                missing[last] += len(heads)
                for first in heads:
                    later.setdefault(first, []).append(last)
        ready = [number for number in range(count) if missing[number] == 0]
        heapify(ready)
        carried_out = 0
        while ready:
            number = heappop(ready)
            carried_out += 1
            yield number
            for last in later.get(number, ()):
                missing[last] -= 1
                if missing[last] == 0:
                    heappush(ready, last)
        if carried_out < count:
            raise self._file.error(
                f"rank {self.rank}: {count - carried_out} operations depend on each other in a circle"
            )

    def calls(self) -> tuple[RankBuilder, int]:
        """Return the calls of the rank, and how many operations wait in them for messages that they do not depend on.

        `gates`: the last place at which the rank waits for something that an operation depends on, too.
        """
        writer = Calls(self.rank)
        gates: dict[int, int] = {}
        waited: dict[int, int] = {}
        last = held_up = 0
        for place, number in enumerate(self._order(), start=1):
            ended = self.ended.get(number, ())
            heads = (*ended, *self.begun.get(number, ()))
            known = [gates[head] for head in heads] + [waited.get(head, 0) for head in ended]
            gates[number] = max(known, default=0)
            held_up += gates[number] < last
            if now := writer.wait(ended):
                last = gates[number] = place
                waited.update(dict.fromkeys(now, place))
            self._carry_out(writer, number)
        return writer.finish(), held_up + (len(set(self.processors)) > 1)

    def calls_at(self, walked: WalkedRank) -> RankBuilder:
        """Return the calls of the rank in the order of a walk, with the time in which it computes between them."""
        writer, busy, before = Calls(self.rank), BusyTime(), 0
        for number, begin_ns in zip(walked.order, walked.begin_ns, strict=True):
            now = busy.until(begin_ns)
            writer.compute(now - before)
            before = now
            writer.wait(self.ended.get(number, ()))
            if self.kinds[number] == CALC:
                busy.add(begin_ns, self.amounts[number])
            else:
                self._begin(writer, number, walked.matched.get(number))
        writer.compute(busy.total() - before)
        begun = set(walked.order) if walked.stuck else range(len(self.kinds))
        for number in self._order() if walked.stuck else ():
            if number not in begun:
                writer.wait(self.ended.get(number, ()))
                self._carry_out(writer, number)
        return writer.finish()

    def _carry_out(self, writer: Calls, number: int) -> None:
        if self.kinds[number] == CALC:
            writer.compute(self.amounts[number])
        else:
            self._begin(writer, number)

    def _begin(self, writer: Calls, number: int, status: tuple[int, int, int] | None = None) -> None:
        sends = self.kinds[number] == SEND
        writer.message(number, sends, self.peers[number], self.tags[number], self.amounts[number], status)
