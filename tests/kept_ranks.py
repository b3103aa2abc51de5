"""MPI ranks that serve the jobs of many tests, one after another: to start them costs more than most jobs do.

Run by ``mpiexec -n N python kept_ranks.py FOLDER`` this file is one of the ranks; imported it is what keeps them. A job
is what `tradewind.launch.job` makes of it, a folder with a request. Ranks that all have refused a job, or found its
result wrong, do the next one on another communicator; after any other failure they end, as all ranks do, and the next
job starts new ones.
"""

from __future__ import annotations

import gc
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__)
MAX_RANKS = 4
"""Jobs of more start ranks of their own: those that wait hold memory."""
READ_ONCE = ("MPI", "OMPI_", "PMI", "PRTE", "FI_", "UCX_", "LD_", "OMP_", "OPENBLAS_")
"""Variables that a process reads only when it starts begin so; where they differ, so do the ranks."""
_WELL, _FAILED = b".", b"x"
_PATIENCE_S = 5.0
_LOOK_S = 0.05
_GRACE_S = 0.5
"""Time in which all ranks must have failed, so that none is left waiting."""
_GO_ON = ("InputError", "VerificationError", "NotFiniteError", "ConvergenceError")
"""Errors that leave a rank as it was. Others, as PlanError, come from memory, messages or ranks that are gone."""


class Ranks:
    """Ranks of one launcher and number, which wait for jobs."""

    def __init__(self, launcher: tuple[str, ...], ranks: int, start: Callable[..., subprocess.Popen[bytes]]) -> None:
        self.ranks = ranks
        self._folder = tempfile.TemporaryDirectory(prefix="kept-ranks-")
        folder = Path(self._folder.name)
        for name in (*map(str, range(ranks)), "done"):
            os.mkfifo(folder / name)
        # Opened for both, so that neither end waits for the other or finds it gone.
        self._requests = [os.open(folder / str(rank), os.O_RDWR) for rank in range(ranks)]
        self._done = os.open(folder / "done", os.O_RDWR)
        with (folder / "output.txt").open("wb") as output:
            self.process = start([*launcher, sys.executable, str(HERE), str(folder)], output)

    def post(self, job: Mapping[str, Any]) -> None:
        """Give the ranks a job."""
        for request in self._requests:
            os.write(request, (json.dumps(job) + "\n").encode())

    def finished(self, wait_s: float) -> bytes:
        """Return a letter per rank that has finished the job since the last call; waits for the first of them."""
        if not select.select([self._done], [], [], wait_s)[0]:
            return b""
        return os.read(self._done, self.ranks)

    def end(self) -> None:
        """End the ranks: those that wait leave by themselves."""
        if self.process.poll() is None:
            self.post({})
            try:
                self.process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for file in (*self._requests, self._done):
            os.close(file)
        self._folder.cleanup()


