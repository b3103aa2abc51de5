"""Node-aware fetches that MPI ranks carry out on pretended nodes; imported by the tests and by the ranks."""

from __future__ import annotations

import itertools
import traceback
from typing import Any

import fetch_cases
import pytest

from tradewind.errors import InputError, PlanError


def names(ranks: int) -> list[str]:
    """Of both families with nodes of 2 ranks and more, each transport and packing; on many ranks every other one.

    And all of them through the memory of just such nodes.
    """
    algorithms = itertools.cycle(f"{family}-{k}" for k in range(2, ranks) for family in ("two-level", "leaders"))
    several = [way for way in fetch_cases.WAYS if way[0] not in ("neighbor", "alltoallv", "alltoallw")]
    found = [f"{next(algorithms)} {transport} {packing}" for transport, packing in several[:: ranks - 2]]
    nodes = [f"{family}-{k}" for k in range(2, ranks) for family in ("two-level", "leaders")]
    return list(dict.fromkeys([*found, *(f"{name} shared {p}" for name in nodes for p in ("buffer", "direct"))]))


def run(comm: Any, ranks: int) -> dict[str, str]:
    """By case what went wrong, "" where nothing did."""
    outcome = {}
    for number, name in enumerate([*names(ranks), "alone"]):
        try:
            problem = _alone(comm) if name == "alone" else _run_one(comm, number, *name.split())
        except Exception:
            problem = traceback.format_exc()
        problems = [f"rank {rank}: {p}" for rank, p in enumerate(comm.allgather(problem)) if p]
        outcome[name] = "\n".join(problems)
    return outcome


def _run_one(comm: Any, number: int, algorithm: str, transport: str, packing: str) -> str:
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = fetch_cases.divided(ranks, number)
    wanted = fetch_cases.wishes(owned, number)
    fetch = points.known_to_all(comm, points.Points(comm, owned[rank]).fetch(wanted[rank]))
    shape = list(fetch_cases.SHAPES)[number % len(fetch_cases.SHAPES)]
    dtype = fetch_cases.DTYPES[number % len(fetch_cases.DTYPES)]
    options = {"algorithm": algorithm, "transport": transport, "packing": packing, "check": number % 3 == 0}
    if transport == "shared":
        options["ranks_per_node"] = int(algorithm.rpartition("-")[2])
    return fetch_cases._both_ways(comm, fetch, owned, wanted, shape, dtype, fields=1 + number % 2, **options)


def _alone(comm: Any) -> str:
    """A fetch of which each rank knows its own part alone is refused, on all ranks."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = fetch_cases.divided(ranks, 1)
    fetch = points.Points(comm, owned[rank]).fetch(owned[(rank + 1) % ranks])
    source = fetch_cases.field_of(owned[rank], (0,), 0, "f8", 0)
    target = fetch_cases.field_of(owned[(rank + 1) % ranks], (0,), 0, "f8", 0)
    with pytest.raises((InputError, PlanError), match="need the lists of all ranks"):
        fetch.plan(comm, source, target, algorithm="two-level-2")
    return ""
