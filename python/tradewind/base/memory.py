"""The memory of this computer: what cannot fit is refused beforehand, what outgrows it is ended, and what was taken."""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from tradewind.base.errors import InputError, OutOfMemoryError
from tradewind.base.units import format_bytes, format_seconds

MIN_FREE = 0.02
"""Share of the computer's memory: a simulation that leaves less is ended."""
BYTES_A_RANK = 170
"""For a fetch of nothing (168 were measured for 1e7 ranks)."""


def require(what: str, needed: float, instead: str) -> None:
    """Raises InputError where `needed` bytes are not free; its text has `what` needs them and what to do `instead`."""
    import psutil  # where it is asked for: every rank of a job would load it

    free = psutil.virtual_memory().available
    if needed > free:
        raise InputError(
            f"{what} needs about {format_bytes(needed)} of memory and {format_bytes(free)} are free: {instead}"
        )


def peak_rss_bytes() -> int:
    """The most memory that this process has had."""
    status = Path("/proc/self/status")
    if status.is_file() and (peak := re.search(r"(?m)^VmHWM:\s*(\d+) kB$", status.read_text(encoding="utf-8"))):
        return int(peak[1]) * 1024
    # On Linux a process begins with the peak of the one that started it here.
    peak_rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak_rss if sys.platform == "darwin" else peak_rss * 1024


def while_it_lasts(report: Callable[..., None] | None) -> Callable[..., None]:
    """Return a callback for the core that ends a simulation before the kernel ends the process.

    How many packets will wait at one time, in a network without bounds, is known only when they do.
    """

    import psutil

    def watch(time_s: float, arrived: int, hops: int) -> None:
        memory = psutil.virtual_memory()
        if memory.available < MIN_FREE * memory.total:
            used = psutil.Process().memory_info().rss
            raise OutOfMemoryError(
                f"the simulation was ended at {format_seconds(time_s)} simulated: it holds {format_bytes(used)}, and "
                f"{format_bytes(memory.available)} of memory are left. Packets wait in the network: name a larger "
                "packet, finite buffers, or fewer ranks"
            )
        if report is not None:
            report(time_s, arrived, hops)

    return watch
