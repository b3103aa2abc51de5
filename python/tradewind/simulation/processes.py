"""Processes that share one simulation: each has its part of the machine, its memory, and its threads.

They keep in step. What fails in one fails in all, with the reason of the first that has one; a process that is gone
takes the others with it, which MPI's launcher sees to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tradewind.base import errors, memory
from tradewind.base.errors import InputError, PeerError, TradewindError
from tradewind.mpi.library import MPI, Peers

if TYPE_CHECKING:
    from tradewind.simulation import Simulation, Watch

Result = TypeVar("Result")

_RANKS_COMPARED = 1000


class _Reason(NamedTuple):
    """Reason why a process cannot go on."""

    kind: str
    problems: tuple[str, ...]


class Processes:
    """The processes of a communicator of mpi4py. Its functions are collective: all call them, in the same order."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        """Raises InputError for what is no communicator, PlanError where MPI fails."""
        if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
            raise InputError(f"comm is {comm!r}: an intracommunicator of mpi4py is allowed")
        self.comm = comm
        self.core = Peers(comm.py2f())
        computer = comm.Split_type(MPI.COMM_TYPE_SHARED)
        cores = set().union(*computer.allgather(os.sched_getaffinity(0)))
        self.on_this_computer: int = computer.Get_size()
        computer.Free()
        self.threads: int = comm.allreduce(max(1, len(cores) // self.on_this_computer), MPI.MIN)
        """Threads per process: the minimum of the cores of each."""

    @property
    def index(self) -> int:
        """Number of this process."""
        return self.core.process

    @property
    def count(self) -> int:
        """Number of processes that share the simulation."""
        return self.core.processes

    def agree(self, action: Callable[[], Result]) -> Result:
        """Return the result of `action` on this process; raise on all processes if it raises on one."""
        failure: BaseException | None = None
        try:
            result = action()
        except BaseException as error:
            if self.core.severed:  # no process responds any more
                raise
            failure = error
        reasons = self.comm.allgather(None if failure is None else _reason(failure))
        if failure is not None and not isinstance(failure, PeerError):
            raise failure
        # If several processes fail, the one with its own reason counts, not those that received the error.
        failed = [(reason.kind == PeerError.__name__, p) for p, reason in enumerate(reasons) if reason is not None]
        if failed:
            _, first = min(failed)
            raise _failure(first, reasons[first])
        return result

    def root_result(self, action: Callable[[], Result]) -> Result:
        """Return the result of `action` on process 0 on all processes; see `agree`."""
        result = self.agree(action)
        shared: Result = self.comm.bcast(result if self.index == 0 else None)
        return shared

    def run(
        self, simulation: Simulation, progress: Watch | None = None, force: bool = False, **more: Any
    ) -> dict[str, Any]:
        """Simulate as `Simulation.run` does, on all processes; see `tradewind.simulation.simulate` for the result.

        Process 0 alone reports progress and writes files.
        """
        self._require_alike(self.agree(lambda: _identity(simulation)))
        self.agree(lambda: simulation.check_memory(force, share=self.on_this_computer / self.count))
        self.agree(lambda: simulation.check_files(**more) if self.index == 0 else None)
        here = replace(simulation, peers=self.core)
        result = self.root_result(lambda: here.run(progress, **more) if self.index == 0 else here.take_part())
        return result | {"peak_rss_bytes": self.comm.allreduce(memory.peak_rss_bytes(), MPI.MAX)}

    def _require_alike(self, identity: str) -> None:
        identities = self.comm.allgather(identity)
        for process, other in enumerate(identities):
            if other != identities[0]:
                raise InputError(
                    f"the processes simulate different things: process 0 {identities[0]}, process {process} {other}"
                )


def _identity(simulation: Simulation) -> str:
    """Return what must be equal on all processes. Raises InputError for what cannot be shared."""
    if simulation.model != "packet":
        raise InputError(f"model {simulation.model!r}: only simulations of packets are shared; use one process")
    ranks = simulation.exchange.ranks
    nodes = [simulation.placement.node(r) for r in range(0, ranks, max(1, ranks // _RANKS_COMPARED))]
    steps = [(step.name, step.repeat) for step in (each.core() for each in simulation.exchange.steps())]
    machine = simulation.file.machine.model_dump(mode="json")
    inputs = {key: value for key, value in simulation.inputs().items() if key not in ("threads", "processes")}
    shown, orders = simulation.shown, simulation.orders
    return json.dumps([inputs, steps, simulation.exchange.bytes_per_point, machine, hash(tuple(nodes)), shown, orders])


def _reason(error: BaseException) -> _Reason:
    return _Reason(type(error).__name__, tuple(getattr(error, "problems", None) or [str(error)]))


def _failure(process: int, reason: _Reason) -> BaseException:
    kind = getattr(errors, reason.kind, None)
    if isinstance(kind, type) and issubclass(kind, TradewindError):
        return kind(*reason.problems)
    if reason.kind == KeyboardInterrupt.__name__:
        return KeyboardInterrupt()
    return PeerError(f"process {process}: {reason.kind}: {' '.join(reason.problems)}")
