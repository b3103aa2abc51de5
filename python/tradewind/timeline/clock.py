"""The clocks of ranks, brought together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradewind.base.deferred import Deferred

if TYPE_CHECKING:
    import numpy as np
    from mpi4py import MPI
else:
    np = Deferred("numpy")

ROUNDS = 50
"""Messages there and back to each rank; the quickest counts."""


@dataclass(frozen=True)
class Clock:
    """The clock of a rank, relative to that of rank 0."""

    offset_s: float = 0.0
    """To be added to what it shows."""
    error_s: float = 0.0
    """Maximum error, either way."""


def compare(comm: MPI.Intracomm, now: Callable[[], float] = time.perf_counter, rounds: int = ROUNDS) -> list[Clock]:
    """The clocks of all ranks, by rank. Collective; all have the result.

    Rank 0 asks each rank in turn for its time. The time was read between question and reply: the estimate is their
    middle, and its error at most half the time between them (Cristian 1989, Probabilistic clock synchronization,
    Distributed Computing 3, 146-158). Clocks that drift apart are as they were at this moment.
    """
    private = comm.Dup()
    try:
        clocks = [Clock()]
        for rank in range(1, comm.Get_size()):
            if comm.Get_rank() == 0:
                clocks.append(_ask(private, rank, now, rounds))
            elif comm.Get_rank() == rank:
                _reply(private, now, rounds)
        private.Barrier()
        shared: list[Clock] = private.bcast(clocks)
        return shared
    finally:
        private.Free()


def _ask(comm: MPI.Intracomm, rank: int, now: Callable[[], float], rounds: int) -> Clock:
    shown = np.zeros(1)
    best = Clock(error_s=np.inf)
    for _ in range(rounds):
        asked = now()
        comm.Send(shown, rank)
        comm.Recv(shown, rank)
        received = now()
        if received - asked < 2 * best.error_s:
            best = Clock((asked + received) / 2 - float(shown[0]), (received - asked) / 2)
    return best


def _reply(comm: MPI.Intracomm, now: Callable[[], float], rounds: int) -> None:
    shown = np.zeros(1)
    for _ in range(rounds):
        comm.Recv(shown, 0)
        shown[0] = now()
        comm.Send(shown, 0)
