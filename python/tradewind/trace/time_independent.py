"""SimGrid's time-independent traces, as `smpirun -trace-ti` writes and `smpirun -replay` reads them: read as traces.

A line is an action of a rank: `0 isend 1 7 800`. A file names files of ranks, one in a line, or has the lines of all.
Sizes are counts of a datatype, whose number may end the line; without it, bytes (doubles, if `init` has an argument).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError, quoted
from tradewind.base.names import unknown
from tradewind.trace.builder import Ended, RankBuilder
from tradewind.trace.forms import places_of
from tradewind.trace.model import ANY, MAX_RANKS, NONE, Trace, missing_ranks
from tradewind.trace.requests import Open
from tradewind.trace.text import MOST, TextFile, trace_of_text

FLOPS_PER_NS = 1.0
"""Operations of `compute` in a nanosecond: those of a host of 1 Gflop/s."""
TYPE_BYTES = (
    *(8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8),
    *(8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8),
)
"""Bytes of SimGrid's datatypes, by number: MPI_DOUBLE is 0, MPI_BYTE 6."""
_DOUBLE, _BYTE = 8, 1
_MOST_TAG = (1 << 31) - 1
Arguments = Sequence[str]


def read_time_independent(path: Path) -> Trace:
    """Return the trace of a file of SimGrid's. Raises InputError with the line of what is none."""
    files = _files(path)
    size = _size_of(files, path)
    problems = []
    ranks: dict[int, _Rank] = {}
    by_word: dict[str, _Rank] = {}
    for file in files:
        for line in file.lines():
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if not line.endswith("\n"):
                problems.append(f"{file.path} is cut off at line {file.number}")
                continue
            if words[0] not in by_word:
                rank = file.whole_number(words[0], "rank", 0, size - 1)
                by_word[words[0]] = ranks.setdefault(rank, _Rank(rank, size, file))
            by_word[words[0]].read(file, words)
    made = {rank: each.finish() for rank, each in ranks.items()}
    return trace_of_text(size, made, (*problems, *missing_ranks(size, made)))


def _files(path: Path) -> list[TextFile]:
    """Return the files that have actions: the file itself, or those that it names, as seen from it or from here."""
    named: list[TextFile] = []
    whole = TextFile(path)
    for line in whole.lines():
        name = line.strip()
        if not name or name.startswith("#"):
            continue
        if name.split()[0].isdigit():
            return [TextFile(path)]
        there = [place for place in places_of(path, name) if place.is_file()]
        if not there:
            raise whole.error(f"there is no file {quoted(name)}: a file with the actions of a rank is allowed")
        named.append(TextFile(there[0]))
    if not named:
        raise InputError(f"{path}: not a trace: it has no actions")
    return named


def _size_of(files: Sequence[TextFile], path: Path) -> int:
    """Return the number of ranks: of several files their number, of one that of the last rank."""
    if len(files) > 1:
        if len(files) > MAX_RANKS:
            raise InputError(f"{path}: {len(files)} ranks: at most {MAX_RANKS} are allowed")
        return len(files)
    last = -1
    (file,) = files
    for line in file.lines():
        first = line.split(None, 1)
        if first and not first[0].startswith("#"):
            last = max(last, file.whole_number(first[0], "rank", 0, MAX_RANKS - 1))
    if last < 0:
        raise InputError(f"{path}: not a trace: it has no actions")
    file.number = 0
    return last + 1


