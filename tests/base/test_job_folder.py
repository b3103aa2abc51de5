"""Temporary folders go with their process, or when the next one comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tradewind.base.job_folder import temporary_folder

KILLED = """
import os, signal
from tradewind.base.job_folder import temporary_folder
with temporary_folder() as folder:
    (folder / "result.json").write_text("{}")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_is_gone_when_its_context_ends(place: Path) -> None:
    with temporary_folder() as folder:
        (folder / "below").mkdir()
        assert folder.parent == place
    assert list(place.iterdir()) == []


def test_those_of_the_dead_are_removed_and_those_of_the_living_are_not(place: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED], timeout=240, check=False).returncode == -signal.SIGKILL
    (left,) = place.iterdir()
    (place / "tradewind-of-mine").mkdir()
    with temporary_folder() as mine:
        assert left.exists(), "it is so young that it may be about to be locked"
        for lock in (left / ".alive", mine / ".alive"):
            os.utime(lock, (0, 0))
        with temporary_folder():
            assert not left.exists()
            assert mine.exists()
    assert [path.name for path in place.iterdir()] == ["tradewind-of-mine"]


def test_those_of_another_node_stay(place: Path) -> None:
    """Its locks may be seen there alone."""
    assert subprocess.run([sys.executable, "-c", KILLED], timeout=240, check=False).returncode == -signal.SIGKILL
    (left,) = place.iterdir()
    (left / ".alive").write_text("another node")
    os.utime(left / ".alive", (0, 0))
    with temporary_folder():
        assert left.exists()
