"""Eight fields in one exchange beside one field of eight times the size, which has as many bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from exchanges.sampling import calls, contest, line, require
from tradewind import _core, mpi
from tradewind.method.method import Method
from tradewind.mpi import MPI, Plan
from tradewind.pattern import Blocks, Grid, Halo, Transpose
from tradewind.workload.arrays import arrays_of

FIELDS = 8
METHODS = {
    "halo": [Method("sweep", "isend-irecv", "buffer"), Method("sweep", "shared", "direct")],
    "transpose": [Method("burst", "isend-irecv", "buffer"), Method("burst", "shared", "direct")],
}


def fields(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: grids by pattern, samples. All arrays are those of `tradewind.empty`."""
    lines = []
    for name, make in (("halo", _halo), ("transpose", _transposition)):
        nx, ny, nz = payload[name]
        for method in METHODS[name]:
            many = _checked_plan(comm, make(comm, Grid(nx, ny, nz)), FIELDS, method)
            one = _checked_plan(comm, make(comm, Grid(nx, ny, nz * FIELDS)), 1, method)
            large = f"one field of {nx}x{ny}x{nz * FIELDS}"
            names = (f"{name} of {FIELDS} fields of {nx}x{ny}x{nz}, {method}", large)
            samples = contest(
                comm,
                {n: calls(comm, plan, payload["repeat"]) for n, plan in zip(names, (many, one), strict=True)},
                payload["samples"],
            )
            lines.append(line(names[0], samples, *names, at_most=1.3))
    return lines


def _halo(comm: MPI.Intracomm, grid: Grid) -> _core.Pattern:
    return Halo(Blocks(grid, (comm.Get_size(), 1)), 2, ("x", "y"))


def _transposition(comm: MPI.Intracomm, grid: Grid) -> _core.Pattern:
    split = (comm.Get_size(), 1)
    return Transpose(Blocks(grid, split, "zy"), Blocks(grid, split, "xy"))


def _checked_plan(comm: MPI.Intracomm, pattern: _core.Pattern, count: int, method: Method) -> Plan:
    """Return a plan of `count` fields, once it has delivered the right result, bit for bit."""
    rank = comm.Get_rank()
    arrays = _arrays(comm, pattern, count, "source")
    targets = None if pattern.in_place else _arrays(comm, pattern, count, "target")
    named = {"algorithm": method.algorithm, "transport": method.transport, "packing": method.packing}
    plan = mpi.plan(pattern, comm, arrays, targets, **named)
    for number, array in enumerate(arrays):
        array[...] = arrays_of(pattern).source(pattern, rank, number, "f8")
    plan()
    results = (arrays_of(pattern).expected(pattern, rank, number, "f8") for number in range(count))
    right = all(np.array_equal(array, result) for array, result in zip(targets or arrays, results, strict=True))
    require(comm, f"{count} fields, {method}", right)
    return plan


def _arrays(comm: MPI.Intracomm, pattern: _core.Pattern, count: int, of: str) -> list[Any]:
    found = mpi.empty(pattern, comm, fields=count, of=of)
    return [found] if count == 1 else found
