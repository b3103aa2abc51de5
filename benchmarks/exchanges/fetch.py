"""An unstructured halo beside the structured one, and what it costs to make a fetch on demand beside one exchange."""

from __future__ import annotations

from typing import Any

import numpy as np

from exchanges.sampling import calls, contest, line, require
from tradewind import points
from tradewind.mpi import MPI
from tradewind.pattern import Blocks, Grid, Halo


def fetch(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: grid, width, points per rank, levels, repeat, samples."""
    return [_halos(comm, payload), *_on_demand(comm, payload)]


def _halos(comm: MPI.Intracomm, payload: dict[str, Any]) -> str:
    """Rows of a grid whose halo are whole rows above and below: runs of memory in both arrays."""
    nx, ny, nz = payload["grid"]
    width, rank = payload["width"], comm.Get_rank()
    layout = Blocks(Grid(nx, ny, nz), (1, comm.Get_size()))
    structured = Halo(layout, width, ("y",))
    rows = np.zeros(structured.source_shape(rank))
    (_, y0, _), (_, y1, _) = layout.box(rank)
    ring = np.concatenate([np.arange(y0 - width, y0), np.arange(y1, y1 + width)]) % ny
    wanted = (ring[:, None] * nx + np.arange(nx)).ravel()
    mesh = points.Points(comm, layout)
    unstructured = mesh.halo(wanted)
    field = np.zeros((nz, mesh.count + wanted.size))
    field[:, : mesh.count] = y0 * nx + np.arange(mesh.count)
    plan = unstructured.plan(comm, field)
    plan()
    require(comm, "unstructured halo", bool(np.all(field[:, mesh.count :] == wanted)))
    names = (f"unstructured halo of {nx}x{ny}x{nz}, width {width}", "the structured one, direct")
    contenders = {
        names[0]: calls(comm, plan, payload["repeat"]),
        names[1]: calls(comm, structured.schedule("direct").plan(comm, rows), payload["repeat"]),
    }
    return line(names[0], contest(comm, contenders, payload["samples"]), *names, at_most=1.2)


def _on_demand(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Runs of four points, as an interpolation wants them, anywhere on the grid; whose owners are computed from a
    layout, or looked up, as those of ids that are dealt out at random."""
    count, levels = payload["points"], payload["levels"]
    rank, ranks = comm.Get_rank(), comm.Get_size()
    layout = Blocks(Grid(1000, count * ranks // 1000, 1), (1, ranks))
    dealt = np.random.default_rng(0).permutation(count * ranks)[rank * count : (rank + 1) * count]
    begins = np.random.default_rng(rank).integers(0, count * ranks - 4, count // 4)
    wanted = (begins[:, None] + np.arange(4)).ravel()
    blocks, scattered = points.Points(comm, layout), points.Points(comm, dealt)
    lines = []
    for depth in (1, levels):
        own = rank * count + np.arange(count)
        lines += _made(comm, payload, blocks, own, wanted, depth, "points on demand", (5, 2))
        lines += _made(comm, payload, scattered, dealt, wanted, depth, "scattered points on demand", (3, 3))
    return lines


def _made(
    comm: MPI.Intracomm,
    payload: dict[str, Any],
    mesh: points.Points,
    own: np.ndarray,
    wanted: np.ndarray,
    depth: int,
    name: str,
    goals: tuple[float, float],
) -> list[str]:
    """Return lines with the time to make the plan, over that of one exchange of `depth` levels.

    `goals`: with the consensus, and among known peers.
    """
    peers = [other for other in range(comm.Get_size()) if other != comm.Get_rank()]
    source = np.broadcast_to(own, (depth, own.size)).astype("f8")
    target = np.empty((depth, wanted.size))

    def made(known: list[int] | None) -> Any:
        return mesh.fetch(wanted, peers=known).plan(comm, source, target)

    plan = made(None)
    plan()
    require(comm, "fetch on demand", bool(np.all(target == wanted)))
    what = f"{wanted.size} {name}, {depth} level{'s' * (depth > 1)}"
    names = ("made with the consensus", "made among known peers", "one exchange of them")
    contenders = {
        names[0]: calls(comm, lambda: made(None)),
        names[1]: calls(comm, lambda: made(peers)),
        names[2]: calls(comm, plan, payload["repeat"]),
    }
    samples = contest(comm, contenders, payload["samples"])
    return [
        line(f"{what}: {names[0]}", samples, names[0], names[2], at_most=goals[0]),
        line(f"{what}: {names[1]}", samples, names[1], names[2], at_most=goals[1]),
    ]
