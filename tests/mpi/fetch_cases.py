"""Fetches that MPI ranks carry out, each compared with NumPy's indexing of the whole field.

Imported by the tests (which list the cases) and by the ranks (which run them).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.errors import InputError, PlanError

TOTAL = 60
WAYS = [(entry.name, packing) for entry in _core.transports() for packing in entry.packings]
SHAPES: dict[str, tuple[tuple[int, ...], int]] = {
    "points": ((0,), 0),
    "levels outside": ((5, 0), -1),
    "levels inside": ((0, 4), 0),
    "levels around": ((3, 0, 2), 1),
}
"""Shapes of fields, 0 for the points, and the axis over these."""
DTYPES = ["f8", "i4", "c16", "f4", "i8", "c8"]


def divided(ranks: int, seed: int) -> list[np.ndarray]:
    """The points of a mesh, dealt out at random; with gaps between their ids."""
    random = np.random.default_rng(seed)
    ids = random.permutation(TOTAL * 3)[:TOTAL]
    cuts = np.sort(random.integers(0, TOTAL + 1, ranks - 1))
    return np.split(ids, cuts)


def wishes(owned: list[np.ndarray], seed: int) -> list[np.ndarray]:
    """What each rank wants: some of its own, some twice, some in a row; one rank may want nothing."""
    random = np.random.default_rng([seed, 1])
    every = np.concatenate(owned)
    found = [random.choice(every, random.integers(0, 40)) for _ in owned]
    return [np.concatenate([wanted, owned[seed % len(owned)][:9]]) for wanted in found]


def field_of(points: np.ndarray, shape: tuple[int, ...], axis: int, dtype: str, number: int) -> np.ndarray:
    """The values of points: small whole numbers, different for each point and level."""
    sizes = tuple(n or len(points) for n in shape)
    where = [1] * len(sizes)
    where[axis] = len(points)
    levels = np.arange(np.prod([n for n in shape if n], dtype=int)).reshape([n or 1 for n in shape])
    values = np.broadcast_to(points.reshape(where) * 100 + levels + number, sizes)
    return values.astype(dtype)


def run(comm: Any, ranks: int) -> dict[str, str]:
    """By case what went wrong, "" where nothing did."""
    outcome = {}
    for name, case in cases(ranks).items():
        try:
            problem = case(comm)
        except Exception:
            problem = traceback.format_exc()
        problems = [f"rank {rank}: {p}" for rank, p in enumerate(comm.allgather(problem)) if p]
        outcome[name] = "\n".join(problems)
    return outcome


def cases(ranks: int) -> dict[str, Callable[[Any], str]]:
    found: dict[str, Callable[[Any], str]] = {}
    for number, (transport, packing) in enumerate(WAYS):
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
        problem = _both_ways(comm, fetch, owned, wanted, self.shape, self.dtype, **options)
        if problem or (ranks > 2 and self.number % 2):  # 2 ranks have every way of both
            return problem
        return _in_one_array(comm, halo, owned, wanted, self.shape, self.dtype, **options)


def _both_ways(
    comm: Any,
    fetch: Any,
    owned: list[np.ndarray],
    wanted: list[np.ndarray],
    shape: str = "points",
    dtype: str = "f8",
    *,
    fields: int = 1,
    **options: Any,
) -> str:
    """Fetches, then adds back, twice each."""
    rank = comm.Get_rank()
    extents, axis = SHAPES[shape]
    source = [field_of(owned[rank], extents, axis, dtype, f) for f in range(fields)]
    target = [np.full_like(field_of(wanted[rank], extents, axis, dtype, 0), -7) for _ in range(fields)]
    swap = fetch.plan(comm, source, target, axis=axis, **options)
    for repeat in range(2):
        for f in range(fields):
            source[f][...] = field_of(owned[rank], extents, axis, dtype, f + repeat)
        swap()
        for f in range(fields):
            if not np.array_equal(target[f], field_of(wanted[rank], extents, axis, dtype, f + repeat)):
                return f"fetched {target[f]!r} for the points {wanted[rank]}"
    return _back(comm, fetch, owned, wanted, (extents, axis, dtype), options)


def _back(
    comm: Any,
    fetch: Any,
    owned: list[np.ndarray],
    wanted: list[np.ndarray],
    like: tuple[tuple[int, ...], int, str],
    options: dict[str, Any],
) -> str:
    """The adjoint, against `numpy.add.at` on the points of all ranks, and <F x, y> = <x, F' y>."""
    rank = comm.Get_rank()
    extents, axis, dtype = like
    x = [field_of(own, extents, axis, dtype, 0) for own in owned]
    y = [field_of(want, extents, axis, dtype, r) for r, want in enumerate(wanted)]
    added = _added(owned, wanted, x[rank], y, rank, axis)
    begin = np.full_like(x[rank], 3)
    got = begin.copy()
    back = fetch.adjoint().plan(comm, y[rank], got, axis=axis, **options)
    back()
    if not np.array_equal(got, begin + added):
        return f"added back {got!r} for {begin + added!r}"
    got[...] = 0
    back()
    fx = [field_of(want, extents, axis, dtype, 0) for want in wanted]
    left = comm.allreduce(complex(np.vdot(fx[rank].astype("c16"), y[rank].astype("c16"))))
    right = comm.allreduce(complex(np.vdot(x[rank].astype("c16"), got.astype("c16"))))
    if abs(left - right) > 1e-6 * abs(left):
        return f"<F x, y> = {left}, <x, F' y> = {right}"
    return ""


