"""Host of the ranks of a communicator."""

from __future__ import annotations

import platform

from tradewind.method.host import Host, cpu_name
from tradewind.mpi.library import MPI, library_name, ranks_here


def host_of(comm: MPI.Intracomm) -> Host:
    """Return the host of the ranks of a communicator, as this rank sees it. Collective."""
    return Host(platform.node(), cpu_name(), library_name(), comm.allreduce(ranks_here(comm), MPI.MAX))
