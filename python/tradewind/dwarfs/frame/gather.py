"""A field brought together from all ranks, for a picture or a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.collective import proceed
from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind.mpi.library import Array


def gather(comm: MPI.Intracomm, layout: _core.Blocks, part: Array) -> Array | None:
    """The whole of a field over blocks in x and y, on rank 0. Collective.

    `part`: this rank's own points [z][y][x], with as many levels on every rank as are wanted.
    """
    if part.ndim != 3:
        raise InputError(
            f"levels of a field: a slice is allowed, which leaves [z][y][x] and not {part.ndim} dimensions"
        )
    own = np.ascontiguousarray(part)
    proceed(comm, f"{len(own)} levels")
    parts = comm.gather(own)
    if parts is None:
        return None
    nx, ny, _ = layout.grid.points
    whole = np.empty((part.shape[0], ny, nx), part.dtype)
    for rank, piece in enumerate(parts):
        (x0, y0, _), (x1, y1, _) = layout.box(rank)
        whole[:, y0:y1, x0:x1] = piece
    return whole


def gather_points(comm: MPI.Intracomm, ids: NDArray[np.int64], part: Array) -> Array | None:
    """The whole of values [point][...] of points with ids, on rank 0. Collective."""
    own = np.ascontiguousarray(part)
    proceed(comm)
    parts = comm.gather((ids, own))
    if parts is None:
        return None
    whole = np.empty((sum(len(each) for each, _ in parts), *own.shape[1:]), own.dtype)
    for each, values in parts:
        whole[each] = values
    return whole
