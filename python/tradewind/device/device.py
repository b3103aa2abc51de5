"""A device: its memory, its kernels, and how much has been copied between it and the host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from tradewind.base.deferred import Deferred
from tradewind.device.names import HOST_NAME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:
    np = Deferred("numpy")


@dataclass
class Copies:
    """Copies between the memory of a device and that of the host, without those of plans."""

    to_device: int = 0
    to_device_bytes: int = 0
    to_host: int = 0
    to_host_bytes: int = 0

    def __add__(self, other: Copies) -> Copies:
        """Return the copies of both."""
        return Copies(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Copies) -> Copies:
        """Return the copies beyond those of an earlier count."""
        return Copies(*(mine - theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


class Device(ABC):
    """A device whose memory holds fields. Its arrays have the shape, type and slices of NumPy's."""

    name: str
    is_host = False
    array_module: Any = None
    """Functions with NumPy's names for its arrays; None: it has none."""
    copy_bytes = 256 * 2**20
    """Bytes of a copy that measures its memory: well beyond its caches."""

    def __init__(self) -> None:
        self.copies = Copies()

    @abstractmethod
    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array in the memory of the device, whose values are not set."""

    @abstractmethod
    def _copy_to_device(self, array: Array, to: Any) -> None:
        """Copy a contiguous array of the host."""

    @abstractmethod
    def _copy_to_host(self, array: Any, out: Array) -> None:
        """Copy an array to one of the host."""

    @abstractmethod
    def copy_within(self, array: Any, to: Any) -> None:
        """Copy an array to another one of the device; it has begun when this returns."""

    @abstractmethod
    def run(self, kernel: str, points: int, *arguments: Any) -> None:
        """Run a kernel for some points. It has begun when this returns; what follows on the device waits for it.

        `arguments`: arrays of the device, or None for one that is not there; NumPy's numbers of the types that the
        kernel declares; whole numbers of Python are long long, floating-point ones double.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all that has begun on the device has ended."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Name of the hardware, and of its driver."""

    def full(self, shape: tuple[int, ...], dtype: Any, value: float) -> Any:
        """Return an array with the same value everywhere."""
        return self.to_device(np.full(shape, value, dtype))

    def to_device(self, array: Array) -> Any:
        """Return a copy of an array of the host."""
        made = self.empty(array.shape, array.dtype)
        self.update(made, array)
        return made

    def update(self, array: Any, values: Array) -> None:
        """Replace all values of an array by those of an array of the host."""
        values = np.ascontiguousarray(values, array.dtype)
        self.copies.to_device += 1
        self.copies.to_device_bytes += values.nbytes
        self._copy_to_device(values, array)

    def put(self, array: Any, where: Any, values: Array) -> None:
        """Replace some values, slices of an array, by those of an array of the host."""
        values = np.ascontiguousarray(values, array.dtype)
        self.copies.to_device += 1
        self.copies.to_device_bytes += values.nbytes
        self._copy_to_device(values, array[where])

    def to_host(self, array: Any, out: Array | None = None) -> Array:
        """Return a copy of an array in the host's memory, when all that computes it has ended.

        `out`: a contiguous array of the host that takes it.
        """
        self.copies.to_host += 1
        self.copies.to_host_bytes += array.nbytes
        taken = np.empty(array.shape, array.dtype) if out is None else out
        self._copy_to_host(array, taken)
        return taken


class Host(Device):
    """The host itself: arrays are NumPy's, and stay where they are. Its loops are those of the core."""

    name = HOST_NAME
    is_host = True

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return an array whose values are not set."""
        return np.empty(shape, dtype)

    def full(self, shape: tuple[int, ...], dtype: Any, value: float) -> Array:
        """Return an array with the same value everywhere."""
        return np.full(shape, value, dtype)

    def to_device(self, array: Array) -> Array:
        """Return the array."""
        return array

    def update(self, array: Array, values: Array) -> None:
        """Replace all values of an array."""
        array[...] = values

    def put(self, array: Array, where: Any, values: Array) -> None:
        """Replace some values of an array."""
        array[where] = values

    def to_host(self, array: Array, out: Array | None = None) -> Array:
        """Return the array, or a copy in `out`."""
        if out is None:
            return array
        out[...] = array
        return out

    def _copy_to_device(self, array: Array, to: Array) -> None:
        to[...] = array

    def _copy_to_host(self, array: Array, out: Array) -> None:
        out[...] = array

    def copy_within(self, array: Array, to: Array) -> None:
        """Copy an array to another one."""
        to[...] = array

    def run(self, kernel: str, points: int, *arguments: Any) -> None:
        """Raise NotImplementedError: loops of the host are those of the core."""
        raise NotImplementedError(f"kernel {kernel}: the host has compiled loops")

    def synchronize(self) -> None:
        """Return at once."""

    @property
    def description(self) -> str:
        """Name of the host."""
        return "the host"


HOST = Host()
