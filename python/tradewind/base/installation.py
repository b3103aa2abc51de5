"""libtradewind as it is installed beside the Python package, and the MPI library that both were built with.

`Flags` are the compiler flags for programs in C, C++ and Fortran; neither MPI nor the core is loaded for them.
"""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path

from tradewind.base.errors import MissingMPIError

BUILD_AGAIN = (
    "build it again, in Tradewind's folder, with  pip install '.[mpich]'  (a laptop), or with a cluster's compiler "
    "wrapper,  pip install '.[mpi]' -Ccmake.define.MPI_C_COMPILER=mpicc"
)
INSTALL_MPICH = "pip install 'mpich>=5,<5.1' mpi4py"
_SYSTEM_INCLUDES = (Path("/usr/include"),)
"""Compilers look there by themselves; naming it would change the order in which they do."""


def package_folder() -> Path:
    """The folder that holds the compiled modules; where they are built in place, it is not that of the sources."""
    core = importlib.util.find_spec("tradewind._core")
    return Path(core.origin if core is not None and core.origin is not None else Path(__file__).parent).parent


@dataclass(frozen=True)
class BuiltWith:
    """The MPI library of the build."""

    compiler: Path
    """Its compiler wrapper."""
    include_folders: tuple[Path, ...]
    libraries: tuple[Path, ...]
    soname: str
    """Name by which programs load it, like libmpi.so.12; empty if unknown."""
    mpich_wheel: bool
    """Whether it is that of the mpich wheel, in whichever environment this package is."""

    @property
    def name(self) -> str:
        """Name of the library in messages."""
        return "the mpich wheel" if self.mpich_wheel else f"the MPI of {self.compiler}"

    @property
    def advice(self) -> str:
        """Instruction for the user if it is missing."""
        return INSTALL_MPICH if self.mpich_wheel else f"load the module that it comes from, or {BUILD_AGAIN}"


def built_with() -> BuiltWith:
    """The MPI library of the build. Raises MissingMPIError where there was none."""
    package = package_folder()
    try:
        details = json.loads((package / "built_with.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingMPIError(f"Tradewind was built without MPI, so it has no libtradewind: {BUILD_AGAIN}") from None
    if details["mpich_wheel"]:
        root = _mpich_root(package)
        return BuiltWith(
            compiler=root / "bin" / "mpicc",
            include_folders=(root / "include",),
            libraries=(root / "lib" / (details["soname"] or "libmpi.so"),),
            soname=details["soname"],
            mpich_wheel=True,
        )
    includes, libraries = (tuple(map(Path, details[name])) for name in ("include_folders", "libraries"))
    return BuiltWith(Path(details["compiler"]), includes, libraries, details["soname"], mpich_wheel=False)


def _mpich_root(package: Path) -> Path:
    """The folder whose bin/, include/ and lib/ the mpich wheel fills; it has lib/pythonX.Y/site-packages/tradewind."""
    return package.parents[3]


@dataclass(frozen=True)
class Flags:
    """Location of libtradewind, for a compiler, CMake and pkg-config."""

    prefix: Path
    mpi: BuiltWith

    @property
    def cflags(self) -> list[str]:
        """Compiler flags: the folders of the headers of libtradewind and MPI, without those of the system."""
        folders = (self.prefix / "include", *self.mpi.include_folders)
        return [f"-I{folder}" for folder in folders if folder not in _SYSTEM_INCLUDES]

    @property
    def libs(self) -> list[str]:
        """Programs find both libraries where they are now."""
        found = list(dict.fromkeys([self.prefix / "lib", *(library.parent for library in self.mpi.libraries)]))
        rpaths = [f"-Wl,-rpath,{folder}" for folder in found]
        return [f"-L{self.prefix / 'lib'}", "-ltradewind", *map(str, self.mpi.libraries), *rpaths]

    @property
    def cmake(self) -> Path:
        """Folder for ``-Dtradewind_DIR=`` or CMAKE_PREFIX_PATH."""
        return self.prefix / "lib" / "cmake" / "tradewind"

    @property
    def pkgconfig(self) -> Path:
        """Folder for PKG_CONFIG_PATH."""
        return self.prefix / "lib" / "pkgconfig"

    @cached_property
    def fortran(self) -> list[Path]:
        """The sources of the module `tradewind`, in the order in which they compile.

        For the mpich wheel, which has no Fortran, also those of a small mpi_f08 that starts programs.
        """
        folder = self.prefix / "share" / "tradewind" / "fortran"
        first = sorted((folder / "mpi_f08").iterdir()) if self.mpi.mpich_wheel else []
        return [*first, *sorted(folder.glob("*.c")), *_in_order(sorted(folder.glob("*.f90")))]

    def as_json(self) -> dict[str, str | list[str]]:
        """Return all of it, as ``tradewind config --json`` prints it."""
        return {
            "cflags": self.cflags,
            "libs": self.libs,
            "cmake": str(self.cmake),
            "pkgconfig": str(self.pkgconfig),
            "fortran": [str(path) for path in self.fortran],
        }


def flags() -> Flags:
    """Return the location of libtradewind. Raises MissingMPIError if it or the MPI library that it needs is missing."""
    mpi = built_with()
    found = Flags(package_folder(), mpi)
    if not found.cmake.exists():
        what = f"libtradewind is not part of this Tradewind (there is no {found.cmake})"
        raise MissingMPIError(f"{what}: after `make study` build it with  make languages; otherwise {BUILD_AGAIN}")
    for file in (mpi.compiler, *mpi.libraries):
        if not file.exists():
            what = f"{mpi.name}, which is not here (there is no {file}){_another_mpich(mpi)}"
            raise MissingMPIError(f"libtradewind was built with {what}: {mpi.advice}")
    return found


def not_loaded(error: ImportError) -> str:
    """Return in one sentence why the compiled MPI module does not load, and how to mend it."""
    try:
        mpi = built_with()
    except MissingMPIError as without:
        return str(without)
    if not mpi.soname or mpi.soname not in str(error):
        return f"Tradewind's module for MPI does not load ({in_brackets(error)}): {BUILD_AGAIN}"
    what = f"{mpi.name}, whose library {mpi.soname} is not here{_another_mpich(mpi)}"
    return f"Tradewind was built with {what}: {mpi.advice}"


def _another_mpich(mpi: BuiltWith) -> str:
    """Return what is installed in place of the mpich of the build; nothing if that is unknown."""
    if not mpi.mpich_wheel:
        return ""
    import importlib.metadata  # here: every rank of a job would load it

    try:
        version = importlib.metadata.version("mpich")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return f"; installed is mpich {version}, and from 5.1 on that may have only the MPI 5 ABI (libmpi_abi.so)"


def in_brackets(error: Exception) -> str:
    """The text of an error without the colon that parts what is wrong from what to do."""
    return str(error).replace(": ", ", ")


def _in_order(sources: list[Path]) -> list[Path]:
    """Files of modules, so that each comes after those that it uses."""
    texts = {path: path.read_text(encoding="utf-8") for path in sources}
    home = {name: path for path, text in texts.items() for name in re.findall(r"^module (\w+)", text, re.MULTILINE)}
    uses = {
        path: {home[name] for name in re.findall(r"^\s*use (\w+)", text, re.MULTILINE) if home.get(name, path) != path}
        for path, text in texts.items()
    }
    return list(TopologicalSorter(uses).static_order())
