"""Tables of program files: which keys a step, an exchange, a group and a program have, and which go together."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.base.file_work import FileWork
from tradewind.base.imbalance import LARGEST_SPREAD, PERIODS, Imbalance
from tradewind.base.names import unknown
from tradewind.base.tables import Table, extents, one_of, parsed_extents
from tradewind.base.units import byte_count, seconds
from tradewind.layout.named_grids import is_name, mesh_grid
from tradewind.layout.names import LAYOUTS, MESHES, path_problems
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT
from tradewind.workload.box_halo import DIRECTIONS
from tradewind.workload.interpolation import METHODS as INTERPOLATIONS
from tradewind.workload.patterns.gather_scatter import OPERATIONS as COMBINATIONS
from tradewind.workload.steps import OPERATIONS as REDUCTIONS

MAX_TIMES = 1_000_000
MAX_NUMBER = 2**63 - 1
"""The largest number that the core takes."""
FILE_KEYS = tuple(field.name for field in dataclass_fields(FileWork))
"""Keys of a computation for its work on files."""


def _extents_text(what: str) -> BeforeValidator:
    """Text of three extents from 1, kept as it is: a study writes its steps as tables again."""

    def check(value: Any) -> Any:
        if any(not 1 <= n <= MAX_EXTENT for n in parsed_extents(3, what, value)):
            raise InputError(f"{what} {value}: 1..{MAX_EXTENT} are allowed along each direction")
        return value

    return BeforeValidator(check)


def _names(value: Any) -> Any:
    if isinstance(value, list) and len(set(map(str, value))) < len(value):
        raise InputError(f"{value}: each name is allowed once")
    return value


def _messages(value: Any) -> Any:
    """Lists of whole numbers; what they mean is checked by the core."""
    form = "[stage, source, destination, points] or [stage, source, destination, points, tag, half] is allowed"
    if not isinstance(value, list):
        raise InputError(f"messages {value!r}: a list of them is allowed")
    for i, message in enumerate(value):
        if not (isinstance(message, list) and len(message) in (4, 6) and all(type(n) is int for n in message)):
            raise InputError(f"message {i}: {message!r}: {form}")
        if strange := [n for n in message if not 0 <= n <= MAX_NUMBER]:
            raise InputError(f"message {i}: {message!r}: {strange[0]}; 0..{MAX_NUMBER} are allowed")
    return value


def _grid(value: Any) -> Any:
    """Points along x, y and z, or the name of a grid, which is kept."""
    if not is_name(value):
        return parsed_extents(3, "grid", value)
    mesh_grid(value)
    return value


def _path(value: Any) -> Any:
    if isinstance(value, str) and (problems := path_problems(value)):
        raise InputError(*problems)
    return value


def _directions(value: Any) -> Any:
    if not isinstance(value, str) or not set(value) <= set("xyz") or len(set(value)) != len(value):
        raise InputError(f"periodic {value!r}: some of 'xy' are allowed, and of 'xyz' for a gather-scatter")
    return value


def _toward(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        raise InputError(f'toward {value!r}: a list of directions like ["-x", "+x", "+x-y"] is allowed')
    if strange := [each for each in value if each not in DIRECTIONS]:
        raise InputError(unknown("direction", str(strange[0]), DIRECTIONS))
    return _names(value)


def _split(value: Any) -> Any:
    """Ranks along x and y, or along x, y and z."""
    return parsed_extents(3 if isinstance(value, str) and value.count("x") == 2 else 2, "split", value)


MAX_LISTED = 10_000_000
"""Maximum ranks of a group that lists them: each is kept as a number."""


def _ranks(value: Any) -> Any:
    """Number of ranks, or lists [first, last] or [first, last, step], which ascend, as the ranks themselves."""
    if not isinstance(value, list):
        return value
    form = "[first, last] or [first, last, step] is allowed, with a step of 1 or more"
    found: list[int] = []
    for run in value:
        if not (isinstance(run, list) and len(run) in (2, 3) and all(type(n) is int for n in run)):
            raise InputError(f"ranks {run!r}: {form}")
        first, last, step = (*run, 1)[:3]
        if not (0 <= first <= last < MAX_EXTENT and step >= 1):
            raise InputError(f"ranks {run!r}: {form}, and 0 <= first <= last")
        if len(found) + (last - first) // step >= MAX_LISTED:
            raise InputError(f"ranks {value!r}: {MAX_LISTED} ranks in lists are allowed")
        found += range(first, last + 1, step)
    if len(set(found)) < len(found) or not found:
        raise InputError(f"ranks {value!r}: each rank once is allowed, and one or more")
    return sorted(found)


def _area(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 4 or not all(type(n) in (int, float) for n in value):
        raise InputError(f"area {value!r}: four numbers [west, east, south, north] are allowed")
    west, east, south, north = value
    if not (west < east and south < north):
        raise InputError(f"area {value!r}: west before east and south before north is allowed")
    return value


Count = Annotated[int, Field(ge=1, le=MAX_EXTENT, strict=True)]
Times = Annotated[int, Field(ge=1, le=MAX_TIMES, strict=True)]
Amount = Annotated[float, Field(ge=0)]
Duration = Annotated[float, BeforeValidator(seconds)]
Size = Annotated[int, BeforeValidator(byte_count)]
Grid = Annotated[tuple[int, int, int], extents(3, "grid")]
Area = Annotated[tuple[float, float, float, float], BeforeValidator(_area)]
Split = Annotated[tuple[int, int], extents(2, "split")]
BoxSplit = Annotated[tuple[int, int] | tuple[int, int, int], BeforeValidator(_split)]
Fields = Annotated[Count | Annotated[list[str], Field(min_length=1)], BeforeValidator(_names)]


MOVED = ("halo", "path", "fetch", "allreduce", "gather_scatter")
"""Keys for what an exchange moves."""
OF_COUPLINGS = ("target_grid", "area", "target_area", "levels")
"""Keys of a field that goes from one grid to another."""
OWN_KEYS = {"element_points": "gather_scatter", "brick": "gather_scatter", "mesh": "fetch"}
"""Keys that belong to one kind of exchange."""


class Moved(Table):
    """The content of an exchange: one of a halo, a path through layouts, the halo of a mesh, a reduction, a
    gather-scatter, or a field between two groups."""

    halo: Annotated[int, Field(ge=0, le=MAX_EXTENT, strict=True)] | None = None
    """Its width, of x/y blocks."""
    periodic: Annotated[str, BeforeValidator(_directions)] = ""
    path: Annotated[str, BeforeValidator(_path)] | None = None
    """A redistribution, like ``xy-zy``; of an exchange with a name one leg."""
    fetch: Annotated[int, Field(ge=0, le=MAX_EXTENT, strict=True)] | None = None
    """Width of the halo of a mesh, which each rank fetches point by point."""
    mesh: Annotated[str, one_of("mesh", MESHES)] = MESHES[0]
    """Mesh of a fetch; an octahedral one has the rows of the grid along y, others see `layout.named_grids`."""
    allreduce: Count | None = None
    """Elements."""
    gather_scatter: Annotated[str, _extents_text("elements")] | None = None
    """Spectral elements EXxEYxEZ of each rank."""
    element_points: Annotated[int, Field(ge=2, le=MAX_EXTENT, strict=True)] = 10
    """Points of an element along each direction."""
    brick: Annotated[str, _extents_text("brick")] | None = None
    """Ranks PXxPYxPZ of a gather-scatter; None: the brick that is nearest to a cube."""
    operation: str | None = None
    """None: sum, or add."""
    field_levels: list[Count] | None = None
    """Levels of each field of a halo or a fetch, where they are not those of the grid."""
    algorithm: str | None = None
    transport: str = DEFAULT_TRANSPORT
    packing: str = DEFAULT_PACKING
    fields: Fields | None = None
    """Number of fields per message, or their names; None: those of the program."""
    into: Annotated[list[str], BeforeValidator(_names)] = Field(default_factory=list)
    dtype: Annotated[str, one_of("dtype", tuple(DTYPES))] | None = None

    @property
    def is_of_boxes(self) -> bool:
        """Whether it is a halo of boxes, see `workload.box_halo`."""
        return False

    @property
    def moved(self) -> list[str]:
        """The keys that are set of those for what is moved."""
        return [key for key in MOVED if getattr(self, key) is not None]

    def problems(self, kind: str) -> list[str]:
        """Return what is wrong with keys that another kind of exchange than this one has, or has otherwise."""
        gathers = kind == "gather_scatter"
        problems = [
            f"{key} belongs to {owner}, and not to {kind}"
            for key, owner in OWN_KEYS.items()
            if key in self.model_fields_set and kind != owner
        ]
        if self.field_levels is not None and kind not in ("halo", "fetch"):
            problems.append(f"field_levels belongs to halo and fetch, and not to {kind}")
        if self.field_levels is not None and self.fields is not None:
            problems.append("field_levels has one number for each field: leave fields out")
        known = COMBINATIONS if gathers else REDUCTIONS
        if self.operation is not None and self.operation not in known:
            problems.append(unknown("operation", self.operation, known))
        if not gathers and "z" in self.periodic and not self.is_of_boxes:
            problems.append(f"periodic {self.periodic!r}: some of 'xy' are allowed")
        return problems


class NamedExchange(Moved):
    """An exchange that steps start, await, or do as a whole."""

    name: str
    group: Annotated[str | list[str] | None, BeforeValidator(_names)] = None
    """Groups whose ranks take part; None: all, or those of `source` and `target`."""
    split: BoxSplit | None = None
    """Ranks over x and y, of a halo of boxes also over z; None: as its group says, or the file."""
    toward: Annotated[list[str] | None, BeforeValidator(_toward)] = None
    """Directions of the neighbors to which a halo sends; None: all."""
    grid: Annotated[tuple[int, int, int] | str, BeforeValidator(_grid)] | None = None
    """Grid of a halo, a path, a fetch, or a field between groups; None: that of its group, or of the file. Of a halo it
    may have a name."""
    source: str | None = Field(default=None, alias="from")
    target: str | None = Field(default=None, alias="to")
    source_layout: Annotated[str, one_of("layout", LAYOUTS)] = "xy"
    target_layout: Annotated[str, one_of("layout", LAYOUTS)] | None = None
    """None: whole levels, and blocks where the field goes to another grid."""
    interpolation: Annotated[str, one_of("interpolation", INTERPOLATIONS)] | None = None
    """Interpolation of a field that goes to another grid."""
    target_grid: Grid | None = None
    area: Area | None = None
    target_area: Area | None = None
    levels: Count | None = None
    """Levels of the fields of a coupling; None: those of its grids."""
    messages: Annotated[list[list[int]], BeforeValidator(_messages)] | None = None
    """Stage, source, destination and points of each message; and tag and half, where they are not 0."""

    @property
    def is_of_boxes(self) -> bool:
        """Whether it is a halo of boxes, see `workload.box_halo`."""
        return self.halo is not None and (self.toward is not None or (self.split is not None and len(self.split) == 3))

    @property
    def plane_split(self) -> tuple[int, int] | None:
        """Its ranks over x and y, where it has no boxes."""
        return self.split if self.split is not None and len(self.split) == 2 else None

    @property
    def points(self) -> tuple[int, int, int] | None:
        """Its grid, unless that has a name."""
        return None if isinstance(self.grid, str) else self.grid

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        between = self.source is not None or self.target is not None
        found = [*self.moved, *(["from"] if between else []), *([] if self.messages is None else ["messages"])]
        if self.split is not None and not {"halo", "path", "fetch"} & set(found):
            raise InputError(f"exchange {self.name!r}: split is that of a halo, a path or a fetch")
        if self.grid is not None and not {"halo", "path", "fetch", "from"} & set(found):
            raise InputError(
                f"exchange {self.name!r}: grid is that of a halo, a path, a fetch, or a field between groups"
            )
        if self.toward is not None and self.halo is None:
            raise InputError(f"exchange {self.name!r}: toward is that of a halo")
        if self.split is not None and len(self.split) == 3 and not self.is_of_boxes:
            text = extents_text(self.split)
            raise InputError(f"exchange {self.name!r}: split {text}: only a halo is divided along z, too")
        if self.is_of_boxes and (isinstance(self.grid, str) or self.field_levels is not None):
            raise InputError(f"exchange {self.name!r}: a halo of boxes has a grid NXxNYxNZ, and no field_levels")
        strange = [key for key in OF_COUPLINGS if getattr(self, key) is not None and self.interpolation is None]
        if self.interpolation is not None and not between:
            strange = ["interpolation"]
        if strange:
            raise InputError(
                f"exchange {self.name!r}: {strange[0]} is that of a coupling, which has from, to and interpolation"
            )
        if len(found) != 1:
            raise InputError(
                f"exchange {self.name!r} has one of {', '.join(MOVED)}, messages, and from with to, not "
                + (" and ".join(found) or "none of them")
            )
        if between and (self.source is None or self.target is None):
            raise InputError(f"exchange {self.name!r}: from and to belong together")
        if self.messages is not None and self.algorithm is not None:
            raise InputError(
                f"exchange {self.name!r}: algorithm {self.algorithm!r} of messages, which have stages of their own"
            )
        if isinstance(self.grid, str) and self.halo is None:
            raise InputError(f"exchange {self.name!r}: grid {self.grid}: a halo has a grid by name")
        if self.path is not None and self.path.count("-") != 1:
            raise InputError(f"exchange {self.name!r}: path {self.path!r}: one leg is allowed, like xy-zy")
        if problems := self.problems(found[0]):
            raise InputError(*(f"exchange {self.name!r}: {problem}" for problem in problems))
        return self


class ImbalanceTable(Table):
    """How much longer a computation takes on some ranks than on others."""

    distribution: Annotated[str, one_of("distribution", tuple(LARGEST_SPREAD))]
    spread: float
    per: Annotated[str, one_of("per", PERIODS)] = PERIODS[0]

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self.made()
        return self

    def made(self) -> Imbalance:
        """Return the imbalance. Raises InputError."""
        return Imbalance(self.distribution, self.spread, self.per)


class FileStep(Moved):
    """One thing that ranks do."""

    label: str | None = None
    compute: Annotated[str, one_of("layout", (*LAYOUTS, "rank"))] | None = None
    """Layout whose points are computed, or ``rank``: once per rank."""
    share: Annotated[float, Field(gt=0)] = 1.0
    seconds: Duration = 0.0
    flops: Amount = 0.0
    bytes: Amount = 0.0
    kernel: str = ""
    imbalance: ImbalanceTable | None = None
    encode: Size = 0
    compress: Size = 0
    decode: Size = 0
    write: Size = 0
    read: Size = 0
    points: str | list[Amount] | None = None
    during: str | None = None
    start: str | None = None
    wait: str | None = None
    exchange: str | None = None
    poke: Annotated[bool, Field(strict=True)] | None = None
    grid: Grid | None = None
    """Grid of a computation, a halo, a path or a fetch; None: that of its group, or of the file."""
    times: Times = 1
    every: Times = 1
    """Done once in this number of repetitions of the steps."""
    repeat: Times = 1
    step: list[FileStep] = Field(default_factory=list)
    """Steps that are repeated in its place."""

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if self.step or "repeat" in self.model_fields_set:
            if strange := sorted(self.model_fields_set - {"repeat", "step", "every"}):
                raise InputError(f"{', '.join(strange)} belongs to the steps that are repeated, not beside repeat")
            if not self.step:
                raise InputError("repeat: the steps that are repeated are missing: [[step.step]]")
            return self
        what = ("compute", "start", "wait", "exchange", "poke")
        found = [key for key in what if getattr(self, key) not in (None, False)] + self.moved
        if len(found) != 1:
            all_keys = ", ".join((*what, *MOVED))
            raise InputError(f"a step has one of {all_keys}, not {' and '.join(found) or 'none of them'}")
        own = {"compute": {"share", "seconds", "flops", "bytes", "kernel", "imbalance", "points", "during", "grid"}}
        own["compute"] |= set(FILE_KEYS)
        own |= {
            key: set(Moved.model_fields) | ({"grid"} if key in ("halo", "path", "fetch") else set()) for key in MOVED
        }
        allowed = own.get(found[0], set()) | {"label", "times", "every", found[0]}
        if strange := sorted(self.model_fields_set - allowed):
            raise InputError(f"{', '.join(strange)} belongs to another kind of step, and not to {found[0]}")
        if found[0] in ("start", "wait", "poke") and self.times != 1:
            raise InputError(f"times {self.times}: a step {found[0]} is done once")
        if found[0] in MOVED and (problems := self.problems(found[0])):
            raise InputError(*problems)
        return self


class FileGroup(Table):
    """Ranks with steps of their own."""

    name: str
    ranks: Annotated[Count | list[int], BeforeValidator(_ranks)]
    split: Split | None = None
    grid: Grid | None = None
    """None: that of the file."""
    area: Area | None = None
    """Where its grid lies; None: all grids cover the same region."""
    repeat: Times = 1
    step: list[FileStep] = Field(default_factory=list)

    @property
    def members(self) -> list[int]:
        """Its ranks, where the file lists them."""
        return [] if isinstance(self.ranks, int) else self.ranks

    @property
    def size(self) -> int:
        """Number of its ranks."""
        return self.ranks if isinstance(self.ranks, int) else len(self.ranks)


class ProgramTable(Table):
    """A whole file."""

    name: str = "program"
    ranks: Count | None = None
    grid: Grid | None = None
    """None: where nothing lies on a grid."""
    split: Split | None = None
    fields: Count = 1
    dtype: Annotated[str, one_of("dtype", tuple(DTYPES))] = "f8"
    point_time: Duration = 0.0
    repeat: Times = 1
    exchange: list[NamedExchange] = Field(default_factory=list)
    step: list[FileStep] = Field(default_factory=list)
    group: list[FileGroup] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if bool(self.step) == bool(self.group):
            raise InputError("a program has either steps ([[step]]) or groups with steps ([[group]], [[group.step]])")
        if self.step and self.ranks is None:
            raise InputError("key 'ranks' is missing")
        if self.group and self.repeat != 1:
            raise InputError(f"repeat {self.repeat}: groups have a repeat of their own")
        if len({isinstance(group.ranks, int) for group in self.group}) > 1:
            raise InputError("ranks of a group: all groups have a number of ranks, or all list them")
        return self
