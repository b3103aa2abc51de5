"""How a field server is set up: ranks agree on the plan, servers are split off, the folder is prepared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from tradewind.base.collective import on_root
from tradewind.base.errors import InputError, quoted
from tradewind.fieldserver.files.output_folder import FolderHold, prepare_folder
from tradewind.fieldserver.model.channel import Channel
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.control_channel import ControlChannel
from tradewind.fieldserver.server.handover import HandoverMethod
from tradewind.fieldserver.server.serving import Server
from tradewind.fieldserver.server.writer import Writer
from tradewind.mpi.library import MPI

THREADS = "threads"
"""Value of `servers`: threads of the ranks of the model write."""


@dataclass
class Opened:
    """The parts of a field server on a rank: a server; or the channels and writers of the model."""

    comm: MPI.Intracomm | None
    """Communicator of the ranks of the model; None on servers."""
    server: Server | None = None
    channels: list[Channel] = field(default_factory=list)
    """One for each share."""
    writers: list[tuple[int, Writer]] = field(default_factory=list)
    """With the numbers of their shares."""
    holds: list[FolderHold] = field(default_factory=list)
    """The folder, on the first rank."""

    def release(self) -> None:
        """Let other runs write to the folder."""
        while self.holds:
            self.holds.pop().release()


def open_shares(plan: OutputPlan, comm: MPI.Intracomm, servers: int | str, method: HandoverMethod | None) -> Opened:
    """Split servers off, or make writers on the ranks of the model. Collective. Raises InputError."""
    _check_alike(comm, plan, servers)
    holds: list[FolderHold] = []
    on_root(comm, lambda: holds.append(prepare_folder(plan)))
    if isinstance(servers, int) and servers > 0:
        opened = _beside_servers(plan, comm, servers, method)
    else:
        opened = _on_the_model(plan, comm, method, threads=servers == THREADS)
    opened.holds = holds
    return opened


def _on_the_model(plan: OutputPlan, comm: MPI.Intracomm, method: HandoverMethod | None, *, threads: bool) -> Opened:
    """Each rank of the model writes a share."""
    own = comm.Dup()
    ranks, rank = own.Get_size(), own.Get_rank()
    mine = Writer(plan, shares=ranks, asynchronous=threads)
    channels = [
        Channel(plan, number, own, number, writer=mine if number == rank else None, method=method, waits=not threads)
        for number in range(ranks)
    ]
    return Opened(own, channels=channels, writers=[(rank, mine)])


def _beside_servers(plan: OutputPlan, comm: MPI.Intracomm, servers: int, method: HandoverMethod | None) -> Opened:
    """The last ranks are servers; each has a communicator with all ranks of the model, where it is the last."""
    ranks, rank = comm.Get_size(), comm.Get_rank()
    models = ranks - servers
    model: Any = comm.Split(0 if rank < models else MPI.UNDEFINED, rank)
    opened = Opened(model if rank < models else None)
    for number in range(servers):
        takes_part = rank < models or rank == models + number
        pair: Any = comm.Split(0 if takes_part else MPI.UNDEFINED, rank)
        if rank == models + number:
            opened.server = Server(plan, pair, servers, method, watchdog_s=plan.table.patience)
        elif rank < models:
            control = ControlChannel(pair, models) if rank == 0 else None
            opened.channels.append(Channel(plan, number, pair, models, model=model, control=control, method=method))
    return opened


def _check_alike(comm: MPI.Intracomm, plan: OutputPlan, servers: int | str) -> None:
    everyone = comm.allgather((hashlib.sha256(plan.text.encode()).hexdigest(), str(servers)))
    for what, each in (("plan file", 0), ("number of servers", 1)):
        others = [rank for rank, one in enumerate(everyone) if one[each] != everyone[0][each]]
        if others:
            raise InputError(f"rank {others[0]} has another {what} than rank 0: the same on all ranks is allowed")


def check_servers(servers: int | str, ranks: int) -> None:
    """Raises InputError for what is no number of servers of so many ranks."""
    named = isinstance(servers, str) and servers == THREADS
    if not named and (isinstance(servers, bool) or not isinstance(servers, int)):
        raise InputError(f"servers {quoted(servers)}: a number, or {THREADS!r}, is allowed")
    if isinstance(servers, int) and not 0 <= servers < ranks:
        raise InputError(f"{quoted(servers)} servers of {ranks} ranks: 0..{ranks - 1} are allowed")
