"""Lists of points that are refused on MPI ranks: one raises the reason, the others PlanError, and no rank hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fetch_truth import TOTAL, divided

from tradewind import _core
from tradewind.base.errors import InputError, PlanError


def refusals(comm: Any) -> str:
    """Return the failures; "" where all was refused as it should be."""
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = divided(ranks, 4)
    last = ranks - 1
    mesh = points.Points(comm, owned[rank])
    plain = points.Points(comm, 5)
    absent = int(np.setdiff1d(np.arange(TOTAL * 3), np.concatenate(owned))[0])

    def at_last(bad: Any, good: Any) -> Any:
        return bad if rank == last else good

    twice = [np.array([7, 8])] * ranks
    bad: list[tuple[Callable[[], Any], str]] = [
        (lambda: mesh.fetch(at_last([absent], [])), f"wants point {absent} (entry 0 of its list), which no rank owns"),
        (lambda: mesh.fetch(at_last([10**9], [])), "wants point 1000000000 (entry 0 of its list), which no rank owns"),
        (lambda: mesh.fetch(at_last([-1], [])), "wants point -1 (entry 0 of its list), which no rank owns"),
        (lambda: mesh.fetch(at_last([0.5], [])), "a list of whole numbers is allowed"),
        (lambda: points.Points(comm, at_last([-3], [])), f"rank {last} owns point -3: 0 and more are allowed"),
        (
            lambda: points.Points(comm, at_last([9, 8, 9], [])),
            f"point 9 is owned twice: by rank {last} (its point 0) and by rank {last} (its point 2)",
        ),
        (lambda: points.renumbered(comm, at_last([4, 4], []), []), f"point 4 is owned twice: by rank {last} (its"),
        (lambda: points.renumbered(comm, at_last([-4], []), []), f"rank {last} owns point -4: 0 and more"),
        (lambda: points.renumbered(comm, [rank], at_last([ranks], [])), f"wants point {ranks} (entry 0 of its list)"),
        (lambda: points.renumbered(comm, [rank], at_last([0.5], [])), "a list of whole numbers is allowed"),
        (lambda: points.renumbered(comm, at_last([[0, 1]], []), []), "a list of whole numbers is allowed"),
        (lambda: points.renumbered(comm, at_last(3, [rank]), []), "shape () and type int64; a list of whole numbers"),
        (lambda: plain.fetch([3] if rank == last else []), "have no ids"),
        (lambda: plain.fetch(owner=at_last([0, 0], []), index=at_last([1], [])), "2 owners, 1 indices"),
        (lambda: plain.fetch(owner=at_last([ranks], []), index=at_last([1], [])), f"owner {ranks}; ranks 0.."),
        (lambda: plain.fetch(owner=at_last([2**32], []), index=at_last([1], [])), f"owner {2**31 - 1}; ranks 0.."),
        (lambda: plain.fetch(owner=at_last([-(2**32)], []), index=at_last([1], [])), f"owner {-(2**31)}; ranks 0.."),
        (lambda: plain.fetch(owner=at_last([0], []), index=at_last([5], [])), "wants point 5 of "),
        (lambda: plain.fetch(owner=at_last([0], []), index=at_last([-5], [])), "index -5; 0 and more are allowed"),
        (
            lambda: plain.fetch(owner=at_last([0, 0], []), index=at_last([1, 2], []), places=at_last([1, 1], [])),
            "place 1 of the target array is taken twice",
        ),
        (
            lambda: plain.halo(owner=at_last([0], []), index=at_last([2], []), places=at_last([9], [])),
            "place 9 of the target array, which has 5",
        ),
        (
            lambda: plain.halo(owner=[0], index=[2], places=[2]),
            "wants point 2 of rank 0, which that rank takes from elsewhere itself",
        ),
        (lambda: points.Points(comm, at_last(2**64, 5)), f"{2**64} points: up to 2^63 - 1 are allowed"),
        (lambda: points.Points(comm, at_last(-1, 5)), "-1 points: 0 and more are allowed"),
        (lambda: mesh.fetch([], peers=at_last([0.5], [])), "peers: "),
        (
            lambda: mesh.fetch([], peers=at_last([2**40], [])),
            f"names peer {2**40}; other ranks of 0..{last}",
        ),
        (lambda: mesh.fetch([], peers=at_last([-1], [])), f"names peer -1; other ranks of 0..{last}"),
        (lambda: mesh.fetch([], peers=None if rank == last else []), "different plans" if ranks > 1 else ""),
    ]
    if ranks > 1:
        rows, columns = (_core.Blocks(_core.Grid(2 * ranks, ranks, 1), split) for split in ((1, ranks), (ranks, 1)))
        by_rows, owners = points.Points(comm, rows), {"owner": [0], "index": [0]}
        bad += [
            (lambda: points.Points(comm, at_last(5, [rank])), "rank 0 {points with ids}, rank"),
            (lambda: points.Points(comm, at_last(rows, 5)), "rank 0 {points without ids}, rank"),
            (lambda: points.Points(comm, at_last([rank], rows)), "{points with ids}"),
            (lambda: points.Points(comm, at_last(columns, rows)), f"split 1 x {ranks} along xy"),
            (lambda: at_last(mesh.halo, mesh.fetch)([]), "rank 0 {a fetch}, rank"),
            (lambda: by_rows.fetch(**at_last({"wanted": [0]}, owners)), "rank 0 {a fetch}, rank"),
            (lambda: by_rows.fetch(at_last([0, -1], [0])), "wants point -1 (entry 1 of its list), which no rank"),
            (lambda: by_rows.fetch(at_last([2 * ranks**2], [])), f"wants point {2 * ranks**2} (entry 0 of its list)"),
        ]
        bad.append((lambda: points.Points(comm, twice[rank]), "is owned twice: by rank 0 "))
        bad.append((lambda: mesh.fetch(at_last(owned[0][:1], []), peers=[]), "which is not among its peers"))
        bad.append((lambda: mesh.fetch([], peers=at_last([0], [])), "the ranks do not name each other as peers"))
        bad.append(
            (lambda: mesh.fetch([], peers=at_last([ranks], [])), f"names peer {ranks}; other ranks of 0..{last}")
        )
    fetch = mesh.fetch(owned[0])
    source, target = np.zeros(len(owned[rank])), np.zeros(len(owned[0]))
    bad += [
        (lambda: fetch.plan(comm, source, at_last(np.zeros(len(owned[0]) + 1), target)), "points along axis -1, but"),
        (lambda: fetch.plan(comm, source), "needs target arrays"),
        (lambda: fetch.plan(comm, source, np.zeros((2, len(owned[0])))), "both have the same"),
        (lambda: fetch.plan(comm, source, target, axis=1), "axis 1: source field 0 has 1 dimensions"),
    ]
    return taken(bad)


def taken(bad: list[tuple[Callable[[], Any], str]]) -> str:
    """The first call that is not refused with the words beside it; "" where all are."""
    for number, (act, words) in enumerate(bad):
        try:
            act()
            raised = ""
        except (InputError, PlanError) as error:
            raised = str(error)
        if words not in raised:
            return f"refusal {number}: {raised!r}, not {words!r}"
    return ""
