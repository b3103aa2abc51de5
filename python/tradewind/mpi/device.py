"""Arrays in the memory of a device: address, shape and strides, which plans need; nothing here reads them.

`__cuda_array_interface__`: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html. DLPack: ``dlpack.h``,
https://dmlc.github.io/dlpack/latest/c_api.html.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tradewind.base.arrays import CUDA, CUDA_MANAGED, ROCM, device_of
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError, quoted
from tradewind.mpi.library import _mpi

_DRIVERS = {CUDA: "cuda", CUDA_MANAGED: "cuda", ROCM: "rocm"}
"""DLPack's types of devices that have a copier -> the driver of each."""
_MAX_DIMENSIONS = 3
_ELEMENTS = {np.dtype(name).name: name for name in DTYPES}
_TYPES = {0: "i", 1: "u", 2: "f", 5: "c"}
"""DLPack's types of elements -> NumPy's."""


class DeviceMemory(NamedTuple):
    """Where an array lies, and the stream that its owner says its content is written in; None: it names none."""

    driver: str
    number: int
    stream: int | None = None

    def __str__(self) -> str:
        return f"{'CUDA' if self.driver == 'cuda' else 'ROCm'} {self.number}"


class DeviceArray(np.ndarray):
    """Shape, strides and address of an array on a device. Whoever reads its elements ends the process."""

    __array_ufunc__ = None  # type: ignore[assignment]  # the stubs of NumPy do not know that it may be
    memory: DeviceMemory | None = None
    owner: Any = None

    def __array_finalize__(self, other: Any) -> None:
        self.memory = getattr(other, "memory", None)
        self.owner = getattr(other, "owner", None)

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and type {self.dtype} on {self.memory}>"

    __str__ = __repr__


def has_copier(value: Any) -> bool:
    """Whether an array lies on a device whose memory plans take."""
    if isinstance(value, np.ndarray) or device_of(value) is None:
        return False
    if (ask := getattr(value, "__dlpack_device__", None)) is not None:
        return int(ask()[0]) in _DRIVERS
    return True


NVRTC = ("libnvrtc.so.13", "libnvrtc.so.12")
NCCL = ("libnccl.so.2",)


@cache
def load_wheel(names: tuple[str, ...]) -> None:
    """Load a library by one of its names, or from a wheel, in which the loader does not look.

    There may be none: ROCm needs none, and what needs one says so.
    """
    for name in names:
        with suppress(OSError):
            ctypes.CDLL(name)
            return
    for folder in sys.path:
        for name in names:
            for file in sorted(Path(folder).glob(f"nvidia/*/lib/{name}"), reverse=True):
                with suppress(OSError):
                    ctypes.CDLL(str(file))
                    return


