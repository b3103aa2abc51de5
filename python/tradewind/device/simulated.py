"""A device that the host simulates: its kernels run one thread after another, in memory that NumPy cannot reach.

The kernels are those of GPUs, compiled for the host, so that time loops and kernels can be tried, and their bits
compared with those of the host's loops, where there is no GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.device.device import Device
from tradewind.device.names import SIMULATED

if TYPE_CHECKING:
    from tradewind.device.device import Array

THREADS = 3
"""Threads of a kernel. No kernel's result depends on their number or order; so few show that."""
_TYPES: dict[type, Any] = {
    np.float32: ctypes.c_float,
    np.float64: ctypes.c_double,
    np.int32: ctypes.c_int,
    np.int64: ctypes.c_longlong,
    float: ctypes.c_double,
    int: ctypes.c_longlong,
}


class SimulatedArray:
    """An array in the memory of the simulated device.

    NumPy and loops of the host cannot read it by mistake: it has no buffer. Plans take it by DLPack, as memory of the
    host, which it is.
    """

    def __init__(self, memory: Array) -> None:
        self._memory = memory

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return self._memory.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self._memory.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._memory.nbytes

    def __len__(self) -> int:
        return len(self._memory)

    def __getitem__(self, where: Any) -> SimulatedArray:
        return SimulatedArray(self._memory[where])

    def reshape(self, *shape: int) -> SimulatedArray:
        """Return the same elements in another shape. Raises AttributeError where that would copy them."""
        memory = self._memory.view()
        memory.shape = shape
        return SimulatedArray(memory)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("an array of the simulated device: `Device.to_host` copies it to the host")

    def __iter__(self) -> Any:
        raise TypeError("an array of the simulated device: `Device.to_host` copies it to the host")

    def __dlpack__(self, **options: Any) -> Any:
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._memory.__dlpack_device__()


class SimulatedDevice(Device):
    """The simulated device of this process."""

    name = SIMULATED
    copy_bytes = 2**20

    def empty(self, shape: Sequence[int], dtype: Any) -> SimulatedArray:
        """Return an array full of NaN, or of -1: a kernel must not count on zeros."""
        memory = np.empty(tuple(shape), dtype)
        memory.fill(np.nan if memory.dtype.kind == "f" else -1 if memory.dtype.kind == "i" else 255)
        return SimulatedArray(memory)

    def _copy_to_device(self, array: Array, to: SimulatedArray) -> None:
        np.copyto(to._memory, array)

    def _copy_to_host(self, array: SimulatedArray, out: Array) -> None:
        np.copyto(out, array._memory)

    def copy_within(self, array: SimulatedArray, to: SimulatedArray) -> None:
        """Copy an array to another one."""
        np.copyto(to._memory, array._memory)

    def run(self, kernel: str, points: int, *arguments: Any) -> None:
        """Run a kernel, its last thread first."""
        library, called = _library(), [_argument(kernel, each) for each in arguments]
        function = getattr(library, kernel)
        function.restype = None
        for thread in reversed(range(THREADS)):
            library.simulated_thread(ctypes.c_longlong(thread), ctypes.c_longlong(THREADS))
            function(*called)

    def synchronize(self) -> None:
        """Return at once: a kernel has ended when `run` returns."""

    @property
    def description(self) -> str:
        """Statement that nothing here is a measurement of a device."""
        return "simulated on the host: no measure of a device"


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(_core.__file__)


def _argument(kernel: str, value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(None)
    if isinstance(value, SimulatedArray):
        return ctypes.c_void_p(value._memory.ctypes.data)
    made = _TYPES.get(type(value))
    if made is None:
        raise TypeError(f"kernel {kernel}: {type(value).__name__} is neither an array of the device nor a number")
    return made(value)
