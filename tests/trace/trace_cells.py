"""Programs in all languages, on all MPI libraries: how each is compiled and started, and what it prints of itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from installed import libraries, python_of_mpi5, unpacked

PROGRAMS = Path(__file__).parent / "programs"
OWN = Path(sys.executable).parent
"""The folder of the mpich wheel's commands."""
DEBIAN = "/usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True)
class Cell:
    """A program: compiler and flags, "" for Python; the launcher; variables of the environment."""

    compiler: str
    source: str
    launcher: tuple[str, ...]
    flags: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    python: Callable[[], Path] = lambda: Path(sys.executable)
    needs_unpacked: bool = False
    """Whether it is compiled and run with Debian's MPICH, which is unpacked for it."""

    def build(self, folder: Path) -> tuple[list[str], dict[str, str]]:
        """Return the command that runs it on two ranks, and its variables. Skips where its MPI is not installed."""
        for tool in (self.compiler, self.launcher[0]):
            if tool and shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        start, source = [*self.launcher, "-n", "2"], PROGRAMS / self.source
        if not self.compiler:
            return [*start, str(self.python()), str(source)], dict(self.variables)
        flags, variables = list(self.flags), dict(self.variables)
        if self.needs_unpacked:
            more, variables["LD_LIBRARY_PATH"] = _unpacked_mpich()
            flags += more
        program = folder / "program"
        subprocess.run([self.compiler, source, "-g", *flags, "-o", program], check=True)
        return [*start, str(program)], variables


def _unpacked_mpich() -> tuple[list[str], str]:
    """Return the flags to compile with Debian's MPICH in Fortran, which no wheel has, and where its libraries are."""
    folder = unpacked("libmpich12", "libmpich-dev")
    include = next(folder.glob("include/*/mpich"))
    flags = [f"-I{include}", f"-L{libraries()}", "-lmpichfort", "-lmpich", "-fallow-argument-mismatch"]
    return flags, str(libraries())


MPICH = (str(OWN / "mpiexec"),)
OPEN_MPI = ("mpiexec.openmpi", "--oversubscribe")

CELLS = {
    "mpich-c": Cell(str(OWN / "mpicc"), "calls.c", MPICH),
    "mpich-c++": Cell(str(OWN / "mpicxx"), "calls.cpp", MPICH),
    "mpich-mpi4py": Cell("", "calls.py", MPICH),
    "mpich-mpi": Cell("gfortran", "calls.F90", MPICH, needs_unpacked=True),
    "mpich-mpi_f08": Cell("gfortran", "calls.F90", MPICH, ("-DF08",), needs_unpacked=True),
    "mpi5-c": Cell(str(OWN / "mpicc_abi"), "calls.c", MPICH),
    "mpi5-c++": Cell(str(OWN / "mpic++_abi"), "calls.cpp", MPICH),
    "mpi5-mpi4py": Cell("", "calls.py", MPICH, python=python_of_mpi5),
    "openmpi-c": Cell("mpicc.openmpi", "calls.c", OPEN_MPI),
    "openmpi-c++": Cell("mpicxx.openmpi", "calls.cpp", OPEN_MPI),
    "openmpi-mpi4py": Cell(
        "",
        "calls.py",
        OPEN_MPI,
        variables=(("MPI4PY_MPIABI", "openmpi"), ("MPI4PY_LIBMPI", f"{DEBIAN}/libmpi.so.40")),
    ),
    "openmpi-mpi": Cell("mpifort.openmpi", "calls.F90", OPEN_MPI),
    "openmpi-mpi_f08": Cell("mpifort.openmpi", "calls.F90", OPEN_MPI, ("-DF08",)),
}
"""The ABI of MPI 5 has no Fortran."""
FAST = ("mpich-c", "mpich-mpi4py")


def printed_counts(text: str) -> dict[tuple[int, str], tuple[int, int, int]]:
    """Return calls, bytes and received bytes by rank and function, as a program has printed them."""
    lines = [line.split() for line in text.splitlines()]
    rows = [words for words in lines if len(words) == 5 and words[1].startswith("MPI_")]
    return {(int(rank), name): (int(calls), int(sent), int(got)) for rank, name, calls, sent, got in rows}
