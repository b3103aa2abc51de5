"""A Dask scheduler and workers as processes of this machine, as a user would start them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE_S = 240.0


def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(HERE), "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "0"}
    command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


@contextmanager
def running(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def scheduler(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a new scheduler, and its process."""
    file = folder / "scheduler.json"
    options = ("--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with running(start("dask_scheduler", *options)) as process:
        yield _address(file), process


def _address(file: Path) -> str:
    """Once the scheduler has written all of its file, which it does not do in one go."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return str(json.loads(file.read_text())["address"])
        assert time.monotonic() < deadline, "the scheduler has not begun"
        time.sleep(0.05)


def start_worker(
    address: str, name: str, *options: str, threads: int = 1, nanny: bool = False
) -> subprocess.Popen[bytes]:
    kind = "--nanny" if nanny else "--no-nanny"
    return start("dask_worker", address, "--name", name, kind, "--no-dashboard", "--nthreads", str(threads), *options)
