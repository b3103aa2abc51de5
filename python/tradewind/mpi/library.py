"""The MPI library that Tradewind was built with, and mpi4py on top of the same one.

Importing this raises MissingMPIError, which names what to install, where one of them is missing. The compiled module
`_mpi` is taken from here, so that the error is the same one wherever it is met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradewind.base.collective import check_communicator, collective, proceed
from tradewind.base.errors import INSTALL_MPI, MissingMPIError
from tradewind.base.extents import whole_number
from tradewind.base.installation import in_brackets, not_loaded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as error:  # RuntimeError: mpi4py is there, but finds no MPI library
    raise MissingMPIError(f"MPI is not available ({in_brackets(error)}): {INSTALL_MPI}") from error
try:
    from tradewind import _mpi
except ImportError as error:
    raise MissingMPIError(not_loaded(error)) from error

if MPI.Get_library_version() != _mpi.library_version():
    raise MissingMPIError(
        f"mpi4py uses {MPI.Get_library_version().splitlines()[0]}, Tradewind was built with "
        f"{_mpi.library_version().splitlines()[0]}: both must use the same MPI; {INSTALL_MPI}"
    )

__all__ = ["MPI", "Array", "OwnPoints", "Peers", "Plan", "_mpi", "library_name", "ranks_here", "ranks_per_core"]


def library_name() -> str:
    """Return the name and version of the MPI library, in one line."""
    return _mpi.library_name()


Plan = _mpi.Plan
OwnPoints = _mpi.Points
"""The points of a rank as the core knows them; see `tradewind.mpi.points`."""
Peers = _mpi.Processes
"""The processes of a communicator as the core knows them; see `tradewind.simulation.processes`."""


@collective
def ranks_here(comm: MPI.Intracomm) -> int:
    """Ranks on this rank's node. Collective."""
    check_communicator(comm)
    proceed(comm)
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    ranks: int = node.Get_size()
    node.Free()
    return ranks


@collective
def ranks_per_core(comm: MPI.Intracomm, cores: int) -> float:
    """Ranks that share a node, over the cores that they may use; the worst node. Collective."""
    cores = whole_number("cores", cores)
    return float(comm.allreduce(ranks_here(comm) / max(cores, 1), MPI.MAX))