def device_array(what: str, value: Any) -> DeviceArray:
    """Return what a plan needs of an array on a device, see `has_copier`. Raises InputError for what cannot be seen."""
    load_wheel(NVRTC)
    try:
        if hasattr(value, "__cuda_array_interface__"):
            return _of_interface(value, value.__cuda_array_interface__)
        return _of_dlpack(value)
    except (BufferError, RuntimeError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(f"{what} is a {type(value).__name__} on a device that cannot be seen: {error}") from None


def memory_of(sources: Sequence[Any], targets: Sequence[Any]) -> DeviceMemory | None:
    """Return the one memory of all fields of a plan, with the stream that they name; None: the host's.

    Raises InputError where they lie in several, and where they name several streams.
    """
    named = [(f"source field {i}", array) for i, array in enumerate(sources)]
    named += [(f"target field {i}", array) for i, array in enumerate(targets)]
    first: DeviceMemory | None = getattr(sources[0], "memory", None)
    stream = None
    for name, array in named:
        memory: DeviceMemory | None = getattr(array, "memory", None)
        if (memory and memory[:2]) != (first and first[:2]):
            raise InputError(
                f"{name} lies in the memory of {memory or 'the host'}, source field 0 in that of "
                f"{first or 'the host'}: all fields of a plan lie in one memory"
            )
        if memory is None or memory.stream is None:
            continue
        if stream not in (None, memory.stream):
            raise InputError(f"{name} names the stream {memory.stream}, another field {stream}: name one, as `stream`")
        stream = memory.stream
    return first and first._replace(stream=stream)


def stream_number(stream: Any) -> int | None:
    """Return the number of a stream of CUDA or ROCm, as libraries have them. Raises InputError for any other value."""
    if stream is None or (isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0):
        return stream
    if (ask := getattr(stream, "__cuda_stream__", None)) is not None:
        return int((ask() if callable(ask) else ask)[1])
    for name in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, Numba
        if (handle := getattr(stream, name, None)) is not None:
            return int(getattr(handle, "value", handle) or 0)
    raise InputError(
        f"stream {quoted(stream)}: its number is allowed, or a stream of CuPy, PyTorch or Numba, or another with "
        "__cuda_stream__"
    )


def to_host(what: str, value: Any) -> Any:
    """Return a copy on the host of an array on a device, see `has_copier`; what is on the host stays as it is.

    After the work in the stream that the array names. Raises InputError for what cannot be seen.
    """
    if not has_copier(value):
        return value
    array = device_array(what, value)
    host = room_on_host(what, value)
    _mpi.copy_to_host(*_transferred(what, array), host)
    return host


def room_on_host(what: str, value: Any) -> Any:
    """Return an array on the host as large as one on a device; what is on the host stays as it is."""
    if not has_copier(value):
        return value
    array = device_array(what, value)
    return np.empty(array.shape, array.dtype)


def from_host(what: str, host: Any, value: Any) -> None:
    """Copy a dense array of the host to one on a device, of its shape and type.

    Later work in the stream that it names finds the values. Raises InputError for what cannot be seen or written.
    """
    array = device_array(what, value)
    if not array.flags.writeable:
        raise InputError(f"{what}: an array that may be written to is allowed")
    _mpi.copy_from_host(*_transferred(what, array), np.ascontiguousarray(host))


def _transferred(what: str, array: DeviceArray) -> tuple[Any, DeviceMemory | None, str]:
    """Describe an array of up to three dimensions, the last one fastest on the host."""
    if array.ndim > _MAX_DIMENSIONS or array.dtype.name not in _ELEMENTS:
        raise InputError(f"{what} has the shape {array.shape} and the type {array.dtype}: up to three dimensions")
    missing = _MAX_DIMENSIONS - array.ndim
    shape = (1,) * missing + array.shape
    strides = (array.nbytes,) * missing + array.strides
    return (array, shape[::-1], strides[::-1]), array.memory, _ELEMENTS[array.dtype.name]


class _Described:
    """Description of which NumPy makes an array without a look at its elements."""

    def __init__(self, interface: Mapping[str, Any]) -> None:
        self.__array_interface__ = dict(interface)


def _view(interface: Mapping[str, Any], memory: DeviceMemory, owner: Any) -> DeviceArray:
    array = np.asarray(_Described(interface)).view(DeviceArray)
    array.memory = memory
    array.owner = owner
    return array


def _of_interface(value: Any, interface: Mapping[str, Any]) -> DeviceArray:
    if interface.get("mask") is not None:
        raise ValueError("it has a mask")
    pointer, read_only = interface["data"]
    if (ask := getattr(value, "__dlpack_device__", None)) is not None:
        kind, number = ask()
        memory = DeviceMemory(_DRIVERS[int(kind)], int(number), interface.get("stream"))
    else:
        place = _mpi.device_of(int(pointer or 0)) if 0 not in interface["shape"] else ("cuda", 0)
        if place is None:
            raise ValueError("no driver of this process knows its address")
        driver, number = place
        memory = DeviceMemory(driver, number, interface.get("stream"))
    seen = {
        "version": 3,
        "shape": tuple(interface["shape"]),
        "strides": interface.get("strides"),
        "typestr": interface["typestr"],
        "data": (int(pointer or 0), bool(read_only)),
    }
    return _view(seen, memory, value)


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_READ_ONLY = 1


def _pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name))


def _of_dlpack(value: Any) -> DeviceArray:
    kind, number = (int(each) for each in value.__dlpack_device__())
    driver = _DRIVERS[kind]
    ours = 1 if driver == "cuda" else 0  # the default streams, which callers use who name none
    try:
        capsule = value.__dlpack__(stream=ours, max_version=(1, 1))
    except TypeError:  # older than DLPack 1.0
        capsule = value.__dlpack__(stream=ours)
    read_only = True  # older libraries cannot mark it
    with suppress(ValueError):
        tensor = _Tensor.from_address(_pointer(capsule, b"dltensor"))
    if "dltensor_versioned" in repr(capsule):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        tensor, read_only = versioned.tensor, bool(versioned.flags & _READ_ONLY)
    if tensor.lanes != 1 or tensor.code not in _TYPES:
        raise ValueError(f"elements of DLPack type {tensor.code} and {tensor.lanes} lanes")
    size = tensor.bits // 8
    shape = tuple(tensor.shape[: tensor.ndim])
    seen = {
        "version": 3,
        "shape": shape,
        "strides": tuple(size * s for s in tensor.strides[: tensor.ndim]) if tensor.strides else None,
        "typestr": f"<{_TYPES[tensor.code]}{size}",
        "data": ((tensor.data or 0) + tensor.byte_offset, read_only),
    }
    # The capsule, which is not taken over, gives the array back when it is gone.
    return _view(seen, DeviceMemory(driver, number), (value, capsule))
