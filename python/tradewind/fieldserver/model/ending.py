"""Ends of programs that have not closed their field servers: by an error, or as they forget to."""

from __future__ import annotations

import atexit
import functools
import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

from tradewind.mpi.library import MPI

_ends: list[Callable[[], object]] = []
_parts: list[Callable[[], object]] = []


def before_the_end(call: Callable[[], object]) -> None:
    """Have a function called before the interpreter ends or MPI is finalized, whichever comes first.

    It must wait for no other rank: that may wait for another of these functions.
    """
    _watch()
    _ends.append(call)


def after_all_ends(call: Callable[[], object]) -> None:
    """Have a function called behind those of `before_the_end`, which may wait for other ranks."""
    _watch()
    _parts.append(call)


def forget(call: Callable[[], object]) -> None:
    """Do not call a function any more."""
    if call in _ends:
        _ends.remove(call)


@functools.cache
def _watch() -> None:
    """Functions of `atexit` come too late for libraries of files.

    Zarr's pools of threads have been shut down then, and h5py, which is loaded late, has forgotten its types. Python
    ends its own pools by the hook that this takes; a Python without it has `atexit`. MPI deletes the attributes of
    MPI_COMM_SELF before anything else. A process that was forked from this one is no rank.
    """
    getattr(threading, "_register_atexit", atexit.register)(_end)
    MPI.COMM_SELF.Set_attr(MPI.Comm.Create_keyval(delete_fn=_end), True)
    os.register_at_fork(after_in_child=_forget_all)


def _forget_all() -> None:
    _ends.clear()
    _parts.clear()


def _end(*_: Any) -> None:
    """Call all of them, also where one fails."""
    for calls in (_ends, _parts):
        while calls:
            try:
                calls.pop()()
            except Exception:
                traceback.print_exc()
