"""How quiet a machine is while ranks measure: what else runs on it, the clock of its cores, the spread of samples."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from tradewind.machine.calibration import SPREAD_LIMIT, spread

if TYPE_CHECKING:
    from tradewind.mpi.library import MPI

_LOOK_S = 0.1
"""Seconds in which all ranks sleep, and the work of others is counted."""
_LOOPS, _FLOPS = 20, 200_000
BUSY_CORES = 0.2
"""Cores of a node that others may keep busy where its ranks need them."""
BUSY_SHARE = 0.1
"""Share of all cores of a node that others may keep busy: they take memory bandwidth, too."""
CLOCK_LIMIT = 1.1
"""Maximum time of a fixed computation after the measurement over that before it, or the other way round."""
_MIN_SAMPLES = 4
IN_ROUNDS = "--repeat 100 --rounds 5"
"""Options that take more samples, and those of all methods in turns."""


class QuietWatch:
    """Looks at the machine before and after a measurement. Collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm = comm
        self._busy_cores = _busy_cores(comm)
        self._before_s = _loop_s()

    def result(self, comm: MPI.Intracomm | None = None) -> dict[str, float]:
        """Return what was seen, the worst over all ranks: `busy_cores` of the `node_cores` of a node, and the time
        after over before, `clock_ratio`. `comm`: the ranks that measured, where others serve them. Collective with
        these."""
        import psutil

        from tradewind.mpi.library import MPI

        comm = self._comm if comm is None else comm
        ratio = _loop_s() / self._before_s
        slowest = comm.allreduce(ratio, MPI.MAX)
        fastest = comm.allreduce(ratio, MPI.MIN)
        busy = comm.allreduce(self._busy_cores, MPI.MAX)
        cores = comm.allreduce(psutil.cpu_count() or 1, MPI.MIN)
        ratio = slowest if slowest * fastest >= 1 else fastest
        return {"busy_cores": busy, "node_cores": cores, "clock_ratio": ratio}


def cores_here(comm: MPI.Intracomm) -> int:
    """Cores that the ranks of this rank's node may use together; each rank alone may be bound to one. Collective."""
    from tradewind.mpi.library import MPI

    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    cores = set().union(*node.allgather(os.sched_getaffinity(0)))
    node.Free()
    return len(cores)


def _busy_cores(comm: MPI.Intracomm) -> float:
    """Return the cores of this node that others keep busy, while all ranks sleep."""
    import psutil

    comm.Barrier()
    before, begin = psutil.cpu_times(), perf_counter()
    sleep(_LOOK_S)
    after, seconds = psutil.cpu_times(), perf_counter() - begin
    idle = ("idle", "iowait", "guest", "guest_nice")  # guests count as users, too
    busy = sum(getattr(after, name) - getattr(before, name) for name in after._fields if name not in idle)
    return float(max(0.0, busy / seconds))


def _loop_s() -> float:
    """Return the time of a fixed computation in the caches of a core, the fastest of several."""
    from tradewind.launch.flops import do_flops, values

    array, seconds = values(), []
    for _ in range(_LOOPS):
        begin = perf_counter()
        do_flops(array, _FLOPS)
        seconds.append(perf_counter() - begin)
    return min(seconds)


def warnings_of(result: Mapping[str, Any], samples: Sequence[Sequence[float]], more: str = IN_ROUNDS) -> list[str]:
    """Return why times should not be trusted, each with what to do.

    `result`: has `cores`, `ranks_per_core` and `quiet` (see `QuietWatch`). `samples`: of each method. `more`:
    options of the command that take more samples.
    """
    quiet = result["quiet"]
    cores = quiet["node_cores"]
    free = max(0.0, cores - result["cores"] * result["ranks_per_core"])
    busy, ratio = quiet["busy_cores"], quiet["clock_ratio"]
    found = []
    if busy > free + BUSY_CORES or busy > BUSY_SHARE * cores + BUSY_CORES:
        found.append(
            f"the machine is busy: other processes keep {busy:.1f} of {cores} cores at work; end them, or measure on a "
            "node of your own"
        )
    if not 1 / CLOCK_LIMIT <= ratio <= CLOCK_LIMIT:
        found.append(
            f"the clock of the cores has changed: a fixed computation took {ratio:.2f} times as long after the "
            "measurement as before; fix the frequency (cpupower frequency-set -g performance), or take more samples "
            f"({more})"
        )
    wide = sum(spread(each) > SPREAD_LIMIT for each in samples if len(each) >= _MIN_SAMPLES)
    if wide:
        found.append(
            f"the samples of {wide} of {len(samples)} measurements are far apart: the middle half of them spans more "
            f"than {SPREAD_LIMIT:.0%} of the median; bind ranks to cores, and take more samples ({more})"
        )
    return found
