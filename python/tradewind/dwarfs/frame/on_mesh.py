"""Dwarfs on meshes of finite volumes, divided among the ranks: what these have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.collective import proceed
from tradewind.base.errors import InputError, gathered
from tradewind.dwarfs.frame.dwarf import Dwarf, copied
from tradewind.dwarfs.frame.gather import gather_points
from tradewind.dwarfs.frame.output import Output, of_mesh
from tradewind.dwarfs.frame.running import Running
from tradewind.layout.dual_meshes import map_of, mesh_of, require_memory
from tradewind.layout.mesh_outline import MeshOutline, Shares, outline_of, shares_of
from tradewind.layout.mesh_part import Surroundings
from tradewind.layout.mesh_rows import mesh_extents, mesh_nodes, rows_of
from tradewind.layout.partition import ORDERS, own_nodes
from tradewind.workload.options import option
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.dwarfs.frame.step import Call
    from tradewind.layout.median_dual import MedianDual
    from tradewind.layout.mesh_rows import Ids
    from tradewind.mpi.library import Array

_MAX_LEVELS = 10_000


def _grid_problems(name: str) -> list[str]:
    problems: list[str] = []
    with gathered(problems):
        mesh_extents(name)
    return problems


@dataclass(frozen=True)
class MeshDwarf(Dwarf):
    """A request for a dwarf on a mesh of finite volumes; fields are [node][level]."""

    grid: str = option(
        "Mesh: O<N>, an octahedral grid, or NXxNY of a flat periodic one.",
        problems=_grid_problems,
        offered="O40",
        by_name=False,
    )
    levels: int = option("Levels.", 16, minimum=1, maximum=_MAX_LEVELS, label="levels")
    partition: str = option(
        f"How nodes are shared out: {' or '.join(ORDERS)}.",
        "bands",
        known=lambda: ORDERS,
        label="partition of the mesh",
    )

    has_map: ClassVar[bool] = True

    @property
    def nodes(self) -> int:
        """Number of nodes of the mesh."""
        return mesh_nodes(self.grid)

    @property
    def points(self) -> int:
        """Number of points: nodes times levels."""
        return self.nodes * self.levels

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that a study keeps of a simulation, with the number of points."""
        return {**super().derived(result), "points": self.points}

    def rank_problems(self) -> list[str]:
        """Return why the ranks cannot share the mesh."""
        if _grid_problems(self.grid) or self.ranks <= self.nodes:
            return []
        return [f"{self.ranks} ranks: 1..{self.nodes} are allowed for the nodes of {self.grid}"]

    def imbalance(self) -> float:
        """The largest number of own nodes of a rank over the mean."""
        most: int = max(map(len, self.shares().own))
        return most * self.ranks / self.nodes

    def shares(self) -> Shares:
        """Return what each rank has and needs of others, found without the mesh of volumes."""
        return _shares(self.grid, self.ranks, self.partition)

    def counts(self, points: str) -> Sequence[int]:
        """Return the number of nodes per rank of a kind: "own", "rim", "interior", "near rim" or "all"."""
        shares = self.shares()
        if points in ("rim", "near rim"):
            found: list[int] = (shares.rim if points == "rim" else shares.near_rim).tolist()
            return found
        more = {"own": [0] * self.ranks, "interior": (-shares.rim).tolist(), "all": [len(halo) for halo in shares.halo]}
        return [len(own) + n for own, n in zip(shares.own, more[points], strict=True)]

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """Return the computation of one call of a loop, with the points of each rank."""
        (call,) = calls  # each has its label
        flops, moved = call.cost(self)
        points = [float(call.times(self) * self.levels * n) for n in self.counts(call.points)]
        done = 0.0 if self.point_s else flops
        return Compute(
            label, 0.0, done, copied(moved), None, during, 1, call.point_s(self), points, kernel=call.name(self)
        )

    def halo(self) -> _core.Fetch:
        """The exchange of one level, over all ranks."""
        return _halo(self.grid, self.ranks, self.partition)


@lru_cache(maxsize=2)
def mesh_by_name(name: str) -> MedianDual:
    """Return the mesh of a name, which is kept for the next call."""
    return mesh_of(name)


@lru_cache(maxsize=2)
def _outline(grid: str) -> MeshOutline:
    return outline_of(grid)


@lru_cache(maxsize=8)
def _shares(grid: str, ranks: int, partition: str) -> Shares:
    return shares_of(_outline(grid), ranks, partition)


