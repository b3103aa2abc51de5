"""Schedules in GOAL's text form, as LogGOPSim and ATLAHS have them (Hoefler, Siebert & Lumsdaine 2009): read as traces.

A rank has sends, receives and computations (`calc`, ns), and which of them requires that another has ended (`requires`)
or begun (`irequires`). A trace has calls in order: an operation is carried out where the file has it, or behind what it
depends on, and in front of it the rank waits for the messages that it requires. What a rank could do meanwhile stands
in `Trace.problems`.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError, quoted
from tradewind.trace.builder import RankBuilder
from tradewind.trace.model import ANY, NONE, Trace, missing_ranks
from tradewind.trace.requests import Slots
from tradewind.trace.text import MOST, TextFile, trace_of_text

_LABEL = r"([A-Za-z]\w*)"
_PLACE = r"(?:\s*cpu\s*(\d+))?(?:\s*nic\s*\d+)?\s*"
_MESSAGE = re.compile(
    rf"(?:{_LABEL}\s*:\s*)?(send|recv)\s+(\d+)\s*b\s*(to|from)\s*(-1|\d+)(?:\s*tag\s*(-1|\d+))?{_PLACE}", re.ASCII
)
_CALC = re.compile(rf"(?:{_LABEL}\s*:\s*)?calc\s+(\d+)(?:\s*cpu\s*(\d+))?\s*", re.ASCII)
_DEPENDENCY = re.compile(rf"{_LABEL}\s+(requires|irequires)\s+{_LABEL}\s*", re.ASCII)
_RANK = re.compile(r"rank\s+(\d+)\s*\{", re.ASCII)
_RANKS = re.compile(r"num_ranks\s+(\d+)", re.ASCII)
_ALLOWED = (
    "'num_ranks N', 'rank R {', '}', '[LABEL:] send Bb to R [tag T] [cpu C] [nic N]', "
    "'[LABEL:] recv Bb from R [tag T] [cpu C] [nic N]', '[LABEL:] calc NS [cpu C]', 'LABEL requires LABEL' and "
    "'LABEL irequires LABEL' are allowed"
)
_CALC_KIND, _SEND, _RECEIVE = range(3)
_MOST_TAG = (1 << 31) - 1


def read_goal(path: Path) -> Trace:
    """Return the trace of a file in GOAL's text form. Raises InputError with the line of what is none.

    Of a file that is cut off, what is whole is used; `Trace.problems` says where it ends.
    """
    reader = _Reader(path)
    for line in _without_comments(reader.file):
        reader.read(line)
    return reader.finish()


def _without_comments(file: TextFile) -> Iterator[str]:
    inside = False
    for line in file.lines():
        if not inside and "/" not in line:
            yield line.strip()
            continue
        kept = ""
        while line:
            if inside:
                _, end, line = line.partition("*/")
                inside = not end
                continue
            begin = min((at for at in (line.find("//"), line.find("/*")) if at >= 0), default=len(line))
            kept += line[:begin] + " "
            inside = line.startswith("/*", begin)
            line = line[begin + 2 :] if inside else ""
        yield kept.strip()


class _Reader:
    """Reads a file line by line; a rank becomes calls when it is whole."""

    def __init__(self, path: Path) -> None:
        self.file = TextFile(path)
        self.size = 0
        self.ranks: dict[int, RankBuilder] = {}
        self.now: _Rank | None = None
        self.side_by_side: dict[int, int] = {}

    def read(self, line: str) -> None:
        """Read the statements of a line."""
        while line:
            now = self.now
            if now is not None and now.read(line):
                return
            if now is not None and line[0] == "}":
                self._end_rank(now)
                line = line[1:].lstrip()
            elif now is None and (found := _RANKS.match(line)):
                self.size = self.file.count_of_ranks(found[1])
                line = line[found.end() :].lstrip()
            elif now is None and (found := _RANK.match(line)):
                self._begin_rank(found[1])
                line = line[found.end() :].lstrip()
            else:
                raise self.file.error(f"{quoted(line)} is no statement of GOAL: {_ALLOWED}")

    def _begin_rank(self, text: str) -> None:
        if not self.size:
            raise self.file.error("a rank in front of 'num_ranks N'")
        rank = self.file.whole_number(text, "rank", 0, self.size - 1)
        if rank in self.ranks:
            raise self.file.error(f"rank {rank} is there already")
        self.now = _Rank(rank, self.size, self.file)

    def _end_rank(self, now: _Rank) -> None:
        try:
            self.ranks[now.rank], waits = now.calls()
        except OverflowError:
            raise self.file.error(f"rank {now.rank} computes for more than 292 years") from None
        if waits:
            self.side_by_side[now.rank] = waits
        self.now = None

    def finish(self) -> Trace:
        """Return the trace of all ranks."""
        problems = []
        if self.now is not None:
            problems.append(f"{self.file.path} is cut off at line {self.file.number}, within rank {self.now.rank}")
            self._end_rank(self.now)
        if not self.ranks:
            raise InputError(f"{self.file.path}: no rank of {self.size}: a file with 'rank R {{ ... }}' is allowed")
        problems += missing_ranks(self.size, self.ranks)
        if self.side_by_side:
            first, waits = next(iter(self.side_by_side.items()))
            problems.append(
                f"{len(self.side_by_side)} ranks, as rank {first}, have operations that do not depend on each other "
                f"({waits} of that rank): they are carried out one after another, in the order of the file"
            )
        return trace_of_text(self.size, self.ranks, tuple(problems))


class _Rank:
    """The operations of a rank and their dependencies."""

    def __init__(self, rank: int, size: int, file: TextFile) -> None:
        self.rank = rank
        self._size, self._file = size, file
        self._labels: dict[str, int] = {}
        self._kinds = array("b")
        self._amounts = array("q")
        self._peers = array("i")
        self._tags = array("i")
        self._ended: dict[int, list[int]] = {}
        self._begun: dict[int, list[int]] = {}
        self._in_order = True
        self._processors: set[str] = set()

    def read(self, line: str) -> bool:
        """Read an operation or a dependency; return whether it was one."""
        if found := _DEPENDENCY.fullmatch(line):
            self._depend(*found.groups())
        elif found := _MESSAGE.fullmatch(line):
            self._message(*found.groups())
        elif found := _CALC.fullmatch(line):
            label, amount, processor = found.groups()
            self._add(label, _CALC_KIND, amount, NONE, NONE, processor)
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
        self._add(label, _RECEIVE if receives else _SEND, amount, of, number, cpu)

    def _add(self, label: str | None, kind: int, amount: str, peer: int, tag: int, processor: str | None) -> None:
        if label is not None:
            if label in self._labels:
                raise self._file.error(f"label {quoted(label)} is there already in rank {self.rank}")
            self._labels[label] = len(self._kinds)
        self._kinds.append(kind)
        self._amounts.append(self._file.whole_number(amount, "bytes" if kind else "time", 0, MOST))
        self._peers.append(peer)
        self._tags.append(tag)
        self._processors.add(processor or "0")

    def _depend(self, tail: str, how: str, head: str) -> None:
        for label in (tail, head):
            if label not in self._labels:
                raise self._file.error(f"label {quoted(label)} is not there yet in rank {self.rank}")
        last, first = self._labels[tail], self._labels[head]
        self._in_order = self._in_order and first < last
        (self._ended if how == "requires" else self._begun).setdefault(last, []).append(first)

    def _order(self) -> Iterator[int] | range:
        """Return the operations, each behind those that it depends on; else as in the file."""
        count = len(self._kinds)
        if self._in_order:
            return range(count)
        return self._sorted(count)

    def _sorted(self, count: int) -> Iterator[int]:
        missing = array("l", bytes(count * array("l").itemsize))
        later: dict[int, list[int]] = {}
        for dependencies in (self._ended, self._begun):
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
        writer = _Calls(self.rank)
        gates: dict[int, int] = {}
        waited: dict[int, int] = {}
        last = held_up = 0
        for place, number in enumerate(self._order(), start=1):
            ended = self._ended.get(number, ())
            heads = (*ended, *self._begun.get(number, ()))
            known = [gates[head] for head in heads] + [waited.get(head, 0) for head in ended]
            gates[number] = max(known, default=0)
            held_up += gates[number] < last
            if now := writer.wait(ended):
                last = gates[number] = place
                waited.update(dict.fromkeys(now, place))
            if self._kinds[number] == _CALC_KIND:
                writer.compute(self._amounts[number])
            else:
                sends = self._kinds[number] == _SEND
                writer.message(number, sends, self._peers[number], self._tags[number], self._amounts[number])
        return writer.finish(), held_up + (len(self._processors) > 1)


class _Calls:
    """Makes the calls of a rank."""

    def __init__(self, rank: int) -> None:
        self._builder = RankBuilder(rank).call("MPI_Init")
        self._slots = Slots()
        self._open: dict[int, tuple[int, int, int, int]] = {}
        self._known: dict[Any, int] = {}
        self._gap = 0

    def compute(self, time_ns: int) -> None:
        """Compute in front of the next call."""
        self._gap += time_ns

    def message(self, number: int, sends: bool, peer: int, tag: int, amount: int) -> None:
        """Begin the message of an operation."""
        slot = self._slots.take()
        self._open[number] = (slot, NONE, NONE, 0) if sends else (slot, peer, tag, amount)
        key = (sends, peer, tag, amount, slot)
        if key not in self._known:
            self._known[key] = (
                self._builder.operation("MPI_Isend", peer=peer, tag=tag, bytes=amount, request=slot)
                if sends
                else self._builder.operation("MPI_Irecv", source=peer, source_tag=tag, received=amount, request=slot)
            )
        self._add(self._known[key])

    def wait(self, numbers: Iterable[int]) -> list[int]:
        """Wait for the messages of operations; return those that had not been waited for."""
        waited = [number for number in dict.fromkeys(numbers) if number in self._open]
        ended = tuple(self._open.pop(number) for number in waited)
        if not ended:
            return waited
        if ended not in self._known:
            slots = [slot for slot, *_ in ended]
            self._known[ended] = self._builder.operation("MPI_Waitall", asked=slots, ended=ended)
        for slot, *_ in ended:
            self._slots.give_back(slot)
        self._add(self._known[ended])
        return waited

    def finish(self) -> RankBuilder:
        """Wait for the other messages, and return all calls."""
        self.wait(list(self._open))
        self._builder.call("MPI_Finalize", gap_ns=self._gap)
        return self._builder

    def _add(self, operation: int) -> None:
        self._builder.event(operation, self._gap)
        self._gap = 0
