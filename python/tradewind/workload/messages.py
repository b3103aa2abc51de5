"""Stored lists of messages: what some program sends, to be verified, shown and simulated like any fetch.

A JSON file ``{"ranks": 4, "stages": [[[source, destination, bytes], ...], ...]}``; the messages of a stage are
read from memory as it was before the stage.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.base import memory
from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError
from tradewind.base.files import write_atomically
from tradewind.base.reading import check_source, read_json
from tradewind.workload.program import Scheduled, schedule_of

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

_SHOWN = 10  # problems of one file


def of(schedule: Scheduled | _core.Schedule, bytes_per_point: int = 8) -> dict[str, Any]:
    """The messages of a schedule that describes all ranks, as they are stored."""
    core = schedule_of(schedule)
    stages = [
        [[rank, m.peer, m.count * bytes_per_point] for rank in range(core.ranks) for m in core.sends(rank, stage)]
        for stage in range(core.stages)
    ]
    return {"ranks": core.ranks, "stages": stages}


def save(path: str | Path, messages: dict[str, Any]) -> None:
    """Store a list of messages. Raises InputError for an invalid list, and where the file cannot be written."""
    _fetches(str(path), messages)
    write_atomically(Path(path), (json.dumps(messages, separators=(",", ":")) + "\n").encode(), "messages")


def read(path: str | Path, ranks: int | None = None) -> list[_core.Fetch]:
    """Return a fetch for each stage of a stored list, in which a point is a byte.

    `ranks`: the number of ranks that the list must have; None: any. Raises InputError, with the place of each problem:
    a rank out of range, a message to its own sender, bytes that are no positive whole number, two messages between the
    same ranks in one stage.
    """
    check_source(Path(path))
    found = Path(path).stat()
    return list(_read(str(path), (found.st_mtime_ns, found.st_size), ranks))


@lru_cache(maxsize=4)
def _read(path: str, _version: tuple[int, int], ranks: int | None) -> tuple[_core.Fetch, ...]:
    return tuple(_fetches(path, read_json(Path(path)), ranks))


def _fetches(path: str, messages: Any, expected: int | None = None) -> list[_core.Fetch]:
    form = f'{path}: {{"ranks": N, "stages": [[[source, destination, bytes], ...], ...]}} is allowed'
    if not isinstance(messages, dict) or set(messages) != {"ranks", "stages"}:
        raise InputError(form)
    ranks, stages = messages["ranks"], messages["stages"]
    if not _whole(ranks) or not 1 <= ranks <= 2**31 - 1 or not isinstance(stages, list) or not stages:
        raise InputError(form)
    if expected not in (None, ranks):
        raise InputError(f"{expected} ranks: the messages of {path} are those of {ranks}")
    needed = memory.BYTES_A_RANK * ranks * len(stages)
    memory.require(f"{path}: {len(stages)} stages of {ranks} ranks", needed, "name fewer ranks")
    problems: list[str] = []
    fetches = []
    for number, stage in enumerate(stages):
        if not isinstance(stage, list) or not all(isinstance(m, list) and len(m) == 3 for m in stage):
            raise InputError(form)
        bad = _problems(ranks, stage)
        problems += [f"{path}, stage {number}, {text}" for text in bad]
        if not problems:
            fetches.append(_fetch(ranks, stage))
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise InputError(*problems[:_SHOWN], *more)
    return fetches


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _problems(ranks: int, stage: list[Any]) -> list[str]:
    problems: list[str] = []
    seen: dict[tuple[int, int], int] = {}
    for i, (source, destination, size) in enumerate(stage):
        where = f"message {i}: "
        if not all(map(_whole, (source, destination, size))):
            problems.append(f"{where}{[source, destination, size]}: three whole numbers are allowed")
            continue
        for rank in (source, destination):
            if not 0 <= rank < ranks:
                problems.append(f"{where}rank {rank}; 0..{ranks - 1} are allowed")
        if source == destination:
            problems.append(f"{where}rank {source} sends to itself; another rank is allowed")
        if not 1 <= size <= 2**40:
            problems.append(f"{where}{size} bytes; 1..{2**40} are allowed")
        if (first := seen.setdefault((source, destination), i)) != i:
            problems.append(
                f"{where}rank {source} sends rank {destination} a second one, after message {first}; one message, or "
                "another stage, is allowed"
            )
    return problems


def _fetch(ranks: int, stage: list[list[int]]) -> _core.Fetch:
    """Every byte is a point; what a rank sends begins at the first of its points."""
    table = np.asarray(stage, dtype=np.int64).reshape(-1, 3)
    counts = np.zeros(ranks, dtype=np.int64)
    np.maximum.at(counts, table[:, 0], table[:, 2])
    return _core.fetch_of_messages(
        counts.tolist(), [(source, destination, size) for source, destination, size in table.tolist()]
    )
