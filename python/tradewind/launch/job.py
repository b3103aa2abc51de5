"""An MPI job: started, watched, and its one result collected.

The ranks run `tradewind.launch.worker`, which writes the result (or why there is none) into a file. A job that ends
without one has failed, whatever its exit code is: a rank that leaves by ``_exit(0)`` makes MPI's launcher return 0.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradewind.base import errors
from tradewind.base.errors import INSTALL_MPI, InputError, MissingMPIError, PlanError, TradewindError
from tradewind.base.job_folder import temporary_folder

_RANK_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_RANK")
_WAITS = " s still waiting for "  # of the core's watchdog
_MAX_WAITS = 16
_LAST_LINES = 40
_PROGRESS_PAUSE_S = 0.1
_VERSION_S = 60
PROGRESS = "progress.json"
"""File with the last progress that rank 0 has reported."""
OUTPUT = "output.txt"
"""File of what the ranks, and their launcher, have printed; all write to its end."""

Watch = Callable[[Any], None]

_LIBC = ctypes.CDLL(None)  # before there is a fork
_PR_SET_PDEATHSIG = 1


def is_rank() -> bool:
    """Whether this process is already one rank of an MPI job."""
    if any(name in os.environ for name in _RANK_VARIABLES):
        return True
    # A batch script has SLURM_PROCID too, but only what srun starts is a step.
    return os.environ.get("SLURM_STEP_ID", "").isdigit() and "SLURM_PROCID" in os.environ


@dataclass(frozen=True)
class Launcher:
    """The command that starts MPI ranks."""

    command: tuple[str, ...]
    version: str
    """Short name of the launcher, from its version text."""

    def __str__(self) -> str:
        return f"{shlex.join(self.command)} ({self.version})"

    @property
    def is_open_mpi(self) -> bool:
        """Whether the launcher is one of Open MPI."""
        return any(name in self.version for name in ("Open MPI", "OpenRTE", "PRRTE", "prterun"))

    def arguments(self, ranks: int) -> list[str]:
        """Return the command line for a number of ranks, without the program."""
        options = []
        if self.is_open_mpi:
            options.append("--oversubscribe")
            if os.geteuid() == 0:
                options.append("--allow-run-as-root")
        return [*self.command, *options, "-n", str(ranks)]


def find_launcher() -> Launcher:
    """TRADEWIND_MPIEXEC (a command, with options if need be), else this environment's mpiexec, else the PATH's."""
    named = os.environ.get("TRADEWIND_MPIEXEC")
    beside = Path(sysconfig.get_path("scripts")) / "mpiexec"
    command = shlex.split(named) if named else [str(beside) if beside.exists() else shutil.which("mpiexec") or ""]
    if not command or shutil.which(command[0]) is None:
        where = f"TRADEWIND_MPIEXEC={named!r} is no program" if named else "there is no mpiexec"
        raise MissingMPIError(
            f"{where}: install MPI with  pip install 'tradewind[mpich]', or name the launcher in TRADEWIND_MPIEXEC"
        )
    asked = [command[0], "--version"]
    try:
        probe = subprocess.run(
            asked, env=dict(os.environ), capture_output=True, text=True, timeout=_VERSION_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise MissingMPIError(
            f"{shlex.join(asked)} did not end within {_VERSION_S} s: name another launcher in TRADEWIND_MPIEXEC"
        ) from None
    lines = (probe.stdout + probe.stderr).strip().splitlines()
    return Launcher(tuple(command), ", ".join(" ".join(line.split()) for line in lines[:2]))


def run(ranks: int, worker: str, payload: Any, *, timeout_s: float | None = None, watch: Watch | None = None) -> Any:
    """Runs the function `worker` ("package.module:function") on new ranks and returns what rank 0 computed.

    Each rank calls ``function(comm, payload)``. `payload` and the result are JSON values. Raises what a rank raised
    where that is an error of Tradewind, and PlanError with the job's last output where a rank died or time ran out.
    `watch` is called now and then with the last progress of rank 0 (see `tradewind.launch.worker.report_progress`).
    """
    if ranks < 1:
        raise InputError(f"ranks {ranks}: 1 or more are allowed")
    if importlib.util.find_spec("mpi4py") is None:  # not imported: this process must not start an MPI of its own
        raise MissingMPIError(f"MPI is not available (no mpi4py): {INSTALL_MPI}")
    launcher = find_launcher()
    with temporary_folder() as folder:
        job = {"ranks": ranks, "launcher": str(launcher)}
        (folder / "request.json").write_text(json.dumps({"worker": worker, "payload": payload, "job": job}))
        command = [*launcher.arguments(ranks), sys.executable, "-m", "tradewind.launch.worker", str(folder)]
        code = _watch(command, folder, timeout_s, watch)
        return _collect(folder, ranks, code, launcher)


def on_ranks(
    ranks: int, worker: str, payload: Any, *, timeout_s: float | None = None, watch: Watch | None = None
) -> Any:
    """Run as `run` does; but if this process is a rank itself, it is one of those that call the function."""
    if not is_rank():
        return run(ranks, worker, payload, timeout_s=timeout_s, watch=watch)
    from tradewind.mpi.library import MPI

    module, _, name = worker.partition(":")
    return getattr(importlib.import_module(module), name)(MPI.COMM_WORLD, payload)


def _watch(command: list[str], folder: Path, timeout_s: float | None, watch: Watch | None) -> int | None:
    """The exit code; None when time ran out."""
    with (folder / OUTPUT).open("ab") as stream:
        job = subprocess.Popen(
            command,
            env=dict(os.environ),  # as Python saw it at first: an MPI in this process adds what confuses a launcher
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        try:
            return job.wait(timeout_s) if watch is None else _wait(job, folder / PROGRESS, timeout_s, watch)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if job.poll() is None:
                _stop(job)


def _end_with_parent() -> None:
    """Let the launcher, and its ranks, end when the process that waits for them is gone."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait(job: subprocess.Popen[bytes], file: Path, timeout_s: float | None, watch: Watch) -> int:
    """Return the exit code; meanwhile pass progress on to `watch`. Raises TimeoutExpired."""
    end = None if timeout_s is None else time.monotonic() + timeout_s
    while end is None or time.monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            return job.wait(_PROGRESS_PAUSE_S)
        with suppress(FileNotFoundError):
            watch(json.loads(file.read_text()))
    raise subprocess.TimeoutExpired(job.args, timeout_s or 0)


