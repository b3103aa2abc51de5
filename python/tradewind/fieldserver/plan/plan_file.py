"""The plan file: which fields at which steps go to which files, in which form and precision.

Every error is reported at once, each with its line. docs/reference/plan-file.md says what each key means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.tables import Table, explained, one_of, place_of
from tradewind.base.toml_lines import Place, TomlFile
from tradewind.base.units import byte_count, seconds
from tradewind.fieldserver.plan.file_names import MANIFEST, file_name, is_by_level, keys_of, meets, named, path_problems
from tradewind.fieldserver.plan.forms import FORMS, FormRules, form_named, forms_with, special_keys

PACKINGS = ("simple", "ccsds", "ieee")
WHEN_FULL = ("block", "spill", "drop")
LOCAL_SERVERS = ("node", "rank")
EXISTING = ("refuse", "continue", "replace")
DEALS = ("size", "names", "steps", "levels")
LEVEL_TYPES = ("model", "pressure", "surface", "height")
PRECISIONS = ("f4", "f8")
ALL = "*"
EVERYTHING = "everything"
"""Name of the rule and the sink that a plan has which names none."""
MAX_STEP = 2**31 - 1
_MAX_THREADS = 1024
_MAX_BITS = 32
_MAX_CENTRE = 2**16 - 1
_MAX_LOOK_AHEAD = 64
_MAX_BYTES = 2**60
_MAX_PATIENCE_S = 1e9
_ROUNDED_S = 1e-6
"""Part of a second that comes from rounding."""


def _start(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InputError(f"start {value!r}: a date and time is allowed, like 2026-11-27T00:00:00") from None
    if not isinstance(value, datetime):
        raise InputError(f"start {value!r}: a date and time is allowed, like 2026-11-27T00:00:00")
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _names(value: Any) -> Any:
    """One name, or a list of them, as a tuple."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed or not all(isinstance(each, str) and each for each in listed):
        raise InputError(f"{value!r}: a name, or a list of names, is allowed")
    if len(set(listed)) < len(listed):
        raise InputError(f"{value!r}: each name is allowed once")
    return tuple(listed)


def _centre(value: Any) -> Any:
    """A number of two octets, or a name."""
    if (type(value) is int and 0 <= value <= _MAX_CENTRE) or (isinstance(value, str) and value.isalnum()):
        return value
    raise InputError(f"centre {value!r}: an abbreviation like 'eswi', or 0..{_MAX_CENTRE}, is allowed")


