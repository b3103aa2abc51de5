"""Values on the plane of points in the middle of the brick of the dwarf nekbone, to be drawn and written.

Points of an element lie closer to each other near its sides; they are drawn at equal distances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.collective import proceed
from tradewind.dwarfs.frame.output import NAMED, Output
from tradewind.fieldserver.plan.geometry import Regular

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.nekbone.spectral_elements import Part, Values
    from tradewind.mpi.library import Array


def _points(brick: Part) -> list[int]:
    """Points of all elements along x, y and z."""
    return [count * (brick.points - 1) + 1 for count in brick.all_elements]


def drawn_plane(comm: MPI.Intracomm, brick: Part, values: Values) -> Array | None:
    """Return values [element][k][j][i] on the plane, as [y][x], on rank 0. Collective."""
    x, y, z = brick.indices()
    nx, ny, nz = _points(brick)
    element, level = np.nonzero(z == nz // 2)
    part = x[element], y[element], values[element, level]
    proceed(comm)
    parts = comm.gather(part)
    if parts is None:
        return None
    drawn = np.zeros((ny, nx))
    for columns, rows, on_rank in parts:
        drawn[rows[:, :, None], columns[:, None, :]] = on_rank
    return drawn


def plane_output(brick: Part, values: Values) -> Output:
    """Return values on the plane as a field that can be written; of all copies of a point that of one element."""
    x, y, z = brick.indices()
    nx, ny, nz = _points(brick)
    column, row, level = x[:, None, None, :], y[:, None, :, None], z[:, :, None, None]
    own, number = level == nz // 2, np.arange(brick.points)
    for at, inner in zip((column, row, level), (number, number[:, None], number[:, None, None]), strict=True):
        own = own & ((inner > 0) | (at == 0))  # the element before has it, too
    places = np.flatnonzero(np.broadcast_to(own, brick.shape))
    ids, which = np.unique(np.broadcast_to(row * nx + column, brick.shape).ravel()[places], return_index=True)
    places = places[which]
    return Output("x", ids, Regular.box(nx, ny), lambda: values.ravel()[places][None], attributes=NAMED["x"])
