"""A halo of two widths on two divisions of a grid: ours, mpi4py with NumPy, and GHEX."""

from __future__ import annotations

from typing import Any

import numpy as np

from exchanges import ghex_halo
from exchanges.raw_halo import PEERS
from exchanges.sampling import Samples, beside, best, calls, contest, line, parts, require
from tradewind import mpi
from tradewind.method.method import Method, default_method, methods
from tradewind.mpi import MPI, Plan
from tradewind.pattern import Blocks, Grid, Halo
from tradewind.workload.arrays import arrays_of

OWN, SHARED = "the caller's own array", "an array of tradewind.empty"
GHEX = "GHEX"


class Setup:
    """A pattern and its array."""

    def __init__(self, comm: MPI.Intracomm, grid: list[int], split: tuple[int, int], width: int, memory: str) -> None:
        self.comm, self.split, self.width = comm, split, width
        self.pattern = Halo(Blocks(Grid(*grid), split), width, ("x", "y"))
        shape = self.pattern.source_shape(comm.rank)
        self.array = mpi.empty(self.pattern, comm) if memory == SHARED else np.zeros(shape)

    def plan(self, method: Method, **options: Any) -> Plan:
        named = {"algorithm": method.algorithm, "transport": method.transport, "packing": method.packing, **options}
        return mpi.plan(self.pattern, self.comm, self.array, **named)

    def peer(self, name: str) -> Any:
        if name == GHEX:
            return ghex_halo.Ghex(self.comm, self.pattern, self.array)
        return PEERS[name](self.comm, self.split, self.width, self.array)

    def checked(self, what: str, call: Any) -> Any:
        """The same call, once it has brought the expected result, bit for bit."""
        rank = self.comm.Get_rank()
        self.array[...] = arrays_of(self.pattern).source(self.pattern, rank, 0, "f8")
        call()
        require(
            self.comm, what, np.array_equal(self.array, arrays_of(self.pattern).expected(self.pattern, rank, 0, "f8"))
        )
        return call


def halo(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: grid, exchanges in a row, samples of every way, samples of the best ones."""
    ranks = comm.Get_size()
    lines = [] if ghex_halo.installed() else [f"{GHEX}: skipped, it is not installed (pip install ghex)"]
    for split in ((ranks, 1), (1, ranks)):
        for width in (2, 8):
            lines += _case(comm, payload, split, width)
    return lines


def _case(comm: MPI.Intracomm, payload: dict[str, Any], split: tuple[int, int], width: int) -> list[str]:
    own, shared = (Setup(comm, payload["grid"], split, width, memory) for memory in (OWN, SHARED))
    title = f"{own.pattern.describe()} of {'x'.join(map(str, payload['grid']))} doubles, "
    title += f"{split[0]}x{split[1]} ranks"
    peers = [*PEERS, *([GHEX] if ghex_halo.installed() else [])]
    lines = [f"{title}; every way, {OWN}:"]
    first, to = _every(own, payload, [])
    lines += [*first, f"{title}; transport shared, {SHARED}:"]
    second, in_shared = _every(shared, payload, ["shared"])
    ours = {
        f"{to}, {OWN}": (own, to),
        f"{in_shared}, {SHARED}": (shared, in_shared),
        f"default, {OWN}": (own, default_method("halo")),
    }
    rivals = {name: setup.checked(name, setup.plan(method)) for name, (setup, method) in ours.items()}
    rivals |= {name: own.checked(name, own.peer(name)) for name in peers}
    contenders = {name: calls(comm, rival, payload["repeat"]) for name, rival in rivals.items()}
    samples = contest(comm, contenders, payload["samples"])
    lines += [*second, f"{title}; in turn:", *_figures(samples, list(ours))]
    return [*lines, "where the time goes:", *(_where(comm, name, *of) for name, of in ours.items())]


def _every(setup: Setup, payload: dict[str, Any], include: list[str]) -> tuple[list[str], Method]:
    """A line for each way, beside a peer, and the fastest way."""
    peer = next(iter(PEERS))
    raw = setup.checked(peer, setup.peer(peer))
    rounds, repeat = payload["few"], payload["repeat"]
    lines, medians = [], {}
    for method in methods(setup.pattern, include)[0]:
        name = str(method)
        call = setup.checked(name, setup.plan(method))
        contenders = (calls(setup.comm, call, repeat), calls(setup.comm, raw, repeat))
        text, medians[method] = beside(setup.comm, (name, peer), contenders, rounds)
        lines.append(text)
    return lines, min(medians, key=lambda method: medians[method])


def _figures(samples: Samples, ours: list[str]) -> list[str]:
    raw, fastest = best(samples, list(PEERS)), best(samples, ours)
    lines = [line(f"  {fastest}", samples, fastest, raw, at_most=0.7)]
    if GHEX in samples:
        lines.append(line(f"  {fastest}", samples, fastest, GHEX, at_most=1.0))
    others = [name for name in samples if name not in (fastest, raw)]
    return lines + [line(f"  {name}", samples, name, raw) for name in others]


def _where(comm: MPI.Intracomm, name: str, setup: Setup, method: Method) -> str:
    plan = setup.plan(method, record="totals")
    return "  " + parts(comm, name, [plan], setup.checked(name, plan), 200)
