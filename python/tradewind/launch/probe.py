"""Functions that the ranks of a calibration run: pairs exchange messages of known shape in memory."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, TypeVar

import numpy as np

from tradewind import _core, mpi
from tradewind.base.collective import attempt
from tradewind.base.errors import InputError
from tradewind.launch import unexpected, worker
from tradewind.launch.flops import measure_flops
from tradewind.launch.measure import measure_copy, provenance
from tradewind.launch.probe_kernels import kernel_rates
from tradewind.launch.quiet import QuietWatch, cores_here
from tradewind.machine.calibration import spread
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, Method
from tradewind.mpi.host import host_of
from tradewind.mpi.library import MPI, _mpi

_T = TypeVar("_T")
Row = dict[str, Any]
Measured = Callable[[], Iterable[Row]]

_POINT = 8
"""Bytes of an element of all probes, a double."""
_SHORT = 32
"""Elements of a run up to which it is as long as a halo is wide; longer ones are rows of a halo."""
_ROW = 64
"""Minimum of elements of the rows of which such runs are a part: each run has cache lines of its own, as in a model."""
_MAX_RUNS = 2**17
_MAX_MESSAGES = 2048
"""Maximum messages of one exchange, where each run is a message of its own."""
_LONG_S = 0.2
"""An exchange that takes longer, whenever it is tried, is the last of its kind that is measured."""
_SAMPLES_S = 1.0
"""Seconds for all samples of one exchange, once there are `_MIN_SAMPLES` of them."""
_MIN_SAMPLES = 5
_TRIALS = 10
"""Samples of a receive, for one of an exchange: receives take some microseconds."""


@dataclass(frozen=True)
class MessageShape:
    """A message: its bytes, and the bytes of the runs of memory in which they lie; run 0: all in one."""

    bytes: int
    run: int = 0

    @property
    def rows(self) -> int:
        """Number of runs."""
        return self.bytes // self.run if self.run else 1


def between_two(shape: MessageShape) -> _core.Halo:
    """A halo of two ranks, each of which sends the other one message of this shape."""
    points = (shape.run or shape.bytes) // _POINT
    if not shape.run or points > _SHORT:
        levels = shape.rows
        return _core.Halo(_core.Blocks(_core.Grid(points, 8, levels), (1, 2)), 1, [False, False])
    grid = _core.Grid(2 * _ROW, max(shape.rows, points), 1)
    return _core.Halo(_core.Blocks(grid, (2, 1)), points, [False, False])


def scattering(shape: MessageShape) -> _core.Transpose:
    """A transposition of two ranks, each of which sends the other one run of memory that goes to runs of this shape,
    and keeps as much."""
    points = shape.run // _POINT
    grid = _core.Grid(2 * points, 1, 2 * shape.rows)
    return _core.Transpose(_core.Blocks(grid, (2, 1), "xy"), _core.Blocks(grid, (2, 1), "zy"))


def many_small() -> _core.Halo:
    """A halo of two ranks, each of which sends the other several messages of one element."""
    return _core.Halo(_core.Blocks(_core.Grid(2, 1, 1), (2, 1)), 1, [True, True])


def within_one(shape: MessageShape) -> _core.Halo:
    """A halo of one rank, around whose seam two copies go that together have this shape."""
    points = (shape.run or shape.bytes // 2) // _POINT
    rows = max(shape.rows // 2, 1)
    if not shape.run or points > _SHORT:
        return _core.Halo(_core.Blocks(_core.Grid(points, 8, rows), (1, 1)), 1, [False, True])
    grid = _core.Grid(_ROW, max(rows, points), 1)
    return _core.Halo(_core.Blocks(grid, (1, 1)), points, [True, False])


def probe(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Measures as `tradewind.launch.calibrate` asks. Collective; the result counts on rank 0."""
    places = RankPairs(comm, payload["ranks_per_node"])
    watch = QuietWatch(comm)
    report = worker.report_progress if payload["report"] and comm.Get_rank() == 0 else None
    bench = Bench(comm, payload["warmup"], payload["repeat"], payload["rounds"], report)
    methods = [Method("direct", *method) for method in payload["methods"]]
    shapes = shapes_of(payload["sizes"], payload["runs"])
    parts: dict[str, Measured] = {}
    pairs: list[MPI.Intracomm] = []
    if places.each > 1:
        pairs.append(pair := places.pair_inside())
        parts["inside"] = lambda: bench.pairs(pair, methods, shapes)
        parts["scattered"] = lambda: bench.scattered(pair, methods, [shape for shape in shapes if shape.run])
        parts["copies"] = lambda: bench.copies(shapes)
    if places.nodes > 1:
        pairs.append(far := places.pair_outside())
        method = Method("direct", DEFAULT_TRANSPORT, DEFAULT_PACKING)
        parts["outside"] = lambda: bench.pairs(far, [method], shapes_of(payload["sizes"], []))
    last = pairs[-1]  # between nodes, where there are several
    eager = unexpected.eager_bytes(comm, last)
    if eager:
        parts["unexpected"] = lambda: bench.receives(last, unexpected.sizes_of(eager))
    measured = bench.in_rounds(parts)
    for one in pairs:
        one.Free()
    cores = cores_here(comm)
    return {
        **{"inside": [], "scattered": [], "outside": [], "copies": [], "unexpected": []},
        **measured,
        "eager_bytes": eager,
        "copy_bytes_per_s": measure_copy(comm),
        "copy_alone_bytes_per_s": _alone(comm, lambda: measure_copy(MPI.COMM_SELF)),
        "core_flops": _alone(comm, measure_flops),
        "kernels": _alone(comm, kernel_rates) if payload["kernels"] else {},
        "busy_kernels": kernel_rates(comm) if payload["kernels"] and places.each == cores > 1 else {},
        "nodes": places.nodes,
        "ranks_per_node": places.each,
        "cores": cores,
        "ranks_per_core": mpi.ranks_per_core(comm, cores),
        "site": asdict(host_of(comm)),
        "quiet": watch.result(),
        "provenance": provenance(),
    }


