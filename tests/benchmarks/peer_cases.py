"""Ranks check that the benchmark's peers are right, and that a wrong one would be found."""

from __future__ import annotations

from typing import Any

from exchanges import ghex_halo, halo, raw_halo, raw_transposition, transposition

from tradewind.base.errors import VerificationError
from tradewind.mpi import MPI

SPLITS = {1: [(1, 1)], 2: [(2, 1), (1, 2)], 4: [(4, 1), (2, 2), (1, 4)]}


def right(comm: MPI.Intracomm, _: Any) -> list[str]:
    """The peers that bring the expected result."""
    found = []
    for name in raw_transposition.PEERS:
        setup = transposition.Setup(comm, 13, transposition.OWN)  # parts of unlike size
        setup.checked(name, setup.raw(name))
        found.append(name)
    for split in SPLITS[comm.Get_size()]:
        for name in [*raw_halo.PEERS, *([halo.GHEX] if ghex_halo.installed() else [])]:
            setup_of_halo = halo.Setup(comm, [13, 11, 3], split, 2, halo.OWN)
            setup_of_halo.checked(name, setup_of_halo.peer(name))
            found.append(f"{name} {split}")
    return found


def wrong(comm: MPI.Intracomm, _: Any) -> list[str]:
    """Return the errors for peers that do nothing, or nothing on one rank."""
    setup = transposition.Setup(comm, 8, transposition.OWN)
    halos = halo.Setup(comm, [8, 8, 2], (comm.Get_size(), 1), 1, halo.OWN)
    plan = halos.peer("packed isend-irecv")

    def lazy() -> None:
        plan()
        if comm.Get_rank() == 0:
            halos.array[0, 0, 0] += 1

    printed = []
    for check in (
        lambda: setup.checked("idle", [lambda: None, lambda: None]),
        lambda: halos.checked("lazy", lazy),
    ):
        try:
            check()
        except VerificationError as error:
            printed.append(str(error))
    return printed
