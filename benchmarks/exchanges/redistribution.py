"""HIRLAM's redistribution 2D -> FFT -> TRI and back, of one field: ours beside raw mpi4py."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from exchanges.raw_transposition import PEERS
from exchanges.sampling import Call, Samples, beside, best, calls, contest, line, require
from tradewind import Transpose, mpi
from tradewind.base.extents import parse_extents
from tradewind.layout.names import blocks, legs
from tradewind.method.method import Method, default_method, methods
from tradewind.mpi import MPI, Plan
from tradewind.pattern import Grid
from tradewind.workload.arrays import UNTOUCHED, arrays_of

OWN, SHARED = "the caller's own arrays", "arrays of tradewind.empty"
RAW = ["packed isend-irecv", "Alltoallw of subarrays"]
"""The peers of the goal; packed Alltoallv stands beside them."""


class Setup:
    """The patterns of a path and its arrays, the target of each step the source of the next."""

    def __init__(self, comm: MPI.Intracomm, payload: dict[str, Any], memory: str) -> None:
        self.comm = comm
        nx, ny, nz = parse_extents(payload["grid"], 3, "grid")
        grid, split = Grid(nx, ny, nz), (comm.size, 1)
        pairs = [(blocks(grid, split, a), blocks(grid, split, b)) for _, a, b in legs(payload["path"])]
        self.patterns = [Transpose(before, after) for before, after in pairs]
        self.arrays = self._shared() if memory == SHARED else self._own()

    def _own(self) -> list[Any]:
        shapes = [pattern.source_shape(self.comm.rank) for pattern in self.patterns]
        return [np.zeros(shape) for shape in (*shapes, self.patterns[-1].target_shape(self.comm.rank))]

    def _shared(self) -> list[Any]:
        sources = [mpi.empty(pattern, self.comm, of="source") for pattern in self.patterns]
        return [*sources, mpi.empty(self.patterns[-1], self.comm, of="target")]

    def plans(self, method: Method) -> list[Plan]:
        named = {"algorithm": method.algorithm, "transport": method.transport, "packing": method.packing}
        steps = zip(self.patterns, pairwise(self.arrays), strict=True)
        return [mpi.plan(pattern, self.comm, a, b, **named) for pattern, (a, b) in steps]

    def raw(self, name: str) -> list[Call]:
        steps = zip(self.patterns, pairwise(self.arrays), strict=True)
        return [PEERS[name](self.comm, pattern, a, b) for pattern, (a, b) in steps]

    def checked(self, what: str, steps: list[Any]) -> Call:
        """All steps in one call, once every one of them has brought the expected result, bit for bit."""
        rank = self.comm.rank
        for array in self.arrays[1:]:
            array[...] = UNTOUCHED
        self.arrays[0][...] = arrays_of(self.patterns[0]).source(self.patterns[0], rank, 0, "f8")
        for step, pattern, array in zip(steps, self.patterns, self.arrays[1:], strict=True):
            step()
            require(self.comm, what, np.array_equal(array, arrays_of(pattern).expected(pattern, rank, 0, "f8")))

        def there_and_back() -> None:
            for step in steps:
                step()

        return there_and_back


def redistribution(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: grid, path, samples of every way, samples of the best ones."""
    own, shared = (Setup(comm, payload, memory) for memory in (OWN, SHARED))
    peer = calls(comm, own.checked(RAW[0], own.raw(RAW[0])))
    lines, medians = [], {}
    for method in methods(own.patterns[0], ["burst"])[0]:
        name = f"{method.transport},{method.packing}"
        contenders = (calls(comm, own.checked(name, own.plans(method))), peer)
        text, medians[name] = beside(comm, (name, RAW[0]), contenders, payload["few"])
        lines.append(text)
    fastest = Method("burst", *min(medians, key=lambda name: medians[name]).split(","))
    direct = Method("burst", "shared", "direct")
    ours = {
        f"{fastest}, {OWN}": (own, fastest),
        f"{direct}, {SHARED}": (shared, direct),
        f"default, {OWN}": (own, default_method("transpose")),
    }
    contenders = {name: calls(comm, setup.checked(name, setup.plans(method))) for name, (setup, method) in ours.items()}
    contenders |= {name: calls(comm, own.checked(name, own.raw(name))) for name in PEERS if name != RAW[0]}
    samples = contest(comm, {**contenders, RAW[0]: peer}, payload["samples"])
    title = f"{payload['grid']}, {payload['path']}, one field of doubles, {comm.size} ranks"
    return [f"{title}; every way, {OWN}:", *lines, f"{title}; in turn:", *_figures(samples, list(ours))]


def _figures(samples: Samples, ours: list[str]) -> list[str]:
    own, shared, _ = ours
    raw = best(samples, RAW)
    lines = [
        line(f"  {raw}, the better of two peers", samples, raw, best(samples, ours), at_least=1.5),
        line(f"  {raw}, the better of two peers", samples, raw, own),
        line(f"  {raw}, the better of two peers", samples, raw, shared),
    ]
    return lines + [line(f"  {name}", samples, name, raw) for name in samples if name != raw]
