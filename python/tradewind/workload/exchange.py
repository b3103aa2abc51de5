"""One exchange as a user asks for it on the command line or in a study: pattern, ranks, grid, split, algorithm.

`Exchange` checks the whole request and reports everything that is wrong with it at once; `steps()` makes the
schedules that are run one after another (three for a whole transposition, or as many as a path through layouts has).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from tradewind import _core
from tradewind.base.elements import DTYPES, point_bytes
from tradewind.base.errors import InputError, gathered
from tradewind.base.extents import MOST
from tradewind.base.names import unknown
from tradewind.layout.names import MESHES, Leg, blocks, divided, is_path, legs, path_problems
from tradewind.method.method import Choice, algorithm_problems, default_algorithm

PATTERNS = ("transpose", "halo", "fetch", "allreduce")
SLABS = {"xz": ("xy", "zy"), "xy": ("zy", "zx"), "yz": ("zx", "yx")}
"""The transpositions of a spectral model: the axes divided before and after (Zheng & Marguinaud 2018, Fig. 3)."""


UNUSED = {
    "transpose": {"width", "periodic", "count", "mesh", "stored"},
    "halo": {"slab", "count", "mesh", "stored"},
    "fetch": {"slab", "count"},
    "allreduce": {"grid", "split", "slab", "width", "periodic", "mesh", "stored"},
}
"""What an exchange says nothing about, by its pattern."""


MOST_TIMES = 1_000_000
"""Repetitions: one step each, in a list."""
_RANGES = {
    "ranks": (1, MOST),
    "fields": (1, MOST),
    "times": (1, MOST_TIMES),
    "count": (1, MOST),
    "width": (0, MOST),
}


def slab_problems(slab: str) -> list[str]:
    """What is wrong with the name of a transposition, or with a path through layouts."""
    if is_path(slab):
        return path_problems(slab)
    return [] if slab in (*SLABS, "all") else [unknown("slab", slab, (*SLABS, "all")) + ", or a path like xy-zy-xy"]


@dataclass(frozen=True)
class Step:
    """One schedule of an exchange, run `repeat` times in a row."""

    name: str
    schedule: _core.Schedule
    repeat: int = 1

    def core(self) -> _core.Step:
        return _core.Step(self.name, self.schedule, self.repeat)


class Workload(Protocol):
    """What verify and simulate ask of an exchange: schedules, bytes of a grid point, how ranks divide the grid."""

    @property
    def ranks(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def bytes_per_point(self) -> int: ...
    @property
    def element_bytes(self) -> int: ...
    @property
    def split(self) -> tuple[int, int] | None: ...
    def steps(self) -> list[Step]: ...
    def as_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Exchange:
    """A request for one exchange. All fields are plain values; ``asdict`` is its identity in a study.

    Raises InputError, with every problem at once, when it is made.
    """

    pattern: str
    ranks: int
    grid: tuple[int, int, int] | None = None
    """(nx, ny, nz); not for allreduce."""
    split: tuple[int, int] | None = None
    """(cx, cy) ranks over x and y; None: see `default_split`."""
    algorithm: str | None = None
    """None: the pattern's default."""
    slab: str = "all"
    """transpose: "xz", "xy", "yz", "all" three in order, or a path like "xy-zy-xy"; see `tradewind.layout.names`."""
    width: int = 3
    """halo: points on every side; fetch: the same of an unstructured mesh."""
    periodic: str = ""
    """halo, fetch: the periodic directions, some of "xy"."""
    mesh: str = "lonlat"
    """fetch: the mesh whose halo it is, see `tradewind.layout.mesh`."""
    stored: str | None = None
    """fetch: a stored list of messages in place of a mesh, see `tradewind.workload.messages`."""
    count: int = 3
    """allreduce: elements."""
    times: int = 1
    """How often the exchange is repeated, one after another."""
    fields: int = 1
    """Fields that travel together in each message."""
    dtype: str = "f8"

    def __post_init__(self) -> None:
        problems = self._problems()
        if problems:
            raise InputError(*problems)
        if self.algorithm is None:
            object.__setattr__(self, "algorithm", default_algorithm(self.pattern))
        if self.split is None and self.grid is not None:
            object.__setattr__(self, "split", default_split(self))
        self._try_schedules()

    def _try_schedules(self) -> None:
        """The core has the last word: radices, empty parts.

        To list all points of a mesh can take minutes. The algorithm is tried on a fetch of nothing in its place.
        """
        if self.pattern != "fetch" or self.stored is not None:
            for step in self.steps():
                _core.check_bytes(step.schedule.pattern, self.bytes_per_point)
            return
        from tradewind.base import memory

        assert self.algorithm is not None
        memory.require(f"a fetch among {self.ranks} ranks", memory.BYTES_A_RANK * self.ranks, "name fewer ranks")
        _core.make_schedule(_core.fetch_of_messages([1] * self.ranks, []), self.algorithm)

    def _problems(self) -> list[str]:
        problems = []
        if self.pattern not in PATTERNS:
            return [unknown("pattern", self.pattern, PATTERNS)]
        for name, (least, most) in _RANGES.items():
            if not least <= getattr(self, name) <= most:
                problems.append(f"{name} {getattr(self, name)}: {least}..{most} are allowed")
        if self.dtype not in DTYPES:
            problems.append(unknown("dtype", self.dtype, DTYPES))
        if self.mesh not in MESHES:
            problems.append(unknown("mesh", self.mesh, MESHES))
        problems += slab_problems(self.slab)
        if not set(self.periodic) <= {"x", "y"} or len(set(self.periodic)) != len(self.periodic):
            problems.append(f"periodic {self.periodic!r}: some of 'xy' are allowed")
        if self.algorithm is not None:
            problems += algorithm_problems(self.pattern, self.algorithm)
        if self.stored is not None and self.pattern != "fetch":
            problems.append(f"stored messages say nothing about {self.pattern}")
        if self.pattern == "allreduce":
            return problems
        if self.stored is not None:
            return problems + self._message_problems()
        if self.grid is None:
            problems.append(f"a {self.pattern} needs a grid, like 602x568x60")
        elif min(self.grid) < 1 or max(self.grid) > MOST:
            problems.append(f"grid {_extents(self.grid)}: 1..{MOST} points along each direction are allowed")
        elif self.pattern == "fetch" and self.mesh == "octahedral":
            from tradewind.layout.mesh import octahedral_problems

            problems += octahedral_problems(self.grid[1], self.ranks)
        else:
            problems += _count_problems(self.grid, self.fields, self.dtype)
        if self.split is not None:
            problems += self._split_problems(self.split)
        return problems

    def _message_problems(self) -> list[str]:
        from tradewind.workload import messages

        if self.grid is not None or self.split is not None:
            return ["stored messages have no grid and no split: leave them out"]
        assert self.stored is not None
        problems: list[str] = []
        with gathered(problems):
            messages.read(self.stored, self.ranks)
        return problems

    def _split_problems(self, split: tuple[int, int]) -> list[str]:
        cx, cy = split
        if cx < 1 or cy < 1:
            return [f"split {_extents(split)}: 1 or more ranks along each direction are allowed"]
        problems = []
        if cx * cy != self.ranks:
            problems.append(f"split {_extents(split)} makes {cx * cy} ranks: {cx * cy} is not {self.ranks}")
        if self.grid is not None and not slab_problems(self.slab):
            problems += misfits(self.grid, split, self._layout_axes())
        return problems

    def _layout_axes(self) -> list[str]:
        """Every layout that the exchange touches, by its name (see `tradewind.layout.names`)."""
        if self.mesh == "octahedral" and self.pattern == "fetch":
            return []  # its rows are not divided along x and y
        if self.pattern in ("halo", "fetch"):
            return ["xy"]
        return list(dict.fromkeys(axes for _, *pair in self._legs() for axes in pair))

    def _legs(self) -> list[Leg]:
        """The transpositions, in order."""
        if is_path(self.slab):
            return legs(self.slab)
        return [(slab, *SLABS[slab]) for slab in (SLABS if self.slab == "all" else [self.slab])]

    @property
    def bytes_per_point(self) -> int:
        return 1 if self.stored is not None else point_bytes(self.fields, self.dtype)

    @property
    def element_bytes(self) -> int:
        """Of a point of one field."""
        return DTYPES[self.dtype]

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        fetch = " of stored messages" if self.stored is not None else f" {self.mesh} {self.width}"
        detail = {"halo": f" {self.width}", "fetch": fetch, "allreduce": f" {self.count}x{self.times}"}.get(
            self.pattern, ""
        )
        return f"{self.pattern}{detail} {self.algorithm}"

    def steps(self) -> list[Step]:
        """The schedules of this exchange, in the order in which they are run."""
        assert self.algorithm is not None
        if self.pattern == "allreduce":
            reduce = _core.AllReduce(self.ranks, self.count)
            return [Step("allreduce", _core.make_schedule(reduce, self.algorithm), self.times)]
        if self.stored is not None:
            return self._stored_steps(self.stored)
        assert self.grid is not None
        assert self.split is not None
        if self.pattern == "fetch":
            from tradewind.layout.mesh import halo_of

            fetch = halo_of(self.mesh, self.grid, self.split, self.width, self.periodic)
            return [Step("fetch", _core.make_schedule(fetch, self.algorithm), self.times)]
        grid = _core.Grid(*self.grid)
        if self.pattern == "halo":
            layout = _core.Blocks(grid, self.split)
            halo = _core.Halo(layout, self.width, ["x" in self.periodic, "y" in self.periodic])
            return [Step("halo", _core.make_schedule(halo, self.algorithm), self.times)]
        steps = []
        for name, *pair in self._legs():
            before, after = (blocks(grid, self.split, layout) for layout in pair)
            try:
                schedule = _core.make_schedule(_core.Transpose(before, after), self.algorithm)
            except InputError as error:
                raise InputError(f"slab {name}: {error}") from None
            steps.append(Step(name, schedule))
        return steps * self.times

    def _stored_steps(self, path: str) -> list[Step]:
        from tradewind.workload import messages

        assert self.algorithm is not None
        stages = [_core.make_schedule(fetch, self.algorithm) for fetch in messages.read(path, self.ranks)]
        return [Step(f"stage {number}", schedule) for number, schedule in enumerate(stages)] * self.times

    def require_arrays(self) -> None:
        """Raises InputError for stored messages: nobody knows of what arrays they are."""
        if self.stored is not None:
            raise InputError(
                f"{self.stored}: stored messages have no arrays; verify, show, simulate and advise take them"
            )

    def imbalance(self) -> float:
        """Points of the largest part over the mean, the worst over the layouts that the exchange touches."""
        if self.grid is None or self.split is None:
            return 1.0
        if self.pattern == "fetch" and self.mesh == "octahedral":
            from tradewind.layout.mesh import octahedral_points

            points = octahedral_points(self.grid[1])
            return -(-points // self.ranks) * self.ranks / points
        return max(_layout_imbalance(self.grid, self.split, axes) for axes in self._layout_axes())

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Exchange:
        """Of the plain values of `as_dict` or ``asdict``, also after a way through JSON, which makes pairs lists."""
        fields: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
        return cls(**fields)

    def as_dict(self) -> dict[str, Any]:
        """The request as plain values, those that its pattern does not use left out."""
        unused = UNUSED[self.pattern]
        if self.stored is not None:
            unused = unused | {"grid", "split", "width", "periodic", "mesh", "fields", "dtype"}
        elif self.pattern == "fetch":
            unused = unused | {"stored"}
        return {key: value for key, value in asdict(self).items() if key not in unused}


def _extents(values: Iterable[int]) -> str:
    return "x".join(str(v) for v in values)


def _count_problems(grid: tuple[int, int, int], fields: int, dtype: str) -> list[str]:
    """Why the points of a grid, or the bytes of all fields, cannot be counted."""
    points = math.prod(grid)
    if points > _core.most_points:
        return [f"grid {_extents(grid)}: {points} points; at most {_core.most_points} can be counted"]
    each = fields * DTYPES.get(dtype, 1)
    if points * each > _core.most_bytes:
        return [
            f"grid {_extents(grid)} of {fields} fields: {points} x {each} bytes; "
            f"at most {_core.most_bytes} can be counted"
        ]
    return []


def misfits(grid: tuple[int, int, int], split: tuple[int, int], layouts: Iterable[str]) -> list[str]:
    """Where a split has more ranks along a direction than the grid has points, in any of the layouts."""
    problems = {}
    for axes in layouts:
        for axis, parts in divided(axes, split):
            points = grid["xyz".index(axis)]
            if parts > points:
                levels = "levels" if axis == "z" else f"points along {axis}"
                problems[axis, parts] = (
                    f"split {_extents(split)}: {parts} ranks do not divide {points} {levels} among them "
                    f"(1..{points} are allowed)"
                )
    return list(problems.values())


def _layout_imbalance(grid: tuple[int, int, int], split: tuple[int, int], axes: str) -> float:
    worst = 1.0
    for axis, parts in divided(axes, split):
        points = grid["xyz".index(axis)]
        worst *= math.ceil(points / parts) * parts / points
    return worst


def default_split(exchange: Exchange, others: Iterable[str] = ()) -> tuple[int, int]:
    """The split of an exchange that names none; one that suits other algorithms too, so that they can be compared.

    A transposition takes the factor pair of the ranks that fits the grid and the algorithm's radix with the least
    imbalance, of several the one nearest to a square; a halo the pair nearest to a square, the larger number along
    the direction with more points. Raises InputError where no pair fits.
    """
    grid, ranks = exchange.grid, exchange.ranks
    assert grid is not None
    layouts = exchange._layout_axes()
    divisors = [a for a in range(1, math.isqrt(ranks) + 1) if ranks % a == 0]
    pairs = [(a, ranks // a) for a in sorted({*divisors, *(ranks // a for a in divisors)})]
    pairs = [pair for pair in pairs if not misfits(grid, pair, layouts)]
    pairs.sort(key=lambda p: (abs(math.log(p[0] / p[1])), (p[0] < p[1]) == (grid[0] >= grid[1])))
    if exchange.pattern == "transpose":
        pairs.sort(key=lambda p: round(max(_layout_imbalance(grid, p, axes) for axes in layouts), 9))
    reasons = set()
    for pair in pairs:
        try:
            for algorithm in (exchange.algorithm, *others):
                replace(exchange, split=pair, algorithm=algorithm)
        except InputError as error:
            reasons.add(str(error))
            continue
        return pair
    if len(reasons) == 1:  # whatever the split
        raise InputError(*reasons)
    raise InputError(
        f"{ranks} ranks: no split CXxCY of them fits the grid {_extents(grid)} with {exchange.algorithm}; "
        "name fewer ranks, or another algorithm"
    )


def exchange_refusal(exchange: Exchange, way: Choice) -> str:
    """Why transport and packing cannot carry out all schedules of an exchange; "" where they can, or are open."""
    if way.transport is None or way.packing is None:
        return ""
    steps = replace(exchange, algorithm=way.algorithm).steps()
    refusals = (_core.transport_refusal(step.schedule, way.transport, way.packing) for step in steps)
    return next(filter(None, refusals), "")
