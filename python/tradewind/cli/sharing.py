"""Place of a command: alone, or one of the processes that share a simulation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradewind.simulation.processes import Processes


def those_that_run() -> Processes | None:
    """The processes of the MPI job that this is one of; None for a process alone.

    Raises MissingMPIError where there is no MPI.
    """
    from tradewind.base.errors import MissingMPIError
    from tradewind.launch import is_rank

    if not is_rank():
        return None
    try:
        from tradewind.mpi.library import MPI
        from tradewind.simulation.processes import Processes
    except MissingMPIError:
        if os.environ.get("SLURM_STEP_NUM_TASKS") == "1":  # one task of srun needs no MPI
            return None
        raise
    from tradewind.launch.worker import abort_on_error

    abort_on_error()
    return Processes(MPI.COMM_WORLD)


def check(here: Processes | None, wanted: int | None) -> None:
    """Raises InputError where other processes are wanted than run."""
    from tradewind.base.errors import InputError

    if here is not None and wanted not in (None, here.count):
        raise InputError(f"--processes {wanted}, but {here.count} processes run: leave it out under mpiexec or srun")


def threads(here: Processes | None, wanted: int | None) -> int:
    """Return threads per process: one per core."""
    from tradewind.simulation import usable_cores

    return here.threads if here is not None else max(1, usable_cores() // max(1, wanted or 1))


@contextmanager
def one_voice(processes: Processes | None, as_json: bool) -> Iterator[None]:
    """Let the first process alone print an error that all raise; an error of one process ends all."""
    if processes is None:
        yield
        return
    from tradewind.base.errors import PeerError, PlanError, TradewindError
    from tradewind.cli.output import INTERRUPTED, refuse
    from tradewind.launch.worker import fail_collectively, flush_output, wait_for_cause

    try:
        yield
    except PlanError as error:  # MPI has failed
        refuse(str(error), as_json)
        flush_output()
        fail_collectively(error)
    except KeyboardInterrupt:
        if processes.index > 0:
            wait_for_cause()
            fail_collectively(PeerError("interrupted"))
        refuse(INTERRUPTED, as_json)
        flush_output()
        fail_collectively(TradewindError(INTERRUPTED))
    except TradewindError as error:
        if processes.index > 0:
            raise SystemExit(error.exit_code) from None
        raise
