"""Exchanges that MPI ranks carry out, each compared with a result that NumPy works out from the definition alone.

Imported by the tests (which list the cases) and by the ranks (which run them).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from ranks_problems import problems_of

from tradewind import _core
from tradewind.base.errors import InputError

GRID = (13, 11, 7)
LAYOUT_PAIRS = [("xy", "zy"), ("zy", "zx"), ("zx", "yx"), ("xy", "yx"), ("xz", "zy")]
DTYPES = ["f8", "i4", "c16", "f4", "i8", "c8"]
ORDERS = ["C", "F", "xyz", "strided", "reversed"]
_SENTINEL = -7


@dataclass(frozen=True)
class Case:
    """One exchange; what its pattern does not use is left at its default."""

    pattern: str
    ranks: int
    algorithm: str
    split: tuple[int, int] = (1, 1)
    axes: tuple[str, str] = ("xy", "zy")
    to_split: tuple[int, int] | None = None
    width: int = 0
    periodic: str = ""
    count: int = 1
    operation: str = "sum"
    dtype: str = "f8"
    fields: int = 1
    order: str = "C"
    grid: tuple[int, int, int] = GRID
    largest_message: int = 2**30
    transport: str = "isend-irecv"
    packing: str = "buffer"
    pack_ahead: bool = True
    synchronous: bool = False
    check: bool = False
    ranks_per_node: int = 0

    @property
    def name(self) -> str:
        default = Case(self.pattern, self.ranks, self.algorithm)
        parts = [f"{k}={v}" for k, v in asdict(self).items() if v != getattr(default, k)]
        return " ".join([self.pattern, self.algorithm, *parts]).replace("'", "")


def make_pattern(case: Case) -> _core.Pattern:
    grid = _core.Grid(*case.grid)
    if case.pattern == "allreduce":
        return _core.AllReduce(case.ranks, case.count)
    if case.pattern == "halo":
        periodic = ["x" in case.periodic, "y" in case.periodic]
        return _core.Halo(_core.Blocks(grid, case.split), case.width, periodic)
    before, after = case.axes
    to_split = case.to_split or case.split
    return _core.Transpose(_core.Blocks(grid, case.split, before), _core.Blocks(grid, to_split, after))


def algorithms(pattern: _core.Pattern) -> list[str]:
    names = []
    for entry in _core.algorithms():
        if entry.pattern == pattern.name and not entry.has_radix:
            names.append(entry.name)
        elif entry.pattern == pattern.name:
            minimum, maximum = entry.radices(pattern)
            maximum = min(maximum, max(pattern.ranks, minimum))  # one rank allows any radix
            names += [entry.name.replace("-k", f"-{k}") for k in range(minimum, maximum + 1)]
    return [name for name in names if _allows(pattern, name)]


def _allows(pattern: _core.Pattern, algorithm: str) -> bool:
    """Whether an algorithm does a pattern: bruck only where the ranks of a group have something for each other."""
    try:
        _core.make_schedule(pattern, algorithm)
    except InputError:
        return False
    return True


def cases(ranks: int) -> list[Case]:
    """Return the cases of a rank count: each shows something that the ones before do not.

    Each property of the arrays meets each kind of exchange somewhere.
    """
    prime_enough = ranks == 5  # which says something of the ways, and little more of the algorithms than 3 and 6
    bare = [] if prime_enough else [*_transposes(ranks), *_halos(ranks), *_reductions(ranks)]
    bare += [] if prime_enough else [*_node_halos(ranks)]
    counter = itertools.count(ranks)
    found = [_carried(case, counter) for case in bare] + [*_carriages(ranks), *_within_nodes(ranks)]
    return _telling(found)


def _telling(found: list[Case]) -> list[Case]:
    """Select the cases that have a value, a way, an algorithm of a split or with an operation that none had yet."""
    seen: set[tuple[object, ...]] = set()
    selected = []
    for case in found:
        shown: set[tuple[object, ...]] = {(case.pattern, *value) for value in asdict(case).items()}
        shown |= {(case.pattern, case.transport, case.packing), (case.pattern, case.algorithm, case.split)}
        shown |= {(case.axes, case.split), (case.algorithm, case.operation), (case.operation, case.dtype)}
        if shown - seen:
            selected.append(case)
            seen |= shown
    return selected


METHODS = [(entry.name, packing) for entry in _core.transports() for packing in entry.packings if not entry.on_devices]


def _carried(case: Case, counter: Iterator[int]) -> Case:
    """The case with the next way that goes with it; half of the cases keep the usual one."""
    if case.algorithm == "native" or next(counter) % 2:
        return case
    allowed = [method for method in METHODS if may_carry(case, *method)]
    transport, packing = allowed[next(counter) // 2 % len(allowed)]
    if transport == "shared" and packing == "direct" and case.order == "C":
        case = replace(case, order="shared")
    return _lighter(replace(case, transport=transport, packing=packing))


def _lighter(case: Case) -> Case:
    """Select the run-by-run cases that are quick where ranks share a core."""
    if case.packing != "direct" or case.transport == "shared":
        return case
    order = "xyz" if case.order == "xyz" else "C"
    return replace(case, order=order, width=min(case.width, 3), count=min(case.count, 7), fields=1)


def may_carry(case: Case, transport: str, packing: str) -> bool:
    schedule = _core.make_schedule(make_pattern(case), case.algorithm)
    return _core.transport_refusal(schedule, transport, packing) == ""


def _carriages(ranks: int) -> Iterator[Case]:
    """Every transport and packing with every pattern, in one stage and in several, in its several modes."""
    split = min(_splits(ranks), key=lambda s: abs(s[0] - s[1]))
    bare = [
        Case("transpose", ranks, "burst", (ranks, 1), ("xy", "zy"), fields=2),
        Case("transpose", ranks, "ring-1", split, ("zy", "zx"), dtype="c16"),
        Case("halo", ranks, "direct", split, width=3, periodic="xy", dtype="f4", fields=3),
        Case("halo", ranks, "sweep", split, width=15, periodic="x"),
        Case("halo", ranks, "sweep", (ranks, 1), width=15, periodic="xy", dtype="i4", fields=2),
        Case("allreduce", ranks, "recursive-2", count=7, dtype="i8", fields=2),
        Case("allreduce", ranks, "recursive-near-2", count=5),
    ]
    modes: list[dict[str, Any]] = [{}, {"check": True}, {"synchronous": True}, {"pack_ahead": False}]
    counter = itertools.count(ranks)
    for case in bare:
        for transport, packing in METHODS:
            if not may_carry(case, transport, packing):
                continue
            mode = modes[next(counter) % len(modes)]
            if transport == "shared":
                mode = mode | {"ranks_per_node": next(counter) % 3}
                if packing == "direct" and case.pattern != "allreduce":
                    mode = mode | {"order": "shared"}
            yield _lighter(replace(case, transport=transport, packing=packing, **mode))
            if transport == "shared":  # long messages, which go in chunks, are those above a few of the largest
                yield replace(
                    case, packing=packing, transport=transport, largest_message=40, order=ORDERS[next(counter) % 5]
                )
    if ranks <= 3:  # enough bytes to be written past the cache
        large = Case("transpose", ranks, "burst", (ranks, 1), ("zy", "xy"), fields=2, grid=(250, 100, 80))
        yield from (large, replace(large, axes=("xy", "zy"), transport="shared"))
        yield replace(large, axes=("xy", "yx"), transport="shared", packing="direct", order="shared")


def _within_nodes(ranks: int) -> Iterator[Case]:
    """Cases with nodes of k ranks, through the memory of such nodes, and of smaller ones."""
    split = min(_splits(ranks), key=lambda s: abs(s[0] - s[1]))
    for k in range(2, ranks):
        bare = [
            Case("halo", ranks, f"two-level-{k}", split, width=3, periodic="xy", fields=2),
            Case("halo", ranks, f"leaders-{k}", (ranks, 1), width=15, periodic="x", dtype="f4"),
            Case("transpose", ranks, f"two-level-{k}", (ranks, 1), ("xy", "zy"), dtype="c16"),
        ]
        for case in bare:
            yield replace(case, transport="shared", ranks_per_node=k)
            yield replace(case, transport="shared", packing="direct", order="shared", ranks_per_node=k)
        yield replace(bare[0], transport="shared", packing="direct", ranks_per_node=k - 1)


def _splits(ranks: int) -> list[tuple[int, int]]:
    return [(i, ranks // i) for i in range(1, ranks + 1) if ranks % i == 0]


def _transposes(ranks: int) -> Iterator[Case]:
    n = 0
    for split in _splits(ranks):
        for axes in LAYOUT_PAIRS:
            bare = Case("transpose", ranks, "burst", split, axes)
            pattern = make_pattern(bare)
            native = ["native"] if pattern.complete else []
            for algorithm in [*algorithms(pattern), *native]:
                n += 1
                small = {"largest_message": 40} if n % 4 == 0 and algorithm != "native" else {}
                yield replace(
                    bare,
                    algorithm=algorithm,
                    dtype=DTYPES[n % len(DTYPES)],
                    fields=1 + n % 3,
                    order=ORDERS[n % len(ORDERS)],
                    **small,
                )
        yield Case("transpose", ranks, "ring-1", split, ("xy", "xy"), to_split=split[::-1])


def _halos(ranks: int) -> Iterator[Case]:
    n = 0
    for split in _splits(ranks):
        for width in (0, 1, 3, 15):
            for periodic in ("", "x", "y", "xy"):
                for algorithm in ("sweep", "direct"):
                    n += 1
                    yield Case(
                        "halo",
                        ranks,
                        algorithm,
                        split,
                        width=width,
                        periodic=periodic,
                        dtype=DTYPES[n % len(DTYPES)],
                        fields=1 + n % 2,
                        order=ORDERS[n % len(ORDERS)],
                    )


def _node_halos(ranks: int) -> Iterator[Case]:
    """With pretended nodes of k ranks, the last of them not always full; across seams, also onto the own node."""
    n = 0
    for split in _splits(ranks):
        for k in range(2, ranks):
            for family in ("two-level", "leaders"):
                n += 1
                yield Case(
                    "halo",
                    ranks,
                    f"{family}-{k}",
                    split,
                    width=(1, 3, 15)[n % 3],
                    periodic=("xy", "", "x", "y", "xy")[n % 5],
                    dtype=DTYPES[n % len(DTYPES)],
                    fields=1 + n % 3,
                    order=ORDERS[n % len(ORDERS)],
                )


def _reductions(ranks: int) -> Iterator[Case]:
    n = 0
    for count in (1, 3, 50):
        pattern = _core.AllReduce(ranks, count)
        for algorithm in [*algorithms(pattern), "native"]:
            for dtype in DTYPES:
                n += 1
                real = dtype[0] != "c"
                operation = ["sum", "min", "max", "prod"][n // len(DTYPES) % 4] if real else "sum"
                yield Case(
                    "allreduce",
                    ranks,
                    algorithm,
                    count=count,
                    operation=operation,
                    dtype=dtype,
                    fields=1 + n % 2,
                    order=["C", "strided"][n % 2],
                )


# --- what the ranks do ---


def run(comm: Any, payload: list[dict[str, Any]]) -> dict[str, str]:
    """Runs cases; by name what went wrong, "" where nothing did."""
    asked = [Case(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}) for values in payload]
    return problems_of(comm, ((case.name, partial(_run_one, case)) for case in asked))


def _run_one(case: Case, comm: Any) -> str:
    from tradewind import mpi

    pattern = make_pattern(case)
    rank, round_count = comm.Get_rank(), 2
    if case.order == "shared":
        source = [mpi.empty(pattern, comm, case.dtype) for _ in range(case.fields)]
    else:
        source = [_empty(pattern.source_shape(rank), case) for _ in range(case.fields)]
    target = source if pattern.in_place else [_empty(pattern.target_shape(rank), case) for _ in range(case.fields)]
    names = ["operation", "algorithm"]
    if case.algorithm != "native":
        names += ["largest_message", "transport", "packing", "pack_ahead", "synchronous", "check", "ranks_per_node"]
    options: dict[str, Any] = {name: getattr(case, name) for name in names}
    options["dims"] = "xyz" if case.order == "xyz" else "zyx"
    options["watchdog_s"] = 120.0 if case.check else 0.0
    plan = mpi.plan(pattern, comm, source, None if pattern.in_place else target, **options)
    for number in range(round_count):
        for field in range(case.fields):
            if not pattern.in_place:
                target[field][...] = _SENTINEL
            _as_zyx(source[field], case)[...] = before(case, rank, field, number)
        if number == 0:
            plan()
        else:
            plan.start()
            plan.wait()
        for field in range(case.fields):
            got, wanted = _as_zyx(target[field], case), after(case, rank, field, number)
            problem = _difference(case, got, wanted)
            if problem:
                return f"round {number}, field {field}: {problem}"
    return ""


def _empty(shape: tuple[int, int, int], case: Case) -> np.ndarray[Any, Any]:
    dtype = np.dtype(case.dtype)
    if case.pattern == "allreduce":
        return np.zeros(shape[2] * 3, dtype)[::3] if case.order == "strided" else np.zeros(shape[2], dtype)
    if case.order == "F":
        return np.zeros(shape, dtype, order="F")
    if case.order == "xyz":
        return np.zeros(shape[::-1], dtype, order="F")
    if case.order == "strided":
        return np.zeros((shape[0], shape[1] + 2, shape[2] * 2), dtype)[:, 1:-1, ::2]
    if case.order == "reversed":
        return np.zeros(shape, dtype)[::-1, :, ::-1]
    return np.zeros(shape, dtype)


def _as_zyx(array: np.ndarray[Any, Any], case: Case) -> np.ndarray[Any, Any]:
    return array.transpose() if case.order == "xyz" and array.ndim == 3 else array


def _difference(case: Case, got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> str:
    exact = case.pattern != "allreduce" or case.dtype[0] == "i" or case.operation in ("min", "max")
    tolerance = 0.0 if exact else {"f4": 2e-6, "c8": 2e-6}.get(case.dtype, 1e-14)
    scale = np.maximum(np.abs(wanted), 0 if exact else 1)
    wrong = np.argwhere(~(np.abs(got - wanted) <= tolerance * scale))
    if not len(wrong):
        return ""
    place = tuple(int(i) for i in wrong[0])
    return f"{len(wrong)} of {got.size} wrong, first {got[place]} for {wanted[place]} at {place}"


# --- the results, from the definition ---


def _whole(case: Case, field: int, number: int) -> np.ndarray[Any, Any]:
    """The global field [z][y][x]."""
    nx, ny, nz = case.grid
    return (np.arange(nx * ny * nz).reshape(nz, ny, nx) + 10000 * field + 7 * number + 1).astype(case.dtype)


def _part(points: int, parts: int, part: int) -> range:
    sizes = [points // parts + (p < points % parts) for p in range(parts)]
    return range(sum(sizes[:part]), sum(sizes[: part + 1]))


def _owned(case: Case, split: tuple[int, int], axes: str, rank: int) -> list[range]:
    """Points along z, y, x."""
    place = dict(zip(axes, (rank % split[0], rank // split[0]), strict=True))
    parts = dict(zip(axes, split, strict=True))
    return [_part(case.grid["xyz".index(a)], parts.get(a, 1), place.get(a, 0)) for a in "zyx"]


def _vector(case: Case, rank: int, field: int, number: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng([rank, field, number, case.count])
    if case.dtype[0] == "i":
        return random.integers(-(2**31), 2**31, case.count).astype(case.dtype)
    values = random.uniform(0.5, 1.5, case.count)
    if case.dtype[0] == "c":
        return (values + 1j * random.uniform(0.5, 1.5, case.count)).astype(case.dtype)
    return values.astype(case.dtype)


def before(case: Case, rank: int, field: int, number: int) -> np.ndarray[Any, Any]:
    if case.pattern == "allreduce":
        return _vector(case, rank, field, number)
    z, y, x = (
        _owned(case, case.split, case.axes[0], rank)
        if case.pattern == "transpose"
        else _owned(case, case.split, "xy", rank)
    )
    inner = _whole(case, field, number)[np.ix_(z, y, x)]
    if case.pattern == "transpose":
        return inner
    w = case.width
    return np.pad(inner, ((0, 0), (w, w), (w, w)), constant_values=_SENTINEL)


def after(case: Case, rank: int, field: int, number: int) -> np.ndarray[Any, Any]:
    if case.pattern == "allreduce":
        combine = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}[case.operation]
        vectors = np.stack([_vector(case, r, field, number) for r in range(case.ranks)])
        if case.dtype[0] != "i" and case.operation in ("sum", "prod"):
            vectors = vectors.astype("c16" if case.dtype[0] == "c" else "f8")
        return combine.reduce(vectors, axis=0, dtype=vectors.dtype)
    whole = _whole(case, field, number)
    if case.pattern == "transpose":
        return whole[np.ix_(*_owned(case, case.to_split or case.split, case.axes[1], rank))]
    z, y, x = _owned(case, case.split, "xy", rank)
    w = case.width
    for axis, letter, own in ((1, "y", y), (2, "x", x)):
        wanted = np.arange(own.start - w, own.stop + w)
        if letter in case.periodic:
            whole = np.take(whole, wanted, axis=axis, mode="wrap")
            continue
        inside = (wanted >= 0) & (wanted < whole.shape[axis])
        taken = np.take(whole, wanted, axis=axis, mode="clip")
        shape = [1, 1, 1]
        shape[axis] = len(wanted)
        whole = np.where(inside.reshape(shape), taken, np.asarray(_SENTINEL, case.dtype))
    return whole[z.start : z.stop]
