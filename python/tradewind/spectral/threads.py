"""Threads of a transform: they share out rows or wavenumbers, and the matrix products are left with one thread each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from threadpoolctl import ThreadpoolController

from tradewind.base.extents import whole_number

MAX_THREADS = 1024


def checked_threads(threads: int) -> int:
    """Return the number of threads. Raises InputError for one that cannot be."""
    return whole_number("threads of a transform", threads, 1, MAX_THREADS)


def share_out(threads: int, items: int, work: Callable[[range], None]) -> None:
    """Call work(every so manieth item) on each thread, the first one on the caller's; returns when all have ended.

    Neighbouring items, which cost about the same, go to different threads. The library of matrix products has one
    thread meanwhile, so that results do not depend on the number of threads and ranks do not get in each other's way.
    """
    threads = max(1, min(threads, items))
    with _blas().limit(limits=1, user_api="blas"):
        if threads == 1:
            work(range(items))
            return
        with ThreadPoolExecutor(threads - 1) as others:
            running = [others.submit(work, range(first, items, threads)) for first in range(1, threads)]
            work(range(0, items, threads))
        for done in running:
            done.result()


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    """Return the controller of the libraries that are loaded; to look for them takes milliseconds."""
    return ThreadpoolController()
