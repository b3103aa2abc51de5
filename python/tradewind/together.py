"""What the ranks of a communicator do as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tradewind.errors import InputError, PlanError

if TYPE_CHECKING:
    from mpi4py import MPI

Value = TypeVar("Value")


def of_first(comm: MPI.Intracomm, make: Callable[[], Value]) -> Value:
    """What rank 0 makes, for all ranks; what it refuses (InputError), all refuse. Collective."""
    made: Any = None
    problems: list[str] | None = None
    if comm.Get_rank() == 0:
        try:
            made = make()
        except InputError as error:
            problems = list(error.problems)
    made, problems = comm.bcast((made, problems))
    if problems is not None:
        raise InputError(*problems)
    first: Value = made
    return first


def attempt(comm: MPI.Intracomm, make: Callable[[], Value]) -> tuple[Value | None, str]:
    """What each rank makes; or None on all ranks, and why one of them refused it (InputError). Collective."""
    made: Value | None = None
    refusal, failure = "", None
    try:
        made = make()
    except InputError as error:
        refusal = str(error)
    except PlanError as error:  # another rank refused, and says why
        failure = error
    refusals = [text for text in comm.allgather(refusal) if text]
    if refusals:
        return None, refusals[0]
    if failure is not None:
        raise failure
    return made, ""
