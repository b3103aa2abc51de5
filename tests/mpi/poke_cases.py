"""Plans that ranks poke between start and wait, against the known arrays of each pattern."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from tradewind import _core, mpi
from tradewind.base.errors import InputError, PlanError
from tradewind.workload.arrays import arrays_of

GRID = _core.Grid(12, 10, 6)
GOES_ON = {
    "isend-irecv": True,
    "persistent": True,
    "put-notify": True,
    "neighbor": True,
    "alltoallv": True,
    "alltoallw": True,
    "sendrecv": False,
    "isend-recv": False,
    "send-irecv": False,
    "even-odd": False,
    "put-fence": False,
    "get-fence": False,
    "shared": False,
}
"""By transport, whether a poke can do anything."""


def schedules(ranks: int) -> dict[str, _core.Schedule]:
    blocks, pencils = _core.Blocks(GRID, (ranks, 1), "xy"), _core.Blocks(GRID, (ranks, 1), "zy")
    made = {
        "halo sweep": (_core.Halo(blocks, 2, [True, True]), "sweep"),
        "halo direct": (_core.Halo(blocks, 1, [True, False]), "direct"),
        "transpose ring-1": (_core.Transpose(blocks, pencils), "ring-1"),
        "transpose burst": (_core.Transpose(blocks, pencils), "burst"),
        "allreduce ring": (_core.AllReduce(ranks, 50), "ring"),
    }
    return {name: _core.make_schedule(*each) for name, each in made.items()}


def methods() -> list[tuple[str, str]]:
    return [(entry.name, packing) for entry in _core.transports() for packing in entry.packings if not entry.on_devices]


def run(comm: Any, payload: Any) -> dict[str, str]:
    found = {}
    for (name, schedule), (transport, packing) in itertools.product(schedules(comm.Get_size()).items(), methods()):
        if not _core.transport_refusal(schedule, transport, packing):
            found[f"{name} {transport} {packing}"] = _one(comm, schedule, transport, packing)
    found["native"] = _native(comm)
    found["two at once"] = _two(comm)
    found["out of turn"] = _out_of_turn(comm)
    return found


def _arrays(schedule: _core.Schedule, rank: int) -> tuple[Any, Any]:
    known, pattern = arrays_of(schedule.pattern), schedule.pattern
    return known.source(pattern, rank, 0, "f8"), known.target(pattern, rank, "f8")


def _wrong(comm: Any, schedule: _core.Schedule, source: Any, target: Any) -> str:
    wanted = arrays_of(schedule.pattern).expected(schedule.pattern, comm.Get_rank(), 0, "f8")
    got = source if target is None else target
    texts = comm.allgather("" if np.array_equal(got, wanted.reshape(got.shape)) else f"rank {comm.Get_rank()}: wrong")
    return next(filter(None, texts), "")


def _poked_until_over(plan: Any) -> bool:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if plan.poke():
            return True
    return False


def _one(comm: Any, schedule: _core.Schedule, transport: str, packing: str) -> str:
    try:
        source, target = _arrays(schedule, comm.Get_rank())
        plan = mpi.plan(schedule, comm, source, target, transport=transport, packing=packing, check=True)
    except InputError as error:
        return f"refused: {error}"
    if plan.pokes != GOES_ON[transport]:
        return f"pokes is {plan.pokes}"
    problems = []
    for repetition in range(4):  # poked to the end, poked once, not at all, in one call
        source[...], filled = _arrays(schedule, comm.Get_rank())
        if target is not None:
            target[...] = filled
        if repetition == 3:
            plan()
        else:
            plan.start()
            over = _poked_until_over(plan) if repetition == 0 and plan.pokes else repetition < 2 and plan.poke()
            if repetition == 0 and over != (plan.pokes or schedule.stages == 0):
                problems.append("poked to no end" if plan.pokes else "a poke says that all is over")
            plan.wait()
        problems.append(_wrong(comm, schedule, source, target))
    return next(filter(None, problems), "")


def _native(comm: Any) -> str:
    pattern = _core.AllReduce(comm.Get_size(), 50)
    schedule = _core.make_schedule(pattern, "ring")
    source, _ = _arrays(schedule, comm.Get_rank())
    plan = mpi.plan(pattern, comm, source, algorithm="native")
    plan.start()
    over = _poked_until_over(plan)
    plan.wait()
    return _wrong(comm, schedule, source, None) if over and plan.pokes else "poked to no end"


def _two(comm: Any) -> str:
    """One goes on to its end while the other is open, and neither is awaited in the order of its start."""
    made = schedules(comm.Get_size())
    first, second = made["halo sweep"], made["transpose ring-1"]
    arrays = [_arrays(each, comm.Get_rank()) for each in (first, second)]
    plans = [mpi.plan(each, comm, *pair) for each, pair in zip((first, second), arrays, strict=True)]
    for plan in plans:
        plan.start()
    while not all([plan.poke() for plan in plans]):
        pass
    plans[0].wait()
    plans[1].wait()
    return _wrong(comm, first, *arrays[0]) or _wrong(comm, second, *arrays[1])


def _out_of_turn(comm: Any) -> str:
    schedule = schedules(comm.Get_size())["halo sweep"]
    plan = mpi.plan(schedule, comm, _arrays(schedule, comm.Get_rank())[0])
    try:
        plan.poke()
    except PlanError as error:
        return "" if "poke of a plan that was not started: start it first" in str(error) else str(error)
    return "a plan that was not started was poked"
