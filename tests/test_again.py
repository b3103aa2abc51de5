"""`tests/again.sh`: a test that other work on the machine failed may pass the second time; a fault may not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from slow_tests import slow

AGAIN = Path(__file__).parent / "again.sh"

ONCE = """
from pathlib import Path

def test_fails_once():
    tried = Path(__file__).with_name("tried")
    before = tried.exists()
    tried.touch()
    assert before

def test_passes():
    with Path(__file__).with_name("passes").open("a") as file:
        file.write("x")
"""


def again(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_some.py").write_text(text)
    command = [AGAIN, sys.executable, "-m", "pytest", "-q", *arguments, "test_some.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # none is needed, and they take seconds
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_what_fails_once_passes_and_is_named(tmp_path):
    done = again(tmp_path, ONCE)
    assert done.returncode == 0, done.stdout
    assert done.stderr == "again.sh: passed only the second time:\ntest_some.py::test_fails_once\n"
    assert (tmp_path / "passes").read_text() == "x"  # only those that failed run again
    assert not (tmp_path / ".pytest_cache").exists()


@pytest.mark.parametrize(("faults", "runs"), [(3, 2), (4, 1)])
def test_what_always_fails_does_so(tmp_path, faults, runs):
    """Many faults at once are no noise: they are not run again."""
    done = again(tmp_path, "".join(f"def test_{i}():\n    assert False\n" for i in range(faults)))
    assert done.returncode == 1
    assert "passed" not in done.stderr
    assert done.stdout.count(f"{faults} failed") == runs


@pytest.mark.parametrize(
    ("text", "code"), [*slow(("def test_():\n    pass\n", 0)), ("import nothing_of_this_name\n", 2)]
)
def test_other_ends_are_kept(tmp_path, text, code):
    assert again(tmp_path, text).returncode == code


def test_no_tests_are_said(tmp_path):
    assert again(tmp_path, "", "-k", "nothing").returncode == 5
