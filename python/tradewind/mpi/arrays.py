"""Arrays for plans, in memory that the ranks of a node share."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as whole_number
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.collective import check_communicator, collective, proceed
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.memory import require
from tradewind.base.names import unknown
from tradewind.mpi.fields import checked_dims
from tradewind.mpi.library import MPI, _mpi

if TYPE_CHECKING:
    from tradewind.mpi.library import Array


@collective
def empty(
    pattern: _core.Pattern,
    comm: MPI.Intracomm,
    dtype: str = "f8",
    *,
    fields: int = 1,
    of: str = "source",
    dims: str = "zyx",
) -> Any:
    """An array of zeros for a pattern's source or target on this rank, in memory that the ranks of its node share.

    Plans with transport "shared" and packing "direct" let the other ranks take messages from there, without a copy in
    between. `fields` other than 1: a list with one array per field. x is the fastest direction; `dims` orders the axes.
    Collective: raises InputError for what cannot be, PlanError where no memory is left, and where another rank raises.
    """
    check_communicator(comm)
    arrays = _empty(pattern, comm.Get_rank(), dtype, fields, of, dims)
    proceed(comm)
    return arrays[0] if fields == 1 else arrays


def _empty(pattern: _core.Pattern, rank: int, dtype: str, fields: int, of: str, dims: str) -> list[Array]:
    if not isinstance(pattern, _core.Pattern):
        raise InputError(f"{pattern!r} is no pattern")
    if of not in ("source", "target"):
        raise InputError(f"of {of!r}: 'source' and 'target' are allowed")
    if dtype not in DTYPES:
        raise InputError(unknown("dtype", dtype, DTYPES))
    if whole_number(fields) < 0:
        raise InputError(f"fields {fields}: 0 or more are allowed")
    shape = pattern.source_shape(rank) if of == "source" else pattern.target_shape(rank)
    bytes_needed = float(fields) * float(np.prod(shape, dtype=float)) * DTYPES[dtype]
    require(f"{fields} arrays of shape {tuple(shape)}", bytes_needed, "name fewer fields, or more ranks")
    arrays = []
    for _ in range(fields):
        array = shared_zeros(shape, dtype)
        if pattern.has_levels:
            arrays.append(array.reshape([n for n in shape[:2] if n != 1] + [shape[2]]))
        else:
            order = ["zyx".index(axis) for axis in checked_dims(dims)]
            arrays.append(array.reshape(-1) if pattern.reduces else array.transpose(order))
    return arrays


def shared_zeros(shape: Sequence[int], dtype: str) -> Array:
    """Zeros in memory that the ranks of a node share, x fastest. Raises PlanError where no memory is left."""
    size = int(np.prod(shape))
    memory = np.asarray(_mpi.shared_bytes(max(size, 1) * DTYPES[dtype]))
    return memory.view(dtype)[:size].reshape(shape)
