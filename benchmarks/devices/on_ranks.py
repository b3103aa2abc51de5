"""The parts of `compare.py` that run on ranks, and their figures."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

import tradewind as tw
from tradewind import mpi
from tradewind.base.errors import TradewindError
from tradewind.device import HOST, Device, open_device
from tradewind.dwarfs import from_plain
from tradewind.dwarfs.frame.reference import difference
from tradewind.dwarfs.frame.step import Call
from tradewind.dwarfs.mpdata import LOOPS, Mpdata
from tradewind.dwarfs.mpdata.loops import PLAIN
from tradewind.launch.measure import measure_device_copy
from tradewind.mpi.library import library_name

if TYPE_CHECKING:
    from tradewind.dwarfs.mpdata import MpdataRun

STEPS = 8
COPIED = 2
"""A copy reads each byte and writes it."""


def opened(comm: MPI.Intracomm, name: str) -> Device:
    """The device of this rank."""
    return open_device(name, comm.Get_rank())


def seconds(comm: MPI.Intracomm, device: Device, work: Callable[[], object], samples: int) -> float:
    """Median of what some work takes that all ranks begin together, after a first time."""
    taken = []
    for _ in range(samples + 1):
        device.synchronize()
        comm.Barrier()
        begin = MPI.Wtime()
        work()
        device.synchronize()
        taken.append(comm.allreduce(MPI.Wtime() - begin, MPI.MAX))
    return statistics.median(taken[1:])


def describe(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, str]:
    """Names of the device and of the MPI library."""
    return {"device": opened(comm, payload["device"]).description, "mpi": library_name()}


def bits(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[tuple[str, str]]:
    """Where the states on device and host differ after some steps, by dwarf; "" where they do not."""
    found = []
    for kind, options in payload["dwarfs"]:
        whole = []
        for device in (payload["device"], HOST.name):
            dwarf = from_plain(kind, {"ranks": comm.Get_size(), **options, "device": device})
            run = dwarf.on(comm)
            run.advance(STEPS)
            whole.append(run.gathered())
        apart = difference(*whole) if comm.Get_rank() == 0 else ""
        found.append((f"{dwarf.name} {dwarf.precision}", apart))
    return found


def copies(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, float]:
    """Bytes per second of copies per rank."""
    device, size = opened(comm, payload["device"]), payload["bytes"]
    host, there = np.zeros(size, np.uint8), device.full((size,), np.uint8, 1)
    return {
        "within the device": measure_device_copy(comm, device),
        "to the device": size / seconds(comm, device, lambda: device.update(there, host), 5),
        "to the host": size / seconds(comm, device, lambda: device.to_host(there, out=host), 5),
    }


def kernels(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Each kernel of MPDATA by its counts of flops and bytes, and a step by naive loops over one by the others."""
    mesh = {"grid": payload["grid"], "levels": payload["levels"], "device": payload["device"]}
    runs: dict[str, MpdataRun] = {
        strategy: Mpdata(1, **mesh, strategy=strategy).on(comm) for strategy in ("exchange", "plain")
    }
    device = runs["exchange"].device
    copy = COPIED * measure_device_copy(comm, device)
    loops = {name: ("exchange", LOOPS[name]) for name in ("divergence", "tracer")}
    loops |= {f"naive {name}": ("plain", loop) for name, loop in PLAIN.items()}
    found: dict[str, dict[str, float]] = {}
    for name, (strategy, loop) in loops.items():
        run = runs[strategy]
        taken = seconds(comm, device, lambda run=run, loop=loop: run.compute(loop), payload["samples"])
        flops, moved = (run.dwarf.points * each for each in Call(loop, "own", ()).cost(run.dwarf))
        share = moved / taken / copy
        found[name] = {"seconds": taken, "flops_per_byte": flops / moved, "flops_per_s": flops / taken, "share": share}
    by_strategy = {
        strategy: sum(found[name]["seconds"] for name, (of, _) in loops.items() if of == strategy) for strategy in runs
    }
    return {"copy": copy, "kernels": found, "times_as_fast": by_strategy["plain"] / by_strategy["exchange"]}


def exchanges(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Seconds of a transposition of one field by each way, and how messages reach MPI; or why it is not to be had."""
    device, (nx, ny, nz) = opened(comm, payload["device"]), payload["grid"]
    grid, ranks = tw.Grid(nx, ny, nz), comm.Get_size()
    pattern = tw.Transpose(tw.Pencils(grid, "x", (1, ranks)), tw.Pencils(grid, "y", (ranks, 1)))
    rank = comm.Get_rank()
    shapes = pattern.source_shape(rank), pattern.target_shape(rank)
    on_host = [np.zeros(shape) for shape in shapes]
    there = [device.full(shape, np.float64, 1.0) for shape in shapes]
    staged = mpi.plan(pattern, comm, *on_host)

    def by_the_host() -> None:
        device.to_host(there[0], out=on_host[0])
        staged()
        device.update(there[1], on_host[1])

    found = {
        "host buffers": {
            "seconds": seconds(comm, device, by_the_host, payload["samples"]),
            "staging": "by whole fields",
        }
    }
    for name, options in WAYS.items():
        try:
            plan = mpi.plan(pattern, comm, *there, **options)
        except TradewindError as error:
            found[name] = {"error": str(error)}
            continue
        found[name] = {"seconds": seconds(comm, device, plan, payload["samples"]), "staging": plan.staging}
    return found


WAYS: dict[str, dict[str, Any]] = {
    "device arrays": {},
    "pushes one after another": {"transport": "shared", "pushes_at_once": False},
    "pushes at once": {"transport": "shared"},
    "NCCL": {"transport": "nccl"},
}
"""Options of plans of device arrays, by what they show."""
