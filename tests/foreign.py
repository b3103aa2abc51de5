"""Arrays of libraries that are not installed here: host arrays by DLPack, and arrays that say they lie on a device."""

from __future__ import annotations

from typing import Any


class Exported:
    """An array that is handed out by DLPack alone: of 1.0 and newer, or as libraries did before."""

    def __init__(self, array: Any, *, legacy: bool = False) -> None:
        self.array = array
        self.legacy = legacy

    def __dlpack__(self, **options: Any) -> Any:
        if self.legacy and options:
            raise TypeError("options came with DLPack 1.0")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnDevice:
    """An array that says it lies in a device's memory: whoever reads it all the same fails the test."""

    def __init__(self, kind: int = 2, number: int = 0) -> None:
        self.place = (kind, number)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("the memory of a device was asked for")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the memory of a device was copied")

    def __iter__(self) -> Any:
        raise AssertionError("an array was taken for a list of arrays")


class CudaInterface:
    """An array as CUDA libraries describe theirs to each other, without DLPack."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (4,), "typestr": "<f8", "data": (1 << 40, False), "version": 3}
