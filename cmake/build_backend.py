"""The build backend of pip: scikit-build-core, behind a look at the compiler.

pyproject.toml requires nothing for a build, so that pip calls this first, before it downloads anything: on a machine
without a compiler that can build Tradewind the error comes at once. ``python cmake/build_backend.py`` does the same for
make, and prints what a build requires.

Runs in Pythons older than Tradewind's, to print an error that they are too old.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

CXX_NEEDED = "Tradewind needs g++ 12 or newer, or clang++ 16 or newer"
OLDEST = {"g++": 12, "clang++": 16}
"""As in compiler.cmake, which looks again; clang++ takes the library of g++, which must be as new as g++ itself."""
VERSION = {
    "g++": ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"),
    "clang++": ("__clang_major__", "__clang_minor__", "__clang_patchlevel__"),
}
SEARCHED = ("c++", "g++", "clang++")
"""In CMake's order."""
PROBE_TIMEOUT_S = 30

Settings = "dict[str, str | list[str]] | None"


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    check_machine(config_settings)
    return requirements(config_settings)


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return get_requires_for_build_wheel(config_settings)


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    check_python()
    return _group("build")


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    return _scikit_build(config_settings).prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: Settings = None) -> str:
    return _scikit_build(config_settings).prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    return _scikit_build(config_settings).build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    return _scikit_build(config_settings).build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    from scikit_build_core import build

    return build.build_sdist(sdist_directory, config_settings)


def _scikit_build(config_settings: Settings):
    """The backend that builds. Without isolation pip asks for no requirements first, so the look is here, too."""
    check_machine(config_settings)
    from scikit_build_core import build

    return build


def requirements(config_settings: Settings = None, all_tools: bool = False) -> list[str]:
    """The packages that a build needs; of the tools those that the machine has not, or all."""
    needed = _group("build")
    needed += [tool for tool in _group("build-tools") if all_tools or not _is_here(tool)]
    without_mpi = (defined("TRADEWIND_MPI", config_settings) or "ON").upper() in _OFF
    if defined("MPI_C_COMPILER", config_settings) is None and not without_mpi:
        needed += _group("build-mpi")
    return needed


_OFF = ("OFF", "NO", "FALSE", "0")


def _group(name: str) -> list[str]:
    import tomllib

    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["dependency-groups"][name])


def _is_here(requirement: str) -> bool:
    """Whether a program like ``cmake>=3.24`` is on the PATH, runs, and is new enough."""
    name, _, minimum = requirement.partition(">=")
    found = re.search(r"\d+\.\d+", _output([name, "--version"]) or "")
    return found is not None and _numbers(found[0]) >= _numbers(minimum)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def defined(name: str, config_settings: Settings = None) -> str | None:
    """The value of a variable of CMake that was named with ``-Ccmake.define.NAME=`` or in CMAKE_ARGS."""
    value = (config_settings or {}).get(f"cmake.define.{name}")
    if value is not None:
        return value if isinstance(value, str) else value[-1]
    named = re.findall(rf"-D\s*{name}(?::\w+)?=(\S+)", os.environ.get("CMAKE_ARGS", ""))
    return named[-1] if named else None


def check_machine(config_settings: Settings = None) -> None:
    """Ends the program with one sentence where Python or the C++ compiler is too old.

    With SystemExit, as any other exception would come with its traceback before it.
    """
    check_python()
    if defined("CMAKE_TOOLCHAIN_FILE", config_settings) is None and (problem := compiler_problem(config_settings)):
        sys.exit(problem)


def check_python() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - pip asks here before it reads requires-python
        sys.exit(f"Tradewind needs Python 3.11 or newer, and this is Python {sys.version.split()[0]}.")


def compiler_problem(config_settings: Settings = None) -> str | None:
    """Return in one sentence what is wrong with the compiler that CMake will take; None where nothing is."""
    named = defined("CMAKE_CXX_COMPILER", config_settings)
    command = [named] if named else shlex.split(os.environ.get("CXX", ""))
    if not command:
        command = [name for name in SEARCHED if shutil.which(name)][:1]
    if not command:
        return f"{CXX_NEEDED}, and there is none on the PATH{_others()}."
    if shutil.which(command[0]) is None:
        return f"{CXX_NEEDED}, and {command[0]} (CXX) is no program{_others()}."
    what = version_problem(command)
    return what and f"{CXX_NEEDED}, and {shlex.join(command)} {what}{_others()}."


def version_problem(command: list[str]) -> str | None:
    """Return what is wrong with a compiler, like "is g++ 10.2.1"; None where nothing is known to be."""
    macros = _output([*command, "-std=gnu++20", "-include", "version", "-dM", "-E", "-x", "c++", os.devnull])
    if macros is None:
        lines = (_output([*command, "--version"]) or "").strip().splitlines()
        return f'does not know C++20: "{lines[0]}"' if lines else "does not compile"
    value = dict(re.findall(r"^#define (\w+) (.+)$", macros, re.MULTILINE))
    kind = "clang++" if "__clang_major__" in value else "g++"
    version = [value[name] for name in VERSION[kind] if name in value]
    if version and int(version[0]) < OLDEST[kind]:
        return f"is {kind} {'.'.join(version)}"
    library = int(value.get("_GLIBCXX_RELEASE", OLDEST["g++"]))
    return f"takes the C++ library of g++ {library}" if library < OLDEST["g++"] else None


def _others() -> str:
    """Names a compiler of this machine that is new enough and not the one that CMake takes."""
    names = [f"g++-{n}" for n in range(30, OLDEST["g++"] - 1, -1)]
    names += [f"clang++-{n}" for n in range(40, OLDEST["clang++"] - 1, -1)]
    for name in ("g++", "clang++", *names):
        if shutil.which(name) and version_problem([name]) is None:
            return f"; here is {name}: set CXX={name}"
    return ": install one, or name it in CXX"


def _output(command: list[str]) -> str | None:
    """Return what a program prints; None where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    given = {"cmake.define.MPI_C_COMPILER": sys.argv[1]} if len(sys.argv) > 1 else None
    check_machine(given)
    print(*requirements(given, all_tools=True), sep="\n")
