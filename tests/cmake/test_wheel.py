"""The wheel of `make wheel`, installed without a compiler, and used there by programs in C, C++ and Fortran."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "docs"))
from document_blocks import Page, blocks  # noqa: E402

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "how-to" / "install.md"
NOT_OF_THIS = ("LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
"""Variables by which programs would find what is in this environment."""


def call(*command: object, code: int = 0, **settings) -> str:
    """Return the output of a command that ends with an exit code."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **settings)
    assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel in dist/, made again where its sources have changed; TRADEWIND_WHEEL names another."""
    if named := os.environ.get("TRADEWIND_WHEEL"):
        return Path(named).resolve()
    own = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    call("make", "wheel", cwd=ROOT, env=own, timeout=3000)
    return next((ROOT / "dist").glob("tradewind-*.whl"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel and an MPI library, and nothing of this one; no compiler is on the PATH."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    call(sys.executable, "-m", "venv", folder)
    pip = (folder / "bin" / "pip", "install", "-q", "--no-compile")
    call(*pip, f"{wheel}[mpich]", env=without_compiler(folder), timeout=1200)
    return folder


def without_compiler(environment: Path) -> dict[str, str]:
    """The variables of a machine that has nothing but an environment on its PATH."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_OF_THIS}
    return {**kept, "PATH": str(environment / "bin")}


@pytest.fixture
def package(environment) -> Path:
    return next(environment.glob("lib/python*/site-packages/tradewind"))


@pytest.fixture
def page(environment, tmp_path) -> Page:
    page = Page(tmp_path)
    page.environment |= {"PATH": f"{environment / 'bin'}{os.pathsep}{page.environment['PATH']}"}
    for name in NOT_OF_THIS:
        page.environment.pop(name, None)
    return page


def test_has_a_tag_and_no_library_of_others(wheel):
    assert "-manylinux_2_" in wheel.name
    libraries = {Path(name).name.split(".")[0] for name in ZipFile(wheel).namelist() if ".so" in name}
    assert libraries == {"_core", "_mpi", "libtradewind", "libtradewind-record"}


def test_without_a_compiler(environment, tmp_path):
    shell = {"env": without_compiler(environment), "cwd": tmp_path}
    tradewind = environment / "bin" / "tradewind"
    assert call(tradewind, "doctor", **shell).endswith("everything works\n")
    assert "verified" in call(tradewind, "verify", "halo", "--ranks", 4, "--grid", "8x8x8", **shell)
    assert "fattree-M" in call(
        tradewind, "simulate", "transpose", "--ranks", 16, "--grid", "32x32x32", "--machine", "fattree-M", **shell
    )
    measured = call(tradewind, "bench", "halo", "-n", 2, "--grid", "8x8x8", "--repeat", 2, "--json", **shell)
    assert json.loads(measured)["exchange"]["ranks"] == 2


@pytest.mark.parametrize("library", ["_mpi.*.so", "lib/libtradewind.so"])
def test_finds_the_library_of_mpi(library, package, environment, tmp_path):
    """Each by itself: mpi4py, or flags of a program, would find it in its place."""
    loaded = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    found = next(package.glob(library))
    call(environment / "bin" / "python", "-c", loaded, found, env=without_compiler(environment), cwd=tmp_path)


