"""A large reduction beside a computation: the time left to wait for it, with and without pokes in between."""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Any

import numpy as np

from exchanges.sampling import require
from tradewind import mpi
from tradewind.mpi import MPI, Plan
from tradewind.workload.arrays import Array, arrays_of

METHODS = (("native", None), ("recursive-2", "isend-irecv"), ("ring", "isend-irecv"), ("ring", "persistent"))
POKES = (0, 5, 50)


def pokes(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: count of doubles, compute_s, samples. Each median is that of the slowest rank."""
    from tradewind import _core

    pattern = _core.AllReduce(comm.Get_size(), payload["count"])
    known = arrays_of(pattern)
    source = known.source(pattern, comm.Get_rank(), 0, "f8")
    compute_s = payload["compute_s"]
    lines = [
        f"{payload['count'] * 8 / 1e6:.1f} MB of doubles over {compute_s * 1e3:.1f} ms of computing, "
        f"{comm.Get_size()} ranks, median of {payload['samples']}"
    ]
    for algorithm, transport in METHODS:
        array = source.copy()
        plan = mpi.plan(pattern, comm, array, algorithm=algorithm, transport=transport)
        name = algorithm if transport is None else f"{algorithm}, {transport}"
        alone = _median(comm, [_alone(comm, plan, array, source) for _ in range(payload["samples"])])
        require(comm, name, np.array_equal(array, known.expected(pattern, comm.Get_rank(), 0, "f8")))
        left = {
            number: _median(
                comm, [_waited(comm, plan, array, source, compute_s, number) for _ in range(payload["samples"])]
            )
            for number in POKES
        }
        text = ", ".join(f"{seconds * 1e3:.2f} ms with {number} pokes" for number, seconds in left.items())
        lines.append(f"  {name}: alone {alone * 1e3:.2f} ms; left to wait {text}")
    return lines


def _median(comm: MPI.Intracomm, samples: list[float]) -> float:
    return statistics.median(max(each) for each in zip(*comm.allgather(samples), strict=True))


def _alone(comm: MPI.Intracomm, plan: Plan, array: Array, source: Array) -> float:
    array[...] = source
    comm.Barrier()
    begin = perf_counter()
    plan()
    return perf_counter() - begin


def _waited(comm: MPI.Intracomm, plan: Plan, array: Array, source: Array, compute_s: float, number: int) -> float:
    """Seconds of this rank in the wait, and in the pokes before it: the computation itself is the same for all."""
    array[...] = source
    comm.Barrier()
    plan.start()
    in_calls = 0.0
    for part in range(number + 1):
        end = perf_counter() + compute_s / (number + 1)
        while perf_counter() < end:
            pass
        if part < number:
            begin = perf_counter()
            plan.poke()
            in_calls += perf_counter() - begin
    begin = perf_counter()
    plan.wait()
    return in_calls + perf_counter() - begin
