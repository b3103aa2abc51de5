"""The points that each MPI rank owns, and the fetches that are made from them: halos, and points on demand.

A rank knows its own points and what it wants. Who owns an id is looked up at a third rank, to which its number leads,
or computed from a layout; who wants what is found out by a sparse exchange with a consensus that does not block (NBX:
Hoefler, Siebert & Lumsdaine 2010, doi:10.1145/1693453.1693476). No rank keeps or sends anything for each other rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from tradewind import _core
from tradewind.base.collective import check_communicator, collective, proceed, require_mpi
from tradewind.base.errors import InputError, quoted
from tradewind.base.names import known_name
from tradewind.layout.lists import ids
from tradewind.mpi.library import MPI, OwnPoints, _mpi

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


FetchT = TypeVar("FetchT", bound=_core.Fetch)


class PointsMaking(Generic[FetchT]):
    """The points of this rank, among those of all ranks of a communicator. Made, and asked, by all ranks together.

    `what`: the global ids of the rank's points, in the order of its array; or a layout of `Blocks` over x and y, whose
    columns (x, y) are the points x + nx y, row by row in a rank's array; or a number of points that have no ids.
    Raises InputError for an id that is negative or owned twice; PlanError where another rank raises.
    """

    @collective
    def __init__(self, comm: MPI.Intracomm, what: ArrayLike | _core.Blocks | int) -> None:
        check_communicator(comm)
        self.comm = comm
        if isinstance(what, _core.Blocks):
            own: _core.Blocks | int | NDArray[np.int64] = what
        elif isinstance(what, int | np.integer):
            own = int(what)
            if abs(own) > np.iinfo(np.int64).max:
                raise InputError(f"{quoted(own)} points: up to 2^63 - 1 are allowed")
        else:
            own = ids("ids", what)
        proceed(comm)
        handle = comm.py2f()
        if isinstance(own, _core.Blocks):
            self._points = OwnPoints.of_layout(handle, own)
        elif isinstance(own, int):
            self._points = OwnPoints.of_count(handle, own)
        else:
            self._points = OwnPoints.of_ids(handle, own)

    @property
    def count(self) -> int:
        """Points of this rank."""
        return self._points.count

    def send_error(self, problem: str) -> None:
        """Send the other ranks the error that keeps this one from the call that they make; they raise PlanError."""
        require_mpi()
        self._points.refuse(problem)

    @collective
    def locate(self, wanted: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return owners of ids, and positions in the arrays of the owners. Raises InputError for an unknown id."""
        require_mpi()
        listed = ids("wanted", wanted)
        owner, index = self._points.locate(listed)
        return owner, index

    @collective
    def fetch(
        self,
        wanted: ArrayLike | None = None,
        *,
        owner: ArrayLike | None = None,
        index: ArrayLike | None = None,
        places: ArrayLike | None = None,
        peers: Sequence[int] | None = None,
    ) -> FetchT:
        """Make a fetch of global ids, or of points ``index[k]`` of ranks ``owner[k]``, in the order of the target.

        `places`: their positions in the target array (with owner and index); None: one after another. `peers`: the
        ranks with which this one exchanges, if all ranks know theirs; then no consensus is needed. Raises
        InputError for a point that no rank owns, for lists whose lengths differ, and for an owner that is no peer.
        """
        require_mpi()
        known, peer_list = self._known(peers)
        if wanted is not None:
            _check_alone(owner, index, places)
            return self.made(self._points.fetch_ids(ids("wanted", wanted), 0, False, known, peer_list))
        owners, indices, at = self._lists(owner, index, places)
        target = owners.size if places is None else int(np.max(at, initial=-1)) + 1
        return self.made(self._points.fetch(owners, indices, at, target, False, known, peer_list))

    @collective
    def halo(
        self,
        wanted: ArrayLike | None = None,
        *,
        owner: ArrayLike | None = None,
        index: ArrayLike | None = None,
        places: ArrayLike | None = None,
        peers: Sequence[int] | None = None,
    ) -> FetchT:
        """An unstructured halo: one array holds a rank's own points and those of others, which the exchange fills.

        As `fetch`, but for the places: None: the halo lies behind the rank's own points, in the order of the list.
        Else `count` points are the whole array, and those places of it are the halo, which no rank may fetch.
        """
        require_mpi()
        known, peer_list = self._known(peers)
        if wanted is not None:
            _check_alone(owner, index, places)
            return self.made(self._points.fetch_ids(ids("wanted", wanted), self.count, True, known, peer_list))
        owners, indices, at = self._lists(owner, index, places)
        target = self.count
        if places is None:
            target += owners.size
            at = np.arange(self.count, target)
        return self.made(self._points.fetch(owners, indices, at, target, True, known, peer_list))

    def _lists(
        self, owner: ArrayLike | None, index: ArrayLike | None, places: ArrayLike | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        if owner is None or index is None:
            raise InputError("neither ids nor owners with indices: one of the two is needed")
        lists = [ids("owner", owner), ids("index", index), ids("places", [] if places is None else places)]
        if lists[0].size != lists[1].size or (places is not None and lists[2].size != lists[0].size):
            sizes = ", ".join(f"{array.size} {name}" for array, name in zip(lists, _NAMES, strict=False))
            raise InputError(f"rank {self._points.rank}: lists of {sizes}: as many of each are allowed")
        if (last := int(np.max(lists[2], initial=-1))) >= _MAX_POINTS:
            raise InputError(f"rank {self._points.rank}: place {last}: less than {_MAX_POINTS} is allowed")
        return lists[0], lists[1], lists[2]

    def made(self, fetch: _core.Fetch) -> FetchT:
        """A fetch of the core as one of the kind that is handed out."""
        raise NotImplementedError

    def _known(self, peers: Sequence[int] | None) -> tuple[bool, list[int]]:
        """Whether the peers are known, and which they are."""
        if peers is None:
            return False, []
        size = self._points.ranks
        known = sorted(set(ids(f"rank {self._points.rank}: peers", peers).tolist()))
        if known and not 0 <= known[0] <= known[-1] < size:
            wrong = known[0] if known[0] < 0 else known[-1]
            raise InputError(f"rank {self._points.rank} names peer {wrong}; other ranks of 0..{size - 1} are allowed")
        return True, known


class CorePoints(PointsMaking[_core.Fetch]):
    """Points whose fetches are those of the core."""

    def made(self, fetch: _core.Fetch) -> _core.Fetch:
        """Return the fetch unchanged."""
        return fetch


def _check_alone(*others: ArrayLike | None) -> None:
    if any(other is not None for other in others):
        raise InputError("ids and owners, indices or places: one of the two is allowed")


_MAX_POINTS = 2**60
"""Number of points of the arrays of all ranks, as in the core."""
_NAMES = ("owners", "indices", "places")


@collective
def gathered(comm: MPI.Intracomm, fetch: _core.Fetch) -> _core.Fetch | None:
    """The fetch of all ranks together, on rank 0, which can be verified, simulated and stored. Collective.

    Else None. Needs memory for the lists of all ranks there.
    """
    check_communicator(comm)
    _check_fetch(fetch)
    rank = comm.Get_rank()
    mine = (fetch.source_shape(rank)[2], fetch.list_of(rank))
    proceed(comm)
    parts = comm.gather(mine)
    if parts is None:
        return None
    return _core.Fetch([count for count, _ in parts], [lists for _, lists in parts], fetch.one_array)


def _check_fetch(fetch: object) -> None:
    if not isinstance(fetch, _core.Fetch):
        raise InputError(f"{quoted(fetch)} is no fetch")


@collective
def allgather_lists(comm: MPI.Intracomm, fetch: _core.Fetch) -> _core.Fetch:
    """The fetch of all ranks together, on each of them: for algorithms that pass points on from rank to rank.

    Collective. Takes 24 bytes per point that any rank wants, on every rank. A plan does it by itself where such an
    algorithm is chosen; who makes several plans of one fetch, or asks for its schedule, does it once. Raises InputError
    for a fetch among other ranks, PlanError where another rank raises or has another fetch.
    """
    check_communicator(comm)
    _check_fetch(fetch)
    return _mpi.allgather_lists(comm.py2f(), fetch)


@collective
def shared_ids(comm: MPI.Intracomm, values: ArrayLike, operation: str) -> _core.ListedGatherScatter:
    """Return the gather-scatter of the ids of this rank's values, each rank's of its own. Collective.

    See `tradewind.pattern.GatherScatter`. Raises InputError for ids that are no integers and for an unknown operation,
    PlanError where another rank raises.
    """
    check_communicator(comm)
    own = ids("ids", values)
    known_name("operation", operation, ("add", "mul", "min", "max"))
    proceed(comm)
    return _mpi.share_ids(comm.py2f(), own, operation)


@dataclass(frozen=True)
class Renumbered:
    """An order of a rank's points in which own, rim and halo points are three contiguous runs of one array."""

    own: NDArray[np.int64]
    """Ids of the rank's points: first those that no other rank wants, then the rim, rank by rank."""
    halo: NDArray[np.int64]
    """Ids of the halo, owner by owner, in the order of their owners' arrays."""
    interior: int
    """Number of the rank's points before the rim."""

    @property
    def rim(self) -> slice:
        """Slice of `own` with the points that other ranks want."""
        return slice(self.interior, len(self.own))


@collective
def renumbered(comm: MPI.Intracomm, own: ArrayLike, halo: ArrayLike) -> Renumbered:
    """Orders the points of a rank so that halo exchanges read and write long runs. Collective.

    `own` and `halo` are global ids in any order; those of an id stay as they are, its place in the arrays changes. The
    rim are the rank's points that others want: with stencils that reach both ways the interior needs no halo. Raises
    as `Points` does.
    """
    check_communicator(comm)
    before, wanted_ids = ids("own", own), ids("halo", halo)
    exchange = CorePoints(comm, before).halo(wanted_ids)
    rank = comm.Get_rank()
    wanted = [indices for _, indices in sorted(exchange.sent_by(rank), key=lambda sent: sent[0])]
    rim = np.concatenate([np.sort(indices) for indices in wanted]) if wanted else np.zeros(0, dtype=np.int64)
    _, first = np.unique(rim, return_index=True)
    rim = rim[np.sort(first)]  # what several ranks want lies where the first of them finds it
    inner = np.ones(len(before), dtype=bool)
    inner[rim] = False
    order = np.concatenate([np.flatnonzero(inner), rim])
    own_ids = before[order]
    halo_ids = np.unique(wanted_ids)
    owner, index = CorePoints(comm, own_ids).locate(halo_ids)
    return Renumbered(own_ids, halo_ids[np.lexsort((index, owner))], int(inner.sum()))
