"""Tuning files: which method for an exchange was the fastest, where, and by how much.

A TOML file with one ``[[entry]]`` for each exchange (pattern, shape, ranks, fields, type, memory of the arrays) at each
host (processor, MPI library, ranks per node). `tradewind tune` writes it, and plans read it (see
`tradewind.method.choice`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.files import write_atomically
from tradewind.base.names import unknown
from tradewind.base.reading import is_there
from tradewind.base.tables import Table
from tradewind.base.toml_lines import Place, TomlFile
from tradewind.method.host import Host
from tradewind.method.memories import PRIVATE, SHARED
from tradewind.method.method import NATIVE, PARTS, Method

_MAX_INTEGER = 2**63 - 1
"""TOML's whole numbers have 64 bits."""
Number = Annotated[int, Field(strict=True, ge=0, le=_MAX_INTEGER)]
Count = Annotated[int, Field(strict=True, ge=1, le=_MAX_INTEGER)]
Flag = Annotated[bool, Field(strict=True)]
Date = Annotated[AwareDatetime, Field(strict=True)]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Split = tuple[Count, Count]
Axes = Annotated[str, Field(pattern="^(xy|yx|xz|zx|yz|zy)$")]

_HEAD = "# Written by `tradewind tune`: the fastest method for each exchange, by where it was measured.\n"

NOISY = "the samples of the fastest method lie far apart, so something else was running"
"""Warning if the median of the chosen method is more than `NOISE` times its shortest sample."""
NOISE = 1.5


class _Entry(Table):
    """A tuned exchange: request, host and result."""

    ranks: Count
    fields: Count
    dtype: Literal["f4", "f8", "i4", "i8", "c8", "c16"]
    memory: Literal["private", "shared"] = PRIVATE
    """Memory of the exchanged arrays. Files of earlier versions do not say it: theirs is private."""
    host: str
    cpu: str
    mpi: str
    ranks_per_node: Count
    oversubscribed: Flag
    algorithm: str
    transport: str | None = None
    packing: str | None = None
    median_s: Seconds
    min_s: Seconds
    default_s: Seconds | None = None
    """Median of the default method."""
    trials: Count
    date: Date
    tradewind: str

    @property
    def tuned_on(self) -> Host:
        return Host(self.host, self.cpu, self.mpi, self.ranks_per_node)

    @property
    def choice(self) -> Method:
        return Method(self.algorithm, self.transport, self.packing)

    @property
    def request(self) -> dict[str, Any]:
        """The tuned request, as from `request_of`."""
        return self.model_dump(exclude=set(_Entry.model_fields) - {"ranks", "fields", "dtype", "memory"})

    def replaces(self, other: Entry) -> bool:
        """Whether both are about one exchange on one host."""
        return self.request == other.request and not any(self.tuned_on.differences(other.tuned_on))


class HaloEntry(_Entry):
    pattern: Literal["halo"]
    grid: tuple[Count, Count, Count]
    split: Split
    width: Number
    periodic: Literal["", "x", "y", "xy"]


class TransposeEntry(_Entry):
    pattern: Literal["transpose"]
    grid: tuple[Count, Count, Count]
    from_split: Split
    from_axes: Axes
    to_split: Split
    to_axes: Axes


class AllReduceEntry(_Entry):
    pattern: Literal["allreduce"]
    count: Count


class FetchEntry(_Entry):
    pattern: Literal["fetch"]
    points: Number
    levels: Number
    adjoint: Flag


class GatherScatterEntry(_Entry):
    pattern: Literal["gather-scatter"]
    shared: Number
    levels: Number


Entry = HaloEntry | TransposeEntry | AllReduceEntry | FetchEntry | GatherScatterEntry
_KINDS: dict[str, type[HaloEntry | TransposeEntry | AllReduceEntry | FetchEntry | GatherScatterEntry]] = {
    "fetch": FetchEntry,
    "halo": HaloEntry,
    "transpose": TransposeEntry,
    "allreduce": AllReduceEntry,
    "gather-scatter": GatherScatterEntry,
}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    entry: list[Annotated[Entry, Field(discriminator="pattern")]] = []


def request_of(pattern: _core.Pattern, dtype: str, fields: int, memory: str = PRIVATE) -> dict[str, Any]:
    """Return the request for a plan as plain values: by these an entry is found, also from C and Fortran.

    `memory`: of the arrays.
    """
    asked = _core.tuning_request(pattern, dtype, fields, memory)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in asked}


def entry_of(
    request: dict[str, Any], host: Host, choice: Method, figures: dict[str, Any], *, oversubscribed: bool
) -> Entry:
    """A new entry, of today. `figures`: median_s, min_s, default_s and trials."""
    from importlib.metadata import version

    return _KINDS[request["pattern"]](
        **request,
        **{name: getattr(host, name) for name in ("host", "cpu", "mpi", "ranks_per_node")},
        **{part: getattr(choice, part) for part in PARTS},
        **figures,
        oversubscribed=oversubscribed,
        date=datetime.now(UTC).replace(microsecond=0),
        tradewind=version("tradewind"),
    )


