"""How servers join a model in C or Fortran, which was started beside them in one job.

All ranks say first which version of the orders they know, and whether they serve. The first server reads the plan file,
hears from the others what they were started with, and tells all of the plan, or of what is wrong with it.
bindings/c/field_server is the side of the model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tradewind.base.errors import InputError, TradewindError
from tradewind.base.toml_lines import TomlFile
from tradewind.fieldserver.file_names import is_by_level
from tradewind.fieldserver.folder_hold import FolderHold
from tradewind.fieldserver.handover import transport_problems
from tradewind.fieldserver.opening import Method, prepare_folder
from tradewind.fieldserver.plan_file import ALL, OutputPlan, load_plan
from tradewind.fieldserver.serving import Server
from tradewind.fieldserver.talk import JOIN, PROTOCOL, Talk
from tradewind.method.method import Method as FullMethod
from tradewind.mpi.library import MPI

_MAGIC = 0x74776673
"""Marks ranks that open a field server: "twfs"."""
_SERVER = 1
"""Role of a server; that of a rank of the model is 0."""


class ToldError(InputError):
    """An error that another server tells of."""


def join(path: Path | str, comm: MPI.Intracomm, transport: str, packing: str) -> Server:
    """Return this rank's server of the model whose ranks are the others of `comm`. Collective, with the model.

    `transport` and `packing`: how fields travel. Raises InputError, on all servers and the model, for another version,
    for a plan file that cannot be used, for servers that were started with other ones, and where no rank is a model.
    """
    servers = _servers(comm)
    holds: list[FolderHold] = []
    others = _started_with(comm, servers, path, transport, packing)
    said = _said_by_first(comm, servers[0], lambda: _opened(path, transport, packing, holds, others))
    if "error" in said:
        kind = InputError if comm.Get_rank() == servers[0] else ToldError
        raise kind(*said["error"].splitlines())
    plan = load_plan(said["path"], said["text"])
    method = {"transport": said["transport"], "packing": said["packing"]}
    server = _split(comm, servers, plan, method)
    server.holds = holds
    return server


def _servers(comm: MPI.Intracomm) -> list[int]:
    """Return the ranks that serve."""
    everyone = np.empty((comm.Get_size(), 3), np.int64)
    comm.Allgather(np.array([_MAGIC, PROTOCOL, _SERVER], np.int64), everyone)
    for rank, (magic, version, _) in enumerate(everyone.tolist()):
        if magic != _MAGIC:
            raise InputError(f"rank {rank} opens no field server")
        if version != PROTOCOL:
            raise InputError(
                f"rank {rank} speaks version {version} of the field server's language, this server version {PROTOCOL}: "
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
        return {other: Talk(comm, other).wait_for(JOIN) for other in servers[1:]}
    mine = {"transport": transport, "packing": packing}
    try:
        mine["plan file"] = TomlFile(path).text
    except InputError as error:
        mine["error"] = str(error)
    talk = Talk(comm, servers[0])
    talk.say(JOIN, mine)
    talk.finish()
    return {}


def _unlike(others: dict[int, dict[str, str]], first: dict[str, str]) -> list[str]:
    """Return how servers were started that are not like the first one."""
    problems = []
    for rank, said in others.items():
        if "error" in said:
            problems.append(f"the server of rank {rank}: {said['error']}")
        problems += [
            f"the server of rank {rank} has another {what} than the first one: the same on all servers is allowed"
            for what, mine in first.items()
            if what in said and said[what] != mine
        ]
    return problems


def _said_by_first(comm: MPI.Intracomm, first: int, make: Any) -> dict[str, Any]:
    """Return what the first server makes, or the error that it meets, on all ranks."""
    text = b""
    if comm.Get_rank() == first:
        try:
            said = make()
        except TradewindError as error:
            said = {"error": str(error)}
        except OSError as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        text = json.dumps(said).encode()
    length = np.array([len(text)], np.int64)
    comm.Bcast(length, root=first)
    data = np.frombuffer(text, np.uint8).copy() if text else np.empty(length[0], np.uint8)
    comm.Bcast([data, MPI.CHAR], root=first)
    found: dict[str, Any] = json.loads(data.tobytes())
    return found


def _opened(
    path: Path | str, transport: str, packing: str, holds: list[FolderHold], others: dict[int, dict[str, str]]
) -> dict[str, Any]:
    """Read the plan file and prepare its folder, whose hold goes to `holds`; returns what the model needs to know.

    `others`: what the other servers were started with.
    """
    problems = [
        problem
        for algorithm, pattern in (("burst", "transpose"), ("direct", "fetch"))
        for problem in FullMethod(algorithm, transport, packing).problems(pattern)
    ] + transport_problems(transport)
    if problems:
        raise InputError(*dict.fromkeys(problems))
    plan = load_plan(path)
    if problems := _unlike(others, {"plan file": plan.text, "transport": transport, "packing": packing}):
        raise InputError(*problems)
    holds.append(prepare_folder(plan))
    table = plan.table
    return {
        "path": plan.path,
        "text": plan.text,
        "transport": transport,
        "packing": packing,
        "block": table.block,
        "slot_bytes": plan.slot_bytes,
        "patience": table.patience,
        "when_full": table.when_full,
        "deal": table.deal,
        "sinks": [
            {"name": sink.name, "path": sink.path, "format": sink.format, "by_level": is_by_level(sink.path)}
            for sink in table.sink
        ],
        "rules": [
            {
                "sinks": rule.sink,
                "fields": None if rule.fields == (ALL,) else rule.fields,
                "steps": rule.steps,
                "every": rule.every or 1,
            }
            for rule in table.rule
        ],
    }


def _split(comm: MPI.Intracomm, servers: list[int], plan: OutputPlan, method: Method) -> Server:
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