def shapes_of(sizes: Sequence[int], runs: Sequence[int]) -> list[MessageShape]:
    """All shapes to be measured: each size in one run, and in runs of each length of which it has two or more."""
    found = [MessageShape(size, run) for size, run in product(sizes, [0, *runs])]
    return [shape for shape in found if not shape.run or 2 <= shape.rows <= _MAX_RUNS]


def _alone(comm: MPI.Intracomm, measure: Callable[[], _T]) -> _T:
    """Return what rank 0 measures while the others wait. Collective."""
    measured: _T = comm.bcast(measure() if comm.Get_rank() == 0 else None)
    return measured


class RankPairs:
    """Ranks that share a node, and the partner of each. Collective; raises InputError."""

    def __init__(self, comm: MPI.Intracomm, ranks_per_node: int) -> None:
        self.comm, self.rank = comm, comm.Get_rank()
        node = comm.Split_type(MPI.COMM_TYPE_SHARED) if not ranks_per_node else None
        first = self.rank - self.rank % ranks_per_node if node is None else node.allreduce(self.rank, MPI.MIN)
        if node is not None:
            node.Free()
        firsts = comm.allgather(first)
        here = {one: [r for r, other in enumerate(firsts) if other == one] for one in dict.fromkeys(firsts)}
        self.nodes, self.each = len(here), len(here[first])
        if len({len(ranks) for ranks in here.values()}) > 1:
            raise InputError(f"{comm.Get_size()} ranks on {self.nodes} nodes: as many on each node are needed")
        if self.each > 1 and self.each % 2:
            raise InputError(f"{self.each} ranks on a node: pairs are measured, so an even number is needed")
        if self.nodes > 1 and self.nodes % 2:
            raise InputError(f"{self.nodes} nodes: pairs are measured, so an even number is needed")
        if comm.Get_size() < 2:
            raise InputError("1 rank: pairs are measured, so 2 or more are needed")
        self.node, self.place = list(here).index(first), here[first].index(self.rank)

    def pair_inside(self) -> MPI.Intracomm:
        """This rank and a neighbour on its node."""
        pair: MPI.Intracomm = self.comm.Split(self.node * self.each + self.place // 2, self.rank)  # type: ignore[assignment]
        return pair

    def pair_outside(self) -> MPI.Intracomm:
        """This rank and the one of its place on a neighbouring node."""
        pair: MPI.Intracomm = self.comm.Split(self.node // 2 * self.each + self.place, self.rank)  # type: ignore[assignment]
        return pair


class Bench:
    """Measures exchanges of pairs, all pairs at the same time. Collective."""

    def __init__(
        self, comm: MPI.Intracomm, warmup: int, repeat: int, rounds: int, report: Callable[[Any], None] | None
    ) -> None:
        self.comm, self.warmup, self.repeat, self.rounds, self.report = comm, warmup, repeat, rounds, report
        self.round = 0
        self._last: dict[tuple[Method, int], int] = {}
        """Bytes of the last size that is measured, by method and run."""

    def in_rounds(self, parts: Mapping[str, Measured]) -> dict[str, list[Row]]:
        """The rows of each part, with the samples of all rounds; `spread` is the median of those of the rounds, and
        `best_s` the minimum of their medians.

        A machine has states that last seconds: the cores of a virtual one, for example, are near to each other at one
        time and far at another. The best round is the one without such states.
        """
        found: dict[str, dict[tuple[Any, ...], Row]] = {name: {} for name in parts}
        last: dict[str, dict[tuple[Method, int], int]] = {name: {} for name in parts}
        for round_ in range(self.rounds):
            self.round = round_
            for name, measured in parts.items():
                self._last = last[name]
                for row in measured():
                    samples = row.pop("samples_s")
                    known = found[name].setdefault(
                        tuple(row.values()), row | {"samples_s": [], "spreads": [], "best_s": math.inf}
                    )
                    known["samples_s"] += samples
                    known["spreads"].append(spread(samples))
                    known["best_s"] = min(known["best_s"], statistics.median(samples))
        return {
            name: [row | {"spread": statistics.median(row.pop("spreads"))} for row in rows.values()]
            for name, rows in found.items()
        }

    def pairs(self, pair: MPI.Intracomm, methods: Sequence[Method], shapes: Sequence[MessageShape]) -> Iterator[Row]:
        """Rows of transport, packing, messages, bytes, run and samples_s: single doubles first, then all shapes."""
        small = [(MessageShape(_POINT), between_two(MessageShape(_POINT))), (MessageShape(_POINT), many_small())]
        yield from self._each(pair, methods, [*small, *((shape, between_two(shape)) for shape in shapes)])

    def scattered(
        self, pair: MPI.Intracomm, methods: Sequence[Method], shapes: Sequence[MessageShape]
    ) -> Iterator[Row]:
        """The same rows, of messages that are one run at their sender; the time includes a copy of this shape."""
        burst = [replace(method, algorithm="burst") for method in methods]
        yield from self._each(pair, burst, [(shape, scattering(shape)) for shape in shapes])

    def _each(
        self, pair: MPI.Intracomm, methods: Sequence[Method], probes: Sequence[tuple[MessageShape, _core.Pattern]]
    ) -> Iterator[Row]:
        for i, (shape, pattern) in enumerate(probes):
            if self.report is not None:
                self.report({"probed": i + 1, "probes": len(probes), "round": self.round + 1})
            arrays = _arrays(pattern, pair)
            for method in methods:
                too_long = shape.bytes > self._last.get((method, shape.run), shape.bytes)
                if too_long or (method.packing == "direct" and shape.rows > _MAX_MESSAGES):
                    continue
                found = self._sampled(pair, pattern, arrays, method)
                if found is None:
                    continue
                messages, samples, fastest_s = found
                if fastest_s > _LONG_S:
                    self._last[method, shape.run] = shape.bytes
                yield {
                    "transport": method.transport,
                    "packing": method.packing,
                    "messages": messages if shape.bytes == _POINT else 1,
                    "bytes": shape.bytes,
                    "run": shape.run,
                    "samples_s": samples,
                }

    def copies(self, shapes: Sequence[MessageShape]) -> Iterator[Row]:
        """Rows of bytes, run and samples_s of copies within each rank, all ranks at the same time."""
        for shape in shapes:
            pattern = within_one(shape)
            method = Method("direct", DEFAULT_TRANSPORT, DEFAULT_PACKING)
            found = self._sampled(MPI.COMM_SELF, pattern, _arrays(pattern, MPI.COMM_SELF), method)
            assert found is not None
            yield {"bytes": shape.bytes, "run": shape.run, "samples_s": found[1]}

    def receives(self, pair: MPI.Intracomm, sizes: Sequence[int]) -> Iterator[Row]:
        """Rows of posted, bytes and samples_s of receives that are posted before and after their message comes."""
        for size, posted in product(sizes, (True, False)):
            samples = unexpected.receive_seconds(self.comm, pair, size, _TRIALS * self._max_samples, posted=posted)
            if samples is not None:
                yield {"posted": posted, "bytes": size, "samples_s": samples}

    @property
    def _max_samples(self) -> int:
        """Maximum number of samples of an exchange in this round."""
        return self.repeat // self.rounds + (self.round < self.repeat % self.rounds)

    def _sampled(
        self, some: MPI.Intracomm, pattern: _core.Pattern, arrays: Sequence[Any], method: Method
    ) -> tuple[int, list[float], float] | None:
        """Messages of one rank, seconds of the slowest, and the minimum of these and of trials before them; None where
        the method cannot be. The plan is gone at the end."""
        assert method.algorithm is not None
        schedule = _core.make_schedule(pattern, method.algorithm)
        plan, _ = attempt(
            self.comm, lambda: mpi.plan(schedule, some, *arrays, transport=method.transport, packing=method.packing)
        )
        if plan is None:
            return None

        def samples(warmup: int, count: int) -> list[float]:
            return _mpi.measure(self.comm.py2f(), [(plan, 1)], warmup, count)[0]

        first_s = min(samples(1, 2))
        minimum = min(-(-_MIN_SAMPLES // self.rounds), self._max_samples)
        count = max(minimum, min(self._max_samples, int(_SAMPLES_S / self.rounds / max(first_s, 1e-9))))
        warmup = self.warmup if first_s < _LONG_S else 0
        taken = samples(warmup, count)
        return plan.messages, taken, min(first_s, *taken)


def _arrays(pattern: _core.Pattern, some: MPI.Intracomm) -> list[Any]:
    """The source, and the target where it is another."""
    shapes = [pattern.source_shape(some.Get_rank())]
    if not pattern.in_place:
        shapes.append(pattern.target_shape(some.Get_rank()))
    return [np.full(shape, 1.0) for shape in shapes]  # which writes them, so that their pages are there