Count = Annotated[int, Field(ge=1, le=MAX_STEP, strict=True)]
Number = Annotated[int, Field(ge=0, le=MAX_STEP, strict=True)]
Duration = Annotated[float, BeforeValidator(seconds)]
Size = Annotated[int, BeforeValidator(byte_count), Field(ge=1, le=_MAX_BYTES)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class Sink(Table):
    """A kind of file that fields are written to."""

    name: Annotated[str, Field(min_length=1)]
    format: Annotated[str, one_of("format", FORMS)]
    path: Annotated[str, Field(min_length=1)]
    """Below the folder: may hold ``{step}``, also as ``{step:06}``, ``{name}`` of the field, and ``{level}``."""
    packing: Annotated[str, one_of("packing", PACKINGS)] | None = None
    """Packing of GRIB."""
    bits: Annotated[int, Field(ge=1, le=_MAX_BITS, strict=True)] | None = None
    """Bits per value, of GRIB."""
    centre: Annotated[int | str, BeforeValidator(_centre)] | None = None
    """Originating centre of GRIB: a number of WMO's common code table C-11, or its abbreviation in ecCodes."""
    precision: Annotated[str, one_of("precision", PRECISIONS)] | None = None
    compression: Annotated[int, Field(ge=0, le=9, strict=True)] = 0
    """Level, of NetCDF and Zarr; 0: none."""
    outside: Annotated[bool, Field(strict=True)] = False
    """Whether `path` may lead out of the folder."""

    @property
    def form(self) -> type[FormRules]:
        """Rules of its files: what they need, and may have."""
        return form_named(self.format)


class Rule(Table):
    """Fields that go to sinks."""

    sink: Names
    fields: Names = (ALL,)
    every: Count | None = None
    """Each so manieth step, from 0 on."""
    steps: tuple[Number, ...] | None = None
    bits: Annotated[int, Field(ge=1, le=_MAX_BITS, strict=True)] | None = None
    precision: Annotated[str, one_of("precision", PRECISIONS)] | None = None

    def wants(self, name: str, step: int) -> bool:
        """Whether a field goes there at a step."""
        if self.fields != (ALL,) and name not in self.fields:
            return False
        if self.steps is not None:
            return step in self.steps
        return step % (self.every or 1) == 0


class FieldTable(Table):
    """A description of a field, beside that of the model."""

    units: str | None = None
    long_name: str | None = None
    standard_name: str | None = None
    grib: str | tuple[Number, Number, Number] | None = None
    """Short name of ecCodes, or [discipline, category, number]."""
    level_type: Annotated[str, one_of("level type", LEVEL_TYPES)] | None = None


class PlanTable(Table):
    """A whole file."""

    folder: Annotated[str, Field(min_length=1)] = "output"
    start: Annotated[datetime, BeforeValidator(_start)] = datetime(2000, 1, 1)
    step: Duration = 1.0
    block: Count = 100
    queue: Size = 2**28
    when_full: Annotated[str, one_of("policy", WHEN_FULL)] = "block"
    spill: Annotated[str, Field(min_length=1)] | None = None
    threads: Annotated[int, Field(ge=1, le=_MAX_THREADS, strict=True)] = 1
    deal: Annotated[str, one_of("way to deal", DEALS)] = "size"
    durable: Annotated[bool, Field(strict=True)] = True
    existing: Annotated[str, one_of("policy", EXISTING)] = "refuse"
    look_ahead: Annotated[int, Field(ge=1, le=_MAX_LOOK_AHEAD, strict=True)] = 2
    patience: Annotated[Duration, Field(le=_MAX_PATIENCE_S)] = 60.0
    synchronous: Annotated[bool, Field(strict=True)] = False
    local_servers: Annotated[str, one_of("place of local servers", LOCAL_SERVERS)] = "node"
    sink: list[Sink] = Field(default_factory=list)
    rule: list[Rule] = Field(default_factory=list)
    field: dict[str, FieldTable] = Field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """A field of a step, or one level of it, that goes to a sink: file, and precision there."""

    sink: Sink
    path: str
    """Below the folder. Of a file for each level, before it is known `at` which, with a star for it."""
    bits: int | None
    precision: str | None
    name: str = ""
    step: int = 0
    by_level: bool = False
    """Whether each level has a file of its own."""

    def at(self, level: float) -> Request:
        """The same for one level."""
        return replace(self, path=file_name(self.sink.path, self.name, self.step, level)) if self.by_level else self

    @property
    def files(self) -> str:
        """The path, with a star for the level of a file for each: the same for all of these."""
        return file_name(self.sink.path, self.name, self.step) if self.by_level else self.path


@dataclass(frozen=True)
class OutputPlan:
    """A plan that has been read: what its text says."""

    table: PlanTable
    path: str
    text: str

    @property
    def folder(self) -> Path:
        """Folder of the output."""
        return Path(self.table.folder)

    def sink(self, name: str) -> Sink:
        """Return a sink by its name."""
        return next(sink for sink in self.table.sink if sink.name == name)

    def requests(self, name: str, step: int) -> list[Request]:
        """The files that a field goes to at a step, each once: the last rule that names it says how."""
        found: dict[str, Request] = {}
        for rule in self.table.rule:
            if rule.wants(name, step):
                for sink_name in rule.sink:
                    found[sink_name] = self._request(rule, sink_name, name, step)
        return list(found.values())

    def all_requests(self, name: str) -> list[Request]:
        """Those of a field at any step, as if they were all of step 0."""
        return [request for rule in self.table.rule for request in self.requests_of(rule, name)]

    def requests_of(self, rule: Rule, name: str) -> list[Request]:
        """Those that a rule has of a field, as if they were of step 0."""
        if rule.fields != (ALL,) and name not in rule.fields:
            return []
        return [self._request(rule, sink, name, 0) for sink in rule.sink]

    def _request(self, rule: Rule, sink_name: str, name: str, step: int) -> Request:
        sink = self.sink(sink_name)
        bits, precision = rule.bits or sink.bits, rule.precision or sink.precision
        return Request(sink, file_name(sink.path, name, step), bits, precision, name, step, is_by_level(sink.path))

    @property
    def slot_bytes(self) -> int:
        """Bytes of the queue for blocks of fields: files of NetCDF grow in the other half."""
        return self.table.queue // self.queue_parts

    @property
    def queue_parts(self) -> int:
        """Parts of the queue, of which one is for blocks of fields."""
        return 2 if any(sink.form.grows_in_memory for sink in self.table.sink) else 1

    def time(self, step: int) -> datetime:
        """The time that a step stands for."""
        try:
            return self.table.start + timedelta(seconds=self.table.step * step)
        except OverflowError:
            raise InputError(f"step {step} is after the year 9999") from None

    def check_fields(self, names: Iterable[str]) -> None:
        """Raises InputError where rules or tables name fields that the model does not have."""
        known = list(names)
        file = TomlFile(self.path, self.text)
        mentioned: list[tuple[Place, str]] = [(("field", each), each) for each in self.table.field]
        for i, rule in enumerate(self.table.rule):
            mentioned += [(("rule", i, "fields"), each) for each in rule.fields if each != ALL]
        problems = [file.at(place, unknown("field", each, known)) for place, each in mentioned if each not in known]
        if problems := problems or [file.at(place, each) for place, each in self._meeting_files(known)]:
            raise InputError(*dict.fromkeys(problems))

    def _meeting_files(self, names: Iterable[str]) -> Iterable[tuple[Place, str]]:
        """Problems of the files of these fields: two sinks that write one, and those in the folder of manifests."""
        numbers = {sink.name: number for number, sink in enumerate(self.table.sink)}
        found: dict[PurePosixPath, tuple[int, str]] = {}
        for name in names:
            for request in self.all_requests(name):
                number, path = numbers[request.sink.name], named(request.sink.path, name)
                at = ("sink", number, "path")
                if path.parts[0] == MANIFEST:
                    yield at, f"sink {number + 1}: field {name!r} would be in {MANIFEST!r}, the folder of manifests"
                other, its = found.setdefault(path, (number, name))
                if other != number:
                    yield (
                        at,
                        f"sink {number + 1}: field {name!r} goes to the file that sink {other + 1} writes {its!r} to",
                    )


def load_plan(path: Path | str, text: str | None = None) -> OutputPlan:
    """Read a plan file (or `text`, as if it stood in `path`). Raises InputError with all of its problems."""
    file = TomlFile(path, text)
    problems: list[tuple[Place, str]] = []
    more: list[str] = []
    table = None
    try:
        table = PlanTable.model_validate(file.data)
    except ValidationError as error:
        mistakes, more = file.first(error.errors(include_url=False), lambda loc: place_of(loc, _KINDS))
        problems += (explained(details, _keys, _KINDS) for details in mistakes)
    problems += _cross_checks(file.data)
    if problems or table is None:
        problems.sort(key=lambda each: file.line(each[0]))
        raise InputError(*dict.fromkeys(file.at(place, problem) for place, problem in problems), *more)
    if parts := list(_parts_of_seconds(table)):
        raise InputError(*dict.fromkeys(file.at(place, problem) for place, problem in parts))
    return OutputPlan(table, str(file.path), file.text)


def _parts_of_seconds(table: PlanTable) -> Iterable[tuple[Place, str]]:
    """Problems of times that forms which count whole seconds cannot hold."""
    counted = {sink.name: sink.form.title for sink in table.sink if sink.form.whole_seconds}
    for number, rule in enumerate(table.rule):
        title = next((counted[name] for name in rule.sink if name in counted), None)
        if title is None:
            continue
        if table.start.microsecond:
            yield ("start",), f"start {table.start}: {title} counts whole seconds"
        for step in rule.steps if rule.steps is not None else [rule.every or 1]:
            time = step * table.step
            if abs(time - round(time)) > _ROUNDED_S:
                problem = f"rule {number + 1}: step {step} is at {time:g} s, and {title} counts whole seconds"
                yield ("rule", number, "steps" if rule.steps is not None else "every"), problem
                break


_KINDS = ("tuple[", "str", "constrained-")
"""Kinds of a union as pydantic puts them behind a key, whole or the beginning of one that ends with a sign."""


def _keys(place: Place) -> list[str]:
    tables: dict[str | int, type[BaseModel]] = {"sink": Sink, "rule": Rule, "field": FieldTable}
    return list(tables.get(place[0], PlanTable).model_fields if len(place) > 1 else PlanTable.model_fields)


def _cross_checks(data: dict[str, Any]) -> list[tuple[Place, str]]:
    """Problems of values that must fit one another."""
    sinks = [each for each in _tables(data, "sink")]
    names = [sink.get("name") for _, sink in sinks]
    problems: list[tuple[Place, str]] = []
    if not sinks:
        problems.append(((), "no sink: [[sink]] with name, format and path is needed"))
    if not _tables(data, "rule"):
        problems.append(((), "no rule: [[rule]] with a sink is needed"))
    full = data.get("when_full")
    for key in ("folder", "spill"):
        if isinstance(data.get(key), str) and "\0" in data[key]:
            problems.append(((key,), f"{key}: a null character is in no path"))
    if full == "spill" and "spill" not in data:
        problems.append((("when_full",), "when_full 'spill' needs the folder to spill to: key 'spill'"))
    if isinstance(data.get("step"), str):
        problems += [(("step",), "step: more than 0 is allowed")] if _is_zero(data["step"]) else []
    if isinstance(data.get("patience"), str) and _is_zero(data["patience"]):
        problems.append((("patience",), "patience: more than 0 is allowed"))
    paths: list[tuple[int, PurePosixPath]] = []
    for i, sink in sinks:
        at = partial(_of_sink, i)
        problems += [at(key, problem) for key, problem in _sink_problems(sink)]
        if sink.get("name") in names[: [j for j, _ in sinks].index(i)]:
            problems.append(at("name", f"another sink is called {sink['name']!r}"))
        path = sink.get("path")
        if isinstance(path, str) and not path_problems(path, outside=True):
            own = named(path)
            for j, other in paths:
                if own == other:
                    problems.append(at("path", f"sink {j + 1} writes {path!r}, too: one writer is allowed"))
                elif meets(own, other):
                    problems.append(
                        at("path", f"{path!r} and {str(other)!r} of sink {j + 1}: one lies within the other")
                    )
            paths.append((i, own))
    known = [name for name in names if isinstance(name, str)]
    for i, rule in _tables(data, "rule"):
        problems += [(("rule", i, key), f"rule {i + 1}: {text}") for key, text in _rule_problems(rule, known, sinks)]
    return problems


def _is_zero(text: str) -> bool:
    try:
        return not seconds(text) > 0
    except InputError:
        return False


def _of_sink(number: int, key: str, problem: str) -> tuple[Place, str]:
    return ("sink", number, key), f"sink {number + 1}: {problem}"


def _tables(data: dict[str, Any], name: str) -> list[tuple[int, dict[str, Any]]]:
    tables = data.get(name, [])
    if not isinstance(tables, list):
        return []
    return [(i, table) for i, table in enumerate(tables) if isinstance(table, dict)]


def _sink_problems(sink: dict[str, Any]) -> Iterable[tuple[str, str]]:
    path, form = sink.get("path"), _form_of(sink)
    if isinstance(path, str) and path:
        yield from (("path", problem) for problem in path_problems(path, outside=sink.get("outside") is True))
        keys = keys_of(path)
        if form is not None and keys is not None and ("step" in keys) == bool(form.store_file):
            leave = f"a {form.title} store holds all steps: leave {{step}} away"
            need = f"a {sink['format']} file is of one step: {{step}} is needed in its path"
            yield "path", f"{path!r}: {leave if form.store_file else need}"
    if form is not None:
        for key in special_keys():
            default = Sink.model_fields[key].default
            if key not in form.keys and sink.get(key, default) != default:
                rest = f"; {form.instead[key]}" if key in form.instead else f", and not to {sink['format']}"
                yield key, f"{key} belongs to {forms_with(key)}{rest}"
        yield from form.problems(sink)


def _form_of(sink: Mapping[str, Any]) -> type[FormRules] | None:
    """Return the form of a table; None where it names no known one."""
    name = sink.get("format")
    return form_named(name) if isinstance(name, str) and name in FORMS else None


def _rule_problems(
    rule: dict[str, Any], known: list[str], sinks: Sequence[tuple[int, dict[str, Any]]]
) -> Iterable[tuple[str, str]]:
    listed = rule.get("sink")
    for name in [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []:
        if isinstance(name, str) and name and name not in known:
            yield "sink", unknown("sink", name, known)
        named_so = [sink for _, sink in sinks if sink.get("name") == name]
        form = _form_of(named_so[0]) if named_so else None
        if "bits" in rule and form is not None and "bits" not in form.keys:
            yield "bits", f"bits belong to {forms_with('bits')}, and sink {name!r} is {named_so[0]['format']}"
        if "bits" in rule and any(sink.get("name") == name and sink.get("packing") == "ieee" for _, sink in sinks):
            yield "bits", f"packing 'ieee' of sink {name!r} has no bits: say precision = 'f4' or 'f8'"
    if "every" in rule and "steps" in rule:
        yield "steps", "every and steps: one of the two is allowed"


def megabytes(count: float) -> str:
    """Bytes as a size that a plan file takes."""
    return f"{math.ceil(count / 2**20)}MiB"