def _added(
    owned: list[np.ndarray], wanted: list[np.ndarray], like: np.ndarray, given: list[np.ndarray], rank: int, axis: int
) -> np.ndarray:
    """By `numpy.add.at`: what is added to a rank's own points where each rank gives so much for those that it wants."""
    sums = np.zeros_like(np.moveaxis(like, axis, 0))
    place = {int(point): i for i, point in enumerate(owned[rank])}
    for want, values in zip(wanted, given, strict=True):
        mine = [(k, place[int(point)]) for k, point in enumerate(want) if int(point) in place]
        entries, places = np.array(mine, dtype=int).reshape(-1, 2).T
        np.add.at(sums, places, np.moveaxis(values, axis, 0)[entries])
    return np.moveaxis(sums, 0, axis)


def _in_one_array(
    comm: Any,
    halo: Any,
    owned: list[np.ndarray],
    wanted: list[np.ndarray],
    shape: str = "points",
    dtype: str = "f8",
    *,
    fields: int = 1,
    **options: Any,
) -> str:
    """Behind the own points of one array fetches, then adds back, twice each: the rest of it stays as it is."""
    rank = comm.Get_rank()
    extents, axis = SHAPES[shape]
    own = len(owned[rank])
    both = np.concatenate([owned[rank], wanted[rank]])
    arrays = [field_of(both, extents, axis, dtype, 0) for _ in range(fields)]
    swap = halo.plan(comm, arrays, axis=axis, **options)
    for repeat in range(2):
        for f, array in enumerate(arrays):
            array[...] = field_of(both, extents, axis, dtype, f + repeat)
            np.moveaxis(array, axis, 0)[own:] = -7
        swap()
        for f, array in enumerate(arrays):
            if not np.array_equal(array, field_of(both, extents, axis, dtype, f + repeat)):
                return f"in one array fetched {array!r} for the points {both}"
    back = halo.adjoint().plan(comm, arrays, axis=axis, **options)
    for repeat in range(2):
        right = []
        for f, array in enumerate(arrays):
            given = [field_of(want, extents, axis, dtype, r + f + repeat) for r, want in enumerate(wanted)]
            by_point = np.moveaxis(array, axis, 0)
            by_point[:own] = 3
            by_point[own:] = np.moveaxis(given[rank], axis, 0)
            right.append(array.copy())
            of_own = np.moveaxis(right[f], axis, 0)[:own]
            of_own += np.moveaxis(_added(owned, wanted, np.moveaxis(of_own, 0, axis), given, rank, axis), axis, 0)
        back()
        for array, answer in zip(arrays, right, strict=True):
            if not np.array_equal(array, answer):
                return f"in one array added back {array!r} for {answer!r}"
    return ""


