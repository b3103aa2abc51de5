"""The slow tests that a landing runs: those about what has changed, and a third of the others in turn.

`.ci/slow.toml` names the commit since which changes count, and the turn, which each submission raises by one: three
landings run all. ``python tests/slow_tests.py`` prints what is chosen today; with the name of a job its exit code says
whether that job is (0) or waits (1). All are chosen unless the environment variable TRADEWIND_SLOW is ``turn``.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

from core_floors import FLOORS

ROOT = Path(__file__).parents[1]
TURNS = 3

JOBS = {
    "damaged-files": (0, ("machine", "study")),
    "site": (1, ("docs",)),
    "sanitizers": (0, ("sim", "verify", "kernel", "languages")),
    "second-mpi": (1, ("mpi", "launch", "languages")),
    "one-definition": (2, ("sim", "verify", "kernel", "mpi", "languages")),
}
"""Jobs of `make test-all` beside pytest: their turn, and the folders of tests/ whose sources it is about."""

BESIDE = {
    "benchmarks": ("benchmarks",),
    "cmake": ("cmake", "CMakeLists.txt", "pyproject.toml", "bindings"),
    "docs": ("docs", "README.md", "mkdocs.yml", "examples", "studies"),
    "languages": ("bindings/c", "bindings/fortran", "include", "examples"),
    "report": ("studies",),
    "study": ("studies",),
    "validation": ("validation",),
}
"""Sources of a folder of tests that have another name than the folder."""
CORE = {
    "dwarfs": ("kernel",),
    "languages": ("mpi",),
    "replay": ("sim", "verify"),
    "simulation": ("sim",),
    "spectral": ("kernel",),
    "trace": ("recorder", "sim"),
    "validation": ("sim", "verify"),
    "verification": ("verify",),
    "workload": ("algorithm", "verify"),
}
"""Folders of src/ right below a Python package or a folder of tests that has another name."""


@functools.cache
def packages() -> list[str]:
    """Return the Python packages, the highest first, as the floors in pyproject.toml order them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return list(next(c["layers"] for c in contracts if c["id"] == "floors"))


@functools.cache
def sources(folder: str) -> frozenset[str]:
    """Return where the sources lie that a folder of tests is about, and those below them: paths from the root."""
    found = {f"tests/{folder}", *BESIDE.get(folder, ())}
    for core in (*((folder,) if folder in FLOORS else ()), *CORE.get(folder, ())):
        found |= {f"src/{core}", *(f"src/{below}" for below in FLOORS[core])}
    if folder in packages():
        found |= {f"python/tradewind/{below}" for below in packages()[packages().index(folder) :]}
    return frozenset(found)


def slow(*values: object) -> list[object]:
    """Return values of a parameter with which a test is slow; tuples are values of several parameters."""
    import pytest

    return [pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=pytest.mark.slow) for v in values]


def settings() -> tuple[str, int]:
    """Return the commit since which changes count, and the turn."""
    table = tomllib.loads((ROOT / ".ci" / "slow.toml").read_text(encoding="utf-8"))
    return table["commit"], table["turn"]


@functools.cache
def changed() -> frozenset[str] | None:
    """Return the paths that differ from the commit; None where git does not know it."""
    command = ["git", "diff", "--name-only", settings()[0], "--"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return frozenset(done.stdout.split("\n")) - {""} if done.returncode == 0 else None


def why(folders: tuple[str, ...], turn: int) -> str:
    """Return why the slow tests of these folders run now; empty where they do not."""
    if os.environ.get("TRADEWIND_SLOW", "all") != "turn":
        return "all run"
    paths = changed()
    if paths is None:
        return "the commit is not known"
    places = frozenset[str]().union(*map(sources, folders))
    for path in sorted(paths):
        if any(path == place or path.startswith(f"{place}/") for place in places):
            return f"{path} has changed"
    return "its turn" if turn % TURNS == settings()[1] % TURNS else ""


@functools.cache
def why_file(name: str) -> str:
    """Return why the slow tests of a file (below tests/) run now; empty where they do not."""
    return why((name.split("/")[0],), zlib.crc32(name.encode()))


def why_job(name: str) -> str:
    """Return why a job of `make test-all` runs now; empty where it does not."""
    turn, folders = JOBS[name]
    return why(folders, turn)


def main(arguments: list[str]) -> None:
    if arguments:
        sys.exit(0 if why_job(arguments[0]) else 1)
    commit, turn = settings()
    print(f"slow tests (TRADEWIND_SLOW={os.environ.get('TRADEWIND_SLOW', 'all')}; since {commit[:8]}, turn {turn}):")
    tests = ROOT / "tests"
    files = (path for path in tests.rglob("test_*.py") if "mark.slow" in path.read_text(encoding="utf-8"))
    reasons = {name: why_file(name) for name in sorted(path.relative_to(tests).as_posix() for path in files)}
    for name, reason in (reasons | {job: why_job(job) for job in JOBS}).items():
        print(f"  {name}: {reason or 'waits for its turn'}")


if __name__ == "__main__":
    main(sys.argv[1:])
