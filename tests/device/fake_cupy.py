"""A CuPy of which the kernels are those of the simulated device: to run `Gpu` where there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from tradewind.device import gpu
from tradewind.device.simulated import SimulatedArray, SimulatedDevice

LAUNCHES: list[tuple[str, int, int]] = []
"""Kernels that were launched, with their blocks and threads per block."""


class FakeArray(np.ndarray):
    """An array with CuPy's copies."""

    def get(self, out: np.ndarray) -> np.ndarray:
        assert out.flags.c_contiguous
        assert not isinstance(out, FakeArray)
        np.copyto(out, self)
        return out

    def set(self, values: np.ndarray) -> None:
        assert (self.flags.c_contiguous, values.flags.c_contiguous) == (True, True)
        assert values.dtype == self.dtype
        np.copyto(self, values)


class RawModule:
    """Kernels that are launched by their names, with null pointers and numbers as CuPy takes them."""

    def __init__(self, code: str, options: tuple[str, ...]) -> None:
        assert "#include" not in code.partition("#else")[0]
        self.code, self.options = code, options

    def get_function(self, name: str) -> Callable[..., None]:
        kernel, _, precision = name.rpartition("_")
        assert f"TRADEWIND_BOTH({kernel}," in self.code
        assert precision in ("f4", "f8")

        def launch(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
            LAUNCHES.append((name, *grid, *block))
            SimulatedDevice().run(name, grid[0] * block[0], *map(_simulated, arguments))

        return launch


def _simulated(value: Any) -> Any:
    if isinstance(value, FakeArray):
        return SimulatedArray(value)
    assert isinstance(value, np.generic), "CuPy takes Python's numbers as it likes"
    return None if isinstance(value, np.uint64) else value


def _error(*_: Any) -> None:
    raise RuntimeError("cudaErrorNoDevice")


def module(*, is_hip: bool, devices: int) -> Any:
    """Return the module; with fewer than 0 devices it raises an error when they are counted."""
    runtime = SimpleNamespace(
        is_hip=is_hip,
        CUDARuntimeError=RuntimeError,
        getDeviceCount=_error if devices < 0 else lambda: devices,
        getDeviceProperties=lambda number: {"name": b"fake device", "multiProcessorCount": 2},
        driverGetVersion=lambda: 12080,
        runtimeGetVersion=lambda: 12090,
    )
    stream = SimpleNamespace(synchronize=lambda: None)
    cuda = SimpleNamespace(
        runtime=runtime, Device=lambda number: SimpleNamespace(use=lambda: None), get_current_stream=lambda: stream
    )
    return SimpleNamespace(
        cuda=cuda,
        RawModule=RawModule,
        empty=lambda shape, dtype: np.empty(shape, dtype).view(FakeArray),
        full=lambda shape, value, dtype: np.full(shape, value, dtype).view(FakeArray),
        asarray=lambda values: np.array(values).view(FakeArray),
        copyto=np.copyto,
        zeros=lambda shape, dtype: np.zeros(shape, dtype).view(FakeArray),
        empty_like=np.empty_like,
        matmul=np.matmul,
        fft=np.fft,
    )


@contextmanager
def fake_cupy(device: str, devices: int = 2) -> Iterator[None]:
    """Put the module in the place of CuPy, made for a kind of device; for the simulated device none is needed."""
    LAUNCHES.clear()
    made = {"cupy": module(is_hip=device == "rocm", devices=devices)}
    with mock.patch.dict(sys.modules, made), mock.patch.object(gpu, "require_driver"):
        yield
