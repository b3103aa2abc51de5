"""Results to pip before any download: whether the compiler can build Tradewind, and what a build requires."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from slow_tests import slow

from tradewind.base.installation import INSTALL_MPICH

ROOT = Path(__file__).parents[2]
NEEDS = "Tradewind needs g++ 12 or newer, or clang++ 16 or newer"
GNU = {"__GNUC__": 12, "__GNUC_MINOR__": 2, "__GNUC_PATCHLEVEL__": 0, "_GLIBCXX_RELEASE": 12}
CLANG = GNU | {"__GNUC__": 4, "__clang_major__": 16, "__clang_minor__": 0, "__clang_patchlevel__": 6}


@pytest.fixture(scope="module")
def backend():
    spec = importlib.util.spec_from_file_location("build_backend", ROOT / "cmake" / "build_backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A PATH with nothing but the programs that are added: (name, macros), or None for one that knows no C++20."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CXX", "CMAKE_ARGS"):
        monkeypatch.delenv(name, raising=False)

    def add(name, macros=None, expected=""):
        lines = "".join(f"#define {key} {value}\n" for key, value in (macros or {}).items())
        script = tmp_path / name
        script.write_text(
            f'#!/bin/sh\ncase "$*" in *--version*) echo "{expected}";; '
            f"*-std=gnu++20*) {'exit 1' if macros is None else f'''echo '{lines}' '''};; esac\n"
        )
        script.chmod(0o755)
        return script

    return add


def test_compilers_that_are_good_enough(backend, machine, monkeypatch):
    machine("g++", GNU)
    assert backend.compiler_problem() is None
    machine("c++", GNU | {"__GNUC__": 10})  # which CMake takes first
    assert backend.compiler_problem() is not None
    monkeypatch.setenv("CXX", "g++ -m64")
    assert backend.compiler_problem() is None
    monkeypatch.setenv("CXX", str(machine("clang++-16", CLANG)))
    assert backend.compiler_problem() is None
    monkeypatch.setenv("CXX", str(machine("nvc++", {"__NVCOMPILER": 1})))  # an unknown one may try
    assert backend.compiler_problem() is None


@pytest.mark.parametrize(
    ("macros", "expected", "problem"),
    [
        (GNU | {"__GNUC__": 10, "__GNUC_MINOR__": 3}, "", "c++ is g++ 10.3.0"),
        (CLANG | {"__clang_major__": 14}, "", "c++ is clang++ 14.0.6"),
        (CLANG | {"_GLIBCXX_RELEASE": 11}, "", "c++ takes the C++ library of g++ 11"),
        (None, "c++ (GCC) 8.5.0", 'c++ does not know C++20: "c++ (GCC) 8.5.0"'),
    ],
)
def test_compilers_that_are_too_old(backend, machine, macros, expected, problem):
    machine("c++", macros, expected)
    assert backend.compiler_problem() == f"{NEEDS}, and {problem}: install one, or name it in CXX."
    machine("g++-13", GNU | {"__GNUC__": 13})
    assert backend.compiler_problem() == f"{NEEDS}, and {problem}; here is g++-13: set CXX=g++-13."


def test_no_compiler(backend, machine, monkeypatch):
    assert "and there is none on the PATH" in backend.compiler_problem()
    monkeypatch.setenv("CXX", "/opt/g++")
    assert "and /opt/g++ (CXX) is no program" in backend.compiler_problem()


def test_the_compiler_that_cmake_is_told_to_take(backend, machine, monkeypatch):
    machine("c++", GNU)
    old = str(machine("old", GNU | {"__GNUC__": 9}))
    assert "old is g++ 9" in backend.compiler_problem({"cmake.define.CMAKE_CXX_COMPILER": old})
    monkeypatch.setenv("CMAKE_ARGS", f"-DX=1 -DCMAKE_CXX_COMPILER:FILEPATH={old}")
    assert "old is g++ 9" in backend.compiler_problem()


def test_cmake_and_pip_want_the_same(backend):
    text = (ROOT / "cmake" / "compiler.cmake").read_text()
    wanted = dict(re.findall(r'"(GNU|Clang)" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS (\d+)', text))
    assert wanted == {"GNU": str(backend.OLDEST["g++"]), "Clang": str(backend.OLDEST["clang++"])}
    assert NEEDS in text
    assert NEEDS == backend.CXX_NEEDED


def test_requirements(backend, machine, monkeypatch):
    mpich = [name for name in backend.requirements() if name.startswith("mpich")]
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["mpich"]
    assert mpich == ["mpich>=5,<5.1"]
    assert mpich[0] in extra
    assert mpich[0] in INSTALL_MPICH
    assert {"cmake>=3.24", "ninja>=1.11"} <= set(backend.requirements())
    machine("cmake", expected="cmake version 3.25.1")
    machine("ninja", expected="1.10.0")
    assert "cmake>=3.24" not in backend.requirements()
    assert "ninja>=1.11" in backend.requirements()
    assert "cmake>=3.24" in backend.requirements(all_tools=True)
    for without in ({"cmake.define.MPI_C_COMPILER": "mpicc"}, {"cmake.define.TRADEWIND_MPI": "off"}):
        assert not [name for name in backend.requirements(without) if name.startswith("mpich")]
    monkeypatch.setenv("CMAKE_ARGS", "-DMPI_C_COMPILER=/opt/mpi/bin/mpicc")
    assert not [name for name in backend.requirements() if name.startswith("mpich")]


@pytest.mark.parametrize("how", [["."], *slow(["--editable", "."], ["--no-build-isolation", "."])])
def test_pip_says_one_sentence(how, machine):
    """And has downloaded nothing: there is no index."""
    machine("c++", GNU | {"__GNUC__": 10})
    command = [sys.executable, "-m", "pip", "--isolated", "install", "--no-index", "--dry-run", "--no-deps", *how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode != 0
    assert f"{NEEDS}, and c++ is g++ 10.2.0: install one, or name it in CXX." in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_an_old_python_says_so(backend, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(sys, "version", "3.9.2 (default)")
    with pytest.raises(SystemExit, match=r"needs Python 3.11 or newer, and this is Python 3.9.2"):
        backend.get_requires_for_build_wheel()
