"""Traces read from files: one that `tradewind record` has joined, or the folder of the files of its ranks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError, quoted
from tradewind.trace.blocks import Columns, Kind, Reader, decode_times, is_empty
from tradewind.trace.calls import NUMBERS
from tradewind.trace.definitions import Definitions, merge
from tradewind.trace.forms import Form, form_of
from tradewind.trace.goal import read_goal
from tradewind.trace.json_objects import COUNTED, TEXT, WHOLE, between, list_of, read_object
from tradewind.trace.model import DATATYPE, ENDED, MAX_RANKS, OPERATION, RankEvents, RankInfo, Trace, missing_ranks
from tradewind.trace.sites import read_sites
from tradewind.trace.time_independent import read_time_independent

if TYPE_CHECKING:
    from numpy.typing import NDArray

STORED = np.dtype(
    [
        *((name, OPERATION[name]) for name in OPERATION.names or () if OPERATION[name].shape == () and name != "site"),
        *((name, "<u4") for name in ("asked", "ended", "blocks", "site")),
    ]
)
"""An operation as the file has it: with the lengths of its lists, and call sites from 1 on (0: none)."""
PART_NAME = "rank-*.part"
"""Names of the files of ranks in the folder of a run."""


def open_trace(path: str | os.PathLike[str]) -> Trace:
    """Open the trace of a run: a file of `tradewind record`, or the folder with the files of the ranks; a schedule in
    GOAL's text form; a trace of SimGrid's.

    Of a file that is cut off, and of ranks that were killed, what is whole is used; `Trace.problems` says what is
    missing. Raises InputError for a file that is no trace, is damaged, or of a newer version.
    """
    place = Path(path)
    readers = {Form.GOAL: read_goal, Form.TIME_INDEPENDENT: read_time_independent, Form.RECORDED: _open_recorded}
    return readers[form_of(place)](place)


def part_files(folder: Path) -> list[Path]:
    """Return the files of ranks in the folder of a run, by rank, without empty ones, whose ranks are missing.

    Raises InputError where there is none.
    """
    named = sorted(folder.glob(PART_NAME), key=lambda file: (len(file.name), file.name))
    files = [file for file in named if not is_empty(file)]
    if not files:
        raise InputError(f"{folder}: this folder has no files of ranks ({PART_NAME}), or they are empty")
    return files


def _open_recorded(place: Path) -> Trace:
    files = part_files(place) if place.is_dir() else [place]
    readers = [Reader(file) for file in files]
    parts = {rank: _Part(rank, reader) for reader in readers for rank in sorted(reader.by_rank)}
    whole = {rank: part for rank, part in sorted(parts.items()) if part.description}
    if not whole:
        raise InputError(f"{place}: the trace is cut off before the first rank is described")
    run: dict[str, Any] = next(
        (
            read_object(reader.content(reader.run), f"{reader.path}: the run", {}, _RUN)
            for reader in readers
            if reader.run is not None
        ),
        {},
    )
    sizes = {part.description["size"] for part in whole.values()}
    if len(sizes) > 1:
        raise InputError(
            f"{place}: ranks of programs of {min(sizes)} and of {max(sizes)} ranks: one program is allowed"
        )
    (size,) = sizes
    communicators, windows = merge({rank: part.definitions for rank, part in whole.items()})
    clocks = _Clocks(whole)

    def load(rank: int, count: int) -> Iterator[RankEvents]:
        yield from whole[rank].load(count, *clocks.of(rank))

    infos = {rank: part.info() for rank, part in whole.items()}
    problems = [f"{reader.path} {reader.problem}" for reader in readers if reader.problem]
    problems += _missing(size, infos)
    command = tuple(run.get("command", ()))
    return Trace(size, infos, communicators, load, windows, command, run.get("started", ""), tuple(problems))


def _missing(size: int, infos: Mapping[int, RankInfo]) -> Iterator[str]:
    yield from missing_ranks(size, infos)
    why = {
        "killed": "was killed: up to a second of its last calls is missing",
        "full": "has events until its disk was full",
        "exited": "ended without MPI_Finalize",
        "aborted": "called MPI_Abort",
    }
    for ending, text in why.items():
        ranks = [rank for rank, info in infos.items() if info.ending == ending]
        if ranks:
            more = f", and {len(ranks) - 1} more" if len(ranks) > 1 else ""
            yield f"rank {ranks[0]}{more}: {text}"


_DESCRIPTION = {
    **{"rank": between(0, MAX_RANKS - 1), "size": between(1, MAX_RANKS), "begin_ns": WHOLE, "calls": list_of(TEXT)},
    **dict.fromkeys(("host", "library", "abi", "thread_level"), TEXT),
}
_END = {"ending": TEXT, "end_sync_ns": WHOLE, "counted": COUNTED}
_RUN = {"command": list_of(TEXT), "started": TEXT}


@dataclass
class _Part:
    """The blocks of one rank."""

    rank: int
    reader: Reader
    description: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in (("description", Kind.RANK), ("end", Kind.END)):
            text = next(self.reader.all_of(self.rank, kind), None)
            if text is not None:
                where = f"{self.reader.path}: {name} of rank {self.rank}"
                required = _DESCRIPTION if kind is Kind.RANK else {}
                setattr(self, name, read_object(text, where, required, _END if kind is Kind.END else None))
        if self.description:
            size = self.description["size"]
            if not self.description["rank"] == self.rank < size:
                raise InputError(
                    f"{self.reader.path}: rank {self.rank} is described as {self.description['rank']} of {size}"
                )
            lines = self.reader.all_of(self.rank, Kind.DEFINITIONS)
            self.definitions = Definitions(self.rank, lines, size, str(self.reader.path))

    def info(self) -> RankInfo:
        counted = {name: (calls, ns / 1e9) for name, (calls, ns) in self.end.get("counted", {}).items()}
        return RankInfo(
            host=self.description["host"],
            library=" ".join(self.description["library"].split()),
            abi=self.description["abi"],
            thread_level=self.description["thread_level"],
            ending=self.end.get("ending", "killed"),
            counted=counted,
            events=self.reader.events(self.rank),
        )

    def load(self, count: int, start_ns: int, rate: float) -> Iterator[RankEvents]:
        """Yield the events in parts; times are `start_ns` + `rate` times those of the file."""
        events = self._operations()
        threads = events.operations["thread"]
        ends = np.zeros(int(threads.max(initial=0)) + 1, np.int64)
        first = 0
        for order, gaps, durations, overtakers in self._in_parts(count):
            if order.max(initial=0) >= len(threads):
                raise InputError(f"{self.reader.path}: rank {self.rank}: an event has an operation that is missing")
            times = _times(threads[order], decode_times(gaps), decode_times(durations), ends)
            if min(time.min(initial=0) for time in times) < 0:
                raise InputError(f"{self.reader.path}: rank {self.rank}: its calls take longer than 292 years")
            begin, end = (
                start_ns + np.rint(time * rate).astype(np.int64) if rate != 1 else start_ns + time for time in times
            )
            if (overtakers > np.arange(first, first + len(overtakers))).any():
                raise InputError(f"{self.reader.path}: rank {self.rank}: a call is overtaken by more than there are")
            changed = {"order": order.astype(np.int32), "begin_ns": begin, "end_ns": end, "first": first}
            changed |= {"overtakers": self._overtakers(overtakers, len(order), bool(threads.any()))}
            yield RankEvents(**{**events.__dict__, **changed})
            first += len(order)
        if first == 0:
            yield events

    def _overtakers(self, overtakers: NDArray[np.uint32], events: int, threaded: bool) -> NDArray[np.int32]:
        """Return `RankEvents.overtakers`, which a file has only where threads may call at once."""
        if not threaded:
            return np.empty(0, np.int32)
        if self.description["thread_level"] == "serialized":
            return np.zeros(events, np.int32)
        return overtakers.astype(np.int32)

    def _in_parts(self, count: int) -> Iterator[Columns]:
        """Yield the columns of at most `count` events at once, and of fewer only at the end."""
        waiting: list[Columns] = []
        for columns in self.reader.columns(self.rank):
            waiting.append(columns)
            while sum(len(each.order) for each in waiting) >= count:
                whole = Columns.joined(waiting)
                yield whole.part(0, count)
                waiting = [whole.part(count, None)]
        if sum(len(each.order) for each in waiting):
            yield Columns.joined(waiting)

    def _operations(self) -> RankEvents:
        where = f"{self.reader.path}: rank {self.rank}"
        stored, asked, ended, blocks = read_operations(self.reader.all_of(self.rank, Kind.OPERATIONS), where)
        operations = np.zeros(len(stored), OPERATION)
        for name in STORED.names or ():
            if name in ("asked", "ended", "blocks"):
                ends = np.cumsum(stored[name], dtype=np.int64)
                operations[name] = np.stack([ends - stored[name], ends], axis=1)
            else:
                operations[name] = stored[name]
        operations["site"] -= 1
        numbers = np.array([NUMBERS.get(name, NUMBERS[OTHER]) for name in self.description["calls"]], np.uint16)
        if len(stored) and stored["call"].max() >= len(numbers):
            raise InputError(f"{where}: an operation has a function that is not named")
        operations["call"] = numbers[operations["call"]]
        self.definitions.renumber(operations)
        sites = read_sites(self.reader.all_of(self.rank, Kind.SITES), where)
        if len(stored) and stored["site"].max() > len(sites):
            raise InputError(f"{where}: an operation has call site {stored['site'].max()}, which is not described")
        empty = np.empty(0, np.int64)
        types = np.array(self.definitions.types, DATATYPE)
        return RankEvents(
            self.rank,
            operations,
            empty.astype(np.int32),
            empty,
            empty,
            asked,
            ended,
            blocks,
            types,
            self.definitions.neighbors(),
            sites,
        )


OTHER = "MPI_Comm_free"
"""Stands for functions that a newer recorder knows and this reader does not."""


_LISTS = (("ended", ENDED, 2), ("blocks", np.dtype("<i8"), 3), ("asked", np.dtype("<i4"), 1))
"""The lists of a block of operations: name, type, and place of their length in front of it."""


def read_operations(contents: Iterator[bytes], where: str) -> tuple[Any, Any, Any, Any]:
    """Return all operations of blocks, and their lists: asked, ended, blocks. Raises InputError for damaged ones."""
    columns: dict[str, list[Any]] = {"operations": [np.empty(0, STORED)]}
    columns |= {name: [np.empty(0, dtype)] for name, dtype, _ in _LISTS}
    for data in contents:
        lengths = np.frombuffer(data[:_LENGTHS_BYTES], "<u4").tolist() if len(data) >= _LENGTHS_BYTES else []
        places = [("operations", STORED, 0), *_LISTS]
        if not lengths or len(data) != _LENGTHS_BYTES + sum(dtype.itemsize * lengths[at] for _, dtype, at in places):
            raise InputError(f"{where}: a block of operations is damaged: it has {len(data)} bytes")
        begin = _LENGTHS_BYTES
        for name, dtype, at in places:
            columns[name].append(np.frombuffer(data, dtype, lengths[at], begin))
            begin += lengths[at] * dtype.itemsize
    joined = {name: np.concatenate(column) for name, column in columns.items()}
    for name, _, _ in _LISTS:
        if joined["operations"][name].sum(dtype=np.int64) != len(joined[name]):
            raise InputError(f"{where}: the lists of its operations do not fit: {name}")
    return joined["operations"], joined["asked"], joined["ended"], joined["blocks"]


_LENGTHS_BYTES = 16


def _times(
    threads: NDArray[np.uint16], gaps: NDArray[np.int64], durations: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return begin and end of events; `ends`: when the last call of each thread ended, which this carries on."""
    begin, end = np.empty(len(gaps), np.int64), np.empty(len(gaps), np.int64)
    for thread in np.unique(threads):
        mine = slice(None) if len(ends) == 1 else np.flatnonzero(threads == thread)
        end[mine] = ends[thread] + np.cumsum(gaps[mine] + durations[mine])
        begin[mine] = end[mine] - durations[mine]
        ends[thread] = end[mine][-1]
    return begin, end


