"""Halos of the grids of today's models, of which each rank finds its own: tripolar, cubed spheres, icosahedral.

>>> import tradewind as tw
>>> halo = tw.MeshHalo("R2B3x90", ranks=12)
>>> halo.fetch().schedule().verify()["messages"]
82
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradewind.base.collective import check_communicator, collective
from tradewind.base.errors import InputError, quoted
from tradewind.layout.block_halo import BlockHalo
from tradewind.layout.cell_halo import CellHalo
from tradewind.layout.halo_lists import Divided, HaloList
from tradewind.layout.icosahedral import Icosahedral
from tradewind.layout.mesh import divided, listed_halo
from tradewind.layout.names import LISTED
from tradewind.layout.tiles import CubedSphere, Tripolar
from tradewind.pattern import Fetch
from tradewind.workload.exchange import Exchange

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.layout.halo_lists import Ids

__all__ = ["CubedSphere", "Icosahedral", "MeshHalo", "Tripolar"]


class MeshHalo:
    """Halo of a mesh that is divided among ranks, within one array of each rank.

    `grid`: a name with levels, such as ORCA025x75, C768x127 or R2B9x90; or a `Tripolar`, `CubedSphere` or
    `Icosahedral`. `width`: points on every side, or rows of cells. `split`: ranks along x and y, of a cubed sphere with
    its six tiles one after another along y; None: blocks nearest to a square, of an icosahedral grid runs of cells.

    Arrays of a rank: of blocks (rows + 2 width, columns + 2 width), see `shape`; of an icosahedral grid its own cells,
    then the halo. No rank computes or stores anything of others. Raises InputError for an unknown name, and for ranks,
    a split or a width that do not fit.
    """

    def __init__(
        self,
        grid: str | Tripolar | CubedSphere | Icosahedral,
        ranks: int,
        width: int = 1,
        split: tuple[int, int] | None = None,
    ) -> None:
        mesh, points = _mesh_of(grid)
        given = {"grid": grid} if isinstance(grid, str) else {"mesh": mesh, "grid": (*points, 1)}
        request = Exchange("fetch", ranks, split=split, width=width, **given)
        self.levels: int = request.grid[2]  # type: ignore[attr-defined]  # of a fetch
        self.mesh: Divided
        if isinstance(grid, str):
            if request.mesh not in LISTED:  # type: ignore[attr-defined]
                raise InputError(f"grid {quoted(grid)}: {', '.join(LISTED)} meshes are allowed; others are fetched")
            self.mesh = divided(request.mesh, request.grid[:2], request.split, width)  # type: ignore[attr-defined, arg-type]
        elif isinstance(grid, Icosahedral):
            self.mesh = CellHalo(grid, ranks, width)
        else:
            self.mesh = BlockHalo(grid, request.split, width)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """Return the mesh, and how it is divided."""
        return f"<MeshHalo: {self.mesh}>"

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.mesh.ranks

    def shape(self, rank: int) -> tuple[int, ...]:
        """Return the shape of a rank's array of one level, halo included: (rows, columns) of a block, (cells,)."""
        return self.mesh.shape(rank) if isinstance(self.mesh, BlockHalo) else (self.of(rank).points,)

    def ids(self, rank: int) -> tuple[Ids, Ids]:
        """Return the numbers of a rank's own points in the whole grid, and their places in its array."""
        return self.mesh.ids(rank)

    def numbers(self, rank: int) -> Ids:
        """Return the numbers in the whole grid of the points of a rank's halo, in the order of `of`."""
        halo = self.of(rank)
        return self.mesh.numbers(halo.owner, halo.index)

    def edges(self, rank: int) -> tuple[Ids, Ids]:
        """Return the edges of an icosahedral grid that a rank owns, and those of its own and its halo's cells beyond.

        Their numbers are ids for `tradewind.Points`. Raises InputError for another grid.
        """
        if not isinstance(self.mesh, CellHalo):
            raise InputError(f"{self!r}: cells of an icosahedral grid have edges with numbers")
        return self.mesh.edges(rank)

    def of(self, rank: int) -> HaloList:
        """Return the halo of a rank: owners, places there and here, and turns of the directions x and y."""
        if not 0 <= rank < self.ranks:
            raise InputError(f"rank {rank}: 0..{self.ranks - 1} are allowed")
        return next(iter(self.mesh.lists(rank, rank + 1)))

    def fetch(self) -> Fetch:
        """Return the halos of all ranks, with the levels of the grid's name, to verify and simulate them."""
        return Fetch.of(listed_halo(self.mesh).with_levels((1, self.levels)))

    @collective
    def on(self, comm: MPI.Intracomm) -> Fetch:
        """Return the halo of this rank, for plans on its arrays. Collective.

        A field of a block has the shape (levels, points of `shape`), as ``array.reshape(levels, -1)``. Raises
        InputError for a communicator of another number of ranks.
        """
        from tradewind.points import Points

        check_communicator(comm)
        if comm.Get_size() != self.ranks:
            raise InputError(
                f"a halo of {self.ranks} ranks on a communicator of {comm.Get_size()}: as many are allowed"
            )
        halo = self.of(comm.Get_rank())
        return Points(comm, halo.points).halo(owner=halo.owner, index=halo.index, places=halo.place)


def _mesh_of(grid: object) -> tuple[str, tuple[int, int]]:
    """Return the mesh of a grid by requests, and its points; of a name nothing. Raises InputError for anything else."""
    if isinstance(grid, str):
        return "", (0, 0)
    if isinstance(grid, Icosahedral):
        return "icosahedral", (grid.cells, 1)
    if isinstance(grid, CubedSphere):
        return "cubed-sphere", (grid.n, grid.tiles * grid.n)
    if isinstance(grid, Tripolar):
        return ("tripolar" if grid.pivot == "T" else "tripolar-f"), grid.points
    raise InputError(f"grid {quoted(grid)}: a name, a Tripolar, a CubedSphere or an Icosahedral is allowed")
