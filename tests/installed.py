"""Programs of others from the package index and from Debian, installed once into build/programs/, and kept there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

NONE: Mapping[str, str] = {}
KEPT = Path(__file__).parents[1] / "build" / "programs"


def environment(*packages: str, name: str = "venv", **variables: str) -> Path:
    """Return the folder of commands of an environment with packages of the index. Skips where they cannot be had.

    `name` of the environment; `variables` for packages that are compiled.
    """
    folder = KEPT / name
    marker = folder / "-".join(("installed", *packages))
    if not marker.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        _must([folder / "bin" / "pip", "install", "-q", *packages], variables=variables)
        marker.touch()
    return folder / "bin"


MPICH = ("mpich==5.0.2", "mpi4py==4.1.2")


def veros() -> Path:
    """Return the folder of commands of an environment that has Veros."""
    return environment("veros==1.7.0", *MPICH)


def python_of_mpi5() -> Path:
    """Return a Python whose mpi4py is compiled for the ABI of MPI 5, which no wheel is."""
    commands = environment(MPICH[0], "numpy", name="mpi5")
    compiler = {"MPICC": str(commands / "mpicc_abi"), "MPI4PY_BUILD_MPIABI": "1", "CFLAGS": "-O0"}
    environment("--no-binary=mpi4py", "--no-cache-dir", MPICH[1], name="mpi5", **compiler)
    return commands / "python"


def unpacked(*packages: str) -> Path:
    """Return the folder `usr` of Debian's packages, unpacked. Skips where they cannot be had."""
    folder = KEPT / "debian"
    marker = folder / "-".join(("unpacked", *packages))
    if not marker.exists():
        if shutil.which("apt-get") is None:
            pytest.skip(f"Debian's {packages[0]} cannot be had: apt-get is not installed")
        loaded = folder / packages[0]
        loaded.mkdir(parents=True, exist_ok=True)
        _must(["apt-get", "download", "-qq", *packages], loaded)
        for package in loaded.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, folder], check=True)
        marker.touch()
    return folder / "usr"


def libraries() -> Path:
    """Return the folder of the libraries that were unpacked."""
    return next((KEPT / "debian").glob("usr/lib/*-linux-gnu"))


def _must(command: list[object], folder: Path | None = None, variables: Mapping[str, str] = NONE) -> None:
    """Run a command that fetches packages, twice where the first try fails. Skips where the second does, too."""
    words = [str(word) for word in command]
    for _ in range(2):
        done = subprocess.run(
            words, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return
    error = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    pytest.skip(f"{words[-1]} cannot be had: {error}")
