"""Gather-scatters that MPI ranks carry out: every method, element type and operation, against NumPy.

Imported by the tests (which list the cases) and by the ranks (which run them).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from drawing import algorithm_names
from gather_scatter_truth import COMBINE, gathered_scattered, numberings
from ranks_problems import problems_of

import tradewind as tw
from tradewind import _core
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError, PlanError
from tradewind.workload.patterns.gather_scatter import GatherScatterArrays, cubic

OPERATIONS = tuple(COMBINE)
LEVELS: dict[str, tuple[tuple[int, ...], int]] = {
    "values": ((0,), 0),
    "interleaved": ((0, 3), 0),
    "levels outside": ((2, 0), -1),
    "levels around": ((3, 0, 2), 1),
}
"""Shapes of fields, 0 for the values, and the axis over these."""
METHODS = [(entry.name, packing) for entry in _core.transports() for packing in entry.packings if not entry.on_devices]


def run(comm: Any, ranks: int) -> dict[str, str]:
    """By case what went wrong, "" where nothing did."""
    return problems_of(comm, cases(ranks).items())


def cases(ranks: int) -> dict[str, Callable[[Any], str]]:
    found: dict[str, Callable[[Any], str]] = {}
    shapes = itertools.cycle(LEVELS)
    kinds = itertools.cycle(itertools.product(DTYPES, OPERATIONS))
    for number, (transport, packing) in enumerate(METHODS):
        shape, (dtype, operation) = next(shapes), next(kinds)
        while dtype.startswith("c") and operation in ("min", "max"):
            dtype, operation = next(kinds)
        if ranks != 2 and number % 6:  # 2 ranks have a core of their own, and all methods
            continue
        name = f"{transport} {packing}, {operation}, {shape}, {dtype}"
        found[name] = _Method(number, transport, packing, shape, dtype, operation)
    for number, algorithm in enumerate(algorithms(ranks)):
        if ranks == 2 or number % 2 == 0:
            found[f"brick by {algorithm}"] = _Brick(number, algorithm)
        if algorithm != "cartesian" and (ranks == 2 or number % 2):
            found[f"reals by {algorithm}"] = _Reals(number, algorithm)
    return found | CASES


def algorithms(ranks: int) -> list[str]:
    names = algorithm_names(_core.BrickGatherScatter((1, 1, 1), 2, cubic(ranks), [False] * 3, "add"))
    return [name for name in names if not name[-1].isdigit() or int(name.split("-")[-1]) <= min(max(ranks, 2), 3)]


def values_of(rank: int, length: int, shape: str, dtype: str, seed: int) -> np.ndarray:
    """Small whole numbers whose products are exact; values last."""
    extents, axis = LEVELS[shape]
    rng = np.random.default_rng([seed, rank])
    made = rng.choice([1, -1, 2], [n or length for n in extents], p=[0.6, 0.3, 0.1])
    return np.moveaxis(made.astype(dtype), axis, -1)


class _Method:
    """One transport and packing."""

    def __init__(self, number: int, transport: str, packing: str, shape: str, dtype: str, operation: str) -> None:
        self.number, self.transport, self.packing = number, transport, packing
        self.shape, self.dtype, self.operation = shape, dtype, operation

    def __call__(self, comm: Any) -> str:
        rank, ranks = comm.Get_rank(), comm.Get_size()
        ids = numberings(np.random.default_rng([self.number, ranks]), ranks)
        pattern = tw.GatherScatter(ids[rank], self.operation, comm)
        axis, count = LEVELS[self.shape][1], 1 + self.number % 2
        before = [
            [values_of(r, len(own), self.shape, self.dtype, seed) for r, own in enumerate(ids)] for seed in range(count)
        ]
        fields = [np.moveaxis(each[rank], -1, axis).copy() for each in before]
        options = {"transport": self.transport, "packing": self.packing, "check": self.number % 3 == 0}
        plan = pattern.plan(comm, fields, axis=axis, algorithm="pairwise", **options)
        for repeat in range(2):
            for field, each in zip(fields, before, strict=True):
                field[...] = np.moveaxis(each[rank], -1, axis)
            if repeat:
                plan.start()
                plan.poke()
                plan.wait()
            else:
                plan()
            for field, each in zip(fields, before, strict=True):
                after = gathered_scattered(ids, each, self.operation)[rank]
                if not np.array_equal(np.moveaxis(field, axis, -1), after):
                    return f"{field!r} instead of {after!r} for ids {ids[rank]}"
        return ""


class _Brick:
    """A brick of elements by one algorithm, with its form and with its lists; a transport for each."""

    def __init__(self, number: int, algorithm: str) -> None:
        self.number, self.algorithm = number, algorithm

    def __call__(self, comm: Any) -> str:
        rank, ranks = comm.Get_rank(), comm.Get_size()
        dtype = ("f8", "f4")[self.number % 2]
        brick = tw.BrickGatherScatter((2, 1, 2), 3, cubic(ranks), ("", "x", "xyz")[self.number % 3])
        field = GatherScatterArrays.source(brick, rank, 0, dtype).reshape(-1)
        expected = GatherScatterArrays.expected(brick, rank, 0, dtype).reshape(-1)
        patterns: list[Any] = [brick]
        if self.algorithm != "cartesian":
            patterns.append(tw.GatherScatter(brick.ids(rank), "add", comm))
        for pattern, (transport, packing) in zip(patterns, _SOME[self.number % 3 :], strict=False):
            own = field.copy()
            pattern.plan(comm, own, algorithm=self.algorithm, transport=transport, packing=packing)()
            if not np.array_equal(own, expected):
                return f"{transport}: {own} instead of {expected}"
        return ""


_SOME = [("isend-irecv", "buffer"), ("put-notify", "buffer"), ("shared", "direct"), ("persistent", "datatype")]


class _Reals:
    """The bits of sums of reals: the same on all copies, run after run, whatever the transport."""

    def __init__(self, number: int, algorithm: str) -> None:
        self.number, self.algorithm = number, algorithm

    def __call__(self, comm: Any) -> str:
        rank, ranks = comm.Get_rank(), comm.Get_size()
        ids = numberings(np.random.default_rng([self.number, ranks, 7]), ranks)
        values = [np.random.default_rng([r, 3]).standard_normal(len(own)) for r, own in enumerate(ids)]
        pattern = tw.GatherScatter(ids[rank], "add", comm)
        results = []
        for transport, packing in (("isend-irecv", "buffer"), ("put-fence", "buffer"), ("shared", "buffer")):
            field = values[rank].copy()
            plan = pattern.plan(comm, field, algorithm=self.algorithm, transport=transport, packing=packing)
            for _ in range(2):
                field[...] = values[rank]
                plan()
                results.append(field.copy())
        if any(not np.array_equal(result, results[0]) for result in results):
            return "another run has other bits"
        pairs = list(itertools.chain.from_iterable(comm.allgather(list(zip(ids[rank], results[0], strict=True)))))
        bits: dict[int, float] = {}
        for number, value in pairs:
            if number > 0 and bits.setdefault(int(number), value) != value:
                return f"copies of id {number} differ"
        if not self.algorithm.startswith("allreduce"):  # whose order is its own
            truth = _in_order(ids, values)
            wrong = [number for number, value in bits.items() if truth[number] != value]
            return f"ids {wrong} are not summed in ascending order of ranks" if wrong else ""
        return ""


def _in_order(ids: list[np.ndarray], values: list[np.ndarray]) -> dict[int, float]:
    """Sums term by term: on each rank in the order of its array, then from rank to rank."""
    sums: dict[int, float] = {}
    for own, of_rank in zip(ids, values, strict=True):
        on_rank: dict[int, float] = {}
        for number, value in zip(own.tolist(), of_rank.tolist(), strict=True):
            on_rank[number] = on_rank[number] + value if number in on_rank else value
        for number, value in on_rank.items():
            sums[number] = sums[number] + value if number in sums else value
    return sums


def _multiplicity(comm: Any) -> str:
    """gs(1) counts the values of each id."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    ids = numberings(np.random.default_rng(1), ranks)
    ones = np.ones(len(ids[rank]), dtype=np.int64)
    tw.GatherScatter(ids[rank], "add", comm).plan(comm, ones)()
    every = np.concatenate(ids)
    right = np.array([np.count_nonzero(every == number) if number > 0 else 1 for number in ids[rank]])
    return "" if np.array_equal(ones, right) else f"{ones} instead of {right}"