def read(path: Path) -> list[Entry]:
    """The entries of a tuning file. Raises InputError with all that is wrong with it, each with its line."""
    try:
        found = path.stat()
        return _read(path, (found.st_mtime_ns, found.st_ino, found.st_size))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


@lru_cache(maxsize=8)
def _read(path: Path, _version: tuple[int, ...]) -> list[Entry]:
    """A model makes many plans, and the file stays the same."""
    file = TomlFile(path)
    try:
        entries = _File.model_validate(file.data).entry
    except ValidationError as error:
        mistakes, more = file.first(error.errors(include_url=False))
        problems = [file.at(*_problem(details, file.data)) for details in mistakes]
        raise InputError(*dict.fromkeys(problems), *more) from None
    problems = [
        file.at(("entry", i), f"entry {i + 1}: {problem}")
        for i, entry in enumerate(entries)
        for problem in _conflicts(entry)
    ]
    if problems:
        raise InputError(*problems)
    return entries


def _conflicts(entry: Entry) -> list[str]:
    given = {entry.transport is not None, entry.packing is not None}
    if given != {entry.algorithm != NATIVE}:
        return [f"transport and packing belong to every algorithm but {NATIVE}, which has neither"]
    return entry.choice.problems(entry.pattern)


def _problem(details: Any, data: dict[str, Any]) -> tuple[Place, str]:
    """One error of pydantic, in our words."""
    place: Place = tuple(part for i, part in enumerate(details["loc"]) if i != 2 or part not in _KINDS)
    kind, key = details["type"], str(place[-1])
    owner = f"entry {int(place[1]) + 1}: " if len(place) > 1 else ""
    if kind == "extra_forbidden":
        known = _KINDS[data["entry"][place[1]]["pattern"]] if len(place) > 2 else _File
        return place, owner + unknown("key", key, known.model_fields)
    if kind == "missing":
        return place[:-1], f"{owner}key {key!r} is missing"
    if kind == "union_tag_not_found":
        return place, f"{owner}key 'pattern' is missing (known: {', '.join(_KINDS)})"
    if kind == "union_tag_invalid":
        return (*place, "pattern"), owner + unknown("pattern", str(details["ctx"]["tag"]), _KINDS)
    return place, f"{owner}{key} = {details['input']!r}: {details['msg'][0].lower()}{details['msg'][1:]}"


def find(entries: Iterable[Entry], request: dict[str, Any], host: Host | None) -> tuple[Entry, list[str]] | None:
    """The entry about an exchange: of several the one whose host is most like this one, of equals the latest.

    With it, what its host differs in; nothing where `host` is None. None: no entry is about this exchange. Arrays in
    shared memory take an entry about private memory where there is none of their own: it still compares the
    algorithms. Arrays in private memory take no entry about shared memory.
    """
    entries = list(entries)
    fitting = [
        (list(host.differences(entry.tuned_on)) if host else [], entry) for entry in entries if entry.request == request
    ]
    if not fitting:
        return find(entries, request | {"memory": PRIVATE}, host) if request["memory"] == SHARED else None
    differences, entry = min(fitting, key=lambda pair: (len(pair[0]), -pair[1].date.timestamp()))
    return entry, differences


def keep(path: Path, tables: Sequence[dict[str, Any]], where: dict[str, Any]) -> None:
    """Puts what was tuned into a file: tables as `tradewind.launch.trials` makes them, `where`: their circumstances."""
    host = Host(**where["site"])
    entries = []
    for table in tables:
        figures = {key: table[key] for key in ("median_s", "min_s", "default_s")}
        figures["trials"] = len(table["results"][0]["samples_s"])
        choice = Method(**table["choice"])
        entries.append(entry_of(table["request"], host, choice, figures, oversubscribed=where["oversubscribed"]))
    merge(path, entries)


def merge(path: Path, new: Sequence[Entry]) -> None:
    """Puts entries into a file, for those that they replace. Raises InputError where the file is none of ours."""
    old = read(path) if is_there(path) else []
    kept = [entry for entry in old if not any(each.replaces(entry) for each in new)]
    text = _HEAD + "".join(_text(entry) for entry in [*kept, *new])
    write_atomically(path, text.encode(), "tuning file")
    _read.cache_clear()  # what was written twice in one tick of the clock looks alike


def _text(entry: Entry) -> str:
    own = [name for name in type(entry).model_fields if name not in _Entry.model_fields]
    names = [*own, *_Entry.model_fields]
    values = {name: getattr(entry, name) for name in names}
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if value is not None]
    return "\n".join(["\n[[entry]]", *lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return json.dumps(value, ensure_ascii=False)  # TOML writes text, numbers and truth as JSON does
