"""A batch system as the workers of a study: a TOML file describes the jobs, dask-jobqueue submits them.

Each job starts Dask workers, which call back to a scheduler in the process of the study. What a site needs beside the
keys below goes into `directives` (lines for the batch system) and `prologue` (lines of shell before a worker starts).
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError

from tradewind.base.errors import InputError
from tradewind.base.tables import Table, explained
from tradewind.base.toml_lines import TomlFile
from tradewind.base.units import byte_count, seconds
from tradewind.study.runner.dask_workers import INSTALL_DASK

CLASSES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster"}
"""Batch systems, and what dask-jobqueue calls them."""


def _checked_by(parse: Any) -> AfterValidator:
    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


Count = Annotated[int, Field(ge=1, strict=True)]


class ClusterFile(Table):
    """A batch job, and the number of jobs to submit."""

    system: Literal["slurm", "pbs", "lsf"]
    jobs: Count = 1
    """Batch jobs."""
    cores: Count
    """Cores per job."""
    memory: Annotated[str, _checked_by(byte_count)]
    """Memory per job."""
    workers: Count = 1
    """Worker processes of a job; they divide its cores and its memory."""
    walltime: Annotated[str, _checked_by(seconds)]
    """Time limit per job. A case that its end cuts off is computed again in another job."""
    queue: str | None = None
    """Queue or partition."""
    account: str | None = None
    """Account or project."""
    interface: str | None = None
    """Network interface over which workers and this process reach one another, like "ib0"."""
    python: str | None = None
    """Python of the workers; None: the one that runs the study. It must have the same Tradewind."""
    log_folder: str | None = None
    directives: list[str] = Field(default_factory=list)
    prologue: list[str] = Field(default_factory=list)

    @property
    def options(self) -> dict[str, Any]:
        """Options of dask-jobqueue."""
        known: dict[str, Any] = {
            "job_name": "tradewind",
            "cores": self.cores,
            "memory": f"{byte_count(self.memory)}B",
            "processes": self.workers,
            "walltime": _clock(seconds(self.walltime), with_seconds=self.system != "lsf"),
            "queue": self.queue,
            "interface": self.interface,
            "python": self.python,
            "log_directory": self.log_folder,
            "job_extra_directives": self.directives,
            "job_script_prologue": self.prologue,
        }
        if self.account is not None:
            known["project" if self.system == "lsf" else "account"] = self.account
        return {key: value for key, value in known.items() if value is not None}


def _clock(duration_s: float, with_seconds: bool) -> str:
    minutes, rest = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}" + (f":{rest:02}" if with_seconds else "")


def load_cluster(path: Path) -> ClusterFile:
    """Reads a cluster file. Raises InputError with all of its problems, each with its line."""
    file = TomlFile(path)
    try:
        return ClusterFile.model_validate(file.data)
    except ValidationError as error:
        mistakes, more = file.first(error.errors(include_url=False))
        problems = [file.at(*explained(details, lambda _: ClusterFile.model_fields)) for details in mistakes]
        raise InputError(*problems, *more) from None


def job_script(cluster: ClusterFile) -> str:
    """The script of one job as it would be submitted, but for the address of the scheduler, which does not run yet."""
    job_class = _cluster_class(cluster).job_cls
    address = f"tcp://{socket.gethostname()}:PORT"
    return str(job_class(scheduler=address, name="tradewind", **cluster.options).job_script())


def start_cluster(cluster: ClusterFile) -> Any:
    """Starts a scheduler here and keeps `jobs` jobs submitted, new ones for those that end.

    Returns dask-jobqueue's cluster. Raises InputError where the scheduler cannot start (an interface that is not here).
    """
    kind = _cluster_class(cluster)
    try:
        made = kind(**cluster.options)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"the scheduler for {cluster.system} jobs cannot start here: {error}") from None
    made.adapt(minimum_jobs=cluster.jobs, maximum_jobs=cluster.jobs)
    return made


def _cluster_class(cluster: ClusterFile) -> Any:
    try:
        import dask_jobqueue
    except ImportError:
        raise InputError(f"--cluster needs dask-jobqueue: {INSTALL_DASK}") from None
    return getattr(dask_jobqueue, CLASSES[cluster.system])
