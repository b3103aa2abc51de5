"""The steps of a program beside schedules and computations: exchanges that are started and awaited, pokes, groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from tradewind import _core
from tradewind.base.elements import DTYPES, point_bytes
from tradewind.base.errors import InputError
from tradewind.base.file_work import NO_FILES, FileWork
from tradewind.base.imbalance import PERIODS, Imbalance
from tradewind.base.names import unknown
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, packing_names, transport_names

if TYPE_CHECKING:
    from tradewind.machine.machine import Files, Machine

OPERATIONS = ("sum", "min", "max", "prod")


class Scheduled(Protocol):
    """A schedule as users hold it, see `tradewind.pattern.Schedule`."""

    @property
    def core(self) -> _core.Schedule:
        """The schedule of the core."""


def schedule_of(schedule: Scheduled | _core.Schedule) -> _core.Schedule:
    """Return the schedule of the core."""
    return schedule if isinstance(schedule, _core.Schedule) else schedule.core


@dataclass(frozen=True)
class Compute:
    """Computation of every rank: for `seconds`, and as long as `flops` or `bytes` of memory take, whichever is longer,
    at a rank's share of its node (the roofline model of Williams, Waterman & Patterson 2009).

    `bytes` are those of a memory copy, each read and written, as `node.memory_bandwidth` counts them: half the sum of
    the bytes that a loop reads and those that it writes.

    With a `layout`, flops and bytes are those of a grid point that a rank owns, and `point_s` (s) is what a core takes
    for such a point beside them. `points` in place of a layout: how many points each rank has, by rank, or a function
    of the rank. `during` an exchange, the computation begins when the first stage has been posted, and what needs the
    CPU meanwhile waits for it; both must end.
    """

    name: str
    seconds: float = 0.0
    flops: float = 0.0
    bytes: float = 0.0
    layout: _core.Layout | None = None
    during: Scheduled | _core.Schedule | Exchanged | None = None
    repeat: int = 1
    point_s: float = 0.0
    points: Sequence[float] | Callable[[int], float] | None = None
    files: FileWork = NO_FILES
    """Work on files, at the rates of the machine; with `points`, of each of them."""
    kernel: str = ""
    """Name of its loops, for which a machine may have a rate."""
    imbalance: Imbalance | None = None
    """Random factor on its time, rank by rank."""

    def __post_init__(self) -> None:
        if self.point_s and self.layout is None and self.points is None:
            raise InputError(f"{self.name}: point_s {self.point_s:g}: a layout is needed, whose points are meant")
        if self.layout is not None and self.points is not None:
            raise InputError(f"{self.name}: a layout or points are allowed, not both")
        if self.layout is not None and self.files:
            raise InputError(f"{self.name}: work on files is that of a rank or of points, and not of a layout")

    def with_files(self, rates: Files, ranks: int) -> Compute:
        """Return the same with its work on files in seconds, of a group of `ranks` ranks. Raises InputError."""
        if not self.files:
            return self
        points = self.points
        if points is None:
            return replace(self, files=NO_FILES, seconds=self.seconds + rates.seconds(self.files, ranks))
        each = [float(points(rank)) for rank in range(ranks)] if callable(points) else list(points)
        sharing = max(1, sum(number > 0 for number in each))
        point_s = self.point_s + rates.seconds(self.files, sharing)
        return replace(self, files=NO_FILES, points=each, point_s=point_s)

    def on_cores(self, machine: Machine, sharing: int, threads: int) -> Compute:
        """Return the same with its flops and bytes in seconds, on `threads` threads per rank.

        `sharing` ranks share a node. Raises InputError where the machine has no rate.
        """
        try:
            has_points = self.layout is not None or self.points is not None
            seconds = machine.compute_s(self.flops, self.bytes, self.kernel, has_points, sharing, threads)
        except InputError as error:
            raise InputError(*(f"{self.name}: {problem}" for problem in error.problems)) from None
        if self.layout is None and self.points is None:
            return replace(self, flops=0.0, bytes=0.0, seconds=self.seconds + seconds)
        return replace(self, flops=0.0, bytes=0.0, point_s=self.point_s + seconds)

    def points_of(self, rank: int) -> float:
        """Return the points of a rank; 1 without points."""
        if self.layout is not None:
            boxes = self.layout.boxes(rank)
            return float(sum(math.prod(b - a for a, b in zip(*box, strict=True)) for box in boxes))
        if self.points is None:
            return 1.0
        return float(self.points(rank) if callable(self.points) else self.points[rank])

    def all_points(self, ranks: int) -> float:
        """Return the points of all ranks of a group; as many as there are ranks without points."""
        if self.layout is not None:
            return float(math.prod(self.layout.grid.points))
        return float(ranks) if self.points is None else sum(self.points_of(rank) for rank in range(ranks))

    def core(self, ranks: int) -> _core.Compute:
        """Return the computation of `ranks` ranks in the form of the core."""
        points = self.points
        if callable(points):
            points = [float(points(rank)) for rank in range(ranks)]
        drawn = self.imbalance
        return _core.Compute(
            self.seconds,
            self.flops,
            self.bytes,
            self.layout,
            self.point_s,
            None if points is None else [float(each) for each in points],
            distribution="" if drawn is None else drawn.distribution,
            spread=0.0 if drawn is None else drawn.spread,
            each_time=drawn is not None and drawn.per != PERIODS[0],
        )


@dataclass(frozen=True)
class Exchanged:
    """An exchange of a program, which its steps start, await, or do as a whole (then it is a step itself).

    `fields` of type `dtype` travel together in each message: a number of them, or their names; exchanges whose fields
    have the same names touch the same arrays. `into`: the names of those that a transposition or a fetch writes.
    `operation` of a reduction. `transport` and `packing`: how it is carried on MPI, and in whose posting order it is
    proved. `groups`: the names of the groups whose ranks take part, in the order of the program; none: all.
    """

    name: str
    schedule: Scheduled | _core.Schedule
    fields: int | Sequence[str] = 1
    dtype: str = "f8"
    operation: str = "sum"
    transport: str = DEFAULT_TRANSPORT
    packing: str = DEFAULT_PACKING
    into: Sequence[str] = ()
    groups: Sequence[str] = ()

    def __post_init__(self) -> None:
        problems = [
            unknown(what, value, known)
            for what, value, known in (
                ("dtype", self.dtype, tuple(DTYPES)),
                ("operation", self.operation, OPERATIONS),
                ("transport", self.transport, transport_names()),
                ("packing", self.packing, packing_names()),
            )
            if value not in known
        ]
        if not problems:
            refusal = _core.transport_refusal(self.core, self.transport, self.packing)
            problems += [refusal] if refusal else []
        if self.into and self.core.pattern.in_place:
            problems.append(f"into: a {self.core.pattern.name} works in place")
        if self.into and len(self.into) != self.count:
            problems.append(f"into {', '.join(self.into)}: as many fields as are sent are allowed, {self.count}")
        if problems:
            raise InputError(*(f"exchange {self.name!r}: {problem}" for problem in problems))
        point_bytes(self.count, self.dtype)  # refuses what cannot be

    @property
    def core(self) -> _core.Schedule:
        """The schedule of the core."""
        return schedule_of(self.schedule)

    @property
    def count(self) -> int:
        """Number of fields that travel."""
        return self.fields if isinstance(self.fields, int) else len(self.fields)

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point with all fields."""
        return point_bytes(self.count, self.dtype)

    @property
    def touched(self) -> set[str]:
        """The names of the fields that it reads or writes."""
        return ({*self.fields} if not isinstance(self.fields, int) else set()) | {*self.into}

    @property
    def written(self) -> set[str]:
        """The names of the fields that it writes."""
        return self.touched if self.core.pattern.in_place else {*self.into}

    def start(self, label: str = "") -> Start:
        """Return the step that posts its first stage."""
        return Start(self, label)

    def wait(self, label: str = "") -> Wait:
        """Return the step that waits until it has ended."""
        return Wait(self, label)


