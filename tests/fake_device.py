"""A driver of devices that needs none: built once for a run of tests, loaded into ranks, and arrays in its memory.

Tradewind loads it by the names of CUDA's driver, of its compiler and of NCCL, which is what it is called; see
mpi/device/fake_driver.cpp.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
SOURCES = tuple(HERE / "mpi" / "device" / f"fake_{name}.cpp" for name in ("driver", "compiler", "nccl"))
KERNELS = HERE.parent / "src" / "mpi" / "device" / "kernels.inc"
CXX = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
Names = tuple[str, str, str]
CUDA: Names = ("libcuda.so.1", "libnvrtc.so.12", "libnccl.so.2")
ROCM: Names = ("libamdhip64.so.7", "libhiprtc.so.7", "librccl.so.1")
DEFAULT_STREAM = 1


def build(folder: Path, names: Names = CUDA) -> Path:
    """Compile the driver into a folder, under its names. The kernels are those that a GPU's compiler would get."""
    text = KERNELS.read_text().removeprefix('R"kernels(').rstrip().removesuffix(')kernels"')
    (folder / "kernels.cpp").write_text(text)
    options = ["-std=c++20", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-w"]
    if names is ROCM:  # the same functions as Tradewind calls them there
        pairs = re.findall(r'\{"(\w+)",\s+"(hip\w+)"\}', (KERNELS.parent / "driver.cpp").read_text())
        options += [f"-D{cuda}={hip}" for cuda, hip in pairs]
    for source, name in zip(SOURCES, names, strict=True):
        command = [str(CXX), *options, f"-I{folder}", f"-I{KERNELS.parent}", f"-Wl,-soname,{name}", str(source)]
        subprocess.run([*command, "-o", str(folder / name)], check=True, timeout=240)
    return folder


@cache
def folder(names: Names = CUDA) -> Path:
    """The driver of this process, built when it is first asked for."""
    made = tempfile.TemporaryDirectory(prefix="fake-device-")
    _KEPT.append(made)
    return build(Path(made.name), names)


_KEPT: list[Any] = []


@cache
def aware_mpi() -> Path | None:
    """A library that, preloaded, makes MPI take pointers of the device; None where there is no compiler for MPI."""
    beside = Path(sys.executable).parent / "mpicc"
    mpicc = str(beside) if beside.exists() else shutil.which("mpicc")
    if mpicc is None:
        return None
    library = folder() / "libaware.so"
    shown = subprocess.run([mpicc, "-show"], capture_output=True, text=True, check=True).stdout.split()
    flags = [word for word in shown if word.startswith("-I")] + ["-DOMPI_SKIP_MPICXX"]  # no symbols of its C++ library
    source = HERE / "mpi" / "device" / "fake_aware_mpi.cpp"
    command = [str(CXX), "-std=c++20", "-O1", "-fPIC", "-shared", *flags, str(source), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True, timeout=240)
    return library


_OF_ROCM = {
    "cuStreamCreate": "hipStreamCreateWithFlags",
    "cuStreamSynchronize": "hipStreamSynchronize",
    "cuMemAlloc_v2": "hipMalloc",
    "cuMemcpyHtoDAsync_v2": "hipMemcpyHtoDAsync",
    "cuMemcpyDtoHAsync_v2": "hipMemcpyDtoHAsync",
}


class Driver:
    """The functions that a caller uses for its own work on the device."""

    def __init__(self, folder: str | Path) -> None:
        self.names = CUDA if (Path(folder) / CUDA[0]).exists() else ROCM
        self.folder = Path(folder)
        self.library, self.compiler = (
            ctypes.CDLL(str(self.folder / name), mode=os.RTLD_GLOBAL | os.RTLD_NOW) for name in self.names[:2]
        )
        self.library.fake_count.restype = ctypes.c_long

    def call(self, name: str, *arguments: Any) -> None:
        name = name if self.names is CUDA else _OF_ROCM[name]
        code = getattr(self.library, name)(*arguments)
        assert code == 0, (name, code)

    def count(self, what: str) -> int:
        return int(self.library.fake_count(what.encode()))

    def ask_nccl(self, what: str, value: int = 1) -> None:
        """Have the NCCL of this process do something, see `fake_nccl` in fake_nccl.cpp."""
        ctypes.CDLL(str(self.folder / self.names[2])).fake_nccl(what.encode(), value)

    def stream(self) -> int:
        made = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(made), 1)
        assert made.value
        return made.value

    def wait(self, stream: int) -> None:
        self.call("cuStreamSynchronize", ctypes.c_void_p(stream))


class Array:
    """A copy of a NumPy array of any strides in the memory of the device, written by work in a stream of the caller."""

    def __init__(self, driver: Driver, host: np.ndarray[Any, Any], stream: int = DEFAULT_STREAM) -> None:
        self.driver, self.stream, self.like = driver, stream, host
        self.low, high = np.lib.array_utils.byte_bounds(host)
        self.bytes = high - self.low
        self.memory = ctypes.c_void_p()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(max(self.bytes, 1)))
        self._written: list[Any] = []
        self.write(host)

    def write(self, host: np.ndarray[Any, Any]) -> None:
        """Begin to write the content of an array of the same strides; it comes when the stream does it."""
        low = np.lib.array_utils.byte_bounds(host)[0]
        kept = ctypes.create_string_buffer(ctypes.string_at(low, self.bytes), max(self.bytes, 1))
        self._written.append(kept)
        size = ctypes.c_size_t(self.bytes)
        if self.bytes:
            self.driver.call("cuMemcpyHtoDAsync_v2", self.memory, kept, size, ctypes.c_void_p(self.stream))

    def read(self) -> np.ndarray[Any, Any]:
        """Return the content that the caller's stream finds in it."""
        bytes_of = np.zeros(max(self.bytes, 1), "u1")
        if self.bytes:
            size, stream = ctypes.c_size_t(self.bytes), ctypes.c_void_p(self.stream)
            self.driver.call(
                "cuMemcpyDtoHAsync_v2", bytes_of.ctypes.data_as(ctypes.c_void_p), self.memory, size, stream
            )
        self.driver.wait(self.stream)
        begin = self.like.ctypes.data - self.low
        return np.ndarray(self.like.shape, self.like.dtype, bytes_of, begin, self.like.strides)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        address = (self.memory.value or 0) + self.like.ctypes.data - self.low
        return {
            "version": 3,
            "shape": self.like.shape,
            "strides": self.like.strides,
            "typestr": self.like.dtype.str,
            "data": (address, not self.like.flags.writeable),
            "stream": self.stream,
        }
