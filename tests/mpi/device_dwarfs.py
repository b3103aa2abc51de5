"""Dwarfs whose fields lie in the memory of the fake driver, which ends a process that touches it.

Their kernels run on the host: each is given copies of its arrays, which the caller's stream makes in its order.
"""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
from fake_device import Array, Driver

from tradewind.device import Device
from tradewind.device.simulated import SimulatedArray, SimulatedDevice
from tradewind.dwarfs.diffusion import Diffusion
from tradewind.dwarfs.mpdata import Mpdata
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian

STEPS = 3
CHOICES: list[tuple[type[Any], dict[str, Any]]] = [
    (Diffusion, {"grid": (14, 12, 2), "strategy": "overlap"}),
    (Diffusion, {"grid": (14, 12, 2), "strategy": "wide", "precision": "f4"}),
    (Mpdata, {"grid": "O6", "levels": 3, "strategy": "renumbered", "limiter": True}),
    (Mpdata, {"grid": "O6", "levels": 3, "strategy": "exchange", "transport": "shared"}),
    (SemiLagrangian, {"grid": (16, 12, 2), "strategy": "overlap", "tracers": 2}),
]


class Field(Array):
    """An array of the driver's memory with what dwarfs ask of theirs."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.like.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.like.dtype

    @property
    def nbytes(self) -> int:
        return self.like.nbytes


class Guarded(Device):
    """The device of the driver."""

    name = "cuda"

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self._driver = driver

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Field:
        return Field(self._driver, SimulatedDevice().empty(shape, dtype)._memory)

    def put(self, array: Field, where: Any, values: np.ndarray) -> None:
        whole = array.read()
        whole[where] = values
        array.write(whole)

    def _copy_to_device(self, array: np.ndarray, to: Field) -> None:
        to.write(array)

    def _copy_to_host(self, array: Field, out: np.ndarray) -> None:
        out[...] = array.read()

    def copy_within(self, array: Field, to: Field) -> None:
        to.write(array.read())

    def run(self, kernel: str, points: int, *arguments: Any) -> None:
        copies = {i: each.read() for i, each in enumerate(arguments) if isinstance(each, Field)}
        before = {i: copy.copy() for i, copy in copies.items()}
        given = [SimulatedArray(copies[i]) if i in copies else each for i, each in enumerate(arguments)]
        SimulatedDevice().run(kernel, points, *given)
        for i, copy in copies.items():
            if copy.tobytes() != before[i].tobytes():
                arguments[i].write(copy)

    def synchronize(self) -> None:
        """Nothing: what waits in the stream stays there as long as order allows."""

    @property
    def description(self) -> str:
        return "the driver of the tests"


def run(comm: Any, folder: str) -> list[tuple[str, bool, list[str]]]:
    """By choice whether the device ends with the bits of the host, and how messages reached MPI."""
    driver, found = Driver(folder), []
    with mock.patch("tradewind.dwarfs.frame.running.open_device", return_value=Guarded(driver)):
        for kind, options in CHOICES:
            whole = []
            for device in ("host", "cuda"):
                dwarf = kind(comm.Get_size(), **options, device=device)
                running = dwarf.on(comm)
                running.advance(STEPS)
                whole.append(running.gathered())
            same = comm.Get_rank() > 0 or whole[0].tobytes() == whole[1].tobytes()
            found.append((dwarf.name, bool(same), [plan.staging for plan in running.plans.values()]))
    return found