def test_the_lines_of_the_page(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        page.run(block)


def test_programs_of_the_tests(page, tmp_path):
    """The module, compiled by the project, with every kind of array; reductions among them."""
    programs, build = ROOT / "tests" / "languages" / "programs", tmp_path / "build"
    text = "".join((PAGE.parent / name).read_text() for name in ("languages.md", "from-ectrans.md"))
    for name, block in {b.title: b for b in blocks(text) if b.title}.items():
        (tmp_path / name).write_text(block.text)
    shell = {"env": page.environment, "cwd": tmp_path}
    package = call("tradewind", "config", "--cmake", **shell).strip()
    defined = (f"-DCMAKE_PREFIX_PATH={package}", f"-DPAGE={tmp_path}")
    call("cmake", "-S", programs, "-B", build, "-G", "Ninja", *defined, **shell)
    wanted = ("kinds_fortran", "fetch_kinds_fortran", "objects_cpp", "page_halo_fortran", "page_halo_c")
    call("cmake", "--build", build, "--target", *wanted, **shell)
    for program in wanted[:3]:
        assert call("mpiexec", "-n", 2, build / program, **shell) == "all right\n"
    for program in wanted[3:]:
        assert call("mpiexec", "-n", 2, build / program, **shell) == "2 messages, 768 bytes, corner 82\n"


def test_records_a_program_of_another_mpi(environment, tmp_path):
    """The wheel is not built with Open MPI: its recorder needs neither its header nor the library of its own MPI."""
    if shutil.which("mpicc.openmpi") is None:
        pytest.skip("mpicc.openmpi is not installed")
    source = ROOT / "tests" / "trace" / "programs" / "calls.c"
    call("mpicc.openmpi", source, "-o", "calls", cwd=tmp_path)
    path = f"{environment / 'bin'}:/usr/bin:/bin"  # the launcher looks for others of its kind, and for a shell
    shell = {"env": {**without_compiler(environment), "PATH": path}, "cwd": tmp_path}
    launcher = (shutil.which("mpiexec.openmpi"), "--oversubscribe", "-n", 2)
    printed = call(environment / "bin" / "tradewind", "record", "--json", "--", *launcher, "./calls", **shell)
    result = json.loads(printed.splitlines()[-1])
    assert (result["abi"], result["ranks"], result["problems"]) == ("openmpi", 2, [])
    assert "verified" in call(environment / "bin" / "tradewind", "verify", "trace", "run.trace", **shell)


def test_no_path_of_the_build(package):
    for file in package.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert b"pip-build-env" not in content, file
            assert bytes(ROOT) not in content, file


def test_pkg_config(page):
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config")
    where = call("tradewind", "config", "--pkgconfig", env=page.environment).strip()
    page.environment["PKG_CONFIG_PATH"] = where
    (page.folder / "version.c").write_text(
        "#include <stdio.h>\n#include <tradewind/tradewind.h>\nint main(void) { return puts(tw_version()) < 0; }\n"
    )
    flags = call("pkg-config", "--cflags", "--libs", "tradewind", env=page.environment).split()
    call("mpicc", "version.c", *flags, "-o", "version", cwd=page.folder, env=page.environment)
    assert call(page.folder / "version", env=page.environment).strip() == version("tradewind")


def test_without_mpi(page, environment, tmp_path):
    """The last: takes MPI away, as where it was never installed."""
    shell = {"env": page.environment, "cwd": tmp_path}
    library = environment / "lib" / "libmpi.so.12"
    library.rename(environment / "lib" / "hidden")  # as with an MPICH that has only the library of the MPI 5 ABI
    assert "whose library libmpi.so.12 is not here; installed is mpich 5" in call(
        "tradewind", "bench", "halo", "-n", 2, "--grid", "8x8x8", "--json", code=1, **shell
    )
    call("pip", "uninstall", "-y", "-q", "mpich", "mpi4py", **shell)
    printed = call("tradewind", "config", "--cflags", code=1, **shell)
    assert " ".join(printed.split()).startswith("error: libtradewind was built with the mpich wheel, which is not here")
    assert printed.count("error: ") == 1
    printed = " ".join(call("tradewind", "doctor", code=1, **shell).split())
    assert "works: verify, show, simulate" in printed
    assert "does not work: bench, tune, calibrate, run, and plans in Python does not work: programs in C" in printed
    assert "verified" in call("tradewind", "verify", "halo", "--ranks", 2, "--grid", "8x8x8", **shell)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(p C)\nfind_package(tradewind REQUIRED)\n"
    )
    package = next(environment.glob("lib/python*/site-packages/tradewind"))
    printed = call("cmake", "-B", "b", f"-Dtradewind_DIR={package}/lib/cmake/tradewind", code=1, **shell)
    assert "libtradewind was built with an MPI library that is not here" in " ".join(printed.split())
