"""Cases that all ranks carry out together, and what went wrong on any of them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any


def problems_of(comm: Any, cases: Iterable[tuple[str, Callable[[Any], str]]]) -> dict[str, str]:
    """By name of a case what went wrong, "" where nothing did: what it returns or raises, rank by rank."""
    found = {}
    for name, case in cases:
        try:
            problem = case(comm)
        except Exception:
            problem = traceback.format_exc()
        found[name] = "\n".join(f"rank {rank}: {p}" for rank, p in enumerate(comm.allgather(problem)) if p)
    return found
