"""Ends of programs that have not closed their field servers: by an error, or as they forget to."""

from __future__ import annotations

import atexit
import functools
import threading
from collections.abc import Callable
from typing import Any

from tradewind.mpi.library import MPI

_calls: list[Callable[[], object]] = []


def before_the_end(call: Callable[[], object]) -> None:
    """Have a function called before the interpreter ends or MPI is finalized, whichever comes first."""
    _watch()
    _calls.append(call)


def forget(call: Callable[[], object]) -> None:
    """Do not call a function any more."""
    if call in _calls:
        _calls.remove(call)


@functools.cache
def _watch() -> None:
    """Functions of `atexit` come too late for libraries of files.

    Zarr's pools of threads have been shut down then, and h5py, which is loaded late, has forgotten its types. Python
    ends its own pools by the hook that this takes; a Python without it has `atexit`. MPI deletes the attributes of
    MPI_COMM_SELF before anything else.
    """
    getattr(threading, "_register_atexit", atexit.register)(_end)
    MPI.COMM_SELF.Set_attr(MPI.Comm.Create_keyval(delete_fn=_end), True)


def _end(*_: Any) -> None:
    while _calls:
        _calls.pop()()
