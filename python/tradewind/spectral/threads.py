"""Threads of a transform: they share out rows or wavenumbers, and the matrix products are left with one thread each."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache

from threadpoolctl import ThreadpoolController

from tradewind.base.extents import whole_number

MAX_THREADS = 1024
_BLOCK_BYTES = 2**21
"""Memory that the work on a block touches; with less, calls of NumPy and SciPy cost more than their loops gain."""


def checked_threads(threads: int) -> int:
    """Return the number of threads. Raises InputError for one that cannot be."""
    return whole_number("threads of a transform", threads, 1, MAX_THREADS)


def split_work(threads: int, items: int, work: Callable[[range], None]) -> None:
    """Call work(every so manieth item) on each thread, the first one on the caller's; returns when all have ended.

    Neighbouring items, which cost about the same, go to different threads. The library of matrix products has one
    thread meanwhile, so that results do not depend on the number of threads and ranks do not get in each other's way.
    """
    threads = max(1, min(threads, items))
    with _blas().limit(limits=1, user_api="blas"):
        if threads == 1:
            work(range(items))
            return
        others = _pool(threads - 1, os.getpid())
        running = [others.submit(work, range(first, items, threads)) for first in range(1, threads)]
        try:
            work(range(0, items, threads))
        finally:
            wait(running)
        for done in running:
            done.result()


def split_blocks(threads: int, items: int, item_bytes: int, work: Callable[[slice], None]) -> None:
    """Call work(some items that follow one another) on each thread, until all are done.

    `item_bytes`: memory that the work on an item touches; caches hold that of a call.
    """
    block = max(1, min(_BLOCK_BYTES // max(1, item_bytes), -(-items // threads)))

    def blocks(numbers: range) -> None:
        for number in numbers:
            work(slice(number * block, min(items, (number + 1) * block)))

    split_work(threads, -(-items // block), blocks)


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return threads that are kept for the next call: to start one takes a quarter of a millisecond.

    `process`: the one that has them; a fork has none.
    """
    return ThreadPoolExecutor(threads)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    """Return the controller of the libraries that are loaded; to look for them takes milliseconds."""
    return ThreadpoolController()
