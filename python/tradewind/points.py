"""The points that each MPI rank owns, and the fetches that are made from them; see `tradewind.mpi.points`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpi4py import MPI

from tradewind import _core
from tradewind.base.collective import check_communicator, collective
from tradewind.base.errors import InputError
from tradewind.layout.closed import own_ids
from tradewind.layout.lists import ids
from tradewind.mpi import points
from tradewind.mpi.points import Renumbered, renumbered
from tradewind.pattern import Fetch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Points", "Renumbered", "allgather_lists", "gathered", "known_to_all", "redistribution", "renumbered"]


class Points(points.PointsMaking[Fetch]):  # noqa: D101
    __doc__ = points.PointsMaking.__doc__

    def made(self, fetch: _core.Fetch) -> Fetch:
        """A fetch of the core as one with `Fetch.schedule` and `Fetch.plan`."""
        return Fetch.of(fetch)


@collective
def redistribution(comm: MPI.Intracomm, before: _core.Layout | ArrayLike, after: _core.Layout | ArrayLike) -> Fetch:
    """Return the transposition from one layout to another, at least one of which has no form, as a fetch.

    `before` and `after`: a layout that all ranks name alike, or the numbers of this rank's points in the order of its
    array; point (x, y, z) of a grid has the number x + nx (y + ny z). Each rank lists its own points alone, about 100
    bytes for each; who has what is found out by a sparse exchange. Arrays have one dimension. Raises InputError for
    a number that no rank owns before, PlanError where another rank raises.
    """
    check_communicator(comm)
    own, wanted = (_own(each, comm) for each in (before, after))
    return Points(comm, own).fetch(wanted)


def _own(layout: _core.Layout | ArrayLike, comm: MPI.Intracomm) -> NDArray[np.int64]:
    if not isinstance(layout, _core.Layout):
        return ids("ids", layout)
    if layout.ranks != comm.Get_size():
        raise InputError(
            f"a layout of {layout.ranks} ranks on a communicator of {comm.Get_size()}: as many are allowed"
        )
    return own_ids(layout, comm.Get_rank())


@collective
def gathered(comm: MPI.Intracomm, fetch: Fetch) -> Fetch | None:
    """The fetch of all ranks together, on rank 0; see `tradewind.mpi.points.gathered`."""
    found = points.gathered(comm, fetch)
    return None if found is None else Fetch.of(found)


@collective
def allgather_lists(comm: MPI.Intracomm, fetch: Fetch) -> Fetch:
    """The fetch of all ranks together, on each of them; see `tradewind.mpi.points.allgather_lists`."""
    return Fetch.of(points.allgather_lists(comm, fetch))


known_to_all = allgather_lists
"""The former name."""
