"""Transforms of libtradewind, called from Python: tw_transform_* as C has them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tradewind.base.installation import flags

Array = np.ndarray

ELEMENTS = {"f4": 0, "f8": 1, "c8": 4, "c16": 5}
PRODUCTS = {"weighted": 0, "plain": 1}


class Handle(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64)]


class Field(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("points", ctypes.c_int64 * 3),
        ("strides", ctypes.c_int64 * 3),
        ("element", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
    ]

    @classmethod
    def of(cls, array: Array) -> Field:
        points = array.shape[::-1] + (1,) * (3 - array.ndim)
        strides = array.strides[::-1] + (0,) * (3 - array.ndim)
        return cls(
            array.ctypes.data,
            (ctypes.c_int64 * 3)(*points),
            (ctypes.c_int64 * 3)(*strides),
            ELEMENTS[array.dtype.str[1:]],
            array.ndim,
        )


class Options(ctypes.Structure):
    _fields_ = [
        ("rule", ctypes.c_char_p),
        ("dealt", ctypes.c_char_p),
        ("degree", ctypes.c_int64),
        ("level_sets", ctypes.c_int64),
        ("radius", ctypes.c_double),
        ("watchdog_s", ctypes.c_double),
        ("element", ctypes.c_int32),
        ("threads", ctypes.c_int32),
    ]


def library() -> Any:
    """libtradewind; its MPI library is the one that mpi4py has loaded."""
    folder = next(word[2:] for word in flags().libs if word.startswith("-L"))
    found = ctypes.CDLL(f"{folder}/libtradewind.so")
    found.tw_default_transform_options.restype = Options
    found.tw_last_error.restype = ctypes.c_char_p
    return found


class LibraryError(Exception):
    """A status that is not TW_OK, with the text of tw_last_error."""


class LibraryTransform:
    """A transform of this rank; `options`: members of tw_transform_options."""

    def __init__(self, comm: Any, grid: str | Array, element: str = "f8", **options: Any) -> None:
        from mpi4py import MPI

        self._library, self._handle = library(), Handle()
        self.real = np.dtype(element)
        self.complex = np.dtype({"f8": "c16", "f4": "c8"}[element])
        given = self._library.tw_default_transform_options()
        given.element = ELEMENTS[element]
        for name, value in options.items():
            setattr(given, name, value.encode() if isinstance(value, str) else value)
        number = ctypes.c_int if MPI.Get_library_version().startswith("MPICH") else ctypes.c_void_p
        handle = number.from_address(MPI._addressof(comm))
        last = ctypes.byref(given), ctypes.byref(self._handle)
        if isinstance(grid, str):
            self.call("make", handle, grid.encode(), *last, made=False)
        else:
            rows = ctypes.c_int64(len(grid)), ctypes.c_void_p(grid.ctypes.data)
            self.call("make_rows", handle, *rows, *last, made=False)
        sizes = [ctypes.c_int64() for _ in range(4)]
        self.call("sizes", *map(ctypes.byref, sizes))
        self.degree, self.first, self.points, self.coefficients = (size.value for size in sizes)
        self.m, self.n = np.empty((2, self.coefficients), np.int64)
        self.call("numbers", *(ctypes.c_void_p(each.ctypes.data) for each in (self.m, self.n)))

    def fields(self, levels: int) -> tuple[Array, Array]:
        """Zeros of this rank's spectral coefficients and of its points."""
        own = self.levels(levels)
        spectral = np.zeros((self.coefficients, own.stop - own.start), self.complex)
        return spectral, np.zeros((levels, self.points), self.real)

    def call(self, name: str, *arguments: Any, made: bool = True) -> None:
        """Call tw_transform_NAME, of this transform where it is made."""
        function = getattr(self._library, f"tw_transform_{name}")
        if function(*((self._handle,) if made else ()), *arguments):
            raise LibraryError(self._library.tw_last_error().decode())

    def levels(self, levels: int) -> slice:
        """The levels of this rank in spectral space."""
        first, count = ctypes.c_int64(), ctypes.c_int64()
        self.call("levels", ctypes.c_int64(levels), ctypes.byref(first), ctypes.byref(count))
        return slice(first.value, first.value + count.value)

    def coordinates(self) -> tuple[Array, Array]:
        """Longitudes and latitudes of this rank's points."""
        longitude, latitude = np.empty((2, self.points))
        self.call("coordinates", *(ctypes.c_void_p(each.ctypes.data) for each in (longitude, latitude)))
        return longitude, latitude

    def on_grid(self, whole: Array) -> Array:
        """This rank's part of fields on the grid, [level][point]."""
        return np.ascontiguousarray(whole[:, self.first : self.first + self.points], dtype=self.real)

    def spectral(self, whole: Array, start: Array) -> Array:
        """This rank's part of coefficients, [coefficient][level]; `start`: of each m, see `Truncation`."""
        own = whole[start[self.m] + self.n - self.m]
        return np.ascontiguousarray(own[:, self.levels(whole.shape[1])], dtype=self.complex)

    def run(self, name: str, given: list[Array], out: list[Array], product: str | int | None = None) -> list[Array]:
        """Carry out a transform; `product`: of an adjoint."""
        leading = [] if product is None else [PRODUCTS.get(product, product)]
        self.call(name, *leading, *(ctypes.byref(Field.of(each)) for each in (*given, *out)))
        return out

    def free(self) -> None:
        """Free the transform."""
        self.call("free")
