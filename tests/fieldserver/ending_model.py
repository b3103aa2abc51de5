"""A model that ends in a step as it should not: FOLDER SERVERS REASON FORM RANK STEP; RANK meets the reason."""

from __future__ import annotations

import multiprocessing
import resource
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

import tradewind as tw
from tradewind.base.errors import WriteError
from tradewind.fieldserver.model.field_server import FieldServer
from tradewind.fieldserver.plan.geometry import Regular
from tradewind.fieldserver.plan.plan_file import load_plan
from tradewind.layout.closed import indices

PLAN = """
folder = "{folder}"
durable = false
patience = "20s"

[[sink]]
name = "history"
format = "{form}"
path = "{path}"

[[rule]]
sink = "history"
"""
PATHS = {"grib2": "{step}.grib2", "netcdf": "{step}.nc", "zarr": "run.zarr"}
NX, NY = 64, 32


def values(step: int) -> np.ndarray:
    """[y][x], other numbers for each step and point."""
    return 250.0 + np.random.default_rng(step).random((NY, NX))  # which no packing makes small


def set_disk(*, is_full: bool) -> None:
    """Let this process write no file of more than some bytes, or any again."""
    most = 2500 if is_full else resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def fill_disk_of(server: Any, reason: str, trouble: int) -> None:
    """Let the disk of a server be full from the step on."""
    inner = server._carry_out

    def carry_out(order: dict[str, Any]) -> None:
        if order["op"] == "block":
            step = order["entries"][0][1]
            set_disk(is_full=step == trouble or (step > trouble and reason == "full disk"))
        inner(order)

    server._carry_out = carry_out


def run(server: FieldServer, reason: str, who: int, trouble: int) -> None:
    """All steps of the model."""
    comm = server.comm
    assert comm is not None
    rank, ranks = comm.Get_rank(), comm.Get_size()
    layout = tw.Blocks(tw.Grid(NX, NY, 1), (1, ranks))
    server.define("t", layout, Regular.box(NX, NY), grib="t", units="K")
    _, y, _ = indices(layout, rank)
    in_trouble = reason in ("write error", "full disk")
    for step in range(trouble + 3):
        if in_trouble and step == trouble:
            server.finish()
            set_disk(is_full=server.servers == 0)
        server.write("t", np.ascontiguousarray(values(step)[None, y]), step)
        if step == trouble and rank == who:
            if reason == "fork":
                child = multiprocessing.get_context("fork").Process(target=int)
                child.start()
                child.join()
            if reason in ("raised", "uncaught"):
                raise ArithmeticError("the model is not stable")
            if reason == "exit":
                sys.exit(3)
        try:
            server.end_step(step)
            if in_trouble and step == trouble:
                server.finish()
        except WriteError:
            if reason == "full disk":
                raise
        if reason == "write error":
            set_disk(is_full=False)


def main(folder: str, servers: str, reason: str, form: str, who: int, trouble: int) -> None:
    text = PLAN.format(folder=folder, form=form, path=PATHS[form])
    plan = load_plan("plan.toml", text)
    server = FieldServer(plan, MPI.COMM_WORLD, servers=servers if servers == "threads" else int(servers))
    if server._server is not None and reason in ("write error", "full disk"):
        fill_disk_of(server._server, reason, trouble)
    other = None
    if reason == "two":  # of the second one, too, steps have ended
        reason = "uncaught"
        text = text.replace(folder, f"{folder}-2")
        other = FieldServer(load_plan("plan.toml", text), MPI.COMM_WORLD, servers="threads")
        run(other, "", who, trouble)
    if reason in ("uncaught", "exit") and server.comm is not None:
        run(server, reason, who, trouble)
        server.close()
        return
    with server:
        if server.comm is not None:
            run(server, reason, who, trouble)


if __name__ == "__main__":
    main(*sys.argv[1:5], who=int(sys.argv[5]), trouble=int(sys.argv[6]))
