"""Arrays of other libraries as NumPy's, of the same memory: by DLPack or by the buffer protocol.

DLPack: https://dmlc.github.io/dlpack/latest/python_spec.html. Its device types are those of ``dlpack.h``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Deferred("numpy")

_ON_HOST = (1, 3, 11)
"""Memory that the processor reads and writes: its own, and that which CUDA and ROCm pin for copies."""
CUDA, ROCM, CUDA_MANAGED = 2, 10, 13
_DEVICES = {
    CUDA: "CUDA",
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    9: "VPI",
    ROCM: "ROCm",
    CUDA_MANAGED: "CUDA managed",
    14: "oneAPI",
    15: "WebGPU",
    16: "Hexagon",
    17: "MAIA",
}


def device_of(value: Any) -> str | None:
    """The device in whose memory an array lies, like "CUDA 0"; None where that is the host's, or it is no array."""
    if isinstance(value, np.ndarray):
        return None
    if (ask := getattr(value, "__dlpack_device__", None)) is not None:
        kind, number = ask()
        return None if kind in _ON_HOST else f"{_DEVICES.get(int(kind), f'DLPack device type {int(kind)}')} {number}"
    return "CUDA" if hasattr(value, "__cuda_array_interface__") else None


def refuse_device(what: str, value: Any) -> None:
    """Raises InputError for an array in the memory of a device."""
    if (device := device_of(value)) is not None:
        raise InputError(
            f"{what} lies in the memory of a device, {device}: arrays in the host's memory are allowed here, and in "
            "plans those of CUDA and ROCm; copy it to the host first"
        )


def is_array(value: Any) -> bool:
    """Whether it is one array of whatever library, and not a list of several."""
    if isinstance(value, np.ndarray) or hasattr(value, "__dlpack_device__"):
        return True
    return hasattr(value, "__cuda_array_interface__") or _buffer(value) is not None


def host_array(what: str, value: Any) -> NDArray[Any] | None:
    """A NumPy array of the same memory; None for what is no array.

    Read-only where the other library marks it so, or cannot mark it (before DLPack 1.0). Raises InputError for an array
    in a device's memory, and for one that its library does not hand out.
    """
    if isinstance(value, np.ndarray):
        return value
    refuse_device(what, value)
    try:
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        buffer = _buffer(value)
        return None if buffer is None else np.asarray(buffer)
    except (BufferError, RuntimeError, ValueError) as error:
        raise InputError(f"{what} is a {type(value).__name__} that cannot be seen as a NumPy array: {error}") from None


def _buffer(value: Any) -> memoryview | None:
    try:
        return None if isinstance(value, bytes) else memoryview(value)
    except TypeError:
        return None
