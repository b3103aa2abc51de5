"""Plans that are given up between start and wait; run by the tests."""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from making import in_time

import tradewind as tw
from tradewind.base.errors import PlanError

METHODS = {
    "isend-irecv": "direct,isend-irecv,buffer",
    "persistent": "sweep,persistent,datatype",
    "put-fence": "direct,put-fence,buffer",
    "get-fence": "direct,get-fence,buffer",
    "put-notify": "direct,put-notify,buffer",
    "shared": "direct,shared,direct",
    "neighbor": "direct,neighbor,buffer",
    "native": "native",
}


def made(comm: Any, name: str, value: float, **options: Any) -> tuple[Any, Any]:
    """A plan and its array, which holds `value` and the rank's number."""
    if name == "native":
        array = np.full(5000, value)
        return tw.AllReduce(comm.size, array.size).plan(comm, array, algorithm="native", **options), array
    halo = tw.Halo(tw.Blocks(tw.Grid(24, 40, 30), (comm.size, 1)), 2, "xy")  # messages that are sent by rendezvous
    array = tw.empty(halo, comm) if name == "shared" else np.zeros(halo.source_shape(comm.rank))
    array[...] = value + comm.rank
    algorithm, transport, packing = METHODS[name].split(",")
    methods = {"algorithm": algorithm, "transport": transport, "packing": packing}
    return halo.plan(comm, array, **methods, **options), array


def right(comm: Any, name: str, array: Any, value: float) -> bool:
    if name == "native":
        return bool(np.all(array == value * comm.size))
    return bool(np.all(array[:, :, :2] == value + 1 - comm.rank) and np.all(array[:, :, 2:-2] == value + comm.rank))


class Kept(np.ndarray):
    """An array that says when it is gone."""


def dropped_then_another(comm: Any, names: list[str]) -> dict[str, list[str]]:
    """Both ranks drop a plan that is under way, and make another one: no message of the first may come there."""
    return {name: _dropped_then_another(comm, name) for name in names}


def _dropped_then_another(comm: Any, name: str) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        plan, _ = made(comm, name, 100.0)
        plan.start()
        del plan
    problems = [] if len(seen) == 1 and seen[0].category is RuntimeWarning else [f"{len(seen)} warnings"]
    for value in (200.0, 300.0):
        plan, array = made(comm, name, value)
        plan()
        if not right(comm, name, array, value):
            problems.append(f"{name}: {array}")
    return [text for each in comm.allgather(problems) for text in each]


def arrays_stay(comm: Any, _: None) -> list[list[bool]]:
    """Whether the array of a plan that was dropped lives on: after its wait, and before it."""
    halo = tw.Halo(tw.Blocks(tw.Grid(8, 6, 4), (comm.size, 1)), 1, "xy")
    alive = []
    for under_way in (False, True):
        array = np.zeros(halo.source_shape(comm.rank)).view(Kept)
        plan, gone = halo.plan(comm, array), weakref.ref(array)
        plan.start()
        if not under_way:
            plan.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            del plan, array
            gc.collect()
        alive.append(gone() is not None)
    return comm.allgather(alive)  # type: ignore[no-any-return]


def in_a_generator(comm: Any, _: None) -> list[list[str]]:
    """An error in the overlap region of a generator, and one that is closed there."""

    def steps(plan: Any) -> Iterator[None]:
        plan.start()
        yield
        raise ZeroDivisionError

    met = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for close in (True, False):
            running = steps(made(comm, "isend-irecv", 1.0)[0])
            next(running)
            try:
                running.close() if close else next(running)
            except ZeroDivisionError as error:
                met.append(type(error).__name__)
                del error
            del running
    return comm.allgather([*met, *(each.category.__name__ for each in seen)])  # type: ignore[no-any-return]


def raises_between(comm: Any, name: str) -> None:
    """Rank 0 raises while its plan is under way, the others wait for ever."""
    plan, _ = made(comm, name, 1.0)
    if comm.rank:
        plan()
        plan()
        return
    plan.start()
    raise KeyError("of the overlap region")


def script(folder: str, error: str, names: list[str]) -> None:
    """As a user's program: rank 0 raises with plans of all transports under way, the others have a watchdog.

    Each rank prints into a file of the folder: a launcher may lose what it has to pass on when a rank dies.
    """
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    for stream, name in ((1, "out"), (2, "err")):
        file = os.open(Path(folder) / f"{name}-{comm.rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(file, stream)
    watchdog_s = 0.5 if len(names) > 1 else 3.0  # a start that waits for the others has time to
    plans = [in_time(comm, lambda other, name=name: made(other, name, 1.0, watchdog_s=watchdog_s)[0]) for name in names]
    comm.Barrier()
    if comm.rank == 0:
        for plan in plans:
            plan.start()
        if error == "exit":
            sys.exit(3)
        raise KeyboardInterrupt if error == "interrupt" else KeyError("of the overlap region")
    met = 0
    for plan in plans:
        try:
            plan()
            plan()
        except PlanError:
            met += 1
    print(f"the watchdog barked {met} times")


def two_threads_make_plans(comm: Any, _: None) -> list[list[bool]]:
    """On communicators of their own, in another order on each rank."""
    comms = [comm.Dup(), comm.Dup()]
    found = [False, False]
    first = threading.Event()

    def work(which: int) -> None:
        if which != comm.rank:
            first.wait(0.2)  # so that each rank begins with another one
        ok = True
        for name in ("isend-irecv", "put-fence", "shared", "isend-irecv"):
            plan, array = made(comms[which], name, 10.0 * which)
            plan()
            mesh = tw.Points(comms[which], [comm.rank])
            fetch = mesh.fetch([1 - comm.rank])
            ok = ok and right(comm, name, array, 10.0 * which) and fetch.points == 2
        found[which] = ok

    threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return comm.allgather(found)  # type: ignore[no-any-return]


KEPT: list[Any] = []


def two_threads_keep_plans(comm: Any, _: None) -> int:
    """Many plans with windows, made in an order that differs between the ranks, kept until MPI is finalized."""
    comms = [comm.Dup(), comm.Dup()]

    def work(which: int) -> None:
        for _ in range(24):
            KEPT.append(made(comms[which], "put-fence", 10.0 * which)[0])

    threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(KEPT)


def nobody_comes(comm: Any, _: None) -> list[str]:
    """Rank 0 makes a plan, the others do not."""
    from mpi4py import MPI

    other = comm.Dup()
    halo = tw.Halo(tw.Blocks(tw.Grid(8, 6, 4), (comm.size, 1)), 1, "xy")
    met = ""
    if comm.rank == 0:
        for options in ({}, {"packing": "nonsense"}):
            try:
                halo.plan(other, np.zeros(halo.source_shape(0)), watchdog_s=0.3, **options)
            except (PlanError, tw.InputError) as error:
                met += f"{type(error).__name__}: {error}\n"
    MPI.COMM_WORLD.Barrier()
    return comm.allgather(met)  # type: ignore[no-any-return]


if __name__ == "__main__":
    script(sys.argv[1], sys.argv[2], sys.argv[3:])
