"""How long receives take of eager messages that came before, and after, they were posted: for `tradewind calibrate`.

An eager message is sent without asking its receiver. If it comes before its receive is posted, the MPI library keeps it
in memory of its own, and copies it when the receive comes: it is unexpected. A message whose receive is there goes to
its place as it comes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat

import numpy as np

from tradewind.mpi.library import MPI

MESSAGES = 8
"""Messages that each rank sends and receives in a trial: one alone takes less than the calls around it."""
SMALLEST = 64
"""Bytes of the messages that are tried first."""
LARGEST = 2**18
"""Bytes of the longest messages that are tried: the largest eager limit of the machines that come with Tradewind."""
_SIZES = 8
"""Sizes of messages whose receives are timed."""
_STEPS = 6
"""Bisections that look for the eager limit: it is known to 1/64."""
_LEAVE_S = 0.05
"""Time in which an eager message leaves its sender."""
_TRIES = 3
"""Times that messages which do not leave are tried: on a busy machine a rank may have no core for that long."""
_COME_S = 1.0
"""Time in which it reaches its receiver."""
_LAST = 1
"""Tag of the last message of a trial; that of the others is 0. Messages of one sender are matched in their order, so if
it is there, the others are, too."""


def eager_bytes(comm: MPI.Intracomm, pair: MPI.Intracomm) -> int:
    """Return the size of the longest messages that leave their sender before a receive is posted, 0 where none do.

    Collective over `comm`; all its ranks are in pairs, and get the same result. `LARGEST` means that size or more.
    """
    if not _leave(comm, pair, SMALLEST):
        return 0
    eager = SMALLEST
    while eager < LARGEST and _leave(comm, pair, 2 * eager):
        eager *= 2
    if eager == LARGEST:
        return eager
    too_long = 2 * eager
    for _ in range(_STEPS):
        middle = (eager + too_long) // 2
        if _leave(comm, pair, middle):
            eager = middle
        else:
            too_long = middle
    return eager


def _leave(comm: MPI.Intracomm, pair: MPI.Intracomm, size: int) -> bool:
    """Return whether the messages of all ranks leave while no receive is posted. Collective over `comm`."""
    return any(_left(comm, pair, size) for _ in range(_TRIES))


def _left(comm: MPI.Intracomm, pair: MPI.Intracomm, size: int) -> bool:
    """Return whether they left in one trial."""
    comm.Barrier()
    with _messages(pair, size) as (sends, receives):
        MPI.Prequest.Startall(sends)
        end = time.perf_counter() + _LEAVE_S
        late = left = False
        while not left and not late:
            late = time.perf_counter() > end  # before the last look: a rank may have had no core since the one before
            pair.Iprobe(1 - pair.Get_rank(), _LAST)  # a library may need calls at the receiver to move messages
            left = all(request.Get_status() for request in sends)
        all_left: bool = comm.allreduce(left, MPI.LAND)
        MPI.Prequest.Startall(receives)
        MPI.Prequest.Waitall([*receives, *sends])
    return all_left


def sizes_of(eager: int) -> list[int]:
    """Return the sizes of messages whose receives are timed: equal steps up to the longest eager ones."""
    return [eager * i // _SIZES for i in range(1, _SIZES + 1)]


def receive_seconds(
    comm: MPI.Intracomm, pair: MPI.Intracomm, size: int, count: int, *, posted: bool
) -> list[float] | None:
    """Return `count` samples of the seconds that a rank spends on the receive of a message, each the mean of all ranks.

    `posted`: the receive was posted before the message came; otherwise it is posted after. In either case the clock is
    stopped until the message has come.
    None where messages do not come before they are received. Collective over `comm`, whose ranks are all in pairs.
    """
    with _messages(pair, size) as (sends, receives):

        def trial() -> float | None:
            return _trial(pair, sends, receives, posted)

        if not comm.allreduce(trial() is not None, MPI.LAND):
            return None
        samples = [trial() for _ in range(count)]
    if not comm.allreduce(None not in samples, MPI.LAND):
        return None
    return [total / comm.Get_size() for total in comm.allreduce(np.array(samples, float)).tolist()]


def _trial(pair: MPI.Intracomm, sends: list[MPI.Prequest], receives: list[MPI.Prequest], posted: bool) -> float | None:
    """Return the seconds per message that this rank spends on its receives; None if the messages did not come."""
    clock = time.perf_counter_ns
    peer = 1 - pair.Get_rank()
    spent = 0
    if posted:
        start = clock()
        MPI.Prequest.Startall(receives)
        spent = clock() - start
    pair.Barrier()
    MPI.Prequest.Startall(sends)
    pair.Barrier()
    end = time.perf_counter() + _COME_S
    late = came = False
    while not came and not late:
        late = time.perf_counter() > end
        came = receives[-1].Get_status() if posted else pair.Iprobe(peer, _LAST)
    pair.Barrier()  # the peer, too, has all messages: nothing but the receives is timed
    start = clock()
    if not posted:
        MPI.Prequest.Startall(receives)
    MPI.Prequest.Waitall(receives)
    spent += clock() - start
    MPI.Prequest.Waitall(sends)
    return spent / 1e9 / MESSAGES if came else None


@contextmanager
def _messages(pair: MPI.Intracomm, size: int) -> Iterator[tuple[list[MPI.Prequest], list[MPI.Prequest]]]:
    """Persistent sends and receives of the messages of a trial, none of them started, each with its own buffer."""
    peer = 1 - pair.Get_rank()
    tags = [*repeat(0, MESSAGES - 1), _LAST]
    sent, received = (np.ones((MESSAGES, size), np.uint8) for _ in range(2))
    sends = [pair.Send_init([buffer, MPI.BYTE], peer, tag) for buffer, tag in zip(sent, tags, strict=True)]
    receives = [pair.Recv_init([buffer, MPI.BYTE], peer, tag) for buffer, tag in zip(received, tags, strict=True)]
    yield sends, receives
    for request in (*sends, *receives):
        request.Free()
