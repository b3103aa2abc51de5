"""Loops built for every processor: the same bits, and vectors in registers.

The tests of the kernels are one program. Here it is built for any x86-64 processor, where it runs with vectors of each
width, and for aarch64, where an emulator runs it.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LARGEST = {
    "x86-64": {
        "run_pipelined": 0.11,  # its sums and shares of a row of points lie there
        "run_limits": 0.075,
        "run_corrected": 0.075,
        "run": 0.065,
        "run_divergence": 0.057,
        "run_upwind": 0.057,
        "run_next_columns": 0.012,
        "run_sweep": 0.012,
        "apply_row": 0.025,
        "run_solve": 0.015,
        "to_fourier": 0.03,
        "to_points": 0.03,
        "forth_along_y": 0.03,
        "back_along_y": 0.035,
        "multiply_all": 0.22,  # with vectors of 16 bytes, where each fused product is a call
    },
    "aarch64": {
        "run_pipelined": 0.055,
        "run_next_columns": 0.035,  # d8, d9 and d10 of the caller, kept and given back at each way out
        "run_limits": 0.03,
        "multiply_all": 0.03,
        "to_fourier": 0.03,
        "to_points": 0.03,
        "step_column": 0.02,
        "run": 0.02,
        "run_corrected": 0.02,
        "run_solve": 0.02,
    },
}
"""Share of a function's instructions that may have both a vector register and the stack; of those not named here 0.01.
g++ 12.2 puts vectors aside where a loop has more than registers hold. With vectors twice as wide as registers 36 of 39
functions have more than this; the others are rows of the Helmholtz operator, whose vectors g++ divides among registers.
"""


@dataclass(frozen=True)
class Processor:
    """A kind of processor: how to compile for it, and to run what is compiled."""

    name: str
    prefix: str = ""
    """Prefix of the names of its compiler and tools."""
    flags: str = ""
    emulator: tuple[str, ...] = ()

    def build(self) -> Path:
        """Build the tests of the kernels; return the folder."""
        folder = ROOT / "build" / f"kernels-{self.name}"
        words = [f"-DCMAKE_CXX_FLAGS={self.flags}", f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}"]
        if self.prefix:
            tools = (f"-DCMAKE_C_COMPILER={self.prefix}gcc", f"-DCMAKE_CXX_COMPILER={self.prefix}g++")
            words += ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64", *tools]
        without = ("-DTRADEWIND_PYTHON=OFF", "-DTRADEWIND_MPI=OFF")
        called(BIN / "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *without, *words)
        called(BIN / "cmake", "--build", folder, "--target", "kernel_tests", "-j", os.cpu_count() or 1)
        return folder


X86 = Processor("x86-64")
EMULATOR = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
NEON = Processor("neon", "aarch64-linux-gnu-", emulator=EMULATOR)
SVE = Processor(
    "sve",
    "aarch64-linux-gnu-",
    "-march=armv8.2-a+sve -msve-vector-bits=512",
    (*EMULATOR, "-cpu", "max,sve-default-vector-length=64"),
)


def called(*words: object, **variables: str) -> str:
    """Return the output of a program that succeeds."""
    done = subprocess.run(
        list(map(str, words)), env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def x86() -> Path:
    if platform.machine() != "x86_64":
        pytest.skip("loops for x86-64 are run on x86-64 alone")
    return X86.build()


@pytest.fixture(scope="module", params=[NEON, SVE], ids=lambda processor: processor.name)
def arm(request) -> tuple[Processor, Path]:
    for program in ("aarch64-linux-gnu-g++", EMULATOR[0]):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}: loops for aarch64 are tested where there are its compiler and its emulator")
    return request.param, request.param.build()


def test_the_same_bits_with_vectors_of_each_width(x86):
    program = x86 / "kernel_tests"
    refused = subprocess.run(
        [program, "--only", "kernel/bits.cpp"],
        env={**os.environ, "TRADEWIND_VECTORS": "8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    allowed = re.search(r"TRADEWIND_VECTORS='8': ([\d, and]+) (?:is|are) allowed here", refused.stdout)
    assert allowed, refused.stdout
    widths = re.findall(r"\d+", allowed[1])
    assert widths in (["16"], ["16", "32"], ["16", "32", "64"])
    for width in widths:
        called(program, "--only", "kernel/bits.cpp", TRADEWIND_VECTORS=width)


def test_the_same_bits_on_aarch64(arm):
    """And all other tests of the kernels."""
    processor, folder = arm
    called(*processor.emulator, folder / "kernel_tests", "--jobs", os.cpu_count() or 1, "--divide", 10)


def by_width(objects: list[Path], prefix: str = "") -> Iterator[tuple[str, list[str]]]:
    """Names and instructions of the functions of TRADEWIND_BY_WIDTH."""
    text = called(f"{prefix}objdump", "-d", "-C", "--no-show-raw-insn", *objects)
    for part in re.split(r"\n(?=[0-9a-f]+ <)", text):
        if head := re.match(r"[0-9a-f]+ <(.*_in_(?:16|32|64|own)\(.*)>:\n", part):
            yield head[1], re.findall(r"^ +[0-9a-f]+:\t(.*)$", part, re.MULTILINE)


VECTOR = re.compile(r"%[xyz]mm|\b[qzvds]\d+\b")
STACK = re.compile(r"\(%r[sb]p\b|\[sp\b")
"""Operands on the stack, of x86-64 and of aarch64."""


def on_the_stack(objects: list[Path], prefix: str = "") -> dict[str, float]:
    """Return the share of instructions with a vector register and the stack, of each function."""
    return {
        name: sum(1 for each in instructions if VECTOR.search(each) and STACK.search(each)) / len(instructions)
        for name, instructions in by_width(objects, prefix)
    }


def loop_of(name: str) -> str:
    """Return the name of a function's loop, without its width."""
    return re.sub(r".*?(\w+)_in_\w+\(.*", r"\1", name)