class _Rank:
    """Makes the calls of a rank of its actions."""

    def __init__(self, rank: int, size: int, file: TextFile) -> None:
        self.rank, self._size, self._file = rank, size, file
        self._builder = RankBuilder(rank).call("MPI_Init")
        self._open = Open()
        self._known: dict[tuple[object, ...], int] = {}
        self._type_bytes = _BYTE
        self._gap = 0.0

    def read(self, file: TextFile, words: list[str]) -> None:
        """Carry out an action: rank, name, arguments. Raises InputError."""
        self._file = file
        action = self._actions.get(words[1]) if len(words) > 1 else None
        if action is None:
            raise file.error(unknown("action of SimGrid", " ".join(words[1:2]), self._actions))
        action(words[2:])

    def finish(self) -> RankBuilder:
        """Return all calls."""
        self._call("MPI_Finalize")
        return self._builder

    @cached_property
    def _actions(self) -> dict[str, Callable[[Arguments], None]]:
        def nothing(arguments: Arguments) -> None:
            pass

        sends = {"send": "Send", "isend": "Isend", "Ssend": "Ssend", "ISsend": "Issend", "bsend": "Bsend"}
        sends |= {"ibsend": "Ibsend"}
        return {
            **dict.fromkeys(("finalize", "comm_size", "comm_split", "comm_dup", "location"), nothing),
            **dict.fromkeys(("testany", "testall", "testsome"), nothing),
            "init": self._init,
            "compute": lambda words: self._compute(words, 1 / FLOPS_PER_NS),
            "sleep": lambda words: self._compute(words, 1e9),
            **{action: self._send(f"MPI_{name}") for action, name in sends.items()},
            "recv": lambda words: self._receive("MPI_Recv", words),
            "irecv": lambda words: self._receive("MPI_Irecv", words),
            "sendRecv": self._both,
            "test": self._test,
            "wait": self._wait,
            "waitall": lambda words: self._ended(self._open.end_all()),
            "barrier": lambda words: self._call("MPI_Barrier"),
            "bcast": self._broadcast,
            "reduce": self._reduce,
            "allreduce": lambda words: self._combine("MPI_Allreduce", words),
            "scan": lambda words: self._combine("MPI_Scan", words),
            "exscan": lambda words: self._combine("MPI_Exscan", words),
            "reducescatter": self._reduce_scatter,
            "alltoall": self._all_to_all,
            "alltoallv": self._all_to_all_blocks,
            "allgather": self._all_gather,
            "allgatherv": self._all_gather_blocks,
            "gather": self._gather,
            "gatherv": self._gather_blocks,
            "scatter": self._scatter,
            "scatterv": self._scatter_blocks,
        }

    # Values of arguments.

    def _number(self, words: Arguments, place: int, what: str, least: int = 0, most: int = MOST) -> int:
        if place >= len(words):
            raise self._file.error(f"no {what}: it is argument {place + 1} of the action")
        text = words[place]
        if text.isdigit():
            return self._file.whole_number(text, what, least, most)
        value = self._real(text, what)
        if not value.is_integer() or not least <= value <= most:
            raise self._file.error(f"{what} {quoted(text)}: {least} to {most} are allowed")
        return int(value)

    def _real(self, text: str, what: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise self._file.error(f"{what} {quoted(text)}: a number is allowed")
        return value

    def _bytes(self, words: Arguments, place: int, type_place: int) -> int:
        """Return a count of a datatype, whose number may be an argument, in bytes."""
        return self._number(words, place, "size") * self._type(words, type_place)

    def _type(self, words: Arguments, place: int) -> int:
        if place >= len(words):
            return self._type_bytes
        return TYPE_BYTES[self._number(words, place, "datatype", 0, len(TYPE_BYTES) - 1)]

    def _peer(self, words: Arguments, place: int) -> int:
        return self._number(words, place, "rank", 0, self._size - 1)

    def _from(self, words: Arguments, place: int, what: str, most: int) -> int:
        """Return a rank or a tag of a receive; negative ones are wildcards."""
        found = self._number(words, place, what, -_MOST_TAG, most)
        return ANY if found < 0 else found

    def _counts(self, words: Arguments, first: int, size: int) -> list[int]:
        return [self._number(words, first + each, "count") * size for each in range(self._size)]

    # Calls.

    def _call(self, name: str, blocks: Sequence[int] = (), **fields: int) -> None:
        key = (name, *blocks, *fields.items())
        if key not in self._known:
            arguments: dict[str, Any] = {"blocks": blocks, **fields}
            self._known[key] = self._builder.operation(name, **arguments)
        self._event(self._known[key])

    def _event(self, operation: int) -> None:
        gap = round(self._gap)
        self._gap -= gap  # what is rounded away comes later
        try:
            self._builder.event(operation, gap)
        except OverflowError:
            raise self._file.error("the rank computes for more than 292 years") from None

    def _init(self, words: Arguments) -> None:
        self._type_bytes = _DOUBLE if words else _BYTE

    def _compute(self, words: Arguments, ns: float) -> None:
        amount = self._real(words[0], "amount") if words else -1.0
        if not 0 <= amount * ns <= MOST:
            raise self._file.error(f"amount {' '.join(words[:1])}: a time from 0 to 31 years is allowed")
        self._gap += amount * ns

    def _send(self, name: str) -> Callable[[Arguments], None]:
        begins = name.startswith("MPI_I")

        def send(words: Arguments) -> None:
            peer, tag = self._peer(words, 0), self._number(words, 1, "tag", 0, _MOST_TAG)
            slot = self._open.post((self.rank, peer, tag), (NONE, NONE, 0)) if begins else NONE
            self._call(name, peer=peer, tag=tag, bytes=self._bytes(words, 2, 3), request=slot)

        return send

    def _receive(self, name: str, words: Arguments) -> None:
        source = self._from(words, 0, "rank", self._size - 1)
        tag = self._from(words, 1, "tag", _MOST_TAG)
        size = 0 if words[2:3] == ["-1"] else self._bytes(words, 2, 3)  # of which only the sender is certain
        begins = name == "MPI_Irecv"
        slot = self._open.post((source, self.rank, tag), (source, tag, size)) if begins else NONE
        self._call(name, source=source, source_tag=tag, received=size, request=slot)

    def _both(self, words: Arguments) -> None:
        to, source = self._peer(words, 1), self._peer(words, 3)
        size, received = self._bytes(words, 0, 4), self._bytes(words, 2, 5)
        self._call("MPI_Sendrecv", peer=to, tag=0, bytes=size, source=source, source_tag=0, received=received)

    def _key(self, words: Arguments) -> tuple[int, int, int]:
        ranks = [self._from(words, place, "rank", self._size - 1) for place in (0, 1)]
        return ranks[0], ranks[1], self._from(words, 2, "tag", _MOST_TAG)

    def _test(self, words: Arguments) -> None:
        if (slot := self._open.oldest(self._key(words))) is not None:
            operation = self._builder.operation("MPI_Test", asked=[slot])
            self._event(operation)

    def _wait(self, words: Arguments) -> None:
        self._ended(self._open.end(self._key(words)))

    def _ended(self, ended: list[Ended]) -> None:
        if not ended:  # a test has ended it
            return
        key = ("ended", *ended)
        if key not in self._known:
            slots = [slot for slot, *_ in ended]
            self._known[key] = self._builder.operation("MPI_Waitall", asked=slots, ended=ended)
        self._event(self._known[key])

    # Collective calls: bytes that the rank gives and obtains, see docs/reference/trace.md.

    def _rooted(self, words: Arguments, place: int) -> int:
        return self._peer(words, place) if place < len(words) else 0

    def _broadcast(self, words: Arguments) -> None:
        size, root = self._bytes(words, 0, 2), self._rooted(words, 1)
        given = size if root == self.rank else 0
        self._call("MPI_Bcast", peer=root, bytes=given, received=size - given)

    def _reduce(self, words: Arguments) -> None:
        size, root = self._bytes(words, 0, 3), self._rooted(words, 2)
        self._call("MPI_Reduce", peer=root, bytes=size, received=size if root == self.rank else 0)
        self._work(words, 1)

    def _combine(self, name: str, words: Arguments) -> None:
        size = self._bytes(words, 0, 2)
        self._call(name, bytes=size, received=size)
        self._work(words, 1)

    def _work(self, words: Arguments, place: int) -> None:
        """Add what a rank computes behind the messages of a reduction."""
        if place < len(words):
            self._compute(words[place:], 1 / FLOPS_PER_NS)

    def _reduce_scatter(self, words: Arguments) -> None:
        blocks = self._counts(words, 0, self._type(words, self._size + 1))
        self._call("MPI_Reduce_scatter", blocks, bytes=sum(blocks), received=blocks[self.rank])
        self._work(words, self._size)

    def _sizes(self, words: Arguments, rest: int) -> tuple[int, int, Arguments]:
        """Return what each rank gives and obtains, and the other arguments.

        `rest`: how many these are, with the datatypes; a received size of 0 may be left out.
        """
        if len(words) == rest + 1:
            words = [words[0], "0", *words[1:]]
        return self._bytes(words, 0, rest), self._bytes(words, 1, rest + 1), words[2:]

    def _all_to_all(self, words: Arguments) -> None:
        given, obtained, _ = self._sizes(words, 2)
        self._call("MPI_Alltoall", bytes=given * self._size, received=obtained * self._size)

    def _all_gather(self, words: Arguments) -> None:
        given, obtained, _ = self._sizes(words, 2)
        self._call("MPI_Allgather", bytes=given, received=obtained * self._size)

    def _gather(self, words: Arguments) -> None:
        given, obtained, rest = self._sizes(words, 3)
        root = self._rooted(rest, 0)
        received = obtained * self._size if root == self.rank else 0
        self._call("MPI_Gather", peer=root, bytes=given, received=received)

    def _scatter(self, words: Arguments) -> None:
        given, obtained, rest = self._sizes(words, 3)
        root = self._rooted(rest, 0)
        self._call("MPI_Scatter", peer=root, bytes=given * self._size if root == self.rank else 0, received=obtained)

    def _all_to_all_blocks(self, words: Arguments) -> None:
        first = 2 + 2 * self._size
        given = self._counts(words, 1, self._type(words, first))
        obtained = self._counts(words, 2 + self._size, self._type(words, first + 1))
        self._call("MPI_Alltoallv", given, bytes=sum(given), received=sum(obtained))

    def _all_gather_blocks(self, words: Arguments) -> None:
        first = 1 + self._size
        obtained = self._counts(words, 1, self._type(words, first + 1))
        self._call("MPI_Allgatherv", bytes=self._bytes(words, 0, first), received=sum(obtained))

    def _gather_blocks(self, words: Arguments) -> None:
        first = 1 + self._size
        root = self._rooted(words, first)
        obtained = self._counts(words, 1, self._type(words, first + 2)) if root == self.rank else []
        given = self._bytes(words, 0, first + 1)
        self._call("MPI_Gatherv", peer=root, bytes=given, received=sum(obtained))

    def _scatter_blocks(self, words: Arguments) -> None:
        first = 1 + self._size
        root = self._rooted(words, first)
        given = self._counts(words, 0, self._type(words, first + 1)) if root == self.rank else []
        obtained = self._bytes(words, self._size, first + 2)
        self._call("MPI_Scatterv", given, peer=root, bytes=sum(given), received=obtained)
