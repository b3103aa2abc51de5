"""The fetch: each rank lists the points that it wants; here those of the halo of an unstructured mesh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tradewind import _core
from tradewind.base import memory
from tradewind.base.deferred import Deferred
from tradewind.base.errors import gathered
from tradewind.base.extents import MAX_EXTENT
from tradewind.layout.mesh import divided, halo_of, octahedral_points, octahedral_problems
from tradewind.layout.named_grids import MeshGrid
from tradewind.layout.names import LISTED, MESHES
from tradewind.workload.arrays import UNTOUCHED, Array, Arrays
from tradewind.workload.on_grid import OnGrid, named_or_points, periodic_problems
from tradewind.workload.options import option
from tradewind.workload.workload import Step

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")


@dataclass(frozen=True)
class FetchExchange(OnGrid):
    """A request for the halo of a mesh, as a fetch."""

    grid: tuple[int, int, int] | None = named_or_points()
    mesh: str = option(f"Mesh: {', '.join(MESHES)}.", "lonlat", known=lambda: MESHES, label="mesh of a fetch")
    width: int = option("Halo width: points on every side.", 3, minimum=0, maximum=MAX_EXTENT, label="halo width")
    periodic: str = option(
        "Periodic directions, x, y or xy.", "", problems=periodic_problems, label="periodic directions", shown="none"
    )

    kind: ClassVar[str] = "fetch"
    core_pattern: ClassVar[str] = "fetch"
    floor_algorithm: ClassVar[str | None] = "direct"

    former: ClassVar[Mapping[str, str]] = {"stored": "recorded"}

    @property
    def detail(self) -> str:
        """Mesh and halo width."""
        return f"{self.mesh} {self.width}"

    def layouts(self) -> list[str]:
        """Return the layout whose parts the points of the mesh have; none where x and y are not divided."""
        return [] if self.mesh in ("octahedral", "icosahedral") else ["xy"]

    def _take_named(self, grid: MeshGrid) -> None:
        object.__setattr__(self, "mesh", grid.mesh)
        object.__setattr__(self, "grid", grid.points)

    @property
    def tiles(self) -> int:
        """Number of tiles of the grid, one after another along y."""
        return 6 if self.mesh == "cubed-sphere" else 1

    def _size_problems(self) -> list[str]:
        assert self.grid is not None
        if self.mesh == "octahedral":
            return octahedral_problems(self.grid[1], self.ranks)
        if self.mesh not in LISTED:
            return super()._size_problems()
        problems = super()._size_problems()
        if self.periodic:
            problems.append(f"periodic {self.periodic!r}: mesh {self.mesh} has edges of its own; leave it out")
        if self.ranks % self.tiles:
            problems.append(f"{self.ranks} ranks: a multiple of {self.tiles} is allowed, the same on each tile")
        with gathered(problems):
            divided(self.mesh, self.grid[:2], self.split or self._any_split(), self.width)
        return problems

    def _any_split(self) -> tuple[int, int]:
        """Return a split to check a grid with that has none yet."""
        return (self.ranks, 1) if self.mesh == "icosahedral" else (1, self.tiles)

    def _try_schedules(self) -> None:
        """To list all points of a mesh can take minutes: the algorithm is tried on a fetch of nothing in its place."""
        memory.require(f"a fetch among {self.ranks} ranks", memory.BYTES_A_RANK * self.ranks, "name fewer ranks")
        self.schedule(_core.fetch_of_messages([1] * self.ranks, []))

    def steps(self) -> list[Step]:
        """Return the one fetch, repeated. Raises InputError."""
        fetch = halo_of(self.mesh, *self.sizes, self.width, self.periodic)
        return [Step("fetch", self.schedule(fetch), self.times)]

    def imbalance(self) -> float:
        """Return the load imbalance: the maximum points of a rank over the mean."""
        if self.layouts():
            return super().imbalance()
        assert self.grid is not None
        points = octahedral_points(self.grid[1]) if self.mesh == "octahedral" else self.grid[0] * self.grid[1]
        return -(-points // self.ranks) * self.ranks / points

    @staticmethod
    def arrays() -> type[Arrays]:
        """Return the arrays of a fetch."""
        return FetchArrays


class FetchArrays(Arrays):
    """The number of each point, counted over the arrays of all ranks, and so on level by level."""

    @staticmethod
    def source(pattern: _core.Fetch, rank: int, field: int, dtype: str) -> Array:
        """Return the owned points of a rank, [z][y][point]."""
        return _numbers(pattern, np.full(pattern.source_shape(rank)[2], rank), None, field, dtype)

    @staticmethod
    def expected(pattern: _core.Fetch, rank: int, field: int, dtype: str) -> Array:
        """Return the fetched points of a rank, [z][y][place]; places without a point are untouched."""
        owner, index, place, _ = pattern.list_of(rank)
        array = np.full(pattern.target_shape(rank), UNTOUCHED, dtype)
        array[:, :, place] = _numbers(pattern, owner, index, field, dtype)
        return array

    @staticmethod
    def expected_points(pattern: _core.Fetch, rank: int) -> int:
        """Return the number of points that a rank receives, on all levels."""
        return len(pattern.list_of(rank)[0]) * pattern.levels[0] * pattern.levels[1]


def _numbers(fetch: _core.Fetch, owner: Array, index: Array | None, field: int, dtype: str) -> Array:
    """Numbers of points of `owner`, [z][y][point]."""
    counts = np.array([fetch.source_shape(rank)[2] for rank in range(fetch.ranks)], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(counts)])
    points = first[owner] + (np.arange(len(owner)) if index is None else index)
    inner, outer = fetch.levels
    levels = np.arange(outer * inner).reshape(outer, inner, 1) * first[-1]
    return np.asarray(points + levels + field, dtype)
