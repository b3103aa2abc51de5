"""Datatypes, communicators and windows, which each rank defines once and numbers by itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.trace.calls import CALLS
from tradewind.trace.json_objects import FLAG, TEXT, WHOLE, between, list_of, ranges_of, read_object
from tradewind.trace.model import ANY, MAX_RANKS, NONE, Communicator, RankEvents, Trace, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAKES_WINDOW = np.array([call.name.startswith("MPI_Win_") for call in CALLS])


class Definitions:
    """The definitions of a rank, and their numbers among those of all ranks."""

    def __init__(self, rank: int, contents: Iterable[bytes], size: int = MAX_RANKS, path: str = "trace") -> None:
        """`contents`: blocks of lines in JSON; `size`: number of ranks. Raises InputError for what they cannot hold.

        `path`: the file, in errors.
        """
        self.rank = rank
        self.where = f"{path}: rank {rank}"
        self.types: list[tuple[int, int, bool]] = []
        self.communicators: dict[int, dict[str, Any]] = {}
        self.windows: dict[int, dict[str, Any]] = {}
        self.communicator_numbers: dict[int, int] = {}
        self.window_numbers: dict[int, int] = {}
        ranks = ranges_of(size, NONE, MAX_RANKS)
        neighbors = list_of(between(ANY, size - 1))
        optional = {"remote": ranks, "dims": list_of(WHOLE), "periodic": list_of(FLAG)}
        communicator = {"communicator": WHOLE, "parent": WHOLE, "call": TEXT, "members": ranks}
        for number, line in enumerate(b"".join(contents).splitlines(), start=1):
            where = f"{self.where}: definition {number}"
            entry = read_object(line, where, {})
            if "type" in entry:
                entry = read_object(line, where, {"size": WHOLE, "extent": WHOLE, "derived": FLAG})
                self.types.append((entry["size"], entry["extent"], entry["derived"]))
            elif "window" in entry:
                entry = read_object(line, where, {"window": WHOLE, "communicator": WHOLE, "call": TEXT})
                self.windows[entry["window"]] = entry
            else:
                pairs = dict.fromkeys(("sources", "destinations"), neighbors) if "sources" in entry else {}
                entry = read_object(line, where, communicator | pairs, optional)
                self.communicators[entry["communicator"]] = entry

    def renumber(self, operations: NDArray[Any]) -> None:
        """Replace the rank's numbers of communicators and windows in operations by those of the trace."""
        created = operations["created"].copy()
        makes_window = _MAKES_WINDOW[operations["call"]]
        unknown = set(np.unique(operations["communicator"]).tolist()) - {NONE, *self.communicator_numbers}
        if unknown:
            raise InputError(f"{self.where}: an operation names communicator {min(unknown)}, which is not defined")
        operations["communicator"] = _mapped(operations["communicator"], self.communicator_numbers)
        operations["window"] = _mapped(operations["window"], self.window_numbers)
        operations["created"] = np.where(
            makes_window, _mapped(created, self.window_numbers), _mapped(created, self.communicator_numbers)
        )

    def neighbors(self) -> dict[int, tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Return the neighbors of the rank by communicator of the trace: world ranks, from which and to which."""
        return {
            self.communicator_numbers[number]: (
                np.array(entry["sources"], np.int32),
                np.array(entry["destinations"], np.int32),
            )
            for number, entry in self.communicators.items()
            if "sources" in entry
        }


def _mapped(values: NDArray[np.int32], numbers: Mapping[int, int]) -> NDArray[np.int32]:
    """Return numbers of the trace for those of a rank; NONE for what has none."""
    own, places = np.unique(values, return_inverse=True)
    return np.array([numbers.get(each, NONE) for each in own.tolist()], np.int32)[places]


MOST_MEMBERS = 1 << 27
"""Members of all communicators together that are read."""


def merge(parts: Mapping[int, Definitions]) -> tuple[list[Communicator], list[Window]]:
    """Return the communicators and windows of all ranks, each once, and number those of each rank.

    Ranks agree on the how-manieth communicator of the same members is made of a parent, as all of them take part; and
    on the how-manieth intercommunicator of two groups.
    """
    communicators: list[Communicator] = []
    windows: list[Window] = []
    numbers: dict[Any, int] = {}
    members = 0
    for part in parts.values():
        seen: Counter[Any] = Counter()
        for number, entry in part.communicators.items():
            parent = part.communicator_numbers.get(entry["parent"], NONE)
            groups = sorted([str(entry["members"]), str(entry.get("remote", ""))])
            made_of = (
                NONE if entry["call"] == "MPI_Intercomm_create" else parent
            )  # its groups have parents of their own
            key = (made_of, *groups)
            seen[key] += 1
            if (key, seen[key]) not in numbers:
                members += sum(count for _, count in [*entry["members"], *entry.get("remote", ())])
                if members > MOST_MEMBERS:
                    raise InputError(
                        f"{part.where}: communicators of {members} ranks: up to {MOST_MEMBERS} are allowed"
                    )
                numbers[key, seen[key]] = len(communicators)
                communicators.append(_communicator(entry, parent))
            part.communicator_numbers[number] = numbers[key, seen[key]]
        for number, entry in part.windows.items():
            communicator = part.communicator_numbers.get(entry["communicator"], NONE)
            if communicator == NONE:
                raise InputError(f"{part.where}: window {number} has a communicator that is not defined")
            key = ("window", communicator)
            seen[key] += 1
            if (key, seen[key]) not in numbers:
                numbers[key, seen[key]] = len(windows)
                windows.append(Window(communicator, entry["call"]))
            part.window_numbers[number] = numbers[key, seen[key]]
    return communicators, windows


def _communicator(entry: Mapping[str, Any], parent: int) -> Communicator:
    return Communicator(
        ranks_of(entry["members"]),
        entry["call"],
        parent,
        ranks_of(entry["remote"]) if "remote" in entry else None,
        tuple(entry.get("dims", ())),
        tuple(map(bool, entry.get("periodic", ()))),
    )


def ranks_of(ranges: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    """Return ranks from ranges: [first, count] each; `count` times NONE where that is the first."""
    if not ranges:
        return np.empty(0, np.int32)
    return np.concatenate(
        [
            np.full(count, NONE, np.int32) if first == NONE else np.arange(first, first + count, dtype=np.int32)
            for first, count in ranges
        ]
    )


def lines_of(trace: Trace, events: RankEvents) -> bytes:
    """Return the definitions of a rank of a trace in memory, a line of JSON each."""
    lines: list[dict[str, Any]] = [
        {"type": number, "size": int(size), "extent": int(extent), "derived": bool(derived)}
        for number, (size, extent, derived) in enumerate(events.types)
    ]
    for number, each in enumerate(trace.communicators):
        groups = [each.members] if each.remote is None else [each.members, each.remote]
        if number > 0 and not any(events.rank in group for group in groups):
            continue
        line = {"communicator": number, "parent": each.parent, "call": each.call, "members": _ranges(each.members)}
        if each.remote is not None:
            line["remote"] = _ranges(each.remote)
        if each.dims:
            line |= {"dims": list(each.dims), "periodic": [int(value) for value in each.periodic]}
        if number in events.neighbors:
            sources, destinations = events.neighbors[number]
            line |= {"sources": sources.tolist(), "destinations": destinations.tolist()}
        lines.append(line)
    lines += [
        {"window": number, "communicator": each.communicator, "call": each.call}
        for number, each in enumerate(trace.windows)
        if events.rank in trace.communicators[each.communicator].members
    ]
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _ranges(ranks: NDArray[np.int32]) -> list[list[int]]:
    """Return ranks as ranges: [first, count] each; see `ranks_of`."""
    if len(ranks) == 0:
        return []
    steps = np.where(ranks[:-1] == NONE, 0, 1)
    begins = np.append(0, 1 + np.flatnonzero(np.diff(ranks) != steps))
    counts = np.diff(np.append(begins, len(ranks)))
    return [[int(ranks[begin]), int(count)] for begin, count in zip(begins, counts, strict=True)]
