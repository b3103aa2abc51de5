"""The points that each MPI rank owns, and the fetches that are made from them; see `tradewind.mpi.points`."""

from __future__ import annotations

from mpi4py import MPI

from tradewind import _core
from tradewind.base.collective import collective
from tradewind.mpi import points
from tradewind.mpi.points import Renumbered, renumbered
from tradewind.pattern import Fetch

__all__ = ["Points", "Renumbered", "gathered", "known_to_all", "renumbered"]


class Points(points.PointsMaking[Fetch]):
    __doc__ = points.PointsMaking.__doc__

    def made(self, fetch: _core.Fetch) -> Fetch:
        """A fetch of the core as one with `Fetch.schedule` and `Fetch.plan`."""
        return Fetch.of(fetch)


@collective
def gathered(comm: MPI.Intracomm, fetch: Fetch) -> Fetch | None:
    """The fetch of all ranks together, on rank 0; see `tradewind.mpi.points.gathered`."""
    found = points.gathered(comm, fetch)
    return None if found is None else Fetch.of(found)


@collective
def known_to_all(comm: MPI.Intracomm, fetch: Fetch) -> Fetch:
    """The fetch of all ranks together, on each of them; see `tradewind.mpi.points.known_to_all`."""
    return Fetch.of(points.known_to_all(comm, fetch))