def _adjoint(comm: Any) -> str:
    """<G x, y> = <x, G y>, in whole numbers."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    ids = numberings(np.random.default_rng(2), ranks)[rank]
    pattern = tw.GatherScatter(ids, "add", comm)
    x, y = (np.random.default_rng([rank, k]).integers(-9, 9, len(ids)) for k in range(2))
    gx, gy = x.copy(), y.copy()
    pattern.plan(comm, gx)()
    pattern.adjoint().plan(comm, gy)()
    left, right = comm.allreduce(int(gx @ y)), comm.allreduce(int(x @ gy))
    return "" if left == right else f"{left} is not {right}"


def _nothing(comm: Any) -> str:
    """Ranks without values, and ids that are not shared."""
    rank = comm.Get_rank()
    ids = np.arange(5) + 5 * rank + 1 if rank % 2 == 0 else np.zeros(0, dtype=np.int64)
    field = np.arange(len(ids), dtype="f4")
    tw.GatherScatter(ids, "max", comm).plan(comm, field)()
    return "" if np.array_equal(field, np.arange(len(ids))) else str(field)


def _strides(comm: Any) -> str:
    """A column of an array, from the last to the first."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    ids = numberings(np.random.default_rng(4), ranks)
    values = [np.random.default_rng([r, 9]).integers(-9, 9, len(own)) for r, own in enumerate(ids)]
    table = np.full((len(ids[rank]), 3), 77)
    column = table[::-1, 1]
    column[...] = values[rank]
    tw.GatherScatter(ids[rank], "min", comm).plan(comm, column)()
    right = gathered_scattered(ids, values, "min")[rank]
    kept = (table[:, [0, 2]] == 77).all()
    return "" if kept and np.array_equal(column, right) else f"{column} instead of {right}"


