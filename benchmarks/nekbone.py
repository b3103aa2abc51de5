"""The dwarf nekbone beside a compiled loop in Nekbone's manner, and own sums by lists beside those by strides.

Both solve the same problem on as many ranks as there are cores, 512 trilinearly deformed elements a rank, and take
turns; flops are counted as Nekbone's, 12 nx1 + 34 per point and iteration, whatever is computed. The loop in Nekbone's
manner is benchmarks/nekbone_loops.c by the system's C compiler with -O3 -march=native and, as its sums over points
would else be slow, -ffast-math; its exchange is a buffer for the neighbour, sent and received without blocking.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import VerificationError
from tradewind.dwarfs.nekbone import Nekbone
from tradewind.dwarfs.nekbone.spectral_elements import Brick, groups_by_id
from tradewind.launch import job

if TYPE_CHECKING:
    from mpi4py import MPI

HERE = Path(__file__).parent
ELEMENTS, NX1, DEFORMATION = (8, 8, 8), 10, 0.1
ITERATIONS, ROUNDS = 30, 7
GOAL = 1.1
COPIED = 2**24
"""Doubles of a copy that no cache holds."""
STRATEGIES = ("pairwise", "cartesian", "overlap", "pipelined")


def compiled(folder: Path, points: int) -> Path | None:
    """The library of the loops in Nekbone's manner; None where there is no C compiler."""
    if (compiler := shutil.which("cc")) is None:
        return None
    library = folder / "nekbone_loops.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", f"-DN={points}"]
    subprocess.run([compiler, *flags, "-o", str(library), str(HERE / "nekbone_loops.c")], check=True)
    return library


class Loops:
    """The compiled loops, with arrays and numbers as arguments."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.weighted_product.restype = ctypes.c_double

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._library, name)

        def call(*arguments: np.ndarray | float) -> Any:
            return function(*map(_as_c, arguments))

        return call


def _as_c(argument: np.ndarray | float) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_int64(argument) if isinstance(argument, int) else ctypes.c_double(argument)


class InNekbonesManner:
    """Conjugate gradients as Nekbone's, for the problem of a run of the dwarf."""

    def __init__(self, comm: MPI.Intracomm, library: Path, dwarf: Nekbone, b: np.ndarray) -> None:
        self.comm, self.loops, self.brick, self.b = comm, Loops(library), dwarf.of_rank(comm.Get_rank()), b
        brick = self.brick
        from tradewind.dwarfs.nekbone.spectral_elements import basis

        made = basis(dwarf.nx1)
        self.d, self.dt = np.ascontiguousarray(made.derivative), np.ascontiguousarray(made.derivative.T)
        self.g = np.empty((brick.count, 6, *brick.shape[1:]))
        brick.core_elements(made, dwarf.deformation).factors(self.g, _core.Team(1))
        self.c = np.ascontiguousarray(brick.shares())
        self.own = groups_by_id(np.where(brick.shared(), 0, brick.ids()))
        self.masked = np.flatnonzero(~brick.inside()).astype(np.int32)
        self.shared = self._faces()
        self.x, self.r, self.p, self.w, self.z = (np.zeros(brick.shape) for _ in range(5))
        self.n = b.size

    def _faces(self) -> tuple[int, tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray] | None:
        """The one neighbour, groups of the copies that it shares, and two buffers."""
        ranks, rank, brick = self.comm.Get_size(), self.comm.Get_rank(), self.brick
        if ranks == 1:
            return None
        assert ranks == 2
        ids = np.where(brick.shared(), brick.ids(), 0).ravel()
        order = np.argsort(ids, kind="stable")
        order = order[ids[order] > 0].astype(np.int32)
        begins = np.flatnonzero(np.diff(ids[order], prepend=0))
        offsets = np.append(begins, len(order)).astype(np.int64)
        return 1 - rank, (offsets, order), np.empty(len(begins)), np.empty(len(begins))

    def exchange(self) -> None:
        if self.shared is not None:
            from mpi4py import MPI

            peer, (offsets, places), one, other = self.shared
            self.loops.gather_copies(self.w, one, offsets, places, len(one))
            MPI.Request.Waitall([self.comm.Irecv(other, peer), self.comm.Isend(one, peer)])
            self.loops.scatter_copies(self.w, one, other, offsets, places, len(one))
        offsets, places = self.own
        self.loops.sum_copies(self.w, offsets, places, len(offsets) - 1)

    def total(self, a: np.ndarray, b: np.ndarray) -> float:
        value = np.array(self.loops.weighted_product(a, self.c, b, self.n))
        total = np.empty(())
        self.comm.Allreduce(value, total)
        return float(total)

    def solve(self, iterations: int) -> float:
        """The norm of the residual after some iterations from the beginning."""
        loops, n = self.loops, self.n
        self.x[:], self.r[:] = 0, self.b
        before, squares = 1.0, 0.0
        for iteration in range(iterations):
            loops.copy(self.z, self.r, n)
            rz = self.total(self.r, self.z)
            loops.scale_and_add(self.p, self.z, rz / before if iteration else 0.0, n)
            before = rz
            loops.operator_of_elements(self.w, self.p, self.g, self.d, self.dt, self.brick.count)
            self.exchange()
            loops.add_scaled(self.w, self.p, 0.1, n)
            loops.zero(self.w, self.masked, len(self.masked))
            alpha = rz / self.total(self.w, self.p)
            loops.add_scaled(self.x, self.p, alpha, n)
            loops.add_scaled(self.r, self.w, -alpha, n)
            squares = self.total(self.r, self.r)
        return float(np.sqrt(squares))


