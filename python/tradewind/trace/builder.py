"""Traces made call by call: by hand for tests and examples, and by readers of other forms."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.trace.calls import NUMBERS
from tradewind.trace.model import DATATYPE, ENDED, NONE, OPERATION, Communicator, RankEvents, RankInfo, Trace, Window
from tradewind.trace.sites import Site

_LISTS = ("asked", "ended", "blocks")
_FIELDS = tuple(name for name in OPERATION.names or () if name not in ("call", *_LISTS))
_DEFAULTS = {name: 0 if name in ("thread", "bytes", "received", "argument") else NONE for name in _FIELDS}
Ended = tuple[int, int, int, int]
"""A request that ended: slot, source, tag, bytes; see model.ENDED."""


class RankBuilder:
    """The calls of one rank, added in order; times go on from call to call where none are given."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.counted: dict[str, tuple[int, float]] = {}
        self.ending = "finalized"
        self.neighbors: dict[int, tuple[Any, Any]] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._order = array("i")
        self._begin = array("q")
        self._end = array("q")
        self._types: dict[tuple[int, int, bool], int] = {}
        self._sites: dict[Site, int] = {}

    def type(self, size: int, extent: int | None = None, derived: bool = False) -> int:
        """Return the index of a datatype, bytes."""
        return self._types.setdefault((size, size if extent is None else extent, derived), len(self._types))

    def site(self, path: str, offset: int, build_id: str = "") -> int:
        """Return the index of a call site: see sites.Site."""
        return self._sites.setdefault(Site(path, offset, build_id), len(self._sites))

    def call(
        self,
        name: str,
        *,
        gap_ns: int = 0,
        duration_ns: int = 0,
        asked: Sequence[int] = (),
        ended: Sequence[Ended] = (),
        blocks: Sequence[int] = (),
        **fields: int,
    ) -> RankBuilder:
        """Add a call of `name`, as MPI_Isend, `gap_ns` after the end of the previous one of this rank.

        The other arguments are those of `operation`. Raises InputError for an unknown function or column.
        """
        return self.event(self.operation(name, asked=asked, ended=ended, blocks=blocks, **fields), gap_ns, duration_ns)

    def operation(
        self,
        name: str,
        *,
        asked: Sequence[int] = (),
        ended: Sequence[Ended] = (),
        blocks: Sequence[int] = (),
        **fields: int,
    ) -> int:
        """Return the number of an operation: a call of `name` with its arguments, which `event` adds.

        `fields`: columns of model.OPERATION; those that are not given are NONE, or 0 for bytes, received, thread and
        argument; the communicator is MPI_COMM_WORLD. Raises InputError for an unknown function or column.
        """
        if name not in NUMBERS:
            raise InputError(unknown("MPI function", name, NUMBERS))
        for given in fields:
            if given not in _DEFAULTS:
                raise InputError(unknown("column of an operation", given, _DEFAULTS))
        values = _DEFAULTS | {"communicator": 0} | fields
        key = (NUMBERS[name], *values.values(), tuple(asked), tuple(map(tuple, ended)), tuple(blocks))
        return self._numbers.setdefault(key, len(self._numbers))

    def event(self, operation: int, gap_ns: int = 0, duration_ns: int = 0) -> RankBuilder:
        """Add a call of an operation, `gap_ns` after the end of the previous call of this rank."""
        begin = (self._end[-1] if self._end else 0) + gap_ns
        self._order.append(operation)
        self._begin.append(begin)
        self._end.append(begin + duration_ns)
        return self

    def events(self) -> RankEvents:
        """Return what was added."""
        operations: list[tuple[Any, ...]] = []
        lists: dict[str, list[Any]] = {name: [] for name in _LISTS}
        for call, *values, asked, ended, blocks in self._numbers:
            ranges = []
            for name, items in zip(_LISTS, (asked, ended, blocks), strict=True):
                begin = len(lists[name])
                lists[name] += items
                ranges.append((begin, len(lists[name])))
            operations.append((call, *values, *ranges))
        return RankEvents(
            self.rank,
            np.array(operations, OPERATION),
            np.array(self._order, np.int32),
            np.array(self._begin, np.int64),
            np.array(self._end, np.int64),
            np.array(lists["asked"], np.int32),
            np.array([(slot, source, tag, 0, size) for slot, source, tag, size in lists["ended"]], ENDED),
            np.array(lists["blocks"], np.int64),
            np.array(list(self._types), DATATYPE),
            {number: (_ranks(a), _ranks(b)) for number, (a, b) in self.neighbors.items()},
            list(self._sites),
        )

    def info(self) -> RankInfo:
        """Return how its recording ended, and what is only counted."""
        return RankInfo(ending=self.ending, counted=dict(self.counted), events=len(self._order))


def _ranks(values: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.asarray(values, np.int32)


class TraceBuilder:
    """A trace of `size` ranks. `rank(r)` takes the calls of rank r; `trace()` returns what was added."""

    def __init__(self, size: int, command: Sequence[str] = ()) -> None:
        self.size, self.command = size, tuple(command)
        self.communicators = [Communicator(np.arange(size, dtype=np.int32))]
        self.windows: list[Window] = []
        self._ranks = [RankBuilder(rank) for rank in range(size)]

    def rank(self, rank: int) -> RankBuilder:
        """Return what takes the calls of a rank."""
        return self._ranks[rank]

    def communicator(self, members: Sequence[int], call: str = "MPI_Comm_split", parent: int = 0, **more: Any) -> int:
        """Add a communicator of these world ranks; return its number. `more`: other attributes of it."""
        self.communicators.append(Communicator(_ranks(members), call, parent, **more))
        return len(self.communicators) - 1

    def window(self, communicator: int = 0, call: str = "MPI_Win_create") -> int:
        """Add a window; return its number."""
        self.windows.append(Window(communicator, call))
        return len(self.windows) - 1

    def trace(self) -> Trace:
        """Return the trace, which holds all events in memory."""
        events = {each.rank: each.events() for each in self._ranks}
        infos = {each.rank: each.info() for each in self._ranks}
        return in_memory(self.size, infos, self.communicators, events, windows=self.windows, command=self.command)


def in_memory(
    size: int,
    infos: Mapping[int, RankInfo],
    communicators: Sequence[Communicator],
    events: Mapping[int, RankEvents],
    **more: Any,
) -> Trace:
    """Return a trace of events that are all in memory. `more`: other attributes of the trace."""

    def load(rank: int, count: int) -> Iterator[RankEvents]:
        whole = events[rank]
        for begin in range(0, max(1, len(whole)), count):
            yield whole.part(begin, begin + count)

    return Trace(size, infos, communicators, load, **more)