@dataclass(frozen=True)
class WholeExchange:
    """An exchange from its start to its end, `repeat` times; `compute` while it is under way."""

    exchange: Exchanged
    label: str = ""
    repeat: int = 1
    compute: Compute | None = None


@dataclass(frozen=True)
class Start:
    """Posts the first stage of an exchange; it is open until a `Wait` for it has ended."""

    exchange: Exchanged
    label: str = ""


@dataclass(frozen=True)
class Wait:
    """Waits until an exchange that was started has ended."""

    exchange: Exchanged
    label: str = ""


@dataclass(frozen=True)
class Poke:
    """A call between computations: all exchanges that are open complete what has come and post their next stage."""

    label: str = ""


@dataclass(frozen=True)
class StepPart:
    """A step of a program as a table shows it."""

    name: str
    kind: str
    """compute, exchange, start, wait or poke."""
    schedule: _core.Schedule | None
    times: int
    computes: bool


GroupStep = WholeExchange | Start | Wait | Poke | Compute | Exchanged


@dataclass(frozen=True)
class Group:
    """Ranks with steps of their own, which they do `repeat` times: `members`, in ascending order; without these, in all
    groups of a program, those that follow the ranks of the group before."""

    name: str
    ranks: int
    steps: Sequence[GroupStep] = ()
    repeat: int = 1
    members: Sequence[int] = ()