def _of_owners(comm: Any) -> str:
    from tradewind import points

    rank, ranks = comm.Get_rank(), comm.Get_size()
    owned = divided(ranks, 5)
    wanted = wishes(owned, 5)
    place = {int(point): (r, i) for r, own in enumerate(owned) for i, point in enumerate(own)}
    lists = np.array([place[int(point)] for point in wanted[rank]]).reshape(-1, 2)
    mesh = points.Points(comm, len(owned[rank]))
    fetch = mesh.fetch(owner=lists[:, 0], index=lists[:, 1])
    return _both_ways(comm, fetch, owned, wanted, "levels outside")


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
    return "an id that nobody owns was located"


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
    return _both_ways(comm, mesh.fetch(wanted[rank]), owned, wanted, "levels inside", "f4")


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
        for most in (1, 4, 40):
            wanted = []
            for r in range(ranks):
                draw = np.random.default_rng(100 * most + r)
                lengths = draw.integers(1, most + 1, 700) if most == 40 else np.full(900, most)
                begins = draw.integers(0, nx * ny - most + 1, len(lengths))
                wanted.append(np.concatenate([np.arange(b, b + n) for b, n in zip(begins, lengths, strict=True)]))
            fetch = mesh.fetch(wanted[rank], peers=[r for r in range(ranks) if r != rank] if most == 4 else None)
            if problem := _both_ways(comm, fetch, owned, wanted, "points"):
                return f"{nx} x {ny}, runs of up to {most}: {problem}"
    return ""


def _among_peers(comm: Any) -> str:
    """With peers that are known, and again and again: no letter of one fetch comes into another."""
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
    """What the ranks know together is verified in one process."""
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


def _refusals(comm: Any) -> str:
    """Bad lists: one rank says what is wrong, the others hear of it, and nobody hangs."""
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
        (lambda: mesh.fetch(at_last([absent], [])), f"wants point {absent} (entry 0 of its list), which nobody owns"),
        (lambda: mesh.fetch(at_last([10**9], [])), "wants point 1000000000 (entry 0 of its list), which nobody owns"),
        (lambda: mesh.fetch(at_last([-1], [])), "wants point -1 (entry 0 of its list), which nobody owns"),
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
            (lambda: by_rows.fetch(at_last([0, -1], [0])), "wants point -1 (entry 1 of its list), which nobody"),
            (lambda: by_rows.fetch(at_last([2 * ranks**2], [])), f"wants point {2 * ranks**2} (entry 0 of its list)"),
        ]
        bad.append((lambda: points.Points(comm, twice[rank]), "is owned twice: by rank 0 "))
        bad.append((lambda: mesh.fetch(at_last(owned[0][:1], []), peers=[]), "which is none of its peers"))
        bad.append((lambda: mesh.fetch([], peers=at_last([0], [])), "the ranks do not name each other as peers"))
        bad.append(
            (lambda: mesh.fetch([], peers=at_last([ranks], [])), f"names peer {ranks}; other ranks of 0..{last}")
        )
    fetch = mesh.fetch(owned[0])
    source, target = np.zeros(len(owned[rank])), np.zeros(len(owned[0]))
    bad += [
        (lambda: fetch.plan(comm, source, at_last(np.zeros(len(owned[0]) + 1), target)), "points along axis -1, but"),
        (lambda: fetch.plan(comm, source), "needs target arrays"),
        (lambda: fetch.plan(comm, source, np.zeros((2, len(owned[0])))), "all have the same"),
        (lambda: fetch.plan(comm, source, target, axis=1), "axis 1: source field 0 has 1 dimensions"),
    ]
    for number, (act, words) in enumerate(bad):
        try:
            act()
            said = ""
        except (InputError, PlanError) as error:
            said = str(error)
        if words not in said or (words and not said):
            return f"refusal {number}: {said!r}, not {words!r}"
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
    "refusals": _refusals,
}
