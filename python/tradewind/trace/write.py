"""Traces written to one file: the files of ranks joined and compressed, or a trace that is in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from tradewind.base.files import replaced
from tradewind.trace.blocks import SIGNATURE, Coding, Columns, Kind, Reader, encode_times, write
from tradewind.trace.calls import CALLS
from tradewind.trace.definitions import lines_of
from tradewind.trace.model import RankEvents, Trace
from tradewind.trace.read import STORED, part_files
from tradewind.trace.sites import lines_of_sites

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHAT = "trace"
"""Name of such a file in errors."""
EVENTS_PER_BLOCK = 1 << 20
OPERATIONS_PER_BLOCK = 1 << 18


def join(folder: Path, path: Path, command: Sequence[str], started: str) -> None:
    """Write the files of ranks in a folder as one file, which takes a fraction of their room.

    Files that end within a block are taken up to that block. Raises InputError for a folder without such files, and
    where the file cannot be written.
    """
    files = part_files(folder)
    with replaced(path, WHAT) as file:
        _write_begin(file, command, started)
        for each in files:
            reader = Reader(each)
            for rank in reader.by_rank:
                _join_rank(file, reader, rank)


def save_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write a trace, as one that a builder has made. Times are rounded to 0.4 %. Raises InputError."""
    with replaced(Path(path), WHAT) as file:
        _write_begin(file, trace.command, trace.started)
        for rank in trace.ranks:
            _write_rank(file, trace, rank)


def _write_begin(file: IO[bytes], command: Sequence[str], started: str) -> None:
    file.write(SIGNATURE)
    _write_json(file, Kind.RUN, 0, {"command": list(command), "started": started})


def _write_json(file: IO[bytes], kind: Kind, rank: int, value: Any) -> None:
    write(file, kind, rank, json.dumps(value, separators=(",", ":")).encode(), Coding.ZLIB)


def _join_rank(file: IO[bytes], reader: Reader, rank: int) -> None:
    for kind in (Kind.RANK, Kind.DEFINITIONS, Kind.SITES):
        text = b"".join(reader.all_of(rank, kind))
        if text:
            write(file, kind, rank, text, Coding.ZLIB)
    for data in reader.all_of(rank, Kind.OPERATIONS):
        write(file, Kind.OPERATIONS, rank, data, Coding.XZ)
    waiting: list[Columns] = []
    for columns in reader.columns(rank):
        waiting.append(columns)
        if sum(len(each.order) for each in waiting) >= EVENTS_PER_BLOCK:
            _write_events(file, rank, Columns.joined(waiting))
            waiting = []
    if waiting:
        _write_events(file, rank, Columns.joined(waiting))
    for text in reader.all_of(rank, Kind.END):
        write(file, Kind.END, rank, text, Coding.ZLIB)


def _write_events(file: IO[bytes], rank: int, columns: Columns) -> None:
    order, gaps, durations, overtakers = columns
    write(file, Kind.ORDER, rank, order.astype("<u4").tobytes(), Coding.XZ)
    if len(overtakers):
        write(file, Kind.OVERTAKERS, rank, overtakers.astype("<u4").tobytes(), Coding.XZ)
    write(file, Kind.GAPS, rank, gaps.astype("<u2").tobytes(), Coding.BY_OPERATION, order)
    write(file, Kind.DURATIONS, rank, durations.astype("<u2").tobytes(), Coding.BY_OPERATION, order)


def _write_rank(file: IO[bytes], trace: Trace, rank: int) -> None:
    info = trace.infos[rank]
    described = {"rank": rank, "size": trace.size, "host": info.host, "library": info.library, "abi": info.abi}
    described |= {"thread_level": info.thread_level, "begin_ns": 0, "calls": [call.name for call in CALLS]}
    _write_json(file, Kind.RANK, rank, described)
    ends: dict[int, int] = {}
    for number, part in enumerate(trace.parts(rank, EVENTS_PER_BLOCK)):
        if number == 0:
            write(file, Kind.DEFINITIONS, rank, lines_of(trace, part), Coding.ZLIB)
            if part.sites:
                write(file, Kind.SITES, rank, lines_of_sites(part.sites), Coding.ZLIB)
            for begin in range(0, max(1, len(part.operations)), OPERATIONS_PER_BLOCK):
                write(file, Kind.OPERATIONS, rank, _stored(part, begin), Coding.XZ)
        _write_events(
            file, rank, Columns(part.order.astype(np.uint32), *_coded(part, ends), part.overtakers.astype(np.uint32))
        )
    counted = {name: (calls, round(seconds * 1e9)) for name, (calls, seconds) in info.counted.items()}
    if info.ending != "killed":
        _write_json(file, Kind.END, rank, {"ending": info.ending, "end_sync_ns": 0, "counted": counted})


def _coded(part: RankEvents, ends: dict[int, int]) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return the codes of gaps and durations. `ends`: when the last call of each thread ended, carried on."""
    threads = part.column("thread")
    gaps = np.empty(len(part), np.int64)
    for thread in np.unique(threads).tolist():
        mine = np.flatnonzero(threads == thread)
        before = np.concatenate([[ends.get(thread, 0)], part.end_ns[mine[:-1]]])
        gaps[mine] = part.begin_ns[mine] - before
        ends[thread] = int(part.end_ns[mine[-1]])
    return encode_times(gaps), encode_times(part.end_ns - part.begin_ns)


def _stored(part: RankEvents, first: int) -> bytes:
    """Return the operations of a rank from the first on as a block has them."""
    operations = part.operations[first : first + OPERATIONS_PER_BLOCK]
    stored = np.zeros(len(operations), STORED)
    lists = {"asked": part.asked, "ended": part.ended, "blocks": part.blocks}
    for name in STORED.names or ():
        if name in lists:
            begin, end = operations[name].T
            stored[name] = end - begin
            lists[name] = lists[name][begin.min(initial=len(lists[name])) : end.max(initial=0)]
        else:
            stored[name] = operations[name] + (name == "site")
    lengths = np.array([len(stored), len(lists["asked"]), len(lists["ended"]), len(lists["blocks"])], "<u4")
    return b"".join(each.tobytes() for each in (lengths, stored, lists["ended"], lists["blocks"], lists["asked"]))
