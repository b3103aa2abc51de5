"""The host: where ranks run, as far as a measured time depends on it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """Processor, MPI library and how many ranks share a node."""

    host: str
    """Name of rank 0's node. Nodes of one kind differ in it, so it does not count when two hosts are compared."""
    cpu: str
    mpi: str
    ranks_per_node: int
    """The maximum over the nodes."""

    def differences(self, other: Host) -> Iterator[str]:
        """Yield the differences from another host, in words."""
        if self.cpu != other.cpu:
            yield f"the processor is {self.cpu}, not {other.cpu}"
        if self.mpi != other.mpi:
            yield f"the MPI library is {self.mpi}, not {other.mpi}"
        if self.ranks_per_node != other.ranks_per_node:
            yield f"{self.ranks_per_node} ranks share a node, not {other.ranks_per_node}"


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass  # no such file on this system: the next best name
    return platform.processor() or platform.machine()
