"""Programs as TOML files: a model's time step, which is verified, run on MPI ranks and simulated.

Every error has the line at which it stands. docs/reference/program-file.md describes each key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from tradewind import _core
from tradewind.base.errors import InputError, gathered
from tradewind.base.extents import extents_text, parse_extents
from tradewind.base.file_work import FileWork
from tradewind.base.formula import Formula
from tradewind.base.names import unknown
from tradewind.base.tables import explained, place_of
from tradewind.base.toml_lines import Place, TomlFile
from tradewind.layout.mesh import halo_of
from tradewind.layout.names import blocks, legs
from tradewind.method.method import default_algorithm
from tradewind.workload.between_groups import Placed, between, placed
from tradewind.workload.box_halo import box_halo
from tradewind.workload.every import MAX_STEPS, named, unrolled
from tradewind.workload.patterns.fetch import FetchExchange
from tradewind.workload.patterns.gather_scatter import cubic
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.program_tables import (
    FILE_KEYS,
    FileGroup,
    FileStep,
    ImbalanceTable,
    Moved,
    NamedExchange,
    ProgramTable,
)
from tradewind.workload.steps import Compute, Exchanged, Group, GroupStep, Poke, WholeExchange


def program_of(table: ProgramTable, place: Callable[[Place, str], str] = lambda _, problem: problem) -> ProgramWorkload:
    """Return the program of a table whose keys are in order. Raises InputError with every problem.

    `place`: returns the text of a problem at a place of the table, for example with its line in a file.
    """
    return _Builder(table, place).program(ProgramWorkload)


def program_of_data(data: Mapping[str, Any], place: Callable[[Place, str], str]) -> ProgramWorkload:
    """Return the program of what a file would hold. Raises InputError with every problem, as `place` words it."""
    try:
        table = ProgramTable.model_validate(data)
    except ValidationError as error:
        mistakes = [explained(details, _keys, UNION_KINDS) for details in error.errors(include_url=False)]
        mistakes += _unknown_exchanges(data)
        raise InputError(*dict.fromkeys(place(*mistake) for mistake in mistakes)) from None
    return program_of(table, place)


def _unknown_exchanges(data: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield the steps that refer to an exchange that does not stand in the data, of which other keys are wrong."""
    names = [str(each["name"]) for each in data.get("exchange", []) if "name" in each]
    for i, step in enumerate(data.get("step", [])):
        for key in REFERENCES:
            if isinstance(name := step.get(key), str) and name not in names:
                yield ("step", i), unknown("exchange", name, names)


Made = TypeVar("Made", bound=ProgramWorkload)


def load_program(path: Path | str, text: str | None = None, ranks: int | None = None) -> ProgramWorkload:
    """Read a program file (or `text`, as if it stood in `path`). Raises InputError with all of its problems.

    `ranks`: how many there must be; None: those of the file.
    """
    return load_program_as(ProgramWorkload, path, text, ranks)


def load_program_as(kind: type[Made], path: Path | str, text: str | None = None, ranks: int | None = None) -> Made:
    """Read a program file as a subclass of `ProgramWorkload`; see `load_program`."""
    file = TomlFile(path, text)
    try:
        table = ProgramTable.model_validate(file.data)
    except ValidationError as error:
        mistakes, more = file.first(error.errors(include_url=False), lambda loc: place_of(loc, UNION_KINDS))
        problems = [file.at(*explained(details, _keys, UNION_KINDS)) for details in mistakes]
        raise InputError(*dict.fromkeys(problems), *more) from None
    program = _Builder(table, file.at).program(kind)
    if ranks is not None and program.ranks != ranks:
        raise InputError(f"{file.path}: the program has {program.ranks} ranks, and {ranks} are asked for")
    return program


REFERENCES = ("start", "wait", "exchange", "during")
"""Keys of a step that name an exchange; the last one of a computation."""
UNION_KINDS = ("constrained-", "list[", "int", "str")
"""Kinds of a union as pydantic puts them behind a key, whole or the beginning of one that ends with a sign."""


def _keys(place: Place) -> list[str]:
    tables: dict[tuple[str, ...], type[BaseModel]] = {
        (): ProgramTable,
        ("exchange",): NamedExchange,
        ("step",): FileStep,
        ("group",): FileGroup,
        ("group", "step"): FileStep,
        ("step", "imbalance"): ImbalanceTable,
        ("group", "step", "imbalance"): ImbalanceTable,
    }
    words = [part for part in place[:-1] if isinstance(part, str)]
    table = tables[tuple(word for word, before in zip(words, [None, *words], strict=False) if word != before)]
    return [field.alias or name for name, field in table.model_fields.items()]


