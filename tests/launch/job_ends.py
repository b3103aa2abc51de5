"""Ways in which MPI ranks end."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from tradewind.errors import InputError


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


def hung(comm: Any, pid_file: str) -> None:
    if comm.rank == 1:
        with open(pid_file, "w") as file:
            file.write(str(os.getpid()))
        print("waiting for nothing", flush=True)
    time.sleep(600)
