"""Diagnosis of a field on many ranks, with the same bits however it is divided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.collective import proceed
from tradewind.base.errors import NotFiniteError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

    from tradewind.mpi.library import Array

_DIGIT_BITS = 32
_SMALLEST = 2**1074
"""Number of parts of 1 in a digit of the exact sum."""

Slices = tuple[slice, slice, slice]


@dataclass(frozen=True)
class Diagnosis:
    """Diagnosis of all points. Both sums are exact, and rounded once; each square is rounded to a double before."""

    sum: float
    sum_of_squares: float
    minimum: float
    maximum: float


def diagnose(
    comm: MPI.Intracomm, field: Array, own: Slices, first: tuple[int, int, int], team: _core.Team
) -> Diagnosis:
    """Diagnose the fields [z][y][x] of all ranks, the points `own` of each. Collective.

    `first`: global index (z, y, x) of the first own point. Raises NotFiniteError on all ranks, with the place of the
    first point of the first rank that holds a NaN, an infinity, or a value whose square is beyond the doubles.
    """
    from mpi4py import MPI

    part = _core.diagnose(field, own, team)
    proceed(comm)
    _check_finite(comm, field, own, first, part.not_finite)
    digits = np.array([part.sum, part.squares], np.int64)  # below 2**32, but for the last: no sum of ranks overflows
    comm.Allreduce(MPI.IN_PLACE, digits, MPI.SUM)
    minimum, maximum = comm.allreduce(part.minimum, MPI.MIN), comm.allreduce(part.maximum, MPI.MAX)
    total, squares = (rounded(each.tolist()) for each in digits)
    return Diagnosis(total, squares, minimum + 0.0, maximum + 0.0)  # + 0.0: of 0 and -0 always 0


def _check_finite(
    comm: MPI.Intracomm,
    field: Array,
    own: Slices,
    first: tuple[int, int, int],
    place: Sequence[int] | None,
) -> None:
    problem = None
    if place is not None:
        index = tuple(at - (part.start or 0) + begin for at, part, begin in zip(place, own, first, strict=True))
        problem = f"rank {comm.Get_rank()}: the field is {field[tuple(place)]} at [z][y][x] = {list(index)}"
    problems = [text for text in comm.allgather(problem) if text is not None]
    if problems:
        raise NotFiniteError(f"{problems[0]} of the grid (ranks with such points: {len(problems)})")


def rounded(digits: Sequence[int]) -> float:
    """The double nearest to an exact sum: digits of 32 bits, the first one counts 2**-1074s."""
    total = sum(digit << (_DIGIT_BITS * i) for i, digit in enumerate(digits))
    try:
        return total / _SMALLEST  # Python rounds the ratio of two whole numbers once, to the nearest
    except OverflowError:
        return float("inf") if total > 0 else -float("inf")
