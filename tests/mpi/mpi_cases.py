"""Exchanges that MPI ranks carry out, each compared with an answer that NumPy works out from the definition alone.

Imported by the tests (which list the cases) and by the ranks (which run them).
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.errors import InputError

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
    largest_message: int = 2**30

    @property
    def name(self) -> str:
        default = Case(self.pattern, self.ranks, self.algorithm)
        parts = [f"{k}={v}" for k, v in asdict(self).items() if v != getattr(default, k)]
        return " ".join([self.pattern, self.algorithm, *parts]).replace("'", "")


def make_pattern(case: Case) -> _core.Pattern:
    grid = _core.Grid(*GRID)
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
            least, most = entry.radices(pattern)
            most = min(most, max(pattern.ranks, least))  # one rank allows any radix
            names += [entry.name.replace("-k", f"-{k}") for k in range(least, most + 1)]
    return [name for name in names if _allows(pattern, name)]


def _allows(pattern: _core.Pattern, algorithm: str) -> bool:
    """Whether an algorithm does a pattern: bruck only where the ranks of a group have something for each other."""
    try:
        _core.make_schedule(pattern, algorithm)
    except InputError:
        return False
    return True


def cases(ranks: int) -> list[Case]:
    """All cases of a rank count; each property of the arrays meets each kind of exchange somewhere."""
    found = [*_transposes(ranks), *_halos(ranks), *_reductions(ranks)]
    return list(dict.fromkeys(found))


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
    outcome = {}
    for values in payload:
        case = Case(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
        try:
            problem = _run_one(comm, case)
        except Exception:
            problem = traceback.format_exc()
        problems = [f"rank {rank}: {p}" for rank, p in enumerate(comm.allgather(problem)) if p]
        outcome[case.name] = "\n".join(problems)
    return outcome


def _run_one(comm: Any, case: Case) -> str:
    from tradewind import mpi

    pattern = make_pattern(case)
    rank, round_count = comm.Get_rank(), 2
    source = [_empty(pattern.source_shape(rank), case) for _ in range(case.fields)]
    target = source if pattern.in_place else [_empty(pattern.target_shape(rank), case) for _ in range(case.fields)]
    options: dict[str, Any] = {"operation": case.operation, "algorithm": case.algorithm}
    options["dims"] = "xyz" if case.order == "xyz" else "zyx"
    if case.algorithm != "native":
        options["largest_message"] = case.largest_message
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


# --- the answers, from the definition ---


def _whole(case: Case, field: int, number: int) -> np.ndarray[Any, Any]:
    """The global field [z][y][x]."""
    nx, ny, nz = GRID
    return (np.arange(nx * ny * nz).reshape(nz, ny, nx) + 10000 * field + 7 * number + 1).astype(case.dtype)


def _part(points: int, parts: int, part: int) -> range:
    sizes = [points // parts + (p < points % parts) for p in range(parts)]
    return range(sum(sizes[:part]), sum(sizes[: part + 1]))


def _owned(split: tuple[int, int], axes: str, rank: int) -> list[range]:
    """Points along z, y, x."""
    place = dict(zip(axes, (rank % split[0], rank // split[0]), strict=True))
    parts = dict(zip(axes, split, strict=True))
    return [_part(GRID["xyz".index(a)], parts.get(a, 1), place.get(a, 0)) for a in "zyx"]


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
    z, y, x = _owned(case.split, case.axes[0], rank) if case.pattern == "transpose" else _owned(case.split, "xy", rank)
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
        return whole[np.ix_(*_owned(case.to_split or case.split, case.axes[1], rank))]
    z, y, x = _owned(case.split, "xy", rank)
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
