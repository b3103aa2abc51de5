"""SimGrid's time-independent traces, as `smpirun -trace-ti` writes and `smpirun -replay` reads them: read as traces.

A line is an action of a rank: `0 isend 1 7 800`. A file names files of ranks, one in a line, or has the lines of all.
Sizes are counts of a datatype, whose number may end the line; without it, bytes (doubles, if `init` has an argument).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError, quoted
from tradewind.base.names import unknown
from tradewind.trace.action_arguments import BYTE, DOUBLE, MOST_TAG, ActionArguments, Arguments
from tradewind.trace.builder import Ended, RankBuilder
from tradewind.trace.forms import file_named
from tradewind.trace.model import MAX_RANKS, NONE, Trace, missing_ranks
from tradewind.trace.requests import Key, Open
from tradewind.trace.text import MOST, TextFile, trace_of_text

FLOPS_PER_NS = 1.0
"""Operations of `compute` in a nanosecond: those of a host of 1 Gflop/s."""
Step = Callable[[], None]
"""An action whose arguments are known."""
_MOST_STEPS = 1 << 16
"""Lines of a rank that are kept with what they do, as those of a loop come again."""


def read_time_independent(path: Path) -> Trace:
    """Return the trace of a file of SimGrid's. Raises InputError with the line that is no action."""
    files = _files(path)
    size = _size_of(files, path)
    problems = []
    ranks: dict[int, _Rank] = {}
    by_word: dict[str, _Rank] = {}
    for file in files:
        for line in file.lines():
            word, _, text = line.partition(" ")
            if word not in by_word:
                words = line.split(None, 1)
                if not words or words[0].startswith("#"):
                    continue
                word, text = words[0], words[-1] if len(words) > 1 else "\n"
                rank = file.whole_number(word, "rank", 0, size - 1)
                by_word[word] = ranks.setdefault(rank, _Rank(rank, size, file))
            if line.endswith("\n"):
                by_word[word].read(file, text)
            else:
                problems.append(f"{file.path} is cut off at line {file.number}")
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
        there = file_named(path, name)
        if there is None:
            raise whole.error(f"there is no file {quoted(name)}: a file with the actions of a rank is allowed")
        named.append(TextFile(there))
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


_OF_THEIR_OWN = ("init", "compute", "sleep")
"""Actions whose lines hardly come again, or that change what others mean."""


