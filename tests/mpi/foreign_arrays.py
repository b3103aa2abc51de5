"""Ranks that hand arrays of other libraries to plans and points; run by test_mpi_foreign_arrays.py."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
from foreign import CudaInterface, Exported, OnDevice

import tradewind as tw
from tradewind import _core, mpi, points
from tradewind.base.errors import TradewindError
from tradewind.launch.trials import tune

GRID = tw.Grid(12, 10, 4)


def _halo(ranks: int) -> _core.Halo:
    return _core.Halo(_core.Blocks(GRID, (ranks, 1)), 2, [True, True])


def _swap(ranks: int) -> _core.Transpose:
    return _core.Transpose(_core.Blocks(GRID, (ranks, 1), "xy"), _core.Blocks(GRID, (ranks, 1), "zy"))


def _filled(shape: Any, rank: int) -> Any:
    return 1000.0 * rank + np.arange(np.prod(shape), dtype="f8").reshape(shape)


def moved(comm: Any, _: None) -> dict[str, bool]:
    """Whether plans on arrays of other libraries leave in them what they leave in NumPy's."""
    same = {}
    halo, swap = _halo(comm.size), _swap(comm.size)
    expected = _filled(halo.source_shape(comm.rank), comm.rank)
    mpi.plan(halo, comm, expected)()
    for name, wrap in {"alone": lambda a: a, "listed": lambda a: [a, a.copy()]}.items():
        mine = _filled(halo.source_shape(comm.rank), comm.rank)
        fields = wrap(mine)
        mpi.plan(halo, comm, [Exported(a) for a in fields] if name == "listed" else Exported(fields))()
        same[f"halo by DLPack, {name}"] = all(
            np.array_equal(a, expected) for a in (fields if name == "listed" else [fields])
        )

    source = _filled(swap.source_shape(comm.rank), comm.rank)
    target, seen = np.zeros(swap.target_shape(comm.rank)), np.zeros(swap.target_shape(comm.rank))
    mpi.plan(swap, comm, source, target)()
    mpi.plan(swap, comm, Exported(source, legacy=True), memoryview(seen))()  # which is only read may be of the old kind
    same["transposition by old DLPack and buffer"] = np.array_equal(seen, target)

    vector = array.array("d", [comm.rank + 1.0, 2.0])
    mpi.plan(_core.AllReduce(comm.size, 2), comm, vector)()
    same["sum in an array.array"] = vector.tolist() == [sum(range(1, comm.size + 1)), 2.0 * comm.size]
    return {name: comm.allreduce(int(each)) == comm.size for name, each in same.items()}


def _cases(comm: Any) -> dict[str, Callable[[Any], Any]]:
    """Calls with an array that lies on a device on the last rank."""
    halo, swap = _halo(comm.size), _swap(comm.size)
    source, target = np.zeros(swap.source_shape(comm.rank)), np.zeros(swap.target_shape(comm.rank))
    own = np.arange(4) + 4 * comm.rank
    mesh = points.Points(comm, own)
    field = np.zeros(halo.source_shape(comm.rank))
    return {
        "plan": lambda wrong: mpi.plan(halo, comm, wrong(field)),
        "one of two fields": lambda wrong: mpi.plan(halo, comm, [field, wrong(field.copy())]),
        "target": lambda wrong: mpi.plan(swap, comm, source, wrong(target)),
        "points": lambda wrong: points.Points(comm, wrong(own)),
        "locate": lambda wrong: mesh.locate(wrong(own)),
        "fetch": lambda wrong: mesh.fetch(wrong(own)),
        "owners": lambda wrong: mesh.fetch(owner=wrong(own * 0), index=own * 0),
        "halo of points": lambda wrong: mesh.halo(owner=own * 0, index=wrong(own * 0)),
        "renumbered": lambda wrong: points.renumbered(comm, wrong(own), []),
        "tune": lambda wrong: tune(halo, comm, wrong(field), include=["sweep,isend-irecv,buffer"], trials=1),
    }


def refused(comm: Any, _: None) -> dict[str, list[list[str]]]:
    """Return the errors of each rank, for a device without a copier and for one of CUDA that no driver knows."""
    raised: dict[str, list[list[str]]] = {}
    for name, call in _cases(comm).items():
        for device in (OnDevice(14, 1), CudaInterface()):
            met = ""
            try:
                call(lambda array, device=device: device if comm.rank == comm.size - 1 else array)
            except TradewindError as error:
                met = f"{type(error).__name__}: {error}"
            raised.setdefault(name, []).append(comm.allgather(met))
    return raised
