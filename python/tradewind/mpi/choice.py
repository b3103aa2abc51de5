"""The choice of a method at run time by all ranks of a communicator alike; see `tradewind.method.choice`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.base.collective import check_communicator, collective, on_root, proceed
from tradewind.method.choice import ARGUMENT, Chosen, choose, tuning_source
from tradewind.method.memories import PRIVATE
from tradewind.method.method import PARTS, Method
from tradewind.mpi.host import host_of

if TYPE_CHECKING:
    from mpi4py import MPI


@collective
def choose_collectively(
    comm: MPI.Intracomm,
    pattern: _core.Pattern,
    dtype: str,
    fields: int,
    asked: Method | None = None,
    *,
    tuning: str | Path | None = None,
    memory: str = PRIVATE,
) -> Chosen:
    """`choose`, for all ranks of a communicator alike: environment, file and `memory` are those of rank 0. Collective.

    A rank's own arguments count on that rank, so that plans can still find out that ranks ask for different things.
    Raises InputError on all ranks where rank 0 does, PlanError where another rank raises anything else.
    """
    check_communicator(comm)
    proceed(comm)
    return chosen_on_all(comm, pattern, dtype, fields, asked, tuning=tuning, memory=lambda: memory)


def chosen_on_all(
    comm: MPI.Intracomm,
    pattern: _core.Pattern,
    dtype: str,
    fields: int,
    asked: Method | None = None,
    *,
    tuning: str | Path | None = None,
    memory: Callable[[], str] = lambda: PRIVATE,
) -> Chosen:
    """Choose as `choose_collectively` does, for ranks that have agreed to. `memory` returns that of the arrays."""
    # Where ranks run is asked of all, and only where a file is in use.
    host = host_of(comm) if on_root(comm, lambda: bool(tuning_source(tuning, os.environ)[1])) else None
    chosen = on_root(comm, lambda: choose(pattern, dtype, fields, asked, tuning=tuning, memory=memory(), host=host))
    own = {part: name for part in PARTS if (name := getattr(asked, part, None)) is not None}
    if not own:
        return chosen
    return Chosen(replace(chosen.choice, **own), {**chosen.origin, **dict.fromkeys(own, ARGUMENT)})