Listed = tuple[int, int, int, int, int, int]
"""Stage, source, destination, points, tag and half of a message."""


class _Builder:
    """Makes the program of a file whose tables are in order."""

    def __init__(self, table: ProgramTable, place: Callable[[Place, str], str]) -> None:
        self.table = table
        self.place = place
        self.problems: list[str] = []
        self.groups = table.group or [
            FileGroup.model_construct(
                name="all", ranks=table.ranks or 1, split=table.split, repeat=table.repeat, step=table.step
            )
        ]
        self.placed = placed(self.groups)
        self.named: dict[str, Exchanged] = {}

    def _grid(self, *own: tuple[int, int, int] | None, levels: list[int] | None = None) -> _core.Grid:
        """Return the first grid that there is, or that of the file. `levels`: of fields, in place of its own. Raises
        InputError where there is none."""
        if (grid := next(filter(None, (*own, self.table.grid)), None)) is None:
            raise InputError("key 'grid' is missing: layouts, halos and paths lie on one")
        return _core.Grid(*grid[:2], grid[2] if levels is None else sum(levels))

    def program(self, kind: type[Made]) -> Made:
        """Raises InputError with every problem that is found."""
        for i, entry in enumerate(self.table.exchange):
            self._at(("exchange", i), partial(self._add_named, entry))
        groups = [self._group(number, group) for number, group in enumerate(self.groups)]
        if self.problems:
            raise InputError(*dict.fromkeys(self.problems))
        try:
            made = kind(groups=groups, dtype=self.table.dtype, fields=self.table.fields, name=self.table.name)
        except InputError as error:
            raise InputError(*(self.place((), problem) for problem in error.problems)) from None
        if len(self.groups) == 1:
            made.split = self.groups[0].split
        return made

    def _at(self, place: Place, make: Callable[[], Any]) -> Any:
        """Return the object for a place of the file; None where it is refused, with the line."""
        found: list[str] = []
        made = None
        with gathered(found):
            made = make()
        self.problems += [self.place(place, problem) for problem in found]
        return made

    def _add_named(self, entry: NamedExchange) -> None:
        if entry.name in self.named:
            raise InputError(f"two exchanges have the name {entry.name!r}")
        if entry.source is not None and entry.target is not None:
            ends = (self._group_named(entry.source), self._group_named(entry.target))
            pattern, names = between(entry, *ends, self.table.grid)
            self.named[entry.name] = self._exchanged(entry.name, entry, pattern, names)
            return
        wanted = [entry.group] if isinstance(entry.group, str) else entry.group
        taking_part = self.groups if wanted is None else [self._group_named(name).group for name in wanted]
        ranks = sum(each.size for each in taking_part)
        split = entry.plane_split or (taking_part[0].split if len(taking_part) == 1 else None)
        grid = entry.points or (taking_part[0].grid if len(taking_part) == 1 else None)
        names = () if len(self.groups) == 1 else tuple(each.name for each in taking_part)
        if entry.messages is not None:
            messages = [cast(Listed, (*message, 0, 0)[:6]) for message in entry.messages]
            schedule = _core.schedule_of_messages(ranks, messages)
            self.named[entry.name] = self._carried(entry.name, entry, schedule, names)
            return
        if entry.is_of_boxes:
            self.named[entry.name] = self._carried(entry.name, entry, self._boxes(entry, ranks, split, grid), names)
            return
        (pattern,) = (pattern for _, pattern in self._patterns(entry, ranks, split, grid))
        self.named[entry.name] = self._exchanged(entry.name, entry, pattern, names)

    def _boxes(
        self, entry: NamedExchange, ranks: int, split: tuple[int, int] | None, own: tuple[int, int, int] | None
    ) -> _core.Schedule:
        """Return the halo of boxes. Raises InputError."""
        parts = entry.split or split or (ranks, 1)
        if math.prod(parts) != ranks:
            made = math.prod(parts)
            raise InputError(f"split {extents_text(parts)} makes {made} ranks: {made} is not {ranks}")
        assert entry.halo is not None
        nx, ny, nz = self._grid(own).points
        return box_halo((nx, ny, nz), parts, entry.halo, entry.periodic, entry.toward, entry.algorithm).schedule()

    def _group_named(self, name: str) -> Placed:
        names = [group.name for group in self.groups]
        if name not in names:
            raise InputError(unknown("group", name, names))
        return self.placed[names.index(name)]

    def _exchanged(self, name: str, entry: Moved, pattern: _core.Pattern, groups: tuple[str, ...] = ()) -> Exchanged:
        schedule = _core.make_schedule(pattern, entry.algorithm or default_algorithm(pattern.name))
        return self._carried(name, entry, schedule, groups)

    def _carried(self, name: str, entry: Moved, schedule: _core.Schedule, groups: tuple[str, ...]) -> Exchanged:
        fields = self.table.fields if entry.fields is None else entry.fields
        if entry.field_levels is not None:  # of all fields together, one above the other
            fields = 1
        dtype = entry.dtype or self.table.dtype
        # The pattern of a gather-scatter knows its own operation.
        operation = entry.operation if entry.operation is not None and entry.gather_scatter is None else "sum"
        return Exchanged(name, schedule, fields, dtype, operation, entry.transport, entry.packing, entry.into, groups)

    def _patterns(
        self, entry: Moved, ranks: int, split: tuple[int, int] | None, own: tuple[int, int, int] | None
    ) -> list[tuple[str, _core.Pattern]]:
        """Return the content of a step or an exchange, with a name for each; of a path, leg by leg. `own`: its grid."""
        if entry.allreduce is not None:
            return [("allreduce", _core.AllReduce(ranks, entry.allreduce))]
        if entry.gather_scatter is not None:
            return [("gather-scatter", _gather_scatter(entry, ranks))]
        if isinstance(entry, NamedExchange) and isinstance(entry.grid, str):
            return [("halo", _named_halo(entry, entry.grid, ranks))]
        parts = split or (ranks, 1)
        if math.prod(parts) != ranks:
            raise InputError(
                f"split {parts[0]}x{parts[1]} makes {math.prod(parts)} ranks: {math.prod(parts)} is not {ranks}"
            )
        if entry.halo is not None:
            around = ["x" in entry.periodic, "y" in entry.periodic]
            halo = _core.Halo(blocks(self._grid(own, levels=entry.field_levels), parts, "xy"), entry.halo, around)
            return [("halo", halo)]
        if entry.fetch is not None:
            nx, ny, nz = self._grid(own, levels=entry.field_levels).points
            return [("fetch", halo_of(entry.mesh, (nx, ny, nz), parts, entry.fetch, entry.periodic))]
        assert entry.path is not None
        grid = self._grid(own)
        return [
            (name, _core.Transpose(blocks(grid, parts, before), blocks(grid, parts, after)))
            for name, before, after in legs(entry.path)
        ]

    def _group(self, number: int, group: FileGroup) -> Group:
        steps: list[tuple[int, GroupStep]] = []
        for i, entry in enumerate(group.step):
            place: Place = ("group", number, "step", i) if self.table.group else ("step", i)
            steps += [(entry.every, step) for step in self._made(place, f"{i + 1}", entry, group)]
        place = ("group", number) if self.table.group else ()
        ordered, repeat = self._at(place, partial(unrolled, steps, group.repeat)) or ([], 1)
        return Group(group.name, group.size, ordered, repeat, group.members)

    def _made(self, place: Place, number: str, entry: FileStep, group: FileGroup) -> list[GroupStep]:
        """Return the steps of an entry; of repeated ones each has the number of the repetition in its name."""
        if not entry.step:
            return self._at(place, partial(self._steps, number, entry, group)) or []
        for i, each in enumerate(entry.step):
            if each.every != 1:
                problem = f"every {each.every}: a step within a repeated one comes each time"
                self.problems.append(self.place((*place, "step", i, "every"), problem))
        once = [
            step
            for i, each in enumerate(entry.step)
            for step in self._made((*place, "step", i), f"{number}.{i + 1}", each, group)
        ]
        if entry.repeat * len(once) > MAX_STEPS:
            problem = f"repeat {entry.repeat} of {len(once)} steps: at most {MAX_STEPS} steps are written out"
            self.problems.append(self.place((*place, "repeat"), problem))
            return []
        return [named(step, f" {turn}") for turn in range(1, entry.repeat + 1) for step in once]

    def _steps(self, number: str, entry: FileStep, group: FileGroup) -> list[GroupStep]:
        label = entry.label or ""
        if entry.compute is not None:
            return [self._compute(number, entry, group)]
        if entry.poke:
            return [Poke(label or f"{number} poke")]
        for key in REFERENCES[:-1]:
            if (name := getattr(entry, key)) is not None:
                exchange = self._known(name)
                shown = label or f"{number} {key} {name}"
                if key == "exchange":
                    return [WholeExchange(exchange, shown, entry.times)]
                return [exchange.start(shown) if key == "start" else exchange.wait(shown)]
        of_group = () if len(self.groups) == 1 else (group.name,)
        made: list[GroupStep] = []
        for name, pattern in self._patterns(entry, group.size, group.split, entry.grid or group.grid):
            shown = f"{label or number} {name}" if entry.path is not None else label or f"{number} {name}"
            where = f"{group.name} {shown}" if of_group else shown
            made.append(WholeExchange(self._exchanged(where, entry, pattern, of_group), shown, entry.times))
        return made

    def _known(self, name: str) -> Exchanged:
        if name in self.named:
            return self.named[name]
        if any(each.name == name for each in self.table.exchange):
            raise InputError(f"exchange {name!r} cannot be made, see there")
        raise InputError(unknown("exchange", name, self.named))

    def _compute(self, number: str, entry: FileStep, group: FileGroup) -> Compute:
        assert entry.compute is not None
        layout = (
            None
            if entry.compute == "rank"
            else blocks(self._grid(entry.grid, group.grid), Placed(group, ()).split, entry.compute)
        )
        points = None
        if entry.points is not None:
            if layout is not None:
                raise InputError('points: of compute = "rank"; a layout has the points of its ranks itself')
            points = points_of(entry.points, group.size)
        point_s = entry.share * self.table.point_time if layout is not None or points is not None else 0.0
        during = None if entry.during is None else self._known(entry.during)
        name = entry.label or f"{number} compute {entry.compute}"
        files = FileWork(**{key: getattr(entry, key) for key in FILE_KEYS})
        done = entry.seconds, entry.flops, entry.bytes
        drawn = None if entry.imbalance is None else entry.imbalance.made()
        return Compute(name, *done, layout, during, entry.times, point_s, points, files, entry.kernel, drawn)


