"""Dwarfs on a grid whose columns are divided among the ranks: what these have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import gathered
from tradewind.base.extents import MAX_EXTENT
from tradewind.dwarfs.frame.diagnosis import Diagnosis, Slices, diagnose
from tradewind.dwarfs.frame.dwarf import Dwarf, copied
from tradewind.dwarfs.frame.gather import gather
from tradewind.dwarfs.frame.output import Output, of_blocks
from tradewind.dwarfs.frame.running import Running
from tradewind.workload.exchange import Exchange
from tradewind.workload.on_grid import layout_imbalance
from tradewind.workload.options import option
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Call
    from tradewind.mpi.library import Array


def width_option(shown: str) -> Any:
    """The option `width` of a dwarf with halos; `shown`: what it is unless given."""
    help = "Halo width: points on every side."
    return option(help, None, minimum=0, maximum=MAX_EXTENT, label="halo width", shown=shown)


@dataclass(frozen=True)
class GridDwarf(Dwarf):
    """A request for a dwarf on a grid."""

    grid: tuple[int, int, int] = option("Points NXxNYxNZ.", offered="128x128x64", by_name=False)
    """(nx, ny, nz)"""
    split: tuple[int, int] | None = option(
        "Ranks CXxCY over x and y.", None, shown="nearest to a square", by_name=False
    )

    diagnostics: ClassVar = {
        "sum": "sum",
        "sum_of_squares": "of squares",
        "minimum": "minimum",
        "maximum": "maximum",
    }
    has_map: ClassVar[bool] = True
    reach: ClassVar[int] = 1
    """Points beside it that a point needs for a step."""

    def _problems(self) -> list[str]:
        return self.exchange_problems(next(iter(self.plans)), width=self.reach, periodic="xy")

    def pattern(self, name: str) -> _core.Pattern:
        """The halo that a step needs, periodic in x and y; or a reduction of one number."""
        if self.plans[name] == "halo":
            return _core.Halo(self.layout, self.reach, [True, True])
        return _core.AllReduce(self.ranks, 1)

    @property
    def points(self) -> int:
        """Number of grid points."""
        return math.prod(self.grid)

    @property
    def layout(self) -> _core.Blocks:
        """The columns of each rank."""
        assert self.split is not None
        return _core.Blocks(_core.Grid(*self.grid), self.split)

    def imbalance(self) -> float:
        """Return the load imbalance of the columns: the maximum points of a rank over the mean."""
        assert self.split is not None
        return layout_imbalance(self.grid, self.split, "xy")

    def exchange_problems(self, plan: str, **values: Any) -> list[str]:
        """Return the problems of one of the `plans` on the grid; `values`: its other options.

        Fills in the split where none is given.
        """
        problems: list[str] = []
        with gathered(problems):
            algorithm = self.method(plan).algorithm
            exchange = Exchange(self.plans[plan], self.ranks, self.grid, self.split, algorithm=algorithm, **values)
            self._choose(split=exchange.split)
            problems += self.transport_problems(plan, exchange.schedules())
        return problems

    def boxes(self, points: Any, rank: int) -> list[Slices]:
        """The boxes of a rank's points by the name that a strategy gives them: "interior", which needs no halo; "rim";
        "own"; a number of points around the own ones, with them; or a function of the halo and the rank."""
        halo = self.pattern(next(iter(self.plans)))
        assert isinstance(halo, _core.Halo)
        if callable(points):
            return list(points(halo, rank))
        if points == "rim":
            return halo.rim(rank, self.reach)
        if points == "interior":
            return [halo.interior(rank, self.reach)]
        return [halo.widened(rank, 0 if points == "own" else points)]

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """See the base class. The boxes are those of rank 0, which has a largest part."""
        (x0, y0, z0), (x1, y1, z1) = self.layout.box(0)
        seconds = flops = moved = 0.0
        for call in calls:
            points = call.times(self) * sum(points_of(box) for box in self.boxes(call.points, 0))
            share = points / ((x1 - x0) * (y1 - y0) * (z1 - z0))
            done, size = call.cost(self)
            seconds += points * call.point_s(self)
            flops += done * share
            moved += size * share
        done = 0.0 if self.point_s else flops
        return Compute(label, seconds, done, copied(moved), self.layout, during, kernel=calls[0].name(self))


def points_of(box: Slices) -> int:
    """Points of a box [z][y][x]."""
    z, y, x = box
    return int((z.stop - z.start) * (y.stop - y.start) * (x.stop - x.start))


class GridRunning(Running):
    """A dwarf on a grid, on MPI ranks: `field`, [z][y][x] with what stands around, holds this rank's part in `own`."""

    field: Array
    own: Slices

    def __init__(self, dwarf: GridDwarf, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.layout = dwarf.layout
        self._boxes: dict[Any, list[Slices]] = {}

    def places(self, points: Any) -> Sequence[Any]:
        """Return the boxes of this rank's points of a kind, such as "own", "rim" or "interior"."""
        found = self._boxes.get(points)
        if found is None:
            found = self._boxes[points] = self.dwarf.boxes(points, self.rank)
        return found

    def indices(self) -> list[Array]:
        """Global indices z, y, x of this rank's points, which NumPy broadcasts to [z][y][x]."""
        (x0, y0, z0), (x1, y1, z1) = self.layout.box(self.rank)
        return list(np.meshgrid(np.arange(z0, z1), np.arange(y0, y1), np.arange(x0, x1), indexing="ij", sparse=True))

    @property
    def minimum_bytes(self) -> int:
        """Bytes of a memory copy of the rank's grid points, which amounts to one step."""
        return points_of(self.own) * self._request.element_bytes

    def diagnose(self) -> Diagnosis:
        """Sums and extremes of the whole field, the same bits on any ranks. Collective.

        Raises NotFiniteError on all ranks.
        """
        (x, y, z), _ = self.layout.box(self.rank)
        return diagnose(self.comm, self.device.to_host(self.field), self.own, (z, y, x), self.team)

    def gathered(self, levels: slice = slice(None)) -> Array | None:
        """Some levels of the whole field, [z][y][x], on rank 0. Collective."""
        return gather(self.comm, self.layout, self.device.to_host(self.field)[self.own][levels])

    def outputs(self) -> list[Output]:
        """Its one field, as a temperature."""
        return of_blocks(self.layout, {"t": lambda: self.device.to_host(self.field)[self.own]})

    map_variable = "t"

    def map(self) -> Array | None:
        """The middle level of the whole field, on rank 0. Collective."""
        middle = self.layout.grid.points[2] // 2
        level = self.gathered(slice(middle, middle + 1))
        return None if level is None else np.asarray(level[0])


class FieldRunning(GridRunning):
    """A dwarf of one field on a grid: a step reads `field` and writes `next`; `sums` has the numbers of reductions."""

    next: Array

    def __init__(
        self, dwarf: GridDwarf, comm: MPI.Intracomm, initial: Callable[[Array, Array, Array], Array], record: str
    ) -> None:
        """`initial`: (z, y, x) -> values, of global indices that NumPy broadcasts to [z][y][x]."""
        super().__init__(dwarf, comm, record)
        self.sums: dict[str, Array] = {}
        for name in dwarf.plans:
            pattern = dwarf.pattern(name)
            if isinstance(pattern, _core.Halo):
                self.own = pattern.widened(self.rank)
                self.field, self.next = self.array(pattern), self.array(pattern)
                self.plan(name, pattern, self.field, self.next)
            else:
                self.sums[name] = np.zeros(pattern.source_shape(self.rank)[-1], dwarf.precision)
                self.plan(name, pattern, self.sums[name])
        self.device.put(self.field, self.own, initial(*self.indices()))

    def array_of(self, exchange: str, of: Any) -> Array:
        """Return the array of an exchange: that of a reduction, or the field."""
        return self.sums[exchange] if exchange in self.sums else super().array_of(exchange, of)

    def finish(self, *result: Any) -> None:
        """Make the next values the present ones."""
        super().finish()
        self.field, self.next = self.next, self.field
