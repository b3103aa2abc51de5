"""Fetches that MPI ranks carry out: every way of each, and what else there is to lists of points.

Imported by the tests (which list the cases) and by the ranks (which run them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fetch_refusals import refusals
from fetch_truth import DTYPES, METHODS, SHAPES, both_ways, divided, field_of, in_one_array, wishes
from ranks_problems import problems_of

from tradewind import _core
from tradewind.base.errors import InputError, PlanError


def run(comm: Any, ranks: int) -> dict[str, str]:
    """By case what went wrong, "" where nothing did."""
    return problems_of(comm, cases(ranks).items())


def cases(ranks: int) -> dict[str, Callable[[Any], str]]:
    found: dict[str, Callable[[Any], str]] = {}
    for number, (transport, packing) in enumerate(METHODS):
        if ranks in (1, 4) and number % 3:  # where all ranks have a core of their own, or nearly so, all ways
            continue
        shape = list(SHAPES)[number % len(SHAPES)]
        dtype = DTYPES[number % len(DTYPES)]
        found[f"{transport} {packing}, {shape}, {dtype}"] = _Way(number, transport, packing, shape, dtype)
    for name, case in CASES.items():
        found[name] = case
    return found


class _Way:
    def __init__(self, number: int, transport: str, packing: str, shape: str, dtype: str) -> None:
        self.number, self.transport, self.packing, self.shape, self.dtype = number, transport, packing, shape, dtype

    def __call__(self, comm: Any) -> str:
        from tradewind import points

        rank, ranks = comm.Get_rank(), comm.Get_size()
        owned = divided(ranks, self.number)
        wanted = wishes(owned, self.number)
        mesh = points.Points(comm, owned[rank])
        fetch, halo = mesh.fetch(wanted[rank]), mesh.halo(wanted[rank])
        options = {"transport": self.transport, "packing": self.packing, "check": self.number % 3 == 0}
        options["fields"] = 1 + self.number % 2
        problem = both_ways(comm, fetch, owned, wanted, self.shape, self.dtype, **options)
        if problem or (ranks > 2 and self.number % 2):  # 2 ranks have every way of both
            return problem
        return in_one_array(comm, halo, owned, wanted, self.shape, self.dtype, **options)


def _of_owners(comm: Any) -> str:
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = divided(ranks, 5)
    wanted = wishes(owned, 5)
    place = {int(point): (r, i) for r, own in enumerate(owned) for i, point in enumerate(own)}
    lists = np.array([place[int(point)] for point in wanted[rank]]).reshape(-1, 2)
    mesh = points.Points(comm, len(owned[rank]))
    fetch = mesh.fetch(owner=lists[:, 0], index=lists[:, 1])
    return both_ways(comm, fetch, owned, wanted, "levels outside")


def _ids_far_apart(comm: Any) -> str:
    """Up to the highest id there is; the last rank owns nothing."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = [own * 2**55 for own in divided(max(ranks - 1, 1), 6)]
    owned[0] = np.append(owned[0], 2**63 - 1)
    owned += [np.empty(0, np.int64)] * (ranks - len(owned))
    place = {int(point): (r, i) for r, own in enumerate(owned) for i, point in enumerate(own)}
    wanted = np.random.default_rng(rank).choice(np.concatenate(owned), 150)
    wanted[140] = 2**63 - 1
    mesh = points.Points(comm, owned[rank])
    found = list(zip(*(part.tolist() for part in mesh.locate(wanted)), strict=True))
    if found != [place[int(point)] for point in wanted]:
        return f"located at {found}"
    try:
        mesh.locate([2**63 - 2] if rank == ranks - 1 else [])
    except (InputError, PlanError) as error:
        return "" if f"point {2**63 - 2} " in str(error) else f"another error: {error}"
    return "an id without an owner was located"


