"""The gather-scatter of spectral elements beside a compiled loop over lists, in gslib's manner, on two ranks."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tradewind as tw
from exchanges.sampling import calls, contest, line, require
from tradewind import _core
from tradewind.base.collective import on_root
from tradewind.mpi import MPI

SOURCE = Path(__file__).with_name("list_loops.c")


def gather_scatter(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: elements (x, y, z) of each rank, points, repeat, samples. The ranks lie along z."""
    rank = comm.Get_rank()
    brick = tw.BrickGatherScatter(payload["elements"], payload["points"], (1, 1, comm.Get_size()))
    ids = brick.ids(rank)
    loops = _Lists(comm, ids, brick.shared_ids(rank))
    fields = {name: np.zeros(ids.size) for name in ("lists", "alone", "pairwise", "cartesian", "strides", "by lists")}
    plans = {name: brick.plan(comm, fields[name], algorithm=name) for name in ("pairwise", "cartesian")}
    own = {"strides": _core.LocalCopies(ids), "by lists": _core.LocalCopies(ids, sweeps=False)}
    for field in fields.values():
        field[:] = np.arange(ids.size) % 7 + rank
    loops(fields["lists"])
    for name, plan in plans.items():
        plan()
        require(comm, f"gather-scatter by {name}", bool(np.array_equal(fields[name], fields["lists"])))
    loops.alone(fields["alone"])
    for name, copies in own.items():
        copies.combine(fields[name])
        require(comm, f"a rank's own copies by {name}", bool(np.array_equal(fields[name], fields["alone"])))
    for field in fields.values():
        field[:] = 0
    repeat = payload["repeat"]
    peer, alone = "a loop over lists, in gslib's manner", "a loop over lists of a rank alone"
    contenders = {name: calls(comm, plan, repeat) for name, plan in plans.items()}
    contenders |= {
        name: calls(comm, lambda name=name: own[name].combine(fields[name]), repeat)  # type: ignore[misc]
        for name in own
    }
    contenders[peer] = calls(comm, lambda: loops(fields["lists"]), repeat)
    contenders[alone] = calls(comm, lambda: loops.alone(fields["alone"]), repeat)
    samples = contest(comm, contenders, payload["samples"])
    elements = int(np.prod(payload["elements"])) * comm.Get_size()
    what = f"{elements} elements of {payload['points']}^3, gather-scatter"
    return [
        *(line(f"{what} by {name}", samples, name, peer, at_most=0.8) for name in plans),
        *(line(f"{what} of a rank alone by {name.removeprefix('by ')}", samples, name, alone) for name in own),
    ]


class _Lists:
    """The compiled loop, bound to the ids of this rank; its only neighbour is the other one."""

    def __init__(self, comm: MPI.Intracomm, ids: np.ndarray, shared: np.ndarray) -> None:
        order = np.argsort(ids, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(ids[order])) + 1)
        several = [place for group in groups if len(group) > 1 for place in (*group.tolist(), -1)]
        first = {int(ids[group[0]]): int(group[0]) for group in groups}
        self.groups = np.array([*several, -1], dtype=np.int32)
        self.shared = np.array([first[number] for number in sorted(shared.tolist())], dtype=np.int32)
        self.out, self.came = np.zeros(len(self.shared)), np.zeros(len(self.shared))
        self.peer, self.comm = 1 - comm.Get_rank(), comm.py2f()
        self.library = _compiled(comm)

    def __call__(self, field: np.ndarray) -> None:
        arrays = (array.ctypes.data_as(ctypes.c_void_p) for array in (field, self.groups, self.shared))
        buffers = (array.ctypes.data_as(ctypes.c_void_p) for array in (self.out, self.came))
        self.library.list_gather_scatter(*arrays, len(self.shared), self.peer, self.comm, *buffers)

    def alone(self, field: np.ndarray) -> None:
        arrays = (array.ctypes.data_as(ctypes.c_void_p) for array in (field, self.groups))
        self.library.list_local(*arrays)


def _compiled(comm: MPI.Intracomm) -> ctypes.CDLL:
    """The loops, compiled for this processor by the wrapper of the MPI library. Collective."""

    def compile_them() -> str:
        library = Path(tempfile.mkdtemp()) / "list_loops.so"
        compiler = Path(sys.executable).with_name("mpicc")
        command = [str(compiler), "-O3", "-march=native", "-shared", "-fPIC", str(SOURCE), "-o", str(library)]
        subprocess.run(command, check=True)
        return str(library)

    return ctypes.CDLL(on_root(comm, compile_them))
