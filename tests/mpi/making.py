"""Plans with a watchdog so short that a busy machine may let a rank come too late to make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tradewind.base.errors import PlanError

_TRIES = 50


def in_time(comm: Any, make: Callable[[Any], Any]) -> Any:
    """Return what all ranks make on a communicator like `comm`; they do it again where one was late. Collective."""
    for _ in range(_TRIES):
        other = comm.Dup()
        comm.Barrier()
        made, error = None, ""
        try:
            made = make(other)
        except PlanError as late:
            error = str(late)
        errors = [text for text in comm.allgather(error) if text]
        if not errors:
            return made
    raise AssertionError(f"no plan in {_TRIES} trials: {errors}")
