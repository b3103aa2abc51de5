"""Starting MPI ranks from an ordinary process, and measuring or simulating exchanges on them."""

from __future__ import annotations

from tradewind.launch.bench import bench
from tradewind.launch.job import find_launcher, is_rank, run

__all__ = ["bench", "find_launcher", "is_rank", "run"]