def _named_halo(entry: NamedExchange, grid: str, ranks: int) -> _core.Pattern:
    assert entry.halo is not None
    request = FetchExchange("fetch", ranks, grid, entry.plane_split, width=entry.halo, periodic=entry.periodic)  # type: ignore[arg-type]
    halo = halo_of(request.mesh, *request.sizes, request.width)
    return halo if entry.field_levels is None else halo.with_levels((1, sum(entry.field_levels)))


def _gather_scatter(entry: Moved, ranks: int) -> _core.Pattern:
    assert entry.gather_scatter is not None
    elements = parse_extents(entry.gather_scatter, 3, "elements")
    brick = cubic(ranks) if entry.brick is None else parse_extents(entry.brick, 3, "brick")
    if math.prod(brick) != ranks:
        raise InputError(f"brick {entry.brick} makes {math.prod(brick)} ranks: {math.prod(brick)} is not {ranks}")
    around = [direction in entry.periodic for direction in "xyz"]
    return _core.BrickGatherScatter(elements, entry.element_points, brick, around, entry.operation or "add")


def points_of(given: str | Sequence[float], ranks: int) -> list[float]:
    """Return the points of each rank: as listed, or by a formula of ``rank`` and ``ranks``.

    ``"1000 + 50 * (rank % 4)"``: numbers, rank, ranks, + - * / // % and brackets, min and max. Raises InputError.
    """
    if not isinstance(given, str):
        if len(given) != ranks:
            raise InputError(f"points of {len(given)} ranks: {ranks} are allowed, one for each rank of the group")
        return list(given)
    try:
        formula = Formula(given)
        found = [float(formula.value({"rank": rank, "ranks": ranks})) for rank in range(ranks)]
    except InputError as error:
        raise InputError(*(f"points by {problem}" for problem in error.problems)) from None
    if bad := [rank for rank, points in enumerate(found) if points < 0]:
        raise InputError(f"points {given!r}: {found[bad[0]]:g} on rank {bad[0]}; 0 or more are allowed")
    return found
