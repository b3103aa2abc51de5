"""GPUs of NVIDIA and AMD, by CuPy: https://docs.cupy.dev/en/stable/user_guide/kernel.html

CuPy compiles the kernels at run time, by NVRTC or hipRTC, and keeps what it has compiled. No multiplication and
addition are fused, so that results have the bits of the host's loops.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.device.device import Device
from tradewind.device.names import SIMULATED

if TYPE_CHECKING:
    from tradewind.device.device import Array

THREADS_PER_BLOCK = 256
BLOCKS_PER_PROCESSOR = 16
"""More threads than a device runs at once take no further points; each takes several of a large field."""
OPTIONS = {"cuda": ("--std=c++17", "--fmad=false"), "rocm": ("--std=c++17", "-ffp-contract=off")}
KERNELS = ("diffusion", "mpdata", "semi_lagrangian")
AMD_DRIVER = Path("/dev/kfd")
_INCLUDE = re.compile(r'^#include "threads\.hpp"$|^#pragma once$', re.MULTILINE)


@cache
def source() -> str:
    """Return the text of all kernels, as one program without includes."""
    folder = Path(__file__).parent / "kernels"
    texts = [(folder / name).read_text() for name in ("threads.hpp", *(f"{each}.cpp" for each in KERNELS))]
    return "\n".join(_INCLUDE.sub("", text) for text in texts)


def require_driver(name: str) -> None:
    """Raise InputError where this node has no driver of such devices, and so none of them."""
    missing = None
    if name == "cuda":
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            missing = "libcuda.so.1"
    elif not AMD_DRIVER.exists():
        missing = str(AMD_DRIVER)
    if missing is not None:
        raise InputError(
            f"device {name}: no device is found here, as its driver, {missing}, is missing; "
            f"host, and {SIMULATED}, are allowed"
        )


def import_cupy(name: str) -> Any:
    """Return CuPy for a kind of devices. Raises InputError where it is missing or made for others, or finds none."""
    require_driver(name)
    try:
        import cupy
    except ImportError as error:
        needed = "pip install 'tradewind[cuda]'" if name == "cuda" else "CuPy for ROCm (see docs.cupy.dev)"
        raise InputError(f"device {name}: CuPy cannot be imported ({error}); {needed} installs it") from None
    made_for = "rocm" if cupy.cuda.runtime.is_hip else "cuda"
    if made_for != name:
        raise InputError(f"device {name}: CuPy was made for {made_for}; with it {made_for} is allowed")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise InputError(f"device {name}: no device is found here ({error})") from None
    if count < 1:
        raise InputError(f"device {name}: no device is found here")
    return cupy


class Gpu(Device):
    """A GPU of this node."""

    def __init__(self, name: str, number: int) -> None:
        """`number`: counted on and on, around the devices of the node."""
        super().__init__()
        self.name = name
        self._cupy = self.array_module = cupy = import_cupy(name)
        self.number = number % cupy.cuda.runtime.getDeviceCount()
        cupy.cuda.Device(self.number).use()
        self._module = cupy.RawModule(code=source(), options=OPTIONS[name])
        self._functions: dict[str, Any] = {}
        properties = cupy.cuda.runtime.getDeviceProperties(self.number)
        self._most_blocks = BLOCKS_PER_PROCESSOR * int(properties["multiProcessorCount"])

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array whose values are not set."""
        return self._cupy.empty(tuple(shape), dtype)

    def full(self, shape: tuple[int, ...], dtype: Any, value: float) -> Any:
        """Return an array with the same value everywhere, which is set on the device."""
        return self._cupy.full(tuple(shape), value, dtype)

    def _copy_to_device(self, array: Array, to: Any) -> None:
        if to.flags.c_contiguous:
            to.set(array)
        else:
            to[...] = self._cupy.asarray(array)

    def _copy_to_host(self, array: Any, out: Array) -> None:
        array.get(out=out)

    def copy_within(self, array: Any, to: Any) -> None:
        """Copy an array to another one, in the present stream."""
        self._cupy.copyto(to, array)

    def run(self, kernel: str, points: int, *arguments: Any) -> None:
        """Launch a kernel into the present stream."""
        if points < 1:
            return
        function = self._functions.get(kernel)
        if function is None:
            function = self._functions[kernel] = self._module.get_function(kernel)
        blocks = min(-(-points // THREADS_PER_BLOCK), self._most_blocks)
        function((blocks,), (THREADS_PER_BLOCK,), tuple(_argument(each) for each in arguments))

    def synchronize(self) -> None:
        """Wait for all that has begun in the present stream."""
        self._cupy.cuda.get_current_stream().synchronize()

    @property
    def description(self) -> str:
        """Name of the GPU, and versions of driver and runtime."""
        runtime = self._cupy.cuda.runtime
        name = runtime.getDeviceProperties(self.number)["name"].decode()
        return f"{name}, driver {runtime.driverGetVersion()}, runtime {runtime.runtimeGetVersion()}"


def _argument(value: Any) -> Any:
    """A null pointer for None, else an array or a number: CuPy passes NumPy's numbers by their types."""
    if value is None:
        return np.uint64(0)
    if isinstance(value, int):
        return np.int64(value)
    return np.float64(value) if type(value) is float else value
