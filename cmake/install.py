"""Install Tradewind in place, for make: print steps and progress, and errors of the build in full.

    python cmake/install.py extensions [NAME=VALUE ...]  what runs need: packages, then the compilation
    python cmake/install.py all [NAME=VALUE ...]         also libtradewind, for C, C++ and Fortran
    python cmake/install.py packages EXTRA[,EXTRA]       the packages of further extras of pyproject.toml

NAME=VALUE are variables of CMake. Without isolation, so that a change compiles only what it touches.
"""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import build_backend

ROOT = Path(__file__).parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-compile"]
"""Python compiles what it imports, which is a small part of what these packages have."""
PAUSE_S = 10.0
"""Between two lines about one step, that differ in a number alone, where the output is no terminal."""
FAULT = re.compile(r"FAILED: |CMake Error|\berror: |\bERROR: ")
"""The first line of an error of pip, CMake, ninja or a compiler; the rest follows."""


class Line:
    """One line with the progress of a step: overwritten on a terminal, elsewhere a new one every few seconds."""

    def __init__(self, title: str) -> None:
        self.title, self.is_terminal = title, sys.stdout.isatty()
        self.began = self.last = time.monotonic()
        self.what = ""
        self.show("...")

    def show(self, text: str) -> None:
        if self.is_terminal:
            print(f"\r\033[K{self.title}: {text[:60]}", end="", flush=True)
        elif (what := text.lstrip("0123456789 ")) != self.what or time.monotonic() - self.last > PAUSE_S:
            self.what, self.last = what, time.monotonic()
            print(f"{self.title}: {text}", flush=True)

    def end(self, text: str) -> None:
        before = "\r\033[K" if self.is_terminal else ""
        print(f"{before}{self.title}: {text}, {time.monotonic() - self.began:.0f} s", flush=True)


def run(title: str, command: Sequence[str], shortened: Callable[[str], str | None]) -> None:
    """Run a step. `shortened`: what its line shows for a line of its output, if anything. Exits where it fails."""
    line, output = Line(title), list[str]()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as step:
        assert step.stdout is not None
        for text in step.stdout:
            output.append(text)
            if shown := shortened(text.strip()):
                line.show(shown)
    if step.returncode == 0:
        line.end("done")
        return
    line.end("FAILED")
    print("".join(faults(output)), end="")
    sys.exit(1)


def faults(output: Sequence[str]) -> Sequence[str]:
    """The output of a step from the first line of an error; all of it where there is none."""
    first = next((i for i, text in enumerate(output) if FAULT.search(text)), 0)
    return output[first:]


def of_compilation(text: str) -> str | None:
    """Return "12 of 87" for a line of ninja."""
    found = re.match(r"\[(\d+)/(\d+)\] ", text)
    return f"{found[1]} of {found[2]}" if found else None


class Packages:
    """Shorten pip's output: the number of packages found so far, and then that they are installed."""

    def __init__(self) -> None:
        self.found = 0

    def __call__(self, text: str) -> str | None:
        if text.startswith("Collecting "):
            self.found += 1
            return f"{self.found} found"
        if text.startswith("Installing collected packages: "):
            return f"installing {text.count(',') + 1}"
        return None


def requirements(extras: Sequence[str]) -> list[str]:
    """The packages of some extras of pyproject.toml; "" stands for those that Tradewind always needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {"": project["dependencies"], **project["optional-dependencies"]}
    return [requirement for extra in extras for requirement in known[extra]]


EXTENSIONS_ONLY = {"build.targets": "extensions", "install.components": "python"}
"""Settings of scikit-build-core. They are not kept in the build folder: a later build without them is whole."""


def build(defines: Sequence[str], only: Mapping[str, str]) -> None:
    settings: dict[str, str | list[str]] = dict(f"cmake.define.{each}".split("=", 1) for each in defines)
    build_backend.check_machine(settings)
    mpi = "mpi" if "cmake.define.MPI_C_COMPILER" in settings else "mpich"
    needed = [*build_backend.requirements(settings, all_tools=True), *requirements(["", mpi])]
    print("Tradewind is installed into .venv. The first time, on two slow cores, packages take half a minute, the")
    print("compilation about three.", flush=True)
    run("packages", [*PIP, *needed], Packages())
    given = [f"-C{name}={value}" for name, value in {**settings, **only}.items()]
    run("compilation", [*PIP, "--verbose", "--no-build-isolation", "--no-deps", *given, "-e", "."], of_compilation)


def main(arguments: Sequence[str]) -> None:
    what, *rest = arguments
    lock = (Path(sys.prefix) / "install.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # until this process ends: `make --jobs study test` begins two installations
    if what in ("extensions", "all"):
        build(rest, EXTENSIONS_ONLY if what == "extensions" else {})
    else:
        run("packages for development", [*PIP, *requirements(rest[0].split(","))], Packages())


if __name__ == "__main__":
    main(sys.argv[1:])
