"""Arrays in a memory that is not the host's: a fake one, which only its copier may touch, behind real transports.

The program is linked with the objects of the build: `Copier` is an interface of C++ alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind.launch.job import find_launcher

ROOT = Path(__file__).parents[2]
_BESIDE = Path(sys.executable).parent / "mpicc"
MPICC = str(_BESIDE) if _BESIDE.exists() else shutil.which("mpicc")
CXX = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.ranks,
    pytest.mark.skipif(MPICC is None or CXX is None, reason="no compiler for programs with MPI"),
]


def built() -> list[Path]:
    """The objects of src/mpi and the library of all below it, as the package was built with them."""
    named = os.environ.get("TRADEWIND_BUILD")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}-*"
    folders = [Path(named)] if named else sorted(ROOT.glob(f"build/{tag}"))
    if not folders or not (folders[-1] / "build.ninja").exists():
        pytest.skip("there is no build folder; TRADEWIND_BUILD names one")
    folder = folders[-1]
    rules = (folder / "build.ninja").read_text()  # older sources may have left other objects
    objects = sorted(set(re.findall(r"CMakeFiles/tradewind_mpi\.dir/\S+?\.o\b", rules)))
    assert objects
    return [folder / each for each in (*objects, "libtradewind_packing.a", "libtradewind_exchange.a")]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, source = tmp_path_factory.mktemp("device"), Path(__file__).parent / "programs" / "device_memory.cpp"
    compiler = {**os.environ, "MPICH_CC": str(CXX), "OMPI_CC": str(CXX)}
    options = ["-std=gnu++20", "-O1", "-pthread", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", f"-I{ROOT / 'src'}"]
    command = [str(MPICC), *options, "-o", "device", source, *built()]
    subprocess.run(command, cwd=folder, env=compiler, check=True, timeout=240)
    return folder / "device"


def ranks(program: Path, what: str) -> str:
    done = subprocess.run(
        [*find_launcher().arguments(2), program, what], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_plans_move_the_same_bytes_between_arrays_of_a_device(program: Path) -> None:
    plans, different = map(int, re.findall(r"\d+", ranks(program, "equal")))
    assert plans > 300
    assert different == 0


def test_what_a_copier_never_finishes_does_not_move(program: Path) -> None:
    """So the comparison sees what a plan would do that does not wait for its copies."""
    plans, different = map(int, re.findall(r"\d+", ranks(program, "forget")))
    assert different == plans


def test_the_fields_of_a_plan_lie_in_one_memory(program: Path) -> None:
    assert ranks(program, "mixed").splitlines() == [
        "target field 0 lies in the memory fake:1, source field 0 in fake:0: all fields of a plan lie in one memory",
        "target field 0 lies in the memory host, source field 0 in fake:0: all fields of a plan lie in one memory",
    ]


def test_whoever_else_touches_that_memory_ends(program: Path) -> None:
    assert subprocess.run([program, "touch"], capture_output=True, timeout=240, check=False).returncode < 0
