"""The installation is found: by CMake (the other tests build with it), pkg-config, Fortran, and by C++ of its own."""

from __future__ import annotations

import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest
from tradewind_header import ROOT, functions

VERSION = version("tradewind")


def test_pkg_config(prefix, mpi_compiler, tmp_path, call):
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config")
    found = call("pkg-config", "--cflags", "--libs", "tradewind", PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    text = call("pkg-config", "--modversion", "tradewind", PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    assert text.stdout.strip() == VERSION
    program = tmp_path / "program"
    source = tmp_path / "program.c"
    source.write_text(
        "#include <stdio.h>\n#include <tradewind/tradewind.h>\nint main(void) {\n"
        "    const int64_t points[3] = {4, 4, 4}, split[2] = {9, 1};\n    tw_layout layout;\n"
        '    if (tw_blocks(points, split, "xy", &layout) != TW_ERROR_INPUT) return 1;\n'
        '    printf("%s: %s\\n", tw_version(), tw_last_error());\n    return 0;\n}\n'
    )
    call(mpi_compiler, source, *found.stdout.split(), f"-Wl,-rpath,{prefix}/lib", "-o", program)
    assert call(program).stdout.startswith(f"{VERSION}: split 9x1: 9 ranks do not divide the 4 points along x")


def test_pkg_config_for_fortran(prefix, fortran_compiler, tmp_path, call):
    """Without CMake, with the compiler that wrote the module file."""
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config")
    flags = call("pkg-config", "--cflags", "--libs", "tradewind", PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    source = tmp_path / "program.f90"
    source.write_text(
        "program split\n  use tradewind\n  implicit none\n  type(tw_layout) :: layout\n"
        "  if (tw_blocks(layout, [4, 4, 4], [9, 1]) /= tw_error_input) error stop 1\n"
        '  print "(3a)", tw_version(), ": ", tw_last_error()\nend program split\n'
    )
    program = tmp_path / "program"
    words = [*flags.stdout.split(), "-ltradewind_fortran", f"-Wl,-rpath,{prefix}/lib"]
    call(fortran_compiler, source, *words, "-o", program)
    assert call(program).stdout.startswith(f"{VERSION}: split 9x1: 9 ranks do not divide the 4 points along x")


def test_a_library_without_other_names(prefix, call):
    """The library exports its interface, and nothing of the core, which another library may hold in another version."""
    if shutil.which("nm") is None:
        pytest.skip("there is no nm")
    symbols = call("nm", "-D", "--defined-only", "-C", prefix / "lib" / "libtradewind.so").stdout
    names = {line.split(maxsplit=2)[2] for line in symbols.splitlines()}
    assert {name for name in names if name.startswith("tw_")} == set(functions())
    assert not [name for name in names if name.startswith("tradewind::")]


@pytest.mark.one_level
def test_cpp_objects(on_ranks):
    assert on_ranks(2, "objects_cpp").stdout == "all right\n"


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_fortran_lines_of_different_lengths(on_ranks, ranks):
    assert on_ranks(ranks, "lines_fortran").stdout == "all right\n"


def test_fortran_kinds(on_ranks):
    assert on_ranks(2, "kinds_fortran").stdout == "all right\n"


def test_fortran_options(on_ranks):
    assert on_ranks(4, "options_fortran", VERSION).stdout == "all right\n"


@pytest.mark.slow
@pytest.mark.parametrize("example", ["redistribution", "fetch", "diffusion"])
def test_examples_by_the_documented_command(prefix, launch, fortran_compiler, tmp_path_factory, call, example):
    """As the head of examples/CMakeLists.txt says, so without a word about optimisation."""
    folder = tmp_path_factory.getbasetemp() / "documented"
    head = (ROOT / "examples" / "CMakeLists.txt").read_text().split("\ncmake_minimum")[0]
    command = next(line for line in head.splitlines() if "cmake -S" in line).lstrip("# ")
    command = command.replace("-S examples", f"-S {ROOT}/examples").replace("build/examples", str(folder))
    call("sh", "-ce", command.replace("PREFIX", str(prefix)))
    printed = launch(4, folder / "fortran" / f"{example}_fortran").stdout
    assert printed
    assert "wrong" not in printed or all(
        line.endswith(("; 0 points wrong", "; 0 values wrong")) for line in printed.splitlines()
    )


@pytest.mark.slow
def test_built_by_cmake_alone(mpi_compiler, tmp_path, call):
    """Without Python: as somebody builds it who has a model in Fortran."""
    flags = (f"-DMPI_C_COMPILER={mpi_compiler}", "-DTRADEWIND_PYTHON=OFF")
    # Beside the build of the package, whose sources have the same paths from there: ccache finds them compiled.
    with tempfile.TemporaryDirectory(prefix="alone-", dir=ROOT / "build") as build:
        call("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *flags)
        call("cmake", "--build", build, timeout_s=3000)
        call("cmake", "--install", build, "--prefix", tmp_path / "prefix")
        assert not list(Path(build).rglob("_core*"))
    assert (tmp_path / "prefix" / "lib" / "libtradewind.so").exists()
