"""Mass, extremes and errors of a tracer on a mesh, with the same bits however the mesh is divided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.collective import proceed
from tradewind.base.errors import NotFiniteError
from tradewind.dwarfs.frame.diagnosis import Diagnosis, diagnose

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from tradewind import _core
    from tradewind.mpi.library import Array


@dataclass(frozen=True)
class Norms:
    """Diagnosis of a tracer beside its exact solution; sums are exact, and rounded once."""

    mass: float
    """The sum of the tracer times the volume of its node, over all levels."""
    minimum: float
    maximum: float
    l1: float
    """The norms of Williamson et al. 1992, equations 82 to 84: of the error over that of the solution."""
    l2: float
    linf: float


def norms(
    comm: MPI.Intracomm,
    values: Array,
    solution: Array,
    volume: Array,
    ids: NDArray[np.int64],
    team: _core.Team,
) -> Norms:
    """Diagnose the values [node][level] of all ranks' own nodes. Collective.

    `volume`: of each node, or of each level of it. `ids`: global numbers of the nodes. Raises NotFiniteError on all
    ranks, with the place of the first value of the first rank that is not finite.
    """
    from mpi4py import MPI

    proceed(comm)
    check_finite(comm, values, ids)
    share = volume[:, None] if volume.ndim == 1 else volume
    error = values.astype(np.float64) - solution

    def of(field: Array) -> Diagnosis:
        return diagnose(comm, np.ascontiguousarray(field)[None], (slice(None),) * 3, (0, 0, 0), team)

    def largest(field: Array) -> float:
        found: float = comm.allreduce(float(np.abs(field).max(initial=0.0)), MPI.MAX)
        return found

    plain = of(values)
    return Norms(
        mass=of(values * share).sum,
        minimum=plain.minimum,
        maximum=plain.maximum,
        l1=of(np.abs(error) * share).sum / of(np.abs(solution) * share).sum,
        l2=math.sqrt(of(error * np.sqrt(share)).sum_of_squares / of(solution * np.sqrt(share)).sum_of_squares),
        linf=largest(error) / largest(solution),
    )


def check_finite(comm: MPI.Intracomm, values: Array, ids: NDArray[np.int64]) -> None:
    """Raise NotFiniteError on all ranks for a value [node][level] that is not finite, with its node. Collective."""
    places = np.argwhere(~np.isfinite(values))
    problem = None
    if len(places):
        node, level = (int(i) for i in places[0])
        value = values[node, level]
        problem = f"rank {comm.Get_rank()}: the field is {value} at node {ids[node]}, level {level}"
    problems = [text for text in comm.allgather(problem) if text is not None]
    if problems:
        raise NotFiniteError(f"{problems[0]} (ranks with such values: {len(problems)})")