_MOST_RATE = 2.0
"""Clocks of hosts go alike, within some parts of a million."""


class _Clocks:
    """The clocks of all hosts on the scale of the first rank's: ranks leave the barriers at begin and end together."""

    def __init__(self, parts: Mapping[int, _Part]) -> None:
        self._parts = parts
        self._hosts: dict[str, tuple[int, int]] = {}
        hosts: dict[str, list[_Part]] = {}
        for part in parts.values():
            hosts.setdefault(part.description["host"], []).append(part)
        for host, members in hosts.items():
            ends = [part.end.get("end_sync_ns", 0) for part in members]
            self._hosts[host] = min(part.description["begin_ns"] for part in members), min(ends)
        self._first = next(iter(self._hosts.values()))

    def of(self, rank: int) -> tuple[int, float]:
        """Return the start of a rank's clock, ns, and its rate."""
        description = self._parts[rank].description
        begin, end = self._hosts[description["host"]]
        rate = 1.0
        if end > begin and self._first[1] > self._first[0]:
            rate = (self._first[1] - self._first[0]) / (end - begin)
        if not 1 / _MOST_RATE <= rate <= _MOST_RATE:
            raise InputError(
                f"rank {rank}: the clock of host {quoted(description['host'])} goes {rate:g} times as fast"
            )
        return description["begin_ns"] - begin, rate
