"""Overhead of a call of a plan: Python's time, and memory."""

from __future__ import annotations

import ctypes
import gc
import statistics
import timeit
import tracemalloc
from itertools import repeat

from exchanges.sampling import Call, larger_of_each
from tradewind import _mpi, mpi
from tradewind.method.method import methods
from tradewind.mpi import MPI, Plan
from tradewind.pattern import Blocks, Grid, Halo
from tradewind.workload.arrays import arrays_of


def call(comm: MPI.Intracomm, payload: dict[str, int]) -> list[str]:
    """Lines, of a halo of width 0: a plan with nothing to do. `payload`: samples, calls in each."""
    grid = Grid(16, 16, 4)
    pattern = Halo(Blocks(grid, (comm.Get_size(), 1)), 0)
    plan = mpi.plan(pattern, comm, arrays_of(pattern).source(pattern, comm.rank, 0, "f8"))
    count = payload["calls"]
    shares, ratios = [], []
    for _ in range(payload["samples"]):
        python = timeit.timeit(plan, number=count) / count
        core = _mpi.measure(comm.py2f(), [(plan, count)], 0, 1)[0][0] / count
        other = timeit.timeit(comm.Get_rank, number=count) / count
        shares.append(comm.allreduce(python - core, MPI.MAX))
        ratios.append(comm.allreduce(python / other, MPI.MAX))
    low, _, high = statistics.quantiles(shares, n=4)
    share = statistics.median(shares)
    return [
        f"a plan with nothing to do: Python spends {1e6 * share:.3f} us per call beyond the core (middle half "
        f"{1e6 * low:.3f} to {1e6 * high:.3f} of {len(shares)}); goal: below 1 us{' (missed)' * (share >= 1e-6)}",
        f"  as long as {statistics.median(ratios):.1f} calls of mpi4py's comm.Get_rank()",
    ]


def memory(comm: MPI.Intracomm, payload: dict[str, int]) -> list[str]:
    """A line, of every way of a halo. `payload`: its width, calls."""
    if not hasattr(_LIBC, "mallinfo2"):
        return ["memory: skipped, only glibc 2.33 or newer reports what malloc has allocated"]
    grid = Grid(8, 8, 2)
    pattern = Halo(Blocks(grid, (comm.Get_size(), 1)), payload["width"], ("x", "y"))
    array = arrays_of(pattern).source(pattern, comm.rank, 0, "f8")
    found = methods(pattern)[0]
    maximum: list[int] = [0, 0]
    names = ["", ""]
    for method in found:
        named = {"algorithm": method.algorithm, "transport": method.transport, "packing": method.packing}
        grown = comm.allreduce(_grown(mpi.plan(pattern, comm, array, **named), payload["calls"]), larger_of_each)
        for kind, size in enumerate(grown):
            if size > maximum[kind]:
                maximum[kind], names[kind] = size, f" ({method})"
    return [
        f"memory of {payload['calls']} calls, the worst of {len(found)} ways of a halo on {comm.Get_size()} ranks: "
        f"Python's objects {maximum[0]} bytes at their peak{names[0]}, "
        f"malloc's {maximum[1]} bytes more at the end{names[1]}"
        f"; goal: none{' (missed)' * any(maximum)}"
    ]


_NAMES = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


class _Mallinfo(ctypes.Structure):
    """Memory statistics of glibc; see mallinfo2(3)."""

    _fields_ = [(name, ctypes.c_size_t) for name in _NAMES]


_LIBC = ctypes.CDLL(None)
if hasattr(_LIBC, "mallinfo2"):
    _LIBC.mallinfo2.restype = _Mallinfo


def _in_use() -> int:
    """Bytes that malloc has given out and not got back, in all of this process."""
    found = _LIBC.mallinfo2()
    return int(found.uordblks + found.hblkhd)


def _grown(plan: Plan, calls: int) -> tuple[int, int]:
    """Bytes of Python's objects at the peak of many calls, and malloc's after them, beyond those before."""
    _many(plan, calls)
    gc.collect()
    _in_use()
    before = _in_use()
    _many(plan, calls)
    after = _in_use()
    return _peak(plan, calls) - _peak(gc.isenabled, calls), max(after - before, 0)


def _peak(call: Call, calls: int) -> int:
    """Bytes of Python's objects at the peak of many calls, the loop's own among them."""
    tracemalloc.start()
    _many(call, calls)
    tracemalloc.reset_peak()
    first = tracemalloc.get_traced_memory()[0]
    _many(call, calls)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - first


def _many(call: Call, calls: int) -> None:
    for _ in repeat(None, calls):
        call()
