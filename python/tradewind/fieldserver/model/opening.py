"""How a field server is set up: ranks agree on the plan, servers are split off, the folder is prepared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tradewind import _core
from tradewind.base.collective import on_root
from tradewind.base.errors import InputError, quoted
from tradewind.fieldserver.files.output_folder import FolderHold, prepare_folder
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.handover import BURST, HandoverMethod, transport_problems
from tradewind.fieldserver.server.local_server import LocalServer
from tradewind.fieldserver.server.plan_message import packed_plan
from tradewind.fieldserver.server.serving import Server
from tradewind.layout.closed import Whole, on_one_grid
from tradewind.method.choice import choose
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, Method
from tradewind.mpi.library import MPI, _mpi

THREADS = "threads"
"""Value of `servers`: threads of the ranks of the model write."""


@dataclass
class Opened:
    """The parts of a field server on a rank: a server; or the model's side in C++, and the writers of this rank."""

    comm: MPI.Intracomm | None
    """Communicator of the ranks of the model; None on servers."""
    server: Server | None = None
    side: _mpi.FieldServer | None = None
    writers: list[LocalServer] = field(default_factory=list)
    """That of its share, or those that have taken over from servers."""
    holds: list[FolderHold] = field(default_factory=list)
    """The folder, on the first rank."""
    in_shared_memory: bool = False
    """Whether fields are handed over in memory that the ranks of a node share."""

    def release(self) -> None:
        """Let other runs write to the folder."""
        while self.holds:
            self.holds.pop().release()


def open_shares(
    plan: OutputPlan,
    comm: MPI.Intracomm,
    servers: int | str,
    method: Mapping[str, str | None] | None,
    steps: int | None,
    fields: Mapping[str, OutputField],
) -> Opened:
    """Split servers off, or make writers on the ranks of the model. Collective. Raises InputError.

    `fields`: those that are defined when a rank of the model begins to write in place of servers.
    """
    _check_alike(comm, plan, servers)
    holds: list[FolderHold] = []
    on_root(comm, lambda: holds.append(prepare_folder(plan)))
    transport, packing = on_root(comm, lambda: _chosen(method))
    pairs: list[MPI.Intracomm] = []
    if isinstance(servers, int) and servers > 0:
        opened = _split(plan, comm, servers, {"transport": transport, "packing": packing}, pairs)
    else:
        opened = Opened(comm.Dup())
    opened.holds, opened.in_shared_memory = holds, transport == "shared"
    if opened.comm is None:
        return opened
    shares = len(pairs) or opened.comm.Get_size()

    writers = opened.writers  # the model's side keeps the function: it must not keep that in turn

    def make_writer() -> LocalServer:
        writers.append(LocalServer(plan, shares, asynchronous=servers != 0, fields=fields))
        return writers[-1]

    opened.side = _mpi.FieldServer(
        opened.comm.py2f(),
        packed_plan(plan),
        transport,
        packing,
        [pair.py2f() for pair in pairs],
        make_writer,
        waits=servers == 0,
        steps=-1 if steps is None else steps,
    )
    return opened


def _chosen(method: Mapping[str, str | None] | None) -> tuple[str, str]:
    """Return transport and packing of hand-overs: as given, by the environment, or by default. Raises InputError."""
    given = method or {}
    point = _core.Grid(1, 1, 1)
    pattern = _core.Redistribution(*on_one_grid(_core.Blocks(point, (1, 1)), Whole(point, 1)))
    found = choose(pattern, "f8", 1, Method(BURST, given.get("transport"), given.get("packing")), tuning="").choice
    if problems := transport_problems(found.transport):
        raise InputError(*problems)
    return found.transport or DEFAULT_TRANSPORT, found.packing or DEFAULT_PACKING


def _split(
    plan: OutputPlan, comm: MPI.Intracomm, servers: int, method: HandoverMethod, pairs: list[MPI.Intracomm]
) -> Opened:
    """Let the last ranks be servers; `pairs` gets, for each, the ranks of the model with the server behind them."""
    ranks, rank = comm.Get_size(), comm.Get_rank()
    models = ranks - servers
    model: Any = comm.Split(0 if rank < models else MPI.UNDEFINED, rank)
    opened = Opened(model if rank < models else None)
    for number in range(servers):
        takes_part = rank < models or rank == models + number
        pair: Any = comm.Split(0 if takes_part else MPI.UNDEFINED, rank)
        if rank == models + number:
            opened.server = Server(plan, pair, servers, method, number=number, watchdog_s=plan.table.patience)
        elif rank < models:
            pairs.append(pair)
    return opened


def _check_alike(comm: MPI.Intracomm, plan: OutputPlan, servers: int | str) -> None:
    everyone = comm.allgather((hashlib.sha256(plan.text.encode()).hexdigest(), str(servers)))
    for what, each in (("plan file", 0), ("number of servers", 1)):
        others = [rank for rank, one in enumerate(everyone) if one[each] != everyone[0][each]]
        if others:
            raise InputError(f"rank {others[0]} has another {what} than rank 0: the same on all ranks is allowed")


def check_servers(servers: int | str, ranks: int) -> None:
    """Raises InputError for what is no number of servers of `ranks` ranks."""
    named = isinstance(servers, str) and servers == THREADS
    if not named and (isinstance(servers, bool) or not isinstance(servers, int)):
        raise InputError(f"servers {quoted(servers)}: a number, or {THREADS!r}, is allowed")
    if isinstance(servers, int) and not 0 <= servers < ranks:
        raise InputError(f"{quoted(servers)} servers of {ranks} ranks: 0..{ranks - 1} are allowed")
