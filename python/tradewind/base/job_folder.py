"""Temporary folders that do not outlast a killed process for long: the next one removes them."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "tradewind-"
_LOCK = ".alive"
_OUTLIVE_S = 10.0


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for as long as the context lasts. Its holder has a lock in it, which ends with the process."""
    _remove_those_of_the_dead()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        with open(folder / _LOCK, "wb") as lock:
            with suppress(OSError):  # a file system without locks: then no process removes it as one of a dead job
                fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write(platform.node().encode())
            lock.flush()
            yield folder
    finally:
        _remove(folder, _OUTLIVE_S)


def _remove_those_of_the_dead() -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), open(lock, "rb+") as stream:  # one of another user, or gone meanwhile
            if os.fstat(stream.fileno()).st_uid != os.geteuid() or _age_s(lock) < _OUTLIVE_S:
                continue  # it may be about to be locked
            if stream.read().decode() != platform.node():
                continue  # where nodes share a folder, their locks may be their own
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent)


def _age_s(path: Path) -> float:
    return time.time() - path.stat().st_mtime


def _remove(folder: Path, patience_s: float) -> None:
    """Ranks may outlive their launcher by a moment, and write what they failed of while the folder is removed."""
    end = time.monotonic() + patience_s
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
