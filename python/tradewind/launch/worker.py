"""Program of each rank of a job: ``python -m tradewind.launch.worker FOLDER`` (see `tradewind.launch.job`)."""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import signal
import stat
import sys
import termios
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from tradewind.base.errors import MissingMPIError, PeerError, PlanError, TradewindError
from tradewind.base.files import write_atomically
from tradewind.launch import job

_PATIENCE_S = 0.5
_LATE_S = 2.0
"""Time that a rank with the cause of an error has to record it: on a busy machine it may have no core for a while."""
_READ_S = 10.0
"""Time that a launcher has to read what was printed."""
_LOOK_S = 0.01
_CONSEQUENCE = 2**31
"""Records of errors that follow from one of another rank have numbers from here on."""


def abort_on_error() -> None:
    """Makes an uncaught exception end all ranks: left alone, the others would wait for this one for ever."""
    if signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
        # With -disable-auto-cleanup MPICH's launcher sends the others this signal when a rank dies, which would end
        # them too, without a message.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        traceback.print_exception(kind, error, where)
        flush_output()
        from mpi4py import MPI

        MPI.COMM_WORLD.Abort(1)

    sys.excepthook = hook


def fail_collectively(error: TradewindError) -> NoReturn:
    """Ends all ranks with the exit code of an error."""
    from mpi4py import MPI

    sys.stdout.flush()
    sys.stderr.flush()
    MPI.COMM_WORLD.Abort(error.exit_code)
    raise error


def is_consequence(error: BaseException) -> bool:
    """Whether an error follows from one of another rank, which has sent it or has not come to an exchange."""
    return isinstance(error, (PlanError, PeerError))


def wait_for_cause(folder: Path | None = None, ranks: int = 0) -> None:
    """Wait for the rank that has the cause of an error: it records it, and ends all.

    `folder`: where each of the `ranks` of a job leaves a record; there is no need to wait when it, or all, have.
    """
    end = time.monotonic() + _LATE_S
    while time.monotonic() < end:
        numbers = [] if folder is None else [int(path.suffixes[0][1:]) for path in folder.glob("failure.*.json")]
        if len(numbers) == ranks or any(number < _CONSEQUENCE for number in numbers):
            break
        time.sleep(_LOOK_S)


def flush_output() -> None:
    """Give the launcher time to pass on what this rank has printed: what is on its way when a rank aborts is lost."""
    sys.stdout.flush()
    sys.stderr.flush()
    streams = [stream for stream in (1, 2) if not stat.S_ISREG(os.fstat(stream).st_mode)]
    if not streams:
        return  # it is in a file
    end = time.monotonic() + _READ_S
    while any(map(_unread, streams)) and time.monotonic() < end:
        time.sleep(_LOOK_S)
    time.sleep(_PATIENCE_S)


def _unread(stream: int) -> int:
    """Return the bytes of a pipe that are not read yet; 0 for a stream of another kind."""
    if not stat.S_ISFIFO(os.fstat(stream).st_mode):
        return 0
    return int.from_bytes(fcntl.ioctl(stream, termios.FIONREAD, bytes(4)), sys.byteorder)


def write_whole(path: Path, value: Any, *, keep: bool = True) -> None:
    """Writes JSON so that a reader sees all of it or nothing. `keep`: it must outlast this computer."""
    write_atomically(path, json.dumps(value, allow_nan=False).encode(), "the result of ranks", durable=keep)


def report_progress(value: Any) -> None:
    """Send the progress of this rank to the process that has started it (see `tradewind.launch.job.run`)."""
    write_whole(Path(sys.argv[1]) / job.PROGRESS, value, keep=False)


def _load(worker: str) -> Callable[[Any, Any], Any]:
    module, _, name = worker.partition(":")
    function: Callable[[Any, Any], Any] = getattr(importlib.import_module(module), name)
    return function


def _check_ranks(comm: Any, ranks: int, launcher: str) -> None:
    """Ranks that the launcher of another MPI has started do not see each other."""
    if comm.Get_size() != ranks:
        from tradewind.mpi.library import library_name

        raise MissingMPIError(
            f"{ranks} ranks were started, but each sees {comm.Get_size()}: the launcher, {launcher}, is not one of the "
            f"MPI that Tradewind was built with ({library_name()}); name that one's in TRADEWIND_MPIEXEC"
        )


def _print_into(file: Path) -> None:
    """Let what this rank prints go straight to a file: of ranks that abort a launcher may lose what it passes on."""
    output = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)


def main(folder: str) -> None:
    """Runs the job's function as one rank; rank 0 writes the result."""
    job_folder = Path(folder)
    _print_into(job_folder / job.OUTPUT)
    abort_on_error()
    request = json.loads((job_folder / "request.json").read_text())
    rank = 0
    try:
        from tradewind.mpi.library import MPI  # raises MissingMPIError, which names what to install

        comm = MPI.COMM_WORLD
        rank = comm.Get_rank()
        _check_ranks(comm, **request["job"])
        result = _load(request["worker"])(comm, request["payload"])
        if rank == 0:
            write_whole(job_folder / "result.json", result)
        comm.Barrier()  # no rank leaves before all are through
    except Exception as error:
        # If several ranks fail, the one with its own reason counts, not those that received the error.
        number = rank + _CONSEQUENCE if is_consequence(error) else rank
        problems = list(getattr(error, "problems", None) or [str(error)])
        record = {"rank": rank, "kind": type(error).__name__, "problems": problems, "text": traceback.format_exc()}
        write_whole(job_folder / f"failure.{number}.json", record)
        if not isinstance(error, TradewindError):
            raise
        sys.stderr.write(f"rank {rank}: {error}\n")
        if is_consequence(error):
            wait_for_cause(job_folder, request["job"]["ranks"])
        fail_collectively(error)


if __name__ == "__main__":
    main(sys.argv[1])
