"""Schedules in GOAL's text form, as LogGOPSim and ATLAHS have them (Hoefler, Siebert & Lumsdaine 2009): read as traces.

A rank has sends, receives and computations (`calc`, ns), and which of them requires that another has ended (`requires`)
or begun (`irequires`). A trace has calls in order: a rank waits for messages in front of what requires them. Where all
that comes behind such a wait depends on it, this order is that of the file, and one rank is read after the other. Else,
as where ranks compute on several processors, it is that of a walk through all ranks, see goal_walk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tradewind.base.errors import InputError, quoted
from tradewind.trace.builder import RankBuilder
from tradewind.trace.goal_operations import Operations
from tradewind.trace.goal_walk import walk
from tradewind.trace.model import Trace, missing_ranks
from tradewind.trace.text import TextFile, trace_of_text

_RANK = re.compile(r"rank\s+(\d+)\s*\{", re.ASCII)
_RANKS = re.compile(r"num_ranks\s+(\d+)", re.ASCII)
_ALLOWED = (
    "'num_ranks N', 'rank R {', '}', '[LABEL:] send Bb to R [tag T] [cpu C] [nic N]', "
    "'[LABEL:] recv Bb from R [tag T] [cpu C] [nic N]', '[LABEL:] calc NS [cpu C]', 'LABEL requires LABEL' and "
    "'LABEL irequires LABEL' are allowed"
)


def read_goal(path: Path) -> Trace:
    """Return the trace of a file in GOAL's text form. Raises InputError with the line that is not in this form.

    Of a file that is cut off, what is whole is used; `Trace.problems` says where it ends.
    """
    reader = _Reader(path)
    if not reader.read_all():
        return reader.trace(reader.ranks, ())
    again = _Reader(path, keeps=True)
    again.read_all()
    walked = walk(again.operations)
    stuck = {rank: each.stuck for rank, each in walked.items() if each.stuck}
    problems = [
        f"{len(stuck)} ranks, as rank {rank}, wait for messages that are not sent: {count} operations of that rank "
        f"come behind the others, in the order of the file"
        for rank, count in list(stuck.items())[:1]
    ]
    try:
        ranks = {rank: each.calls_at(walked[rank]) for rank, each in again.operations.items()}
    except OverflowError:
        raise InputError(f"{path}: a rank computes for more than 292 years") from None
    return again.trace(ranks, tuple(problems))


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

    def __init__(self, path: Path, keeps: bool = False) -> None:
        """`keeps`: the operations of all ranks, and makes no calls of them."""
        self.file = TextFile(path)
        self.size = 0
        self.ranks: dict[int, RankBuilder] = {}
        self.operations: dict[int, Operations] = {}
        self._keeps = keeps
        self._now: Operations | None = None
        self._needs_walk = False
        self._cut_off = ""

    def read_all(self) -> bool:
        """Read the file; return whether ranks have operations that do not wait for each other, or wildcards."""
        for line in _without_comments(self.file):
            if line and self.file.is_cut_off and not line.endswith("}"):  # its numbers may be cut off, too
                self._cut_off = f"{self.file.path} is cut off within line {self.file.number}"
                break
            self._read(line)
        if self._now is not None:
            self._cut_off = f"{self.file.path} is cut off at line {self.file.number}, within rank {self._now.rank}"
            self._end_rank(self._now)
        if not self.ranks and not self.operations:
            raise InputError(f"{self.file.path}: no rank of {self.size}: a file with 'rank R {{ ... }}' is allowed")
        return self._needs_walk

    def trace(self, ranks: Mapping[int, RankBuilder], problems: tuple[str, ...]) -> Trace:
        """Return the trace of the calls of ranks. `problems`: further ones."""
        cut_off = (self._cut_off,) if self._cut_off else ()
        return trace_of_text(self.size, ranks, (*cut_off, *missing_ranks(self.size, ranks), *problems))

    def _read(self, line: str) -> None:
        while line:
            now = self._now
            if now is not None and now.read(line):
                return
            if now is not None and line[0] == "}":
                self._end_rank(now)
                line = line[1:].lstrip()
            elif now is None and (found := _RANKS.match(line)):
                if self.size:
                    raise self.file.error("'num_ranks' is there already")
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
        if rank in self.ranks or rank in self.operations:
            raise self.file.error(f"rank {rank} is there already")
        self._now = Operations(rank, self.size, self.file)

    def _end_rank(self, now: Operations) -> None:
        self._now = None
        if self._keeps:
            self.operations[now.rank] = now
            return
        try:
            self.ranks[now.rank], held_up = now.calls()
        except OverflowError:
            raise self.file.error(f"rank {now.rank} computes for more than 292 years") from None
        self._needs_walk = self._needs_walk or bool(held_up) or now.wildcards
