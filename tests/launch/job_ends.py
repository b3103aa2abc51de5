"""Ways in which MPI ranks end."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from tradewind.base.errors import InputError


def well(comm: Any, payload: Any) -> Any:
    return {"payload": payload, "ranks": comm.allgather(comm.rank)}


def killed(comm: Any, _: None) -> None:
    if comm.rank == comm.size - 1:
        print("about to be killed", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    comm.recv(source=comm.size - 1)


def left(comm: Any, _: None) -> None:
    print("leaving", flush=True)
    os._exit(0)


def failed(comm: Any, _: None) -> None:
    if comm.rank == 1:
        raise ZeroDivisionError("rank 1 divided by zero")
    comm.recv(source=1)


def refused(comm: Any, _: None) -> None:
    if comm.rank == 1:
        raise InputError("width -1", "ranks 0")
    comm.recv(source=1)


def refused_by_all(comm: Any, _: None) -> None:
    """A message of each rank is never received."""
    comm.isend("lost", dest=1 - comm.rank)
    raise InputError(f"refused by rank {comm.rank}")


def process_numbers(comm: Any, _: None) -> Any:
    """Return the process number of each rank, which it sends to the other one."""
    other = comm.sendrecv(os.getpid(), dest=1 - comm.rank, source=1 - comm.rank)
    return sorted([os.getpid(), other])


def hung(comm: Any, pid_file: str) -> None:
    if comm.rank == 1:
        print("waiting for nothing", flush=True)
        with open(pid_file, "w") as file:
            file.write(str(os.getpid()))
    time.sleep(600)


def bench_with_a_fault_on_rank_1(comm: Any, _: None) -> None:
    from tradewind.launch import measure
    from tradewind.workload.exchange import Exchange

    data = measure.ExchangeArrays(
        Exchange("halo", 2, grid=(12, 10, 4), split=(2, 1), width=2, algorithm="sweep"), comm.rank
    )
    plans = measure._plans(comm, data, "sweep", "isend-irecv", "buffer")

    def exchange_with_a_fault() -> None:
        plans["halo"]()
        if comm.rank == 1:
            data.arrays["halo"][0][0][0, 5, 0] = -5

    measure.check_results(comm, data, {"halo": exchange_with_a_fault}, "sweep")  # type: ignore[dict-item]
