"""Host of the ranks of a communicator."""

from __future__ import annotations

import platform

from tradewind.method.host import Host
from tradewind.mpi.library import MPI, _mpi


def host_of(comm: MPI.Intracomm) -> Host:
    """Return the host of the ranks of a communicator, as this rank sees it. Collective."""
    return Host(platform.node(), *_mpi.host_of(comm.py2f()))
