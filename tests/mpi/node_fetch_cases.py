"""Node-aware fetches that MPI ranks carry out on pretended nodes; imported by the tests and by the ranks."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import fetch_truth
import numpy as np
import pytest
from fetch_refusals import taken
from ranks_problems import problems_of


def names(ranks: int, stride: int) -> list[str]:
    """Both families with nodes of 2 ranks and more, by every `stride`-th transport and packing.

    And all of them through the memory of just such nodes.
    """
    algorithms = itertools.cycle(f"{family}-{k}" for k in range(2, ranks) for family in ("two-level", "leaders"))
    several = [method for method in fetch_truth.METHODS if method[0] not in ("neighbor", "alltoallv", "alltoallw")]
    found = [f"{next(algorithms)} {transport} {packing}" for transport, packing in several[::stride]]
    nodes = [f"{family}-{k}" for k in range(2, ranks) for family in ("two-level", "leaders")]
    return list(dict.fromkeys([*found, *(f"{name} shared {p}" for name in nodes for p in ("buffer", "direct"))]))


def run(comm: Any, stride: int) -> dict[str, str]:
    """By case what went wrong, "" where nothing did."""
    numbered = enumerate([*names(comm.Get_size(), stride), *OTHERS])
    return problems_of(
        comm, ((name, OTHERS.get(name) or partial(_run_one, number, *name.split())) for number, name in numbered)
    )


def _run_one(number: int, algorithm: str, transport: str, packing: str, comm: Any) -> str:
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = fetch_truth.divided(ranks, number)
    wanted = fetch_truth.wishes(owned, number)
    mesh = points.Points(comm, owned[rank])
    fetch, halo = (points.allgather_lists(comm, made(wanted[rank])) for made in (mesh.fetch, mesh.halo))
    shape = list(fetch_truth.SHAPES)[number % len(fetch_truth.SHAPES)]
    dtype = fetch_truth.DTYPES[number % len(fetch_truth.DTYPES)]
    options = {"algorithm": algorithm, "transport": transport, "packing": packing, "check": number % 3 == 0}
    if transport == "shared":
        options["ranks_per_node"] = int(algorithm.rpartition("-")[2])
    options["fields"] = 1 + number % 2
    problem = fetch_truth.both_ways(comm, fetch, owned, wanted, shape, dtype, **options)
    if problem or (ranks > 3 and number % 2):  # 3 ranks have every way of both
        return problem
    return fetch_truth.in_one_array(comm, halo, owned, wanted, shape, dtype, **options)


def _of_one_rank(comm: Any) -> str:
    """A fetch of which each rank knows its own part: the ranks exchange their lists when such a method is chosen."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = fetch_truth.divided(ranks, 1)
    wanted = fetch_truth.wishes(owned, 1)
    fetch = points.Points(comm, owned[rank]).fetch(wanted[rank])
    if problem := fetch_truth.both_ways(comm, fetch, owned, wanted, "levels inside", algorithm="two-level-2"):
        return problem
    with pytest.MonkeyPatch.context() as patch:
        if rank == 0:  # whose environment counts for all
            patch.setenv("TRADEWIND_FETCH", "leaders-2,shared,direct")
        if problem := fetch_truth.both_ways(comm, fetch, owned, wanted, "levels around", "c16"):
            return problem
        source, target = np.zeros(len(owned[rank])), np.zeros(len(wanted[rank]))
        plan = fetch.plan(comm, source, target)
        return "" if (plan.transport, plan.packing) == ("shared", "direct") else f"{plan.transport},{plan.packing}"


def _refusals(comm: Any) -> str:
    """Where a way cannot be, or the ranks do not agree on one, all of them get the error."""
    from tradewind import _mpi, points
    from tradewind.mpi import MPI

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = fetch_truth.divided(ranks, 1)
    other = owned[(rank + 1) % ranks]
    fetch = points.Points(comm, owned[rank]).fetch(other)
    last = rank == ranks - 1
    source, target = np.zeros(len(owned[rank])), np.zeros(len(other))
    beyond = f"two-level-{ranks + 1}"

    def plan(algorithm: str, **options: Any) -> Any:
        return fetch.plan(comm, source, target, algorithm=algorithm, **options)

    def split_off() -> None:
        points.allgather_lists(MPI.COMM_SELF, fetch)

    bad: list[tuple[Any, str]] = [
        (lambda: plan(beyond), f"radix {ranks + 1} is out of range"),
        (lambda: plan("two-level-2", transport="neighbor"), "carries a schedule of one stage, and two-level-2 has 3"),
        (lambda: plan("two-level-2" if last else "direct"), "need the lists of all ranks"),
        (lambda: plan("direct" if last else "two-level-2"), "different plans"),
        (lambda: plan("leaders-2" if last else "two-level-2"), "different plans"),
        (lambda: fetch.schedule("two-level-2"), "use direct, or make it known to all"),
        (split_off, f"a fetch among {ranks} ranks is not of points among 1"),
        (lambda: points.allgather_lists(comm, other_fetch if last else fetch), "different plans"),
        (lambda: _mpi.allgather_lists(comm.py2f(), fetch.adjoint(), "two-level-2", not last), "different"),
    ]
    other_fetch = points.Points(comm, owned[rank]).fetch([])
    return taken(bad)


OTHERS = {"of one rank": _of_one_rank, "refusals": _refusals}
