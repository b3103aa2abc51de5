"""Runs of a model of which one rank makes a mistake, and the errors of the ranks."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
from server_cases import layouts, part

from tradewind.base.errors import PlanError
from tradewind.fieldserver.model.field_server import FieldServer
from tradewind.fieldserver.plan.plan_file import load_plan

RIGHT = ("t", "u", "end")
MISTAKES = {
    "name": ("tt",),
    "shape": ("t", "small"),
    "order": ("u", "t", "end"),
    "omission": ("t", "end"),
    "definition": ("definition",),
    "memory": ("t", "memory"),
    "constant": ("constant",),
    "input": ("input",),
    "early end": ("t", "earlier end"),
    "text": ("t\udcb0",),
    "text of a file": ("file in Latin-1",),
}
"""Calls of rank 1 in step 2; the others make the right ones."""


def one_sided(comm: Any, payload: dict[str, Any]) -> dict[str, list[list[str]]]:
    """Return for each kind of mistake the errors of each rank, in the steps and when it closes."""
    found = {}
    for kind in payload["kinds"]:
        text = payload["plan"].replace("FOLDER", f"{payload['folder']}/{kind}")
        server = FieldServer(load_plan("plan.toml", text), comm, servers=payload["servers"])
        errors = [] if server.comm is None else [_error(_steps, server, kind)]
        errors.append(_error(server.close))
        found[kind] = comm.gather(errors)
    return found


def _steps(server: FieldServer, kind: str) -> None:
    rank, ranks = server.comm.Get_rank(), server.comm.Get_size()
    layout, geometry, levels = layouts(ranks)["t"]
    for name in ("t", "u"):
        server.define(name, layout, geometry, levels=range(1, levels + 1))
    for step in range(4):
        values = part("t", layout, rank, step, levels, geometry.points)
        if step == 2 and kind == "everywhere":
            assert "unknown field 'tt'" in _error(server.write, "tt", values, step)
        for call in MISTAKES.get(kind, RIGHT) if step == 2 and rank == 1 else RIGHT:
            _make(server, call, values, step)


def _make(server: FieldServer, call: str, values: np.ndarray, step: int) -> None:
    if call == "end":
        server.end_step(step)
    elif call == "earlier end":
        server.end_step(step - 1)
    elif call == "small":
        server.write("u", values[:1], step)
    elif call == "constant":
        values.flags.writeable = False
        server.read("t", values, "nowhere.nc")
    elif call == "input":
        server.read("t", values, "nowhere.nc")
    elif call == "file in Latin-1":
        server.read("t", values, "\udcb0.nc")
    elif call == "definition":
        layout, geometry, _ = layouts(server.comm.Get_size())["t"]
        server.define("v", layout, geometry)
    elif call == "memory":
        server._array = _without_memory
        server.write("u", values, step)
    else:
        server.write(call, values, step)


def _without_memory(*arguments: object) -> None:
    raise MemoryError("no room for a block")


def _error(call: Any, *arguments: Any) -> str:
    try:
        call(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def leaving(comm: Any, payload: dict[str, Any]) -> list[str]:
    """A model of which ranks leave in step 2, in a `with` block or, as the others never call it, without `close`.

    Returns what each rank of all ends with.
    """
    found = [_error(_in_a_with_block if block else _without_close, comm, payload) for block in payload["blocks"]]
    return comm.gather(found)


def _in_a_with_block(comm: Any, payload: dict[str, Any]) -> None:
    plan = load_plan("plan.toml", payload["plan"].replace("FOLDER", f"{payload['folder']}/with"))
    with FieldServer(plan, comm, servers=1) as server:
        if server.comm is not None:
            _until_step_two(server, payload["leaving"])


def caught_by_others(comm: Any, payload: dict[str, Any]) -> list[str]:
    """Return what ranks end with whose rank 1 leaves a `with` block by a mistake, which the others catch, and close."""
    plan = load_plan("plan.toml", payload["plan"].replace("FOLDER", payload["folder"]))
    server = FieldServer(plan, comm, servers=0)

    def write() -> None:
        layout, geometry, _ = layouts(comm.Get_size())["t"]
        server.define("t", layout, geometry)
        for step in range(2):
            values = part("t", layout, comm.Get_rank(), step, 3, geometry.points)
            server.write("t", values if step == 0 or comm.Get_rank() != 1 else values[:1], step)
            server.end_step(step)

    def block() -> None:
        with server:
            write()

    errors = [_error(block)] if comm.Get_rank() == 1 else [_error(write), _error(server.close)]
    server._opened.side.part()  # as when the program ends
    return comm.gather(errors)


def _without_close(comm: Any, payload: dict[str, Any]) -> None:
    """End a process that has not closed its field server."""
    plan = load_plan("plan.toml", payload["plan"].replace("FOLDER", f"{payload['folder']}/without"))
    server = FieldServer(plan, comm, servers=1)
    if server.comm is None:
        server.close()
        return
    try:
        _until_step_two(server, payload["leaving"])
    except ArithmeticError:
        server._at_exit()
        raise
    except PlanError:
        server.close()
        raise


def _until_step_two(server: FieldServer, leaving: list[int]) -> None:
    layout, geometry, levels = layouts(server.comm.Get_size())["t"]
    server.define("t", layout, geometry)
    for step in range(4):
        server.write("t", part("t", layout, server.comm.Get_rank(), step, levels, geometry.points), step)
        if step == 2 and server.comm.Get_rank() in leaving:
            raise ArithmeticError("the model is not stable")
        server.end_step(step)


def interrupted(comm: Any, payload: dict[str, Any]) -> list[str]:
    """Return the errors of a wait that a signal ends, as Ctrl-C does, and of the close that follows."""
    server = FieldServer(
        load_plan("plan.toml", payload["plan"].replace("FOLDER", payload["folder"])), comm, servers="threads"
    )
    (own,) = server._opened.writers
    ended, may_end = own.writer._end_step, threading.Event()

    def late(step: int, share: int) -> None:
        may_end.wait(60)
        ended(step, share)

    own.writer._end_step = late
    layout, geometry, levels = layouts(1)["t"]
    server.define("t", layout, geometry)
    server.write("t", part("t", layout, 0, 0, levels, geometry.points), 0)
    server.end_step(0)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    errors = []
    try:
        server.finish()
    except KeyboardInterrupt:
        errors.append("KeyboardInterrupt")
    may_end.set()
    return [*errors, _error(server.close)]
