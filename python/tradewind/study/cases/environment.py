"""Environment of a case: what a measured time depends on beside its inputs."""

from __future__ import annotations

import platform
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache

from tradewind import _core
from tradewind.base.data import PACKAGE


@dataclass(frozen=True)
class Environment:
    """The machine, the software and the state of the source under which a case is computed."""

    host: str
    cpu: str
    cores: int
    mpi: str | None
    """Name and version of the MPI library; None without one."""
    commit: str | None
    """Commit of the source tree, with "-dirty" where files differ; None for an installed package."""
    version: str
    python: str
    system: str

    def as_dict(self) -> dict[str, str | int | None]:
        """Return it as a table of the manifest."""
        return asdict(self)


@cache
def here() -> Environment:
    """The environment of this process."""
    import psutil

    return Environment(
        host=socket.gethostname(),
        cpu=_core.cpu_name(),
        cores=len(psutil.Process().cpu_affinity() or []) or psutil.cpu_count() or 1,
        mpi=_mpi(),
        commit=_commit(),
        version=_version(),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
    )


def _mpi() -> str | None:
    """Asked of a process of its own: a process that has loaded MPI may not start another MPI job."""
    code = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None  # no MPI: nothing can be measured, and `measure` raises an error that names what to install
    return " ".join(done.stdout.replace("\0", "").split("\n")[0].split()) or None


def _version() -> str:
    from importlib.metadata import version

    return version("tradewind")


def _commit() -> str | None:
    root = PACKAGE.resolve().parents[1]
    if not (root / ".git").exists() or not (root / "pyproject.toml").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None  # git is not needed to run a study
