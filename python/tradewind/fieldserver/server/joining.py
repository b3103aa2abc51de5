"""How servers join a model in C or Fortran, which was started beside them in one job.

All ranks exchange first which protocol version they use, and whether they serve. The first server reads the plan file,
compares what the others were started with, and sends all ranks the plan, or what is wrong with it.
src/fieldserver is the side of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tradewind.base.errors import InputError, TradewindError
from tradewind.base.toml_lines import TomlFile
from tradewind.fieldserver.files.output_folder import FolderHold, prepare_folder
from tradewind.fieldserver.plan.plan_file import OutputPlan, load_plan
from tradewind.fieldserver.server.control_channel import ControlChannel
from tradewind.fieldserver.server.handover import HandoverMethod, transport_problems
from tradewind.fieldserver.server.messages import JOIN, MAGIC, PROTOCOL, Message, from_json, pack
from tradewind.fieldserver.server.plan_message import packed_plan
from tradewind.fieldserver.server.serving import Server
from tradewind.method.method import Method
from tradewind.mpi.library import MPI

_SERVER = 1
"""Role of a server; that of a rank of the model is 0."""


class RemoteError(InputError):
    """An error that another server has met and prints."""


def join(path: Path | str, comm: MPI.Intracomm, transport: str, packing: str) -> Server:
    """Return this rank's server of the model whose ranks are the others of `comm`. Collective, with the model.

    `transport` and `packing`: how fields travel. Raises InputError, on all servers and the model, for another version,
    for a plan file that cannot be used, for servers that were started with other ones, and where no rank is a model.
    """
    servers = _servers(comm)
    holds: list[FolderHold] = []
    others = _started_with(comm, servers, path, transport, packing)
    message = _broadcast_first(comm, servers[0], lambda: _opened(path, transport, packing, holds, others))
    if error := message.text():
        kind = InputError if comm.Get_rank() == servers[0] else RemoteError
        raise kind(*error.splitlines())
    plan = load_plan(message.text(), message.text())
    method = {"transport": message.text(), "packing": message.text()}
    server = _split(comm, servers, plan, method)
    server.holds = holds
    return server


def _servers(comm: MPI.Intracomm) -> list[int]:
    """Return the ranks that serve."""
    everyone = np.empty((comm.Get_size(), 3), np.int64)
    comm.Allgather(np.array([MAGIC, PROTOCOL, _SERVER], np.int64), everyone)
    for rank, (magic, version, _) in enumerate(everyone.tolist()):
        if magic != MAGIC:
            raise InputError(f"rank {rank} opens no field server")
        if version != PROTOCOL:
            raise InputError(
                f"rank {rank} uses protocol version {version} of the field server, this server version {PROTOCOL}: "
                "install the same Tradewind for model and servers"
            )
    servers = np.flatnonzero(everyone[:, 2] == _SERVER).tolist()
    if len(servers) == len(everyone):
        raise InputError(
            "all ranks are servers, and none is a model: start them in one job, as with "
            "mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml"
        )
    return [int(rank) for rank in servers]


def _started_with(
    comm: MPI.Intracomm, servers: list[int], path: Path | str, transport: str, packing: str
) -> dict[int, dict[str, str]]:
    """Return, on the first server, what each other one was started with, by its rank."""
    rank = comm.Get_rank()
    if rank == servers[0]:
        return {other: from_json(ControlChannel(comm, other).wait_for(JOIN)) for other in servers[1:]}
    mine = {"transport": transport, "packing": packing}
    try:
        mine["plan file"] = TomlFile(path).text
    except InputError as error:
        mine["error"] = str(error)
    control = ControlChannel(comm, servers[0])
    control.send_json(JOIN, mine)
    control.finish()
    return {}


def _unlike(others: dict[int, dict[str, str]], first: dict[str, str]) -> list[str]:
    """Return how servers were started that are not like the first one."""
    problems = []
    for rank, started in others.items():
        if "error" in started:
            problems.append(f"the server of rank {rank}: {started['error']}")
        problems += [
            f"the server of rank {rank} has another {what} than the first one: the same on all servers is allowed"
            for what, mine in first.items()
            if what in started and started[what] != mine
        ]
    return problems


def _broadcast_first(comm: MPI.Intracomm, first: int, make: Callable[[], bytes]) -> Message:
    """Return, on all ranks, the message that the first server makes, or that of the error that it meets."""
    data = b""
    if comm.Get_rank() == first:
        try:
            data = make()
        except TradewindError as error:
            data = pack(str(error))
        except OSError as error:
            data = pack(f"{type(error).__name__}: {error}")
    length = np.array([len(data)], np.int64)
    comm.Bcast(length, root=first)
    received = np.frombuffer(data, np.uint8).copy() if data else np.empty(length[0], np.uint8)
    comm.Bcast([received, MPI.CHAR], root=first)
    return Message(received.tobytes())


def _opened(
    path: Path | str, transport: str, packing: str, holds: list[FolderHold], others: dict[int, dict[str, str]]
) -> bytes:
    """Read the plan file and prepare its folder, whose hold goes to `holds`; returns the message of the plan.

    `others`: what the other servers were started with.
    """
    problems = [
        problem
        for algorithm, pattern in (("burst", "transpose"), ("direct", "fetch"))
        for problem in Method(algorithm, transport, packing).problems(pattern)
    ] + transport_problems(transport)
    if problems:
        raise InputError(*dict.fromkeys(problems))
    plan = load_plan(path)
    if problems := _unlike(others, {"plan file": plan.text, "transport": transport, "packing": packing}):
        raise InputError(*problems)
    holds.append(prepare_folder(plan))
    return pack("", plan.path, plan.text, transport, packing) + packed_plan(plan)


def _split(comm: MPI.Intracomm, servers: list[int], plan: OutputPlan, method: HandoverMethod) -> Server:
    """Take part in the splits: the ranks of the model, and for each server these with the server as the last."""
    rank, behind = comm.Get_rank(), comm.Get_size()
    comm.Split(MPI.UNDEFINED, rank)
    found = None
    for number, server in enumerate(servers):
        pair: Any = comm.Split(0 if rank == server else MPI.UNDEFINED, behind)
        if rank == server:
            found = Server(plan, pair, len(servers), method, number=number, watchdog_s=plan.table.patience)
    assert found is not None
    return found