def _of_layout(comm: Any) -> str:
    """Columns of blocks, by arithmetic and by look-up; the owner of each is what the layout says."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    nx, ny = 11, 7
    layout = _core.Blocks(_core.Grid(nx, ny, 3), (ranks, 1) if ranks != 4 else (2, 2), "yx" if ranks == 3 else "xy")
    boxes = [layout.box(r) for r in range(ranks)]
    owned = [(np.arange(b[1], e[1])[:, None] * nx + np.arange(b[0], e[0])[None, :]).ravel() for b, e in boxes]
    wanted = [np.random.default_rng(r).integers(0, nx * ny, 30) for r in range(ranks)]
    mesh = points.Points(comm, layout)
    same = points.Points(comm, owned[rank])
    for a, b in zip(mesh.locate(wanted[rank]), same.locate(wanted[rank]), strict=True):
        if not np.array_equal(a, b):
            return f"located at {a}, by look-up at {b}"
    return both_ways(comm, mesh.fetch(wanted[rank]), owned, wanted, "levels inside", "f4")


def _runs_of_layout(comm: Any) -> str:
    """Long lists of runs of one length and of many, beyond rows and owners, of grids that are divided in each way."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    both = (2, ranks // 2) if ranks % 2 == 0 else (ranks, 1)
    layouts = (16, 12, (1, ranks)), (24, 9, (ranks, 1)), (1, 40, (1, ranks)), (50, 1, (ranks, 1)), (15, 11, both)
    for nx, ny, split in layouts:
        layout = _core.Blocks(_core.Grid(nx, ny, 1), split)
        boxes = [layout.box(r) for r in range(ranks)]
        owned = [(np.arange(b[1], e[1])[:, None] * nx + np.arange(b[0], e[0])[None, :]).ravel() for b, e in boxes]
        mesh = points.Points(comm, layout)
        for maximum in (1, 4, 40):
            wanted = []
            for r in range(ranks):
                draw = np.random.default_rng(100 * maximum + r)
                lengths = draw.integers(1, maximum + 1, 700) if maximum == 40 else np.full(900, maximum)
                begins = draw.integers(0, nx * ny - maximum + 1, len(lengths))
                wanted.append(np.concatenate([np.arange(b, b + n) for b, n in zip(begins, lengths, strict=True)]))
            fetch = mesh.fetch(wanted[rank], peers=[r for r in range(ranks) if r != rank] if maximum == 4 else None)
            if problem := both_ways(comm, fetch, owned, wanted, "points"):
                return f"{nx} x {ny}, runs of up to {maximum}: {problem}"
    return ""


def _among_peers(comm: Any) -> str:
    """With peers that are known, and again and again: no message of one fetch is received by another."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = divided(ranks, 9)
    mesh = points.Points(comm, owned[rank])
    for seed in range(12):
        wanted = wishes(owned, seed)
        peers = [r for r in range(ranks) if r != rank] if seed % 2 else None
        fetch = mesh.fetch(wanted[rank], peers=peers)
        target = np.empty(len(wanted[rank]))
        fetch.plan(comm, owned[rank].astype("f8"), target)()
        if not np.array_equal(target, wanted[rank]):
            return f"fetch {seed}: {target} for {wanted[rank]}"
    return ""


def _halo(comm: Any) -> str:
    """Behind the own points, in one array, with levels; and its adjoint."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = divided(ranks, 13)
    halo = [np.setdiff1d(np.unique(want), own) for want, own in zip(wishes(owned, 13), owned, strict=True)]
    fetch = points.Points(comm, owned[rank]).halo(halo[rank])
    both = np.concatenate([owned[rank], halo[rank]])
    field = np.full((3, len(both)), -7.0)
    own = len(owned[rank])
    field[:, :own] = field_of(owned[rank], (3, 0), 1, "f8", 0)
    fetch.plan(comm, field)()
    if not np.array_equal(field, field_of(both, (3, 0), 1, "f8", 0)):
        return f"{field}"
    field[...] = 1
    fetch.adjoint().plan(comm, field)()
    times = np.array([sum(int(point in h) for h in halo) for point in owned[rank]], dtype=float).reshape(-1)
    if not np.array_equal(field[:, :own], np.broadcast_to(1 + times, (3, own))):
        return f"added back {field[:, :own]} for {1 + times}"
    return "" if np.all(field[:, own:] == 1) else "the halo has changed"