def _stop(job: subprocess.Popen[bytes]) -> None:
    """Ends a launcher, which ends its ranks; one that does not end is killed."""
    for number, patience_s in ((signal.SIGTERM, 5.0), (signal.SIGKILL, None)):
        os.killpg(job.pid, number)
        try:
            job.wait(patience_s)
            return
        except subprocess.TimeoutExpired:
            continue


def _collect(folder: Path, ranks: int, code: int | None, launcher: Launcher) -> Any:
    failures = sorted(folder.glob("failure.*.json"), key=lambda path: int(path.suffixes[0][1:]))
    if failures:
        raise _failure([json.loads(path.read_text()) for path in failures])
    result = folder / "result.json"
    if code == 0 and result.exists():
        return json.loads(result.read_text())
    end = "were stopped: their time ran out" if code is None else f"ended with exit code {code}"
    end += ", without a result" if not result.exists() else ", after their result"
    lines = (folder / OUTPUT).read_text(errors="replace").strip().splitlines()[-_LAST_LINES:]
    printed = "; their last output:\n" + "\n".join(lines) if lines else "; they printed nothing"
    raise PlanError(f"the {ranks} MPI ranks {end}{printed}\nthey were started by {launcher}")


def _failure(records: list[dict[str, Any]]) -> TradewindError:
    """Return the text of the first failure; where ranks wait for each other, what each of them waits for."""
    first = records[0]
    kind = getattr(errors, first["kind"], None)
    if not (isinstance(kind, type) and issubclass(kind, TradewindError)):
        return PlanError(f"rank {first['rank']} failed:\n{first['text']}")
    waits = [text for record in records for text in record["problems"] if _WAITS in text]
    if first["problems"][0] in waits:
        more = f"\nand {len(waits) - _MAX_WAITS} ranks more" if len(waits) > _MAX_WAITS else ""
        return kind("\n".join(waits[:_MAX_WAITS]) + more)
    return kind(*first["problems"])
