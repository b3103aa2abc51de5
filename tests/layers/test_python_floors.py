"""The floors of the Python package: `make lint` holds them by import-linter; here it is seen that it can refuse."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "tradewind"
FACE = ("__init__.py", "__main__.py", "pattern.py", "points.py")
COMPILED = ("_core", "_mpi")

RUN = """
import sys
# An editable installation would find the package in the checkout before the copy.
sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
sys.path.insert(0, ".")
from importlinter.cli import lint_imports_command
lint_imports_command()
"""
FORBIDDEN = {
    "upward": ("base/units.py", "import tradewind.cli.screen", "tradewind.base is not allowed to import tradewind.cli"),
    "in a function": (
        "workload/exchange.py",
        "def late():\n    from tradewind.simulation import simulate",
        "tradewind.workload is not allowed to import tradewind.simulation",
    ),
    "for types": (
        "machine/topology.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tradewind.plot.svg import Drawing",
        "tradewind.machine is not allowed to import tradewind.plot",
    ),
    "of the face": (
        "dwarfs/frame/gather.py",
        "from tradewind.pattern import Halo",
        "tradewind.dwarfs is not allowed to import tradewind.pattern",
    ),
    "up in study": (
        "study/model/labels.py",
        "from tradewind.study.runner import run",
        "tradewind.study.model is not allowed to import tradewind.study.runner",
    ),
    "circle": ("machine/evidence.py", "from tradewind.machine import machine", "No circles inside a package BROKEN"),
}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the package that lies in a folder, by the contracts of the project."""
    return subprocess.run(
        [sys.executable, "-c", RUN, str(ROOT / "pyproject.toml"), "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package's sources."""
    shutil.copytree(PACKAGE, tmp_path / "tradewind", ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyi"))
    return tmp_path


def test_the_floors_hold(package: Path) -> None:
    done = lint_imports(package)
    assert "5 kept, 0 broken" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def test_forbidden_imports_are_refused(package: Path) -> None:
    for file, line, _ in FORBIDDEN.values():
        with open(package / "tradewind" / file, "a") as source:
            source.write(f"\n{line}\n")
    done = lint_imports(package)
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert [kind for kind, (_, _, error) in FORBIDDEN.items() if error not in text] == [], done.stdout + done.stderr


def imports_of_the_face(source: str) -> list[int]:
    """Lines that import the package `tradewind` itself, or a public name from it: import-linter cannot separate these
    from the compiled modules, whose sources are not Python."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    found: list[int] = []
    if not re.search(r"^\s*(import\b.*|from )\btradewind\b(?!\.)", source, re.MULTILINE):
        return found  # nothing to parse
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(name.name == "tradewind" for name in node.names):
            found.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "tradewind":
            found += [node.lineno for name in node.names if name.name not in {*rooms, *COMPILED}]
    return found


def test_no_room_imports_the_face() -> None:
    rooms = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).as_posix() not in FACE]
    assert len(rooms) > 150
    assert not {str(path): found for path in rooms if (found := imports_of_the_face(path.read_text()))}
    wrong = "import tradewind\nfrom tradewind import _core, base\nfrom tradewind import Halo"
    assert imports_of_the_face(wrong) == [1, 3]
