"""The order of plans with the work of their caller on a fake device, and what is refused; run by test_mpi_device.py."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
from fake_device import Array, Driver

import tradewind as tw
from tradewind import mpi
from tradewind.base.errors import InputError, PlanError

GRID = tw.Grid(12, 10, 4)


def _field(halo: Any, rank: int, seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng([rank, seed]).standard_normal(halo.source_shape(rank))


def _expected(halo: Any, comm: Any, seed: int) -> np.ndarray[Any, Any]:
    field = _field(halo, comm.rank, seed)
    mpi.plan(halo, comm, field)()
    return field


def run(comm: Any, folder: str) -> dict[str, Any]:
    driver = Driver(folder)
    halo = tw.Halo(tw.Blocks(GRID, split=(comm.size, 1)), 2, periodic=("x", "y"))
    own, other = driver.stream(), driver.stream()
    seen: dict[str, Any] = {}
    twin = Array(driver, np.zeros(halo.source_shape(comm.rank)), own)
    plan = mpi.plan(halo, comm, twin)
    twin.write(_field(halo, comm.rank, 1))
    seen["pending before"] = driver.library.fake_pending() > 0
    plan()
    seen["pending after"] = driver.library.fake_pending() > 0
    seen["halo"] = np.array_equal(twin.read(), _expected(halo, comm, 1))

    twin.write(_field(halo, comm.rank, 2))
    plan.start()
    plan.wait()
    twin.write(_field(halo, comm.rank, 3))  # after what the wait has begun
    plan()
    seen["start and wait"] = np.array_equal(twin.read(), _expected(halo, comm, 3))

    twin.stream = other
    plan.stream = other
    twin.write(_field(halo, comm.rank, 4))
    plan()
    seen["another stream"] = np.array_equal(twin.read(), _expected(halo, comm, 4))
    seen["pushes"] = [_pushed(driver, comm, at_once) for at_once in (True, False)]
    return {name: all(comm.allgather(value)) if value is True else value for name, value in seen.items()}


def _pushed(driver: Driver, comm: Any, at_once: bool) -> str:
    """How the pushes of a transposition go, in words of the plan, and whether its result is right."""
    swap = tw.Transpose(tw.Blocks(GRID, split=(comm.size, 1)), tw.Pencils(GRID, along="x", split=(comm.size, 1)))
    source = np.random.default_rng(comm.rank).standard_normal(swap.source_shape(comm.rank))
    target, expected = (np.zeros(swap.target_shape(comm.rank)) for _ in range(2))
    mpi.plan(swap, comm, source, expected)()
    twins = Array(driver, source), Array(driver, target)
    plan = mpi.plan(swap, comm, *twins, transport="shared", pushes_at_once=at_once)
    before = driver.count("to peer")
    plan()
    order = np.array_equal(twins[1].read(), expected) and driver.count("to peer") == before + plan.bytes_sent
    words = "all at once" if "all at once" in plan.staging else "one after another"
    return f"{words}, {'in turn' if order else 'wrong'}"


def refused(comm: Any, folder: str) -> dict[str, str]:
    driver = Driver(folder)
    halo = tw.Halo(tw.Blocks(GRID, split=(1, 1)), 2, periodic=("x", "y"))
    field = np.zeros(halo.source_shape(0))
    fixed = field.copy()
    fixed.flags.writeable = False
    one, two = Array(driver, field, 1), Array(driver, field, 2)
    calls: dict[str, Callable[[], Any]] = {
        "host and device": lambda: mpi.plan(halo, comm, [one, field]),
        "two streams": lambda: mpi.plan(halo, comm, [one, two]),
        "no stream": lambda: mpi.plan(halo, comm, one, stream="fast"),
        "read-only": lambda: mpi.plan(halo, comm, Array(driver, fixed)),
        "stream of the host": lambda: setattr(mpi.plan(halo, comm, field), "stream", 7),
        "variable": lambda: _with_variable(lambda: mpi.plan(halo, comm, one)),
    }
    met = {}
    for name, call in calls.items():
        try:
            call()
        except (InputError, PlanError) as error:
            met[name] = str(error)
    return met


def _with_variable(call: Callable[[], Any]) -> Any:
    with mock.patch.dict(os.environ, TRADEWIND_DEVICE_MPI="fast"):
        return call()


def touch(folder: str) -> None:
    """Read an element of an array on the device from the host."""
    array = Array(Driver(folder), np.zeros(3))
    ctypes.string_at(array.__cuda_array_interface__["data"][0], 8)
