"""Schedules on real MPI. Use it through tradewind.mpi."""

from collections.abc import Sequence

import tradewind._core


class Plan:
    """
    A schedule bound to arrays and a communicator: call it as often as needed, on all ranks.

    start() posts the first messages and returns, wait() does the rest; a call is both. Between
    the two the source may be read but not written, and what the plan receives is undefined.
    Raises PlanError when used out of turn, after its communicator is gone, or when MPI fails.
    """

    def __call__(self) -> None: ...

    def start(self) -> None: ...

    def wait(self) -> None: ...

    @property
    def in_flight(self) -> bool:
        """Started, not yet waited for."""

    @property
    def messages(self) -> int:
        """MPI messages that this rank sends in one call."""

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends in one call."""

    def __repr__(self) -> str: ...

def schedule_plan(schedule: tradewind._core.Schedule, comm: int, source: Sequence[tuple[int, Sequence[int], Sequence[int]]], target: Sequence[tuple[int, Sequence[int], Sequence[int]]], arrays: object, element: str, operation: str, transport: str, packing: str, largest_message: int) -> Plan: ...

def native_plan(pattern: tradewind._core.Pattern, comm: int, source: Sequence[tuple[int, Sequence[int], Sequence[int]]], target: Sequence[tuple[int, Sequence[int], Sequence[int]]], arrays: object, element: str, operation: str) -> Plan: ...

class Processes(tradewind._core.Peers):
    """The processes of a communicator, for a simulation. Collective."""

    def __init__(self, comm: int) -> None: ...

def agree(comm: int, identity: str, problem: str) -> None:
    """
    Collective: raises unless all ranks say the same and none has a problem.
    """

def measure(comm: int, steps: Sequence[tuple[Plan, int]], warmup: int, samples: int, copy_only: bool = False) -> tuple[list[float], list[list[float]]]:
    """
    Collective. Seconds of `samples` exchanges, the maximum over ranks: ([sample], [step][sample]).
    """

def library_version() -> str:
    """What the MPI library in use calls itself."""

build_mpi: str = 'MPICH 5.0.2'

build_compiler: str = '12.2.0'
