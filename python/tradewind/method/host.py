"""The host: where ranks run, as far as a measured time depends on it."""

from __future__ import annotations

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