def contest(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, list[float]]:
    """Seconds of some iterations by name of a solver, and under "residual NAME" where it ends. Collective."""
    from tradewind.mpi import MPI

    common = {"ranks": comm.Get_size(), "elements": ELEMENTS, "nx1": NX1, "deformation": DEFORMATION}
    found: dict[str, list[float]] = {}
    first = Nekbone(**common).on(comm)
    theirs = InNekbonesManner(comm, Path(payload["library"]), Nekbone(**common), first.b.copy())
    requests: dict[str, Nekbone] = {}
    for strategy in STRATEGIES:
        requests[strategy] = Nekbone(**common, strategy=strategy)
    requests["cartesian, stored factors"] = Nekbone(**common, strategy="cartesian", factors="stored")
    for _ in range(ROUNDS):
        comm.Barrier()
        begin = MPI.Wtime()
        residual = theirs.solve(ITERATIONS)
        _note(comm, found, "in Nekbone's manner", MPI.Wtime() - begin, residual)
        for name, request in requests.items():
            run = request.on(comm)
            run.reset()
            comm.Barrier()
            begin = MPI.Wtime()
            run.advance(ITERATIONS)
            taken = MPI.Wtime() - begin
            _note(comm, found, name, taken, run.diagnose().residual)
    return found


def _note(comm: MPI.Intracomm, found: dict[str, list[float]], name: str, seconds: float, residual: float) -> None:
    from tradewind.mpi import MPI

    found.setdefault(name, []).append(comm.allreduce(seconds, MPI.MAX))
    found.setdefault(f"residual {name}", []).append(residual)


def solvers() -> None:
    """Gflop/s of each solver, and the ratio to the loop in Nekbone's manner."""
    cores = min(2, len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        if (library := compiled(Path(folder), NX1)) is None:
            print("skipped: there is no C compiler")
            return
        found = job.run(cores, "nekbone:contest", {"library": str(library)})
    flops = (12 * NX1 + 34) * np.prod(ELEMENTS) * NX1**3 * ITERATIONS
    ends = {name: values[0] for name, values in found.items() if name.startswith("residual ")}
    if max(ends.values()) > (1 + 1e-6) * min(ends.values()):
        raise VerificationError(f"after {ITERATIONS} iterations the residuals differ: {ends}")
    base = statistics.median(found["in Nekbone's manner"])
    print(f"nekbone, {cores} ranks, {np.prod(ELEMENTS)} elements of {NX1}^3 a rank, deformed; Gflop/s of a rank:")
    for name, samples in found.items():
        if name.startswith("residual "):
            continue
        rate = flops / statistics.median(samples) / 1e9
        low, high = flops / max(samples) / 1e9, flops / min(samples) / 1e9
        print(
            f"  {name:>26}: {rate:.1f} ({low:.1f} to {high:.1f} of {len(samples)}), "
            f"{base / statistics.median(samples):.2f} times; goal: {GOAL}"
        )


def own_sums() -> None:
    """A rank's own copies of points, summed by lists and by strides, beside a copy of memory."""
    brick, team = Brick(NX1, ELEMENTS), _core.Team(1)
    offsets, places = groups_by_id(brick.ids())
    by_strides = brick.core_brick()
    values = np.zeros(brick.shape)
    source, target = np.zeros(COPIED), np.empty(COPIED)
    ways: dict[str, Callable[[], object]] = {
        "copy": lambda: np.copyto(target, source),
        "lists": lambda: _core.sum_by_lists(offsets, places, values, team),
        "strides": lambda: by_strides.sum_shared(values, team),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(51):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - begin)
    rate = 2 * source.nbytes / statistics.median(taken["copy"])
    print(
        f"own sums of {brick.count} elements of {NX1}^3, {len(places)} copies of shared points; "
        f"a copy of memory {rate / 1e9:.1f} GB/s"
    )
    for name in ("lists", "strides"):
        middle = statistics.median(taken[name])
        print(
            f"  by {name}: median {1e3 * middle:.3f} ms of 51, minimum {1e3 * min(taken[name]):.3f}; "
            f"{middle / len(places) * 1e9:.2f} ns per copy of a point, "
            f"in which memory moves {middle * rate / len(places):.0f} bytes"
        )


def nekbone() -> None:
    """A minute of an idle machine."""
    folders = [str(HERE), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    own_sums()
    solvers()


if __name__ == "__main__":
    sys.exit(nekbone())
