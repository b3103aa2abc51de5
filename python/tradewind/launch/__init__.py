"""Starting MPI ranks from an ordinary process, and measuring or simulating exchanges on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradewind.launch.job import find_launcher, is_rank, run

if TYPE_CHECKING:
    from tradewind.launch.benchmark import bench

__all__ = ["bench", "find_launcher", "is_rank", "run"]


def __getattr__(name: str) -> Any:
    # Each rank of each job imports this package: only who measures waits for the simulator and the machine files.
    if name == "bench":
        from tradewind.launch.benchmark import bench

        return bench
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
