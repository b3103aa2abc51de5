"""Recorded programs in study files: traces, replayed on machines."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tradewind.base.errors import InputError
from tradewind.method.method import algorithm_problems
from tradewind.replay.calls import DEFAULT_ALLREDUCE
from tradewind.study.model.machine_keys import OnMachine
from tradewind.study.model.values import Many, Quick, checked

TRACE = "trace"
"""Value of the label `pattern` for recorded programs, and the name of their requests."""
MAX_FACTOR = 1e6


def _factor(value: Any) -> None:
    if not 0 <= value <= MAX_FACTOR:
        raise InputError(f"computing {value!r}: 0 to {MAX_FACTOR:g} times the recorded time are allowed")


def _algorithm(name: str) -> None:
    if problems := algorithm_problems("allreduce", name):
        raise InputError(*problems)


class TraceSweep(OnMachine):
    """Replays of traces. The time is that of the whole program, from MPI_Init to MPI_Finalize."""

    kind: Literal["trace"]
    name: str
    trace: Many[str]
    """Paths of traces from the study file's folder."""
    computing: Many[Annotated[float, checked(_factor)]] = [1.0]
    """Time of computations over the recorded time."""
    allreduce: Many[Annotated[str, checked(_algorithm)]] = [DEFAULT_ALLREDUCE]
    """Algorithm of MPI_Allreduce."""
    machine: Many[str]
    quick: Quick = Field(default_factory=dict)
