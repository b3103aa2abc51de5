"""Programs in all languages, on all MPI libraries: how each is compiled and started, and what it prints of itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

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

    def build(self, folder: Path) -> list[str]:
        """Return the command that runs it on two ranks. Skips where its MPI is not installed."""
        tools = [tool for tool in (self.compiler, self.launcher[0]) if tool]
        for tool in tools:
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        start = [*self.launcher, "-n", "2"]
        source = PROGRAMS / self.source
        if not self.compiler:
            return [*start, sys.executable, str(source)]
        program = folder / "program"
        subprocess.run([self.compiler, *self.flags, source, "-o", program], check=True)
        return [*start, str(program)]


_MPICH = (str(OWN / "mpiexec"),)
_OPEN_MPI = ("mpiexec.openmpi", "--oversubscribe")
_MPICH_FORTRAN = os.environ.get("TRADEWIND_MPICH_FORTRAN", "mpifort.mpich")
"""A Fortran wrapper of an MPICH; the wheel has none."""
_MPI5_MPI4PY = os.environ.get("TRADEWIND_MPI4PY_OF_MPI5", "")
"""A folder with an mpi4py that was built for the ABI of MPI 5."""

CELLS = {
    "mpich-c": Cell(str(OWN / "mpicc"), "calls.c", _MPICH),
    "mpich-c++": Cell(str(OWN / "mpicxx"), "calls.c", _MPICH, ("-x", "c++")),
    "mpich-mpi4py": Cell("", "calls.py", _MPICH),
    "mpich-mpi": Cell(_MPICH_FORTRAN, "calls.F90", ("mpiexec.mpich",)),
    "mpich-mpi_f08": Cell(_MPICH_FORTRAN, "calls.F90", ("mpiexec.mpich",), ("-DF08",)),
    "mpi5-c": Cell(str(OWN / "mpicc_abi"), "calls.c", _MPICH),
    "mpi5-c++": Cell(str(OWN / "mpicxx_abi"), "calls.c", _MPICH, ("-x", "c++")),
    "mpi5-mpi4py": Cell("", "calls.py", _MPICH, variables=(("PYTHONPATH", _MPI5_MPI4PY),)),
    "openmpi-c": Cell("mpicc.openmpi", "calls.c", _OPEN_MPI),
    "openmpi-c++": Cell("mpicxx.openmpi", "calls.c", _OPEN_MPI, ("-x", "c++")),
    "openmpi-mpi4py": Cell(
        "",
        "calls.py",
        _OPEN_MPI,
        variables=(("MPI4PY_MPIABI", "openmpi"), ("MPI4PY_LIBMPI", f"{DEBIAN}/libmpi.so.40")),
    ),
    "openmpi-mpi": Cell("mpifort.openmpi", "calls.F90", _OPEN_MPI),
    "openmpi-mpi_f08": Cell("mpifort.openmpi", "calls.F90", _OPEN_MPI, ("-DF08",)),
}
FAST = ("mpich-c", "mpich-mpi4py")
ABIS = {"mpich": "mpich", "mpi5": "mpi5", "openmpi": "openmpi"}


def printed_counts(text: str) -> dict[tuple[int, str], tuple[int, int, int]]:
    """Return calls, bytes and received bytes by rank and function, as a program has printed them."""
    lines = [line.split() for line in text.splitlines()]
    rows = [words for words in lines if len(words) == 5 and words[1].startswith("MPI_")]
    return {(int(rank), name): (int(calls), int(sent), int(got)) for rank, name, calls, sent, got in rows}