@lru_cache(maxsize=2)
def _halo(grid: str, ranks: int, partition: str) -> _core.Fetch:
    shares = _shares(grid, ranks, partition)
    return _core.fetch_of_ids(shares.own, shares.halo)


class MeshRunning(Running):
    """A dwarf on a mesh, on MPI ranks: `part` is this rank's, `exchange` brings one array's halo."""

    def __init__(self, dwarf: MeshDwarf, comm: MPI.Intracomm, record: str, *, order: str) -> None:
        """`order` of a rank's nodes: "runs": those that no other rank needs, then the rim, then the halo are three runs
        of memory; "ids": ascending; else that of the partition."""
        from tradewind.mpi.points import CorePoints, renumbered

        super().__init__(dwarf, comm, record)
        self.levels = dwarf.levels
        rows = rows_of(dwarf.grid)
        require_memory(f"a part of {dwarf.grid} on one of {dwarf.ranks} ranks", rows.nodes / dwarf.ranks)
        begin = perf_counter()
        own = own_nodes(rows, dwarf.ranks, dwarf.partition, self.rank)
        divided = perf_counter()
        around = Surroundings(rows, own)
        halo, mesh_s = around.halo, perf_counter() - divided
        if order == "runs":
            runs = renumbered(comm, own, halo)
            own, halo = runs.own, runs.halo
        elif order == "ids":
            own = np.sort(own)
        numbered = perf_counter()
        self.part = part = around.part(own, halo)
        self.mesh = part.dual
        """The own nodes and the halo, by local numbers; volumes of own nodes."""
        mesh_s += perf_counter() - numbered
        proceed(comm)
        asked = perf_counter()
        self.halo: _core.Fetch = CorePoints(comm, own).halo(halo)
        self.setup_s = {"mesh": mesh_s, "partition": divided - begin, "who needs what": perf_counter() - asked}
        self.own = slice(0, len(own))
        self.volume = self.mesh.volume
        self.graph = _core.MeshGraph(
            part.offsets, part.neighbours, part.faces, part.edges, 1 / self.volume, len(own) + len(halo)
        )

    def columns(self, rows: int, *inner: int, plan: str = "") -> Array:
        """An array [rows][...][level] full of NaN: a diagnosis finds what has not been filled.

        `plan`: of which it is to be an array; for the transport shared it lies where other ranks can take from.
        """
        if self.device.is_host:
            return self.host_columns(rows, *inner, plan=plan)
        there: Array = self.device.full((rows, *inner, self.levels), self._request.precision, np.nan)
        return there

    def host_columns(self, rows: int, *inner: int, plan: str = "") -> Array:
        """The same in the host's memory, also where the fields lie on a device."""
        shape = (rows, *inner, self.levels)
        precision = self._request.precision
        if plan and self._request.method(plan).transport == "shared":
            from tradewind.mpi.arrays import shared_zeros

            array: Array = shared_zeros(shape, precision)
        else:
            array = np.empty(shape, precision)
        array.fill(np.nan)
        return array

    field: Array
    """The tracer, of the nodes and of the halo behind them. [node][level]"""

    def outputs(self) -> list[Output]:
        """Its one field, as a tracer."""
        return of_mesh(self.mesh.name, self.part.own, self.levels, {"q": self.own_values})

    def own_values(self) -> Array:
        """Return the tracer at own nodes in the host's memory, [node][level]."""
        return self.device.to_host(self.field)[self.own]

    def whole(self, own: Array) -> Array | None:
        """Values of own nodes as those of the whole mesh, on rank 0. Collective."""
        return gather_points(self.comm, self.part.own, own)

    map_variable = "q"

    @property
    def map_place(self) -> dict[str, Any]:
        """On the sphere, or on a plane, as the mesh lies."""
        return {"on_sphere": self.mesh.on_sphere}

    def as_map(self, own: Array) -> Array | None:
        """One value of each own node as a map [y][x] from the south, on rank 0. Collective."""
        whole = self.whole(own)
        return None if whole is None else map_of(self.mesh.name, whole)


def check_fits(courant: float, limit: float, dt: float, where: Ids | NDArray[np.int64], mesh: MedianDual) -> None:
    """Raise InputError for a Courant number beyond the limit, with the node and the longest step that is allowed."""
    if not courant <= limit:
        node = int(where[0])
        raise InputError(
            f"Courant number {courant:.4g} at node {node} of {mesh.name} with steps of {dt:g} s: up to {limit:g} is "
            f"allowed, steps of up to {dt * limit / courant:.6g} s"
        )
