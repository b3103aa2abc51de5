"""Starting MPI ranks from an ordinary process, and measuring or simulating exchanges on them."""

from __future__ import annotations


def __getattr__(name: str) -> object:
    """Import a name of the stub, __init__.pyi, when it is first used: each rank of each job imports this package, and
    only who measures waits for the simulator and the machine files."""
    from tradewind.base.exports import exported

    return exported(__name__, __file__, name)