def _refused(comm: Any) -> str:
    """One rank is wrong: it says what, and the others do not wait for it."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    last = rank == ranks - 1
    for make, words in (
        (lambda: tw.GatherScatter([1.5] if last else [1], "add", comm), "a list of whole numbers is allowed"),
        (
            lambda: tw.GatherScatter([2**63, 1] if last else [1], "add", comm),
            "ids: entry 0 is 9223372036854775808: up to 2^63 - 1 are allowed",
        ),
        (
            lambda: tw.GatherScatter([1, -(2**63) - 1] if last else [1], "add", comm),
            "ids: entry 1 is -9223372036854775809: -2^63 and more are allowed",
        ),
        (
            lambda: tw.GatherScatter([1], "add", comm).plan(comm, np.zeros(1), operation="max" if last else "sum"),
            "operation max: that of a gather-scatter is fixed when it is made, and this one's is add",
        ),
        (
            lambda: tw.GatherScatter([1], "add", comm).plan(comm, np.zeros(1), axis="x"),
            "axis 'x': the number of a dimension is allowed",
        ),
        (
            lambda: tw.GatherScatter([1], "add", comm).plan(comm, cast(Any, None) if last else np.zeros(1)),
            "source field is a NoneType: an array is allowed",
        ),
        (lambda: tw.GatherScatter([1], "sum", comm), "unknown operation 'sum' (known: add, mul, min, max)"),
        (
            lambda: tw.GatherScatter([1, 2], "add", comm).plan(comm, np.zeros(3 if last else 2)),
            f"3 points along axis -1, but rank {ranks - 1} of the gather-scatter (add)",
        ),
        (
            lambda: tw.GatherScatter([1, 2], "max", comm).plan(comm, np.zeros(2, dtype="c16")),
            "the max of complex numbers (c16) is not defined: add and mul are allowed",
        ),
        (
            lambda: tw.GatherScatter([1], "add", comm).plan(comm, np.zeros(1), algorithm="cartesian"),
            "cartesian: the ids of a brick of elements are allowed",
        ),
        (
            lambda: tw.BrickGatherScatter((1, 1, 1), 2, (ranks + 1, 1, 1)).plan(comm, np.zeros(8)),
            f"the communicator has {ranks} ranks",
        ),
        (lambda: tw.GatherScatter([1], "add", comm).schedule("pairwise").verify(), "describes one rank alone"),
    ):
        try:
            make()
        except InputError as error:
            if words not in str(error):
                return f"it says {error}, not {words}"
        except PlanError as error:
            if last or words not in str(error):
                return f"it says {error}, not {words}"
        else:
            return f"no rank has the error {words}"
    return ""


def _by_the_environment(comm: Any) -> str:
    """An algorithm that passes values on is chosen by the variable: the ranks send each other their ids."""
    ids = np.arange(4) + 3 * comm.Get_rank() + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRADEWIND_GATHER_SCATTER", "crystal-router,isend-irecv")
        ones = np.ones(4)
        plan = tw.GatherScatter(ids, "add", comm).plan(comm, ones)
    plan()
    right = [1 + (comm.Get_rank() > 0), 1, 1, 1 + (comm.Get_rank() < comm.Get_size() - 1)]
    return "" if "crystal-router" in str(plan) and np.array_equal(ones, right) else f"{plan}: {ones}"


CASES = {
    "the variable names the algorithm": _by_the_environment,
    "gs(1) is the multiplicity": _multiplicity,
    "a sum is its own adjoint": _adjoint,
    "ranks without values": _nothing,
    "a column from the last to the first": _strides,
    "bad input": _refused,
}
