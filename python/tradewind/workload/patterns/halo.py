"""The halo: each rank receives the points around its part of the grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tradewind import _core
from tradewind.base.deferred import Deferred
from tradewind.base.extents import MAX_EXTENT
from tradewind.layout.named_grids import is_name
from tradewind.workload.arrays import UNTOUCHED, Array, Arrays, numbers, ranges_of
from tradewind.workload.exchange import Exchange
from tradewind.workload.on_grid import OnGrid, named_or_points, periodic_problems
from tradewind.workload.options import option
from tradewind.workload.registry import pattern_named
from tradewind.workload.workload import Step

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")


@dataclass(frozen=True)
class HaloExchange(OnGrid):
    """A request for a halo exchange."""

    grid: tuple[int, int, int] | None = named_or_points()
    width: int = option("Halo width: points on every side.", 3, minimum=0, maximum=MAX_EXTENT, label="halo width")
    periodic: str = option(
        "Periodic directions, x, y or xy.", "", problems=periodic_problems, label="periodic directions", shown="none"
    )

    kind: ClassVar[str] = "halo"
    core_pattern: ClassVar[str] = "halo"
    floor_algorithm: ClassVar[str | None] = "direct"

    @classmethod
    def meant(cls, values: Mapping[str, Any]) -> type[Exchange]:
        """The halo of a grid by name is the fetch of its points."""
        found: type[Exchange] = pattern_named("fetch") if is_name(values.get("grid")) else super().meant(values)
        return found

    @property
    def detail(self) -> str:
        """The halo width."""
        return str(self.width)

    @classmethod
    def sized(cls, size: int, ranks: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return a grid that is divided along y, with messages of whole rows; of width 1, unless it is given."""
        width = options.get("width", 1)
        points = cls._elements(size, options, ("grid", "split"), width)
        return {"grid": (points, max(1, width) * ranks, 1), "split": (1, ranks), "width": width}

    def steps(self) -> list[Step]:
        """Return the one halo exchange, repeated."""
        halo = _core.Halo(self.blocks(), self.width, ["x" in self.periodic, "y" in self.periodic])
        return [Step("halo", self.schedule(halo), self.times)]

    @staticmethod
    def arrays() -> type[Arrays]:
        """Return the arrays of a halo exchange."""
        return HaloArrays


class HaloArrays(Arrays):
    """Numbers of grid points; a halo beyond the edge of the grid stays untouched."""

    @staticmethod
    def source(pattern: _core.Halo, rank: int, field: int, dtype: str) -> Array:
        """Return the block of a rank, [z][y][x], whose halo is untouched."""
        w, layout = pattern.width, pattern.layout
        array = np.full(pattern.source_shape(rank), UNTOUCHED, dtype)
        inner = numbers(ranges_of(layout.box(rank)), layout.grid.points, field, dtype)
        array[:, w : w + inner.shape[1], w : w + inner.shape[2]] = inner
        return array

    @staticmethod
    def expected(pattern: _core.Halo, rank: int, field: int, dtype: str) -> Array:
        """Return the block of a rank, [z][y][x], with its halo; beyond the edge of the grid it is untouched."""
        layout, w = pattern.layout, pattern.width
        around_x, around_y = pattern.periodic
        (x0, y0, z0), (x1, y1, z1) = layout.box(rank)
        nx, ny, _ = layout.grid.points
        x, y = np.arange(x0 - w, x1 + w), np.arange(y0 - w, y1 + w)
        inside_x = np.full(x.size, True) if around_x else (x >= 0) & (x < nx)
        inside_y = np.full(y.size, True) if around_y else (y >= 0) & (y < ny)
        array = numbers([x % nx, y % ny, np.arange(z0, z1)], layout.grid.points, field, dtype)
        array[:, :, ~inside_x] = UNTOUCHED
        array[:, ~inside_y, :] = UNTOUCHED
        return array

    @staticmethod
    def expected_points(pattern: _core.Halo, rank: int) -> int:
        """Return the number of halo points that a rank receives."""
        layout, w = pattern.layout, pattern.width
        around_x, around_y = pattern.periodic
        (x0, y0, z0), (x1, y1, z1) = layout.box(rank)
        nx, ny, _ = layout.grid.points
        wide = x1 - x0 + 2 * w if around_x else min(x1 + w, nx) - max(x0 - w, 0)
        high = y1 - y0 + 2 * w if around_y else min(y1 + w, ny) - max(y0 - w, 0)
        return int((wide * high - (x1 - x0) * (y1 - y0)) * (z1 - z0))