class _Rank(ActionArguments):
    """Makes the calls of a rank of its actions."""

    def __init__(self, rank: int, size: int, file: TextFile) -> None:
        super().__init__(size, file)
        self.rank = rank
        self._builder = RankBuilder(rank).call("MPI_Init")
        self._open = Open()
        self._known: dict[tuple[Ended, ...], int] = {}
        self._gap = 0.0
        self._steps: dict[str, Step] = {}

    def read(self, file: TextFile, line: str) -> None:
        """Carry out an action: its name and arguments. Raises InputError."""
        self._file = file
        step = self._steps.get(line)
        if step is None:
            name, *words = line.split() or [""]
            if name not in self._actions:
                raise file.error(unknown("action of SimGrid", name, self._actions))
            step = self._actions[name](words)
            if name not in _OF_THEIR_OWN and len(self._steps) < _MOST_STEPS:
                self._steps[line] = step
        step()

    def finish(self) -> RankBuilder:
        """Return all calls."""
        self._call("MPI_Finalize")()
        return self._builder

    @cached_property
    def _actions(self) -> dict[str, Callable[[Arguments], Step]]:
        def nothing(arguments: Arguments) -> Step:
            return lambda: None

        sends = {"send": "Send", "isend": "Isend", "Ssend": "Ssend", "ISsend": "Issend", "bsend": "Bsend"}
        sends |= {"ibsend": "Ibsend"}
        return {
            **dict.fromkeys(("finalize", "comm_size", "comm_split", "comm_dup", "location"), nothing),
            **dict.fromkeys(("test", "testany", "testall", "testsome"), nothing),
            "init": self._init,
            "compute": lambda words: self._compute(words, 1 / FLOPS_PER_NS),
            "sleep": lambda words: self._compute(words, 1e9),
            **{action: self._send(f"MPI_{name}") for action, name in sends.items()},
            "recv": lambda words: self._receive("MPI_Recv", words),
            "irecv": lambda words: self._receive("MPI_Irecv", words),
            "sendRecv": self._both,
            "wait": self._wait,
            "waitall": lambda words: lambda: self._ended(self._open.end_all()),
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

    # Calls.

    def _call(self, name: str, blocks: Sequence[int] = (), **fields: int) -> Step:
        arguments: dict[str, Any] = {"blocks": blocks, **fields}
        return partial(self._event, self._operation(name, **arguments))

    def _operation(self, name: str, blocks: Sequence[int] = (), **fields: int) -> int:
        amounts = (fields.get("bytes", 0), fields.get("received", 0), *blocks)
        if max(amounts) > MOST:
            raise self._file.error(f"{max(amounts)} bytes in one call: up to {MOST} are allowed")
        arguments: dict[str, Any] = {"blocks": blocks, **fields}
        return self._builder.operation(name, **arguments)

    def _begin(self, name: str, key: Key, status: tuple[int, int, int], **fields: int) -> Step:
        """Return the step of a call that begins a request."""
        by_slot: dict[int, int] = {}
        arguments: dict[str, Any] = fields

        def begin() -> None:
            slot = self._open.post(key, status)
            if slot not in by_slot:
                by_slot[slot] = self._operation(name, **arguments, request=slot)
            self._event(by_slot[slot])

        return begin

    def _event(self, operation: int) -> None:
        gap = round(self._gap)
        self._gap -= gap  # what is rounded away comes later
        try:
            self._builder.event(operation, gap)
        except OverflowError:
            raise self._file.error("the rank computes for more than 292 years") from None

    def _init(self, words: Arguments) -> Step:
        self._type_bytes = DOUBLE if words else BYTE
        self._steps.clear()
        return lambda: None

    def _compute(self, words: Arguments, ns: float) -> Step:
        amount = self._real(words[0], "amount") if words else -1.0
        if not 0 <= amount * ns <= MOST:
            raise self._file.error(f"amount {' '.join(words[:1])}: a time from 0 to 31 years is allowed")
        return partial(self._add_computing, amount * ns)

    def _add_computing(self, time_ns: float) -> None:
        self._gap += time_ns

    def _send(self, name: str) -> Callable[[Arguments], Step]:
        begins = name.startswith("MPI_I")

        def send(words: Arguments) -> Step:
            peer, tag, size = (
                self._peer(words, 0),
                self._number(words, 1, "tag", 0, MOST_TAG),
                self._bytes(words, 2, 3),
            )
            if begins:
                return self._begin(name, (self.rank, peer, tag), (NONE, NONE, 0), peer=peer, tag=tag, bytes=size)
            return self._call(name, peer=peer, tag=tag, bytes=size)

        return send

    def _receive(self, name: str, words: Arguments) -> Step:
        source = self._from(words, 0, "rank", self._size - 1)
        tag = self._from(words, 1, "tag", MOST_TAG)
        size = 0 if words[2:3] == ["-1"] else self._bytes(words, 2, 3)  # of which only the sender is certain
        fields: dict[str, Any] = {"source": source, "source_tag": tag, "received": size}
        if name == "MPI_Irecv":
            return self._begin(name, (source, self.rank, tag), (source, tag, size), **fields)
        return self._call(name, **fields)

    def _both(self, words: Arguments) -> Step:
        to, source = self._peer(words, 1), self._peer(words, 3)
        size, received = self._bytes(words, 0, 4), self._bytes(words, 2, 5)
        return self._call("MPI_Sendrecv", peer=to, tag=0, bytes=size, source=source, source_tag=0, received=received)

    def _key(self, words: Arguments) -> tuple[int, int, int]:
        ranks = [self._from(words, place, "rank", self._size - 1) for place in (0, 1)]
        return ranks[0], ranks[1], self._from(words, 2, "tag", MOST_TAG)

    def _wait(self, words: Arguments) -> Step:
        key = self._key(words)
        return lambda: self._ended(self._open.end(key))

    def _ended(self, ended: list[Ended]) -> None:
        if not ended:  # a test had ended it, where the trace was recorded
            return
        key = tuple(ended)
        if key not in self._known:
            slots = [slot for slot, *_ in ended]
            self._known[key] = self._builder.operation("MPI_Waitall", asked=slots, ended=ended)
        self._event(self._known[key])

    # Collective calls: bytes that the rank gives and obtains, see docs/reference/trace.md.

    def _broadcast(self, words: Arguments) -> Step:
        size, root = self._bytes(words, 0, 2), self._rooted(words, 1)
        given = size if root == self.rank else 0
        return self._call("MPI_Bcast", peer=root, bytes=given, received=size - given)

    def _reduce(self, words: Arguments) -> Step:
        size, root = self._bytes(words, 0, 3), self._rooted(words, 2)
        call = self._call("MPI_Reduce", peer=root, bytes=size, received=size if root == self.rank else 0)
        return self._with_work(call, words, 1)

    def _combine(self, name: str, words: Arguments) -> Step:
        size = self._bytes(words, 0, 2)
        return self._with_work(self._call(name, bytes=size, received=size), words, 1)

    def _with_work(self, call: Step, words: Arguments, place: int) -> Step:
        """Return the step of a reduction, whose rank may compute behind its messages."""
        if place >= len(words):
            return call
        work = self._compute(words[place:], 1 / FLOPS_PER_NS)

        def both() -> None:
            call()
            work()

        return both

    def _reduce_scatter(self, words: Arguments) -> Step:
        blocks = self._counts(words, 0, self._type(words, self._size + 1))
        call = self._call("MPI_Reduce_scatter", blocks, bytes=sum(blocks), received=blocks[self.rank])
        return self._with_work(call, words, self._size)

    def _sizes(self, words: Arguments, rest: int) -> tuple[int, int, Arguments]:
        """Return what each rank gives and obtains, and the other arguments.

        `rest`: how many these are, with the datatypes; a received size of 0 may be left out.
        """
        if len(words) == rest + 1:
            words = [words[0], "0", *words[1:]]
        return self._bytes(words, 0, rest), self._bytes(words, 1, rest + 1), words[2:]

    def _all_to_all(self, words: Arguments) -> Step:
        given, obtained, _ = self._sizes(words, 2)
        return self._call("MPI_Alltoall", bytes=given * self._size, received=obtained * self._size)

    def _all_gather(self, words: Arguments) -> Step:
        given, obtained, _ = self._sizes(words, 2)
        return self._call("MPI_Allgather", bytes=given, received=obtained * self._size)

    def _gather(self, words: Arguments) -> Step:
        given, obtained, rest = self._sizes(words, 3)
        root = self._rooted(rest, 0)
        received = obtained * self._size if root == self.rank else 0
        return self._call("MPI_Gather", peer=root, bytes=given, received=received)

    def _scatter(self, words: Arguments) -> Step:
        given, obtained, rest = self._sizes(words, 3)
        root = self._rooted(rest, 0)
        return self._call(
            "MPI_Scatter", peer=root, bytes=given * self._size if root == self.rank else 0, received=obtained
        )

    def _all_to_all_blocks(self, words: Arguments) -> Step:
        first = 2 + 2 * self._size
        given = self._counts(words, 1, self._type(words, first))
        obtained = self._counts(words, 2 + self._size, self._type(words, first + 1))
        return self._call("MPI_Alltoallv", given, bytes=sum(given), received=sum(obtained))

    def _all_gather_blocks(self, words: Arguments) -> Step:
        first = 1 + self._size
        obtained = self._counts(words, 1, self._type(words, first + 1))
        return self._call("MPI_Allgatherv", bytes=self._bytes(words, 0, first), received=sum(obtained))

    def _gather_blocks(self, words: Arguments) -> Step:
        first = 1 + self._size
        root = self._rooted(words, first)
        obtained = self._counts(words, 1, self._type(words, first + 2)) if root == self.rank else []
        given = self._bytes(words, 0, first + 1)
        return self._call("MPI_Gatherv", peer=root, bytes=given, received=sum(obtained))

    def _scatter_blocks(self, words: Arguments) -> Step:
        first = 1 + self._size
        root = self._rooted(words, first)
        given = self._counts(words, 0, self._type(words, first + 1)) if root == self.rank else []
        obtained = self._bytes(words, self._size, first + 2)
        return self._call("MPI_Scatterv", given, peer=root, bytes=sum(given), received=obtained)