def _scattered_halo(comm: Any) -> str:
    """Halo points between own ones: a mesh in one row, whose ranks own every ranks-th point; a period in it."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    n = 4 * ranks
    # Rank r holds all points; it owns those with number % ranks == r, and the others are halo.
    numbers = np.arange(n)
    ghost = numbers[numbers % ranks != rank]
    mesh = points.Points(comm, n)
    fetch = mesh.halo(owner=ghost % ranks, index=ghost, places=ghost)
    field = np.where(numbers % ranks == rank, numbers * 10.0, -7.0)
    fetch.plan(comm, field)()
    return "" if np.array_equal(field, numbers * 10.0) else f"{field}"


def _renumbered(comm: Any) -> str:
    """Own, rim and halo are three runs, and every message lies in one."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    nx, ny = 8 * ranks, 6
    layout = _core.Blocks(_core.Grid(nx, ny, 1), (ranks, 1))
    (x0, _, _), (x1, _, _) = layout.box(rank)
    number = np.arange(nx * ny).reshape(ny, nx)
    own = number[:, x0:x1].ravel()
    halo = number[:, [x for x in (x0 - 1, x1) if 0 <= x < nx]].ravel()
    order = points.renumbered(comm, own[::-1], halo[::-1])
    fetch = points.Points(comm, order.own).halo(order.halo)
    if sorted(order.own) != sorted(own) or sorted(order.halo) != sorted(halo):
        return "points are lost"
    edges = [x for x, inside in ((x0, x0 > 0), (x1 - 1, x1 < nx)) if inside]
    if order.interior != len(own) - len(halo) or set(order.own[order.rim]) != {p for p in own if p % nx in edges}:
        return f"rim {order.own[order.rim]}"
    field = np.concatenate([order.own * 1.0, np.full(len(halo), -1.0)])
    plan = fetch.plan(comm, field, packing="direct")
    plan()
    if plan.messages != (ranks > 1) * (1 + (0 < rank < ranks - 1)):
        return f"{plan.messages} messages"
    return "" if np.array_equal(field, np.concatenate([order.own, order.halo])) else f"{field}"


def _gathered(comm: Any) -> str:
    """The lists of all ranks together are verified in one process."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = divided(ranks, 2)
    wanted = wishes(owned, 2)
    fetch = points.Points(comm, owned[rank]).fetch(wanted[rank])
    try:
        fetch.schedule().verify()
        return "a part was verified as the whole"
    except InputError as error:
        if "describes one rank alone" not in str(error):
            return str(error)
    whole = points.gathered(comm, fetch)
    if rank:
        return "" if whole is None else "only rank 0 has the whole"
    assert whole is not None
    whole.adjoint().schedule().verify()
    result = whole.schedule().verify()
    alone = sum(np.isin(want, own).sum() for want, own in zip(wanted, owned, strict=True))
    moved = result["bytes"] + result["copied_bytes"]
    if moved != 8 * sum(map(len, wanted)) or result["copied_bytes"] != 8 * alone:
        return f"{result}"
    return ""


CASES: dict[str, Callable[[Any], str]] = {
    "owners and indices": _of_owners,
    "ids far apart": _ids_far_apart,
    "a layout": _of_layout,
    "runs of a layout": _runs_of_layout,
    "known peers, again and again": _among_peers,
    "an unstructured halo": _halo,
    "a scattered halo": _scattered_halo,
    "a renumbered halo": _renumbered,
    "all parts gathered": _gathered,
    "refusals": refusals,
}
