"""Layouts, patterns and schedules for developers of models.

>>> import tradewind as tw
>>> grid = tw.Grid(nx=602, ny=568, nz=60)
>>> block = tw.Blocks(grid, split=(4, 2))
>>> halo = tw.Halo(block, width=3, periodic=("x",))
>>> halo.schedule("sweep").verify()["messages"]
24
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tradewind import _core
from tradewind.base.collective import collective
from tradewind.base.errors import InputError
from tradewind.base.html import html_table
from tradewind.layout.closed import (
    Bands,
    Lists,
    Placed,
    ReducedGrid,
    Wavenumbers,
    Whole,
    on_one_grid,
    snake,
    wanted_ids,
)
from tradewind.layout.display import ShownGrid, ShownLayout
from tradewind.layout.lists import listed, of_owners
from tradewind.method.method import DEFAULT_TRANSPORT, default_algorithm
from tradewind.workload import program
from tradewind.workload.workload import OneSchedule

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import ArrayLike

    from tradewind.mpi.library import Array, Plan

__all__ = [
    "Adjoint",
    "AllReduce",
    "Bands",
    "Blocks",
    "BrickGatherScatter",
    "Fetch",
    "GatherScatter",
    "Grid",
    "Halo",
    "Lists",
    "Pencils",
    "Placed",
    "Program",
    "Redistribution",
    "ReducedGrid",
    "Schedule",
    "Transpose",
    "Wavenumbers",
    "Whole",
    "snake",
]


class Grid(_core.Grid, ShownGrid):  # noqa: D101
    __doc__ = _core.Grid.__doc__


class Blocks(_core.Blocks, ShownLayout):  # noqa: D101
    __doc__ = _core.Blocks.__doc__


class Pencils(Blocks):
    """Layout of whole lines along one direction; the other two directions are divided.

    `split` = (a, b) ranks: a divides z, and b the other direction (for ``along="z"``, a divides x and b divides y). So
    a transposition between x/y blocks and x pencils of the same split stays within a row of ranks, and one between x
    pencils and y pencils within a column (Zheng & Marguinaud 2018, Fig. 3). Raises InputError for an empty part.
    """

    def __init__(self, grid: _core.Grid, along: str, split: tuple[int, int]) -> None:
        super().__init__(grid, split, _core.pencil_axes(along))


MAX_STAGES = 16
"""Stages that a notebook shows of a schedule."""


class _Scheduled(_core.Pattern if TYPE_CHECKING else object):  # type: ignore[misc]
    """Common part of all patterns."""

    def schedule(self, algorithm: str | None = None) -> Schedule:
        """Return the stages of messages that carry out the pattern, by an algorithm such as ``"ring-4"``.

        None takes the default of the pattern. Raises InputError for an unknown algorithm or a radix out of range.
        """
        return Schedule(_core.make_schedule(self, algorithm or default_algorithm(self.name)))

    @collective
    def plan(
        self,
        comm: MPI.Intracomm,
        fields: Array | list[Array],
        target: Array | list[Array] | None = None,
        **options: Any,
    ) -> Plan:
        """Bind the pattern to arrays and a communicator; see `tradewind.mpi.plan`.

        Algorithm, transport and packing are chosen at run time unless `options` name them (`tradewind.method.choice`).
        """
        from tradewind.mpi.planning import plan

        return plan(self, comm, fields, target, **options)

    def _repr_html_(self) -> str:
        rows = [("pattern", self.describe()), ("ranks", f"{self.ranks:,}")]
        if not getattr(self, "partial", False):  # which describes one rank alone
            shapes = (self.source_shape(0), self.target_shape(0))
            rows.append(("shape of rank 0's array", " -> ".join(dict.fromkeys(map(str, shapes)))))
        return html_table(type(self).__name__, rows)


class Halo(_core.Halo, _Scheduled):
    """Halo: each rank receives the points around its own, `width` on every side in x and y, with the corners.

    The array of a rank has the shape (nz, ny + 2 width, nx + 2 width), where its part has ny x nx points. `periodic`
    names the periodic directions, "x" and "y"; along the others the cells beyond the grid are not touched. The width
    may exceed the parts of the neighbours.
    """

    def __init__(self, layout: _core.Blocks, width: int, periodic: Iterable[str] = ()) -> None:
        names = set(periodic)
        if not names <= {"x", "y"}:
            raise InputError(f"periodic {sorted(names)}: some of 'x' and 'y' are allowed")
        super().__init__(layout, width, ["x" in names, "y" in names])


class Transpose(_core.Transpose, _Scheduled):
    """Transposition: redistribution of a grid from one layout to another.

    Any two layouts of the same grid and number of ranks can be combined. Between `Blocks` or `Pencils` the result is a
    `Transpose`. With `Bands`, `Wavenumbers`, `Whole` or `Placed` it is a `Redistribution`. With `Lists` it is a `Fetch`
    of numbered points: point (x, y, z) of a grid has the number x + nx (y + ny z), and arrays have one dimension.
    Raises InputError for layouts of different grids or numbers of ranks.
    """

    def __new__(cls, from_layout: _core.Layout, to_layout: _core.Layout) -> Any:
        """Return a `Transpose` between blocks, a `Fetch` where a layout is a list, else a `Redistribution`."""
        if isinstance(from_layout, _core.Blocks) and isinstance(to_layout, _core.Blocks):
            return super().__new__(cls)
        if isinstance(from_layout, _core.Lists) or isinstance(to_layout, _core.Lists):
            return Fetch(*wanted_ids(from_layout, to_layout))
        return Redistribution(from_layout, to_layout)

    def adjoint(self) -> Transpose:
        """Return the inverse, which is also the adjoint: each point has one place before and one after."""
        back: Transpose = Transpose(self.to_layout, self.from_layout)
        return back


class Redistribution(_core.Redistribution, _Scheduled):
    """Transposition between any two layouts that have a closed form; see `Transpose`.

    Arrays have the shapes ``layout.shape(rank)``. If a layout numbers all points row by row, as `Bands` that share
    rows do, an array of bands may have the shape (nz, points), and one of blocks (nz, ny, nx) if its rows follow each
    other in memory.
    """

    def __init__(self, from_layout: _core.Layout, to_layout: _core.Layout) -> None:
        super().__init__(*on_one_grid(from_layout, to_layout))

    def adjoint(self) -> Redistribution:
        """Return the inverse, which is also the adjoint: each point has one place before and one after."""
        return Redistribution(self.to_layout, self.from_layout)


class Fetch(_core.Fetch, _Scheduled):
    """Fetch: each rank lists the points that it wants, such as an unstructured halo or an on-demand halo.

    This class takes the lists of all ranks in one process, to verify and simulate a fetch. `owned`: for each rank the
    global ids of its points, in the order of its source array. `wanted`: for each rank the ids that it wants, in the
    order of its target array; an id may be repeated. Ids are integers from 0. On MPI, where each rank knows only its
    own lists, use `tradewind.points.Points`.

    Fields have one to three dimensions: one over points, the others over levels; see `tradewind.mpi.plan`. Raises
    InputError for an id without an owner, with two owners, or below 0.
    """

    def __init__(self, owned: Sequence[ArrayLike], wanted: Sequence[ArrayLike]) -> None:
        super().__init__(_core.fetch_of_ids(listed("owned", owned), listed("wanted", wanted)))

    @classmethod
    def of(cls, core: _core.Fetch) -> Fetch:
        """Return a fetch of the core as this class."""
        fetch = cls.__new__(cls)
        _core.Fetch.__init__(fetch, core)
        return fetch

    @classmethod
    def of_owners(
        cls,
        counts: Sequence[int],
        lists: Sequence[tuple[ArrayLike, ArrayLike]],
        places: Sequence[ArrayLike] | None = None,
        *,
        one_array: bool = False,
    ) -> Fetch:
        """Return a fetch of (owner, index) lists: point k of a rank's list is point ``index[k]`` of rank ``owner[k]``.

        `counts`: points of each rank's source array. `places`: position of each point in the target array; None: one
        after another. `one_array`: source and target are one array, as for a halo; without places the halo follows the
        `counts` points that a rank owns. Raises InputError for lists whose lengths differ, for an owner or an index out
        of range, and for a place that is taken twice.
        """
        return cls.of(_core.Fetch(*of_owners(counts, lists, places, one_array), one_array))

    def adjoint(self) -> Adjoint:
        """Return the adjoint, which adds the values of the target arrays to the points that they were fetched from."""
        return Adjoint(self)


class Adjoint(_core.FetchAdjoint, _Scheduled):
    """Adjoint F' of a fetch F: <F x, y> = <x, F' y>. Source and target are exchanged, and received values are added."""

    def __init__(self, fetch: _core.Fetch) -> None:
        super().__init__(fetch)


class AllReduce(_core.AllReduce, _Scheduled):
    """Reduction: the sum (or another operation) over all ranks of a vector of `count` elements, on every rank."""


class _SelfAdjoint:
    """A gather-scatter that adds: <G x, y> = <x, G y>."""

    if TYPE_CHECKING:

        @property
        def operation(self) -> str: ...

    def adjoint(self) -> Self:
        """Return the adjoint of a gather-scatter that adds, which is itself. Raises InputError for other operations."""
        if self.operation != "add":
            raise InputError(f"the {self.operation} of values is not linear, and has no adjoint: add has one")
        return self


class GatherScatter(_core.ListedGatherScatter, _SelfAdjoint, _Scheduled):
    """Gather-scatter: each value becomes the combination of all values of its id, on its own rank and on others.

    `ids`: with `comm` the ids of this rank's values, in the order of its array; collective. Without, for each rank the
    ids of its values, to verify and simulate. Ids are integers up to 2^63 - 1, in any order and as often as they come;
    values with an id of 0 or below take no part and stay as they are. `operation`: add, mul, min or max.

    A rank combines its own values of an id first, in the order of its array; then those of the ranks, in ascending
    order (by `cartesian` along x, then y, then z): all values of an id have the same bits, run after run. The
    gather-scatter of an array of ones counts how often each id is there. Which ranks share an id is found out at a
    third rank; no rank keeps or sends anything for each other rank.

    Fields have one to three dimensions: one over values, the others over levels; see `tradewind.mpi.plan`. Raises
    InputError for ids that are no integers, and for an unknown operation; PlanError where another rank raises.
    """

    @collective
    def __init__(
        self, ids: ArrayLike | Sequence[ArrayLike], operation: str = "add", comm: MPI.Intracomm | None = None
    ) -> None:
        if comm is None:
            super().__init__(_core.gather_scatter_of_ids(listed("ids", ids), operation))  # type: ignore[arg-type]
        else:
            from tradewind.mpi.points import shared_ids

            super().__init__(shared_ids(comm, ids, operation))  # type: ignore[arg-type]


class BrickGatherScatter(_core.BrickGatherScatter, _SelfAdjoint, _Scheduled):
    """Gather-scatter of hexahedral spectral elements in a brick, which is divided into a brick of ranks.

    `elements` (x, y, z): those of each rank. `points`: points of an element along each direction, its degree + 1.
    `split` (x, y, z): ranks along each direction. `periodic`: names of periodic directions. Points, elements and ranks
    go x fastest: a rank's field has the shape (elements, points, points, points), as one dimension of values. Nothing
    is computed or stored for each rank, so a million ranks can be simulated; algorithm `cartesian` is for bricks alone.
    """

    def __init__(
        self,
        elements: tuple[int, int, int],
        points: int,
        split: tuple[int, int, int],
        periodic: Iterable[str] = (),
        operation: str = "add",
    ) -> None:
        names = set(periodic)
        if not names <= {"x", "y", "z"}:
            raise InputError(f"periodic {sorted(names)}: some of 'x', 'y' and 'z' are allowed")
        super().__init__(elements, points, split, [axis in names for axis in "xyz"], operation)


@dataclass(frozen=True, repr=False)
class Schedule:
    """A pattern and an algorithm: stages of messages, to be verified, run or simulated."""

    core: _core.Schedule

    def __repr__(self) -> str:
        """Return the pattern, the algorithm, and the numbers of stages and ranks."""
        return repr(self.core)

    def _repr_html_(self) -> str:
        title = f"{self.core.pattern.describe()} by {self.algorithm} on {self.ranks:,} ranks: messages of rank 0"
        rows: list[tuple[object, ...]] = []
        for stage in range(min(self.stages, MAX_STAGES)):
            sent = self.core.sends(0, stage)
            rows.append(
                (stage, len(sent), sum(each.count for each in sent), ", ".join(str(each.peer) for each in sent[:8]))
            )
        if self.stages > MAX_STAGES:
            rows.append((f"and {self.stages - MAX_STAGES} more", "", "", ""))
        return html_table(title, rows, ("stage", "messages sent", "points", "to ranks"))

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self.core.algorithm

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.core.ranks

    @property
    def stages(self) -> int:
        """Number of stages."""
        return self.core.stages

    def verify(self, transport: str = DEFAULT_TRANSPORT) -> dict[str, Any]:
        """Prove that the schedule carries out the pattern; see `tradewind.verification.verify`."""
        from tradewind.verification import verify

        return verify(OneSchedule(self.core), transport)

    def simulate(self, machine: str | Path, *, fields: int = 1, dtype: str = "f8", **options: Any) -> dict[str, Any]:
        """Simulate it on a machine; see `tradewind.simulation.simulate`."""
        from tradewind.simulation import simulate

        return simulate(OneSchedule(self.core, fields, dtype), machine, **options)

    def animate(
        self,
        file: str | Path,
        machine: str | Path | None = None,
        *,
        fields: int = 1,
        dtype: str = "f8",
        **options: Any,
    ) -> Path:
        """Write a page on which its messages move; see `tradewind.simulation.animation.animate`."""
        from tradewind.simulation.animation import animate

        return animate(OneSchedule(self.core, fields, dtype), file, machine, **options)

    @collective
    def plan(
        self,
        comm: MPI.Intracomm,
        fields: Array | list[Array],
        target: Array | list[Array] | None = None,
        **options: Any,
    ) -> Plan:
        """Bind the schedule to arrays and a communicator; see `tradewind.mpi.plan`."""
        from tradewind.mpi.planning import plan

        return plan(self.core, comm, fields, target, **options)


class Program(program.ProgramWorkload):  # noqa: D101
    __doc__ = program.ProgramWorkload.__doc__

    def __repr__(self) -> str:
        """Return the name, and the numbers of exchanges, stages and ranks."""
        exchanges = len(self.exchanges) or len(self.schedules())
        core = self.core()
        return f"<Program: {self.name}, {exchanges} exchanges, {core.stages:,} stages, {core.ranks:,} ranks>"

    def _repr_html_(self) -> str:
        from tradewind.workload.display import program_table

        return program_table(self)

    def simulate(self, machine: str | Path, **options: Any) -> dict[str, Any]:
        """Simulate it on a machine; see `tradewind.simulation.simulate`."""
        from tradewind.simulation import simulate

        return simulate(self, machine, **options)

    def verify(self) -> dict[str, Any]:
        """Prove that every exchange is right, and that the ranks cannot deadlock across all of them.

        See `tradewind.verification.verify_program`.
        """
        from tradewind.verification import verify

        return verify(self)


def load_program(path: str | Path, text: str | None = None, ranks: int | None = None) -> Program:
    """Read a program file; see `tradewind.workload.program_file.load_program`."""
    from tradewind.workload.program_file import load_program_as

    return load_program_as(Program, path, text, ranks)
