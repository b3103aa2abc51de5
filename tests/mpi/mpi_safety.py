"""Ranks between which something goes wrong; run by the tests."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
from making import in_time

from tradewind import _core
from tradewind.base.errors import PlanError

GRID = (12, 10, 4)


def _swap(ranks: int) -> _core.Transpose:
    grid = _core.Grid(*GRID)
    return _core.Transpose(_core.Blocks(grid, (ranks, 1), "xy"), _core.Blocks(grid, (ranks, 1), "zy"))


def _arrays(pattern: _core.Pattern, rank: int) -> tuple[Any, Any]:
    return np.zeros(pattern.source_shape(rank)), np.zeros(pattern.target_shape(rank))


def one_waits(comm: Any, payload: dict[str, Any]) -> list[str]:
    """Rank 0 carries a plan out, the others do not; what each met."""
    from tradewind import mpi

    pattern = _swap(comm.size)
    options = {"algorithm": "burst", "watchdog_s": 0.5, **payload}
    plan = in_time(comm, lambda other: mpi.plan(pattern, other, *_arrays(pattern, comm.rank), **options))
    met = ""
    begin = time.monotonic()
    if comm.rank == 0:
        try:
            plan()
        except PlanError as error:
            met = f"{error} [{time.monotonic() - begin:.1f} s]"
        try:
            plan()
        except PlanError as error:
            met += f"; then {error}"
    texts: list[str] = comm.allgather(met)
    return texts


def _watched(comm: Any, pattern: _core.Pattern) -> Any:
    """Return a plan with a watchdog of one second."""
    from tradewind import mpi

    return in_time(comm, lambda other: mpi.plan(pattern, other, *_arrays(pattern, comm.rank), watchdog_s=1.0))


def all_wait(comm: Any, _: None) -> None:
    """Each rank calls another of two plans. None fails before all have waited in vain."""
    pattern = _swap(comm.size)
    plans = [_watched(comm, pattern) for _ in range(2)]
    try:
        plans[comm.rank % 2]()
    finally:
        comm.Barrier()


def one_stops(comm: Any, _: None) -> None:
    """Rank 1 does nothing any more, as a dead one that its launcher has not noticed."""
    pattern = _swap(comm.size)
    plan = _watched(comm, pattern)
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    plan()


def changed_on_the_way(comm: Any, check: bool) -> list[str]:
    """The source changes after start(), which it must not, where peers read it in place."""
    from tradewind import mpi

    pattern = _swap(comm.size)
    source = mpi.empty(pattern, comm)
    target = np.zeros(pattern.target_shape(comm.rank))
    plan = mpi.plan(pattern, comm, source, target, algorithm="burst", transport="shared", packing="direct", check=check)
    met = ""
    plan.start()
    source += 1 + comm.rank
    comm.Barrier()
    try:
        plan.wait()
    except PlanError as error:
        met = str(error)
    texts: list[str] = comm.allgather(met)
    return texts


def two_threads(comm: Any, _: None) -> list[float]:
    """Two plans, each in a thread of its own, many times."""
    from tradewind import mpi

    pattern = _core.AllReduce(comm.size, 1000)
    arrays = [np.ones(1000) for _ in range(2)]
    plans = [
        mpi.plan(pattern, comm, array, algorithm=name)
        for array, name in zip(arrays, ("recursive-2", "ring"), strict=True)
    ]

    def work(plan: Any, array: Any) -> None:
        for _ in range(50):
            array[:] = comm.rank
            plan()

    threads = [threading.Thread(target=work, args=pair) for pair in zip(plans, arrays, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [float(array.min()) for array in arrays] + [float(array.max()) for array in arrays]


def recorded(comm: Any, transport: str) -> list[Any]:
    """Seconds and events of two calls, of which the first is forgotten."""
    from tradewind import mpi

    pattern = _swap(comm.size)
    plan = mpi.plan(
        pattern, comm, *_arrays(pattern, comm.rank), transport=transport, algorithm="burst", record="events"
    )
    plan()
    plan.clear()
    begin = time.perf_counter()
    plan()
    end = time.perf_counter()
    found: list[Any] = comm.allgather({"seconds": plan.seconds, "events": plan.events, "begin": begin, "end": end})
    return found


def more_than_2_gib(comm: Any, payload: dict[str, Any]) -> list[str]:
    """A row of 2.1 GiB to the neighbour, all of it in one message of the schedule."""
    from tradewind import mpi

    nx = 290_000_000
    pattern = _core.Halo(_core.Blocks(_core.Grid(nx, comm.size, 1), (1, comm.size)), 1, (False, False))
    array = np.zeros(pattern.source_shape(comm.rank))
    array[0, 1, 1:-1] = np.arange(nx) + comm.rank
    plan = mpi.plan(pattern, comm, array, algorithm="direct", **payload)
    plan()
    other = 1 - comm.rank
    row = array[0, 2 if comm.rank == 0 else 0, 1:-1]
    right = bool((row[:: 2**20] == np.arange(nx)[:: 2**20] + other).all()) and row[-1] == nx - 1 + other
    texts: list[str] = comm.allgather("" if right else f"{row[:3]} ... {row[-3:]}")
    return texts
