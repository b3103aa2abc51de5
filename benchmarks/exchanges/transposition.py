"""A transposition there and back, from levels to columns of a cube: ours, NumPy and mpi4py, and the memory's limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from exchanges.raw_transposition import PEERS, Floor
from exchanges.sampling import Call, Samples, beside, best, calls, contest, copies, line, parts, require
from tradewind import mpi
from tradewind.method.method import Method, default_method, methods
from tradewind.mpi import MPI, Plan
from tradewind.pattern import Blocks, Grid, Transpose
from tradewind.workload.arrays import UNTOUCHED, arrays_of

FLOOR = "the floor"
WITH_UNPACKING = "our copies: pack, local copy and unpack"
OWN, SHARED = "the caller's own arrays", "arrays of tradewind.empty"
RAW = ["packed Alltoallv", "Alltoallw of subarrays"]


class Setup:
    """Two patterns and their two arrays: z divided, x divided."""

    def __init__(self, comm: MPI.Intracomm, edge: int, memory: str) -> None:
        self.comm, ranks = comm, comm.Get_size()
        grid = Grid(edge, edge, edge)
        levels, columns = Blocks(grid, (ranks, 1), "zy"), Blocks(grid, (ranks, 1), "xy")
        self.there, self.back = Transpose(levels, columns), Transpose(columns, levels)
        if memory == SHARED:
            self.arrays = [mpi.empty(self.there, comm, of=of) for of in ("source", "target")]
        else:
            shapes = (self.there.source_shape(comm.rank), self.there.target_shape(comm.rank))
            self.arrays = [np.zeros(shape) for shape in shapes]

    def plans(self, method: Method, **options: Any) -> list[Plan]:
        a, b = self.arrays
        named = {"algorithm": method.algorithm, "transport": method.transport, "packing": method.packing, **options}
        return [mpi.plan(self.there, self.comm, a, b, **named), mpi.plan(self.back, self.comm, b, a, **named)]

    def raw(self, name: str) -> list[Call]:
        a, b = self.arrays
        return [PEERS[name](self.comm, self.there, a, b), PEERS[name](self.comm, self.back, b, a)]

    def floor(self) -> Call:
        a, b = self.arrays
        there, back = Floor(self.comm, self.there, a, b), Floor(self.comm, self.back, b, a)

        def both() -> None:
            there()
            back()

        return both

    def checked(self, what: str, pair: list[Any]) -> Call:
        """Both directions in one call, once both have brought the expected result, bit for bit."""
        a, b = self.arrays
        there, back = pair
        rank = self.comm.Get_rank()
        a[...], b[...] = arrays_of(self.there).source(self.there, rank, 0, "f8"), UNTOUCHED
        there()
        require(self.comm, what, np.array_equal(b, arrays_of(self.there).expected(self.there, rank, 0, "f8")))
        a[...] = UNTOUCHED
        back()
        require(self.comm, what, np.array_equal(a, arrays_of(self.back).expected(self.back, rank, 0, "f8")))

        def both() -> None:
            there()
            back()

        return both


def transposition(comm: MPI.Intracomm, payload: dict[str, int]) -> list[str]:
    """Lines. `payload`: edge of the cube, samples of every way, samples of the best ones."""
    own, shared = (Setup(comm, payload["edge"], memory) for memory in (OWN, SHARED))
    floor = calls(comm, own.floor())
    unpacked = own.plans(Method("burst", "alltoallv", "buffer"))  # which packs all messages
    lines, medians = [], {}
    for method in methods(own.there, ["burst"])[0]:
        name = f"{method.transport},{method.packing}"
        call = own.checked(name, own.plans(method))
        contenders = (calls(comm, call), floor)
        text, medians[name] = beside(comm, (name, FLOOR), contenders, payload["few"])
        lines.append(text)
    fastest = Method("burst", *min(medians, key=lambda name: medians[name]).split(","))
    direct = Method("burst", "shared", "direct")
    ours = {
        f"{fastest}, {OWN}": (own, fastest),
        f"{direct}, {SHARED}": (shared, direct),
        f"default, {OWN}": (own, default_method("transpose")),
    }
    contenders = {name: calls(comm, setup.checked(name, setup.plans(method))) for name, (setup, method) in ours.items()}
    contenders |= {name: calls(comm, own.checked(name, own.raw(name))) for name in PEERS}
    contenders |= {FLOOR: floor, WITH_UNPACKING: copies(comm, unpacked)}
    samples = contest(comm, contenders, payload["samples"])
    title = f"{payload['edge']}^3 doubles on {comm.Get_size()} ranks, levels to columns and back"
    lines = [f"{title}; every way, {OWN}:", *lines, f"{title}; in turn:", *_figures(samples, list(ours))]
    return [*lines, "where the time goes:", *(_where(comm, name, *of) for name, of in ours.items())]


def _figures(samples: Samples, ours: list[str]) -> list[str]:
    own, shared, _ = ours
    raw = best(samples, RAW)
    lines = [
        line(f"  {shared}", samples, shared, FLOOR, at_most=1.0),
        line(f"  {own}", samples, own, FLOOR, at_most=1.3),
        line(f"  {raw}, the better of two peers", samples, raw, shared, at_least=1.6),
        line(f"  {raw}, the better of two peers", samples, raw, own, at_least=1.6),
    ]
    others = [name for name in samples if name not in (own, shared, FLOOR)]
    return lines + [line(f"  {name}", samples, name, FLOOR) for name in others]


def _where(comm: MPI.Intracomm, name: str, setup: Setup, method: Method) -> str:
    plans = setup.plans(method, record="totals")
    return "  " + parts(comm, name, plans, setup.checked(name, plans), 5)
