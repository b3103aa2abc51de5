"""Arrays in a memory that is not the host's: a fake one, which only its copier may touch, behind real transports.

The program is compiled with the sources of the core: `Copier` is an interface of C++ alone.
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
ROOMS = ("base", "layout", "pattern", "schedule", "algorithm", "mpi")

pytestmark = [
    pytest.mark.slow,  # compiles the core
    pytest.mark.ranks,
    pytest.mark.skipif(MPICC is None or CXX is None, reason="no compiler for programs with MPI"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("device")
    sources = [source for room in ROOMS for source in sorted((ROOT / "src" / room).rglob("*.cpp"))]
    sources.append(Path(__file__).parent / "programs" / "device_memory.cpp")
    objects = []
    compiler = {**os.environ, "MPICH_CC": str(CXX), "OMPI_CC": str(CXX)}
    options = ["-std=gnu++20", "-O1", "-pthread", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", f"-I{ROOT / 'src'}"]
    halves = [folder / "core.cpp", folder / "mpi.cpp"]  # headers take most of the time: two files in place of 90
    for half in halves:
        mine = [s for s in sources if ("mpi" in s.relative_to(ROOT).parts) == (half.stem == "mpi")]
        half.write_text("".join(f'#include "{source}"\n' for source in mine))
        objects.append(subprocess.Popen([str(MPICC), *options, "-c", half], cwd=folder, env=compiler))
    assert [each.wait(timeout=240) for each in objects] == [0, 0]
    made = [f"{half.stem}.o" for half in halves]
    subprocess.run([str(MPICC), "-pthread", "-o", "device", *made], cwd=folder, env=compiler, check=True, timeout=240)
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
