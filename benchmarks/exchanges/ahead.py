"""Gain from gathering the messages of a stage while the one before is under way."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from exchanges.sampling import Call, calls, contest, line, require
from tradewind import mpi
from tradewind.mpi import MPI
from tradewind.pattern import Blocks, Grid, Transpose
from tradewind.workload.arrays import UNTOUCHED, arrays_of

TRANSPORTS = ("isend-irecv", "persistent", "shared")


def ahead(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: edge of the cube, samples. Of a ring, one stage after another."""
    ranks, cores = comm.Get_size(), len(os.sched_getaffinity(0))
    lines = [f"{payload['edge']}^3 doubles, ring-1 on {ranks} ranks: {ranks - 1} stages"]
    if mpi.ranks_per_core(comm, cores) > 1:
        lines.append(f"  {ranks} ranks on {cores} cores wait for each other's cores: no measure of anything else")
    for transport in TRANSPORTS:
        names = (f"{transport}, packed ahead", f"{transport}, packed when posted")
        made = zip(names, (True, False), strict=True)
        contenders = {n: calls(comm, _checked(comm, payload["edge"], transport, a)) for n, a in made}
        samples = contest(comm, contenders, payload["samples"])
        lines.append(line(f"  {names[0]}", samples, *names))
    return lines


def _checked(comm: MPI.Intracomm, edge: int, transport: str, pack_ahead: bool) -> Call:
    """A plan from levels to columns, once it has brought the expected result, bit for bit."""
    rank, split, grid = comm.Get_rank(), (comm.Get_size(), 1), Grid(edge, edge, edge)
    pattern = Transpose(Blocks(grid, split, "zy"), Blocks(grid, split, "xy"))
    source = arrays_of(pattern).source(pattern, rank, 0, "f8")
    target = np.full(pattern.target_shape(rank), float(UNTOUCHED))
    plan = mpi.plan(
        pattern, comm, source, target, algorithm="ring-1", transport=transport, packing="buffer", pack_ahead=pack_ahead
    )
    plan()
    require(comm, f"ring-1, {transport}", np.array_equal(target, arrays_of(pattern).expected(pattern, rank, 0, "f8")))
    return plan