def too_many(found: dict[str, float], processor: str) -> dict[str, float]:
    """Return the functions that have more on the stack than they may."""
    return {name: share for name, share in found.items() if share > LARGEST[processor].get(loop_of(name), 0.01)}


def objects_of(folder: Path) -> list[Path]:
    folders = (folder / "CMakeFiles" / f"tradewind_{kernel}.dir" for kernel in ("kernel", "shared_kernel"))
    return sorted(path for each in folders for path in each.rglob("*.o"))


def test_vectors_stay_in_registers(x86):
    found = on_the_stack(objects_of(x86))
    assert set(map(loop_of, found)) >= {"run", "run_sweep", "run_corrected", "apply_row", "run_pipelined", "to_points"}
    assert len(found) % 3 == 0
    assert too_many(found, "x86-64") == {}


def test_vectors_stay_in_registers_on_aarch64(arm):
    processor, folder = arm
    found = on_the_stack(objects_of(folder), processor.prefix)
    assert any("run_sweep_in_own" in name for name in found)
    assert too_many(found, "aarch64") == {}


def test_vectors_that_are_wider_than_registers_are_found(tmp_path):
    """Planted: vectors of 64 bytes in the function for processors that have 32."""
    header = (ROOT / "src" / "kernel" / "width.hpp").read_text(encoding="utf-8")
    planted = header.replace("return name##_by<32> arguments;", "return name##_by<64> arguments;")
    assert planted != header
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "width.hpp").write_text(planted, encoding="utf-8")
    target = tmp_path / "planted.o"
    compiler = os.environ.get("CXX", "g++")
    flags = ("-std=gnu++20", "-O3", "-ffp-contract=off", "-Wno-psabi", f"-I{tmp_path}", f"-I{ROOT / 'src'}")
    called(compiler, *flags, "-c", ROOT / "src" / "kernel" / "nekbone" / "conjugate_gradients.cpp", "-o", target)
    found = on_the_stack([target])
    assert len(found) == 6
    # The floats of a line of points fill no vector of 64 bytes.
    assert [name for name in found if "_in_32" in name and "double" in name] == list(too_many(found, "x86-64"))
