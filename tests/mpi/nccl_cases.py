"""Plans by NCCL over a fake device: their order with the caller's work, and what goes wrong; see test_mpi_nccl.py."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
from fake_device import Array, Driver

import tradewind as tw
from tradewind import mpi
from tradewind.base.errors import InputError, PlanError

GRID = tw.Grid(12, 10, 4)


def _swap(ranks: int) -> Any:
    return tw.Transpose(tw.Blocks(GRID, split=(ranks, 1)), tw.Pencils(GRID, along="x", split=(ranks, 1)))


def _values(swap: Any, rank: int, seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng([rank, seed]).standard_normal(swap.source_shape(rank))


class Swap:
    """A transposition by NCCL, and the same on the host."""

    def __init__(self, driver: Driver, comm: Any, **options: Any) -> None:
        self.comm, self.pattern, self.stream = comm, _swap(comm.size), driver.stream()
        self.host = _values(self.pattern, comm.rank, 0), np.zeros(self.pattern.target_shape(comm.rank))
        self.fields = [Array(driver, each, self.stream) for each in self.host]
        options = {"algorithm": "burst", "transport": "nccl", **options}
        self.plan = mpi.plan(self.pattern, comm, *self.fields, **options)

    def write(self, seed: int) -> None:
        self.fields[0].write(_values(self.pattern, self.comm.rank, seed))

    def is_right(self, seed: int) -> bool:
        self.host[0][...] = _values(self.pattern, self.comm.rank, seed)
        mpi.plan(self.pattern, self.comm, *self.host)()
        return np.array_equal(self.fields[1].read(), self.host[1])


def order(comm: Any, folder: str) -> dict[str, Any]:
    driver = Driver(folder)
    swap = Swap(driver, comm)
    seen: dict[str, Any] = {}
    swap.write(1)
    counts = {what: driver.count(what) for what in ("waits", "to host", "by nccl")}
    swap.plan()
    seen["host waits"] = driver.count("waits") - counts["waits"]
    seen["to host"] = driver.count("to host") - counts["to host"]
    seen["under way"] = driver.count("by nccl") == counts["by nccl"]
    seen["values"] = swap.is_right(1)
    seen["sent"] = driver.count("by nccl") - counts["by nccl"] == swap.plan.bytes_sent
    swap.write(2)
    swap.plan.start()
    swap.plan.wait()
    swap.write(3)  # after what the wait has begun
    seen["start and wait"] = swap.is_right(2)
    swap.plan()
    swap.write(4)  # what the messages have read already
    swap.plan()
    seen["again"] = swap.is_right(4)
    return {name: all(comm.allgather(value)) if value is True else value for name, value in seen.items()}


def connections(comm: Any, folder: str) -> dict[str, int]:
    """Numbers of connections made by plans one after another, two at a time, and on a communicator that is freed."""
    comm = comm.Dup()  # no plan has connected its ranks yet
    driver, seen = Driver(folder), {}

    def made(name: str, work: Callable[[], Any]) -> Any:
        before = driver.count("connections")
        result = work()
        seen[name] = driver.count("connections") - before
        return result

    first = made("first", lambda: Swap(driver, comm))
    del first
    gc.collect()
    kept = [made("after it", lambda: Swap(driver, comm)), made("beside", lambda: Swap(driver, comm))]
    for number, swap in enumerate(kept if comm.rank == 0 else kept[::-1]):
        swap.write(number)
    for swap in kept:
        swap.plan()
    seen["both right"] = all(
        comm.allgather(all(swap.is_right(n if comm.rank == 0 else 1 - n) for n, swap in enumerate(kept)))
    )
    other = comm.Dup()
    swap = made("another communicator", lambda: Swap(driver, other))
    del swap
    gc.collect()
    before = driver.count("connections ended")
    other.Free()
    seen["ended"] = driver.count("connections ended") - before
    return seen


def met(comm: Any, work: Callable[[], Any]) -> list[str]:
    """Errors of all ranks; "nothing" of a rank without an error."""
    text = "nothing"
    try:
        work()
    except (InputError, PlanError) as error:
        text = f"{type(error).__name__}: {error}"
    found: list[str] = comm.allgather(text)
    return found


def refused(comm: Any, folder: str) -> dict[str, list[str]]:
    """Errors of ranks that cannot be connected, by what is wrong on the last of them; then they are connected."""
    comm = comm.Dup()
    driver, last = Driver(folder), comm.rank == comm.size - 1
    host = [np.zeros(shape(comm.rank)) for shape in (_swap(comm.size).source_shape, _swap(comm.size).target_shape)]
    seen = {"host": met(comm, lambda: mpi.plan(_swap(comm.size), comm, *host, transport="nccl"))}
    aborted = driver.count("connections aborted")
    at_last = [(wish, last) for wish in ("fails to connect", "fails once it has joined")]
    for wish, asks in (("no id", comm.rank == 0), *at_last, ("one device", True)):
        driver.ask_nccl(wish, int(asks))
        seen[wish] = met(comm, lambda: Swap(driver, comm))
        driver.ask_nccl(wish, 0)
    seen["aborted"] = [str(count) for count in comm.allgather(driver.count("connections aborted") - aborted)]
    swap = Swap(driver, comm)
    swap.plan()
    seen["then"] = [str(right) for right in comm.allgather(swap.is_right(0))]
    return seen


def unloadable(comm: Any, payload: tuple[str, int]) -> list[str]:
    """Errors of ranks that have no library (version 0), or of which the last has one of a version."""
    folder, version = payload
    driver = Driver(folder)
    if version:
        driver.ask_nccl("version", version if comm.rank == comm.size - 1 else 22705)
    return met(comm, lambda: Swap(driver, comm))


def failing(comm: Any, payload: tuple[str, str]) -> list[str]:
    """Errors of two calls on rank 0, where `how` says what becomes of the others."""
    comm = comm.Dup()
    folder, how = payload
    driver, last = Driver(folder), comm.rank == comm.size - 1
    if how == "is gone" and last:
        driver.ask_nccl("is gone")
    swap = Swap(driver, comm, watchdog_s=0.5 if how == "does not call" else 60.0)
    if how == "fails":
        driver.ask_nccl("fails", int(comm.rank == 0))
    texts = ["nothing"]
    if comm.rank == 0:
        texts = []
        for _ in range(2):
            try:
                swap.plan()
            except PlanError as error:
                texts.append(str(error))
    comm.Barrier()
    return texts
