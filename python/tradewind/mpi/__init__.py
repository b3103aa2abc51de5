"""Schedules on real MPI: `plan` binds one to arrays and a communicator.

Needs an MPI library and mpi4py (MissingMPIError names what to install); the rest of Tradewind works without.
"""

from __future__ import annotations

from tradewind.method.method import NATIVE, packing_names, transport_names
from tradewind.mpi.arrays import empty
from tradewind.mpi.choice import choose_collectively
from tradewind.mpi.library import MPI, Peers, Plan, library_name, ranks_here, ranks_per_core
from tradewind.mpi.planning import plan

__all__ = [
    "MPI",
    "NATIVE",
    "PACKINGS",
    "TRANSPORTS",
    "Peers",
    "Plan",
    "choose_collectively",
    "choose_together",
    "empty",
    "library_name",
    "plan",
    "ranks_here",
    "ranks_per_core",
]

choose_together = choose_collectively
"""The former name."""
TRANSPORTS = transport_names()
PACKINGS = packing_names()