class KeptRanks:
    """Takes the place of the function by which `tradewind.launch.job` starts a job and waits for its end."""

    def __init__(self) -> None:
        self._job: Any = None
        self._alone: Any = None
        self._kept: dict[tuple[Any, ...], Ranks] = {}

    def take_over(self) -> None:
        """Do the jobs from now on."""
        if self._job is None:
            from tradewind.launch import job

            self._job, self._alone = job, job._watch
        self._job._watch = self.watch

    def leave(self) -> None:
        """Leave the jobs from now on to ranks of their own."""
        if self._job is not None:
            self._job._watch = self._alone

    def watch(self, command: list[str], folder: Path, timeout_s: float | None, watch: Any) -> int | None:
        """Return the exit code of a job; None when time ran out. See `tradewind.launch.job.run`."""
        launcher, count = tuple(command[: -len(self._worker(folder))]), int(command[command.index("-n") + 1])
        if count > MAX_RANKS:
            return self._alone(command, folder, timeout_s, watch)
        early = tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith(READ_ONCE)))
        key = (launcher, early)
        if key in self._kept and self._kept[key].process.poll() is not None:
            self._kept.pop(key).end()
        if key not in self._kept:
            self._kept[key] = Ranks(launcher, count, self._start)
        ranks = self._kept[key]
        try:
            ranks.post({"folder": str(folder), "environment": dict(os.environ), "cwd": os.getcwd()})
            code = self._wait(ranks, folder, timeout_s, watch)
        except BaseException:
            self._drop(key)
            raise
        if code is None or ranks.process.poll() is not None:
            self._drop(key)
        return code

    @staticmethod
    def _worker(folder: Path) -> list[str]:
        return [sys.executable, "-m", "tradewind.launch.worker", str(folder)]

    def _start(self, command: list[str], output: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env=dict(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=self._job._end_with_parent,
        )

    def _wait(self, ranks: Ranks, folder: Path, timeout_s: float | None, watch: Any) -> int | None:
        end = None if timeout_s is None else time.monotonic() + timeout_s
        finished = b""
        while len(finished) < ranks.ranks:
            finished += ranks.finished(_LOOK_S)
            if len(finished) < ranks.ranks and ranks.process.poll() is not None:
                return ranks.process.returncode or 1
            if end is not None and time.monotonic() > end:
                return None
            if watch is not None and (folder / self._job.PROGRESS).exists():
                watch(json.loads((folder / self._job.PROGRESS).read_text()))
        return 1 if _FAILED in finished else 0

    def _drop(self, key: tuple[Any, ...]) -> None:
        ranks = self._kept.pop(key)
        if ranks.process.poll() is None:
            self._job._stop(ranks.process)
        ranks.end()

    def end(self) -> None:
        """End all ranks."""
        while self._kept:
            self._kept.popitem()[1].end()


class _Failed(BaseException):
    """The end of a job that failed on this rank, which has left its record of it."""


def _fail(error: Exception) -> NoReturn:
    """Take the place of `tradewind.launch.worker.fail_collectively`, which ends all ranks."""
    raise _Failed from error


def serve(folder: Path) -> None:
    """Do jobs, as one of the ranks, until there is an empty one."""
    from mpi4py import MPI

    from tradewind.launch import measure, worker

    measure._COPY_BYTES = 2**20  # the rate of copies stands beside many results, and no test needs that of memory
    worker.abort_on_error()
    worker.fail_collectively, end_all = _fail, worker.fail_collectively
    world = MPI.COMM_WORLD.Dup()
    known = [*sys.path]
    done = os.open(folder / "done", os.O_WRONLY)
    with (folder / str(world.Get_rank())).open() as requests:
        for line in requests:
            job = json.loads(line)
            if not job:
                return
            try:
                _do(job, known)
                state = _WELL
            except _Failed as failed:
                if type(failed.__cause__).__name__ not in _GO_ON or not _all_have_failed(world):
                    end_all(failed.__cause__)
                # Messages that were not received stay with the communicator of their job.
                MPI.COMM_WORLD = world.Dup()
                state = _FAILED
            os.write(done, state)


def _all_have_failed(world: Any) -> bool:
    """Whether all ranks come here, and soon; jobs do not use this communicator."""
    all_are_here, end = world.Ibarrier(), time.monotonic() + _GRACE_S
    while not all_are_here.Test():
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    return True


def _do(job: dict[str, Any], known: list[str]) -> None:
    """Do one job as if this process had been started for it."""
    from tradewind.launch import worker

    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["cwd"])
    paths = job["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*filter(None, paths), *known]
    sys.argv = ["worker", job["folder"]]
    before = set(sys.modules)
    try:
        worker.main(job["folder"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for name in set(sys.modules) - before:  # files of tests: another folder has others of these names
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).is_relative_to(HERE.parent):
                del sys.modules[name]
        gc.collect()
        gc.freeze()  # what stays is not looked at after each job again


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
