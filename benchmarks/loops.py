"""The time loop of the dwarf diffusion in three languages, exchange and all, in one run on this machine.

``fortran`` is benchmarks/fortran/diffusion.f90 (-O3 -march=native), ``compiled`` the dwarf itself (Python's time loop
over a compiled loop over points), ``numpy`` the same time loop over NumPy's arrays, as in Heeb, Koch & Zimmermann 2024.
All exchange the same halo by the same plan, and end with the same bits. They take turns, so that what disturbs the
machine disturbs all of them.

``python benchmarks/loops.py`` prints times and ratios; with ``--rows`` also the sweeps of kind "published" that
studies/hpc4wc2024/fortran.toml has of them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffusion import numpy_step
from languages import built

from tradewind import _core
from tradewind.base.errors import VerificationError
from tradewind.dwarfs.diffusion import REACH, Diffusion, DiffusionRun
from tradewind.dwarfs.frame.step import Kernel
from tradewind.launch import dwarf, job

if TYPE_CHECKING:
    from mpi4py import MPI

GRIDS = ((128, 128, 64), (512, 512, 64))
RANKS = (1, 2)
STRATEGIES = ("exchange", "overlap")
POINT_STEPS = 2**26
"""Points times steps of a sample: of 128 x 128 x 64 points 64 steps."""
FEWER_NUMPY_STEPS = 8
"""NumPy is measured with this many times fewer repetitions: it is that slow."""


class NumpyRun(DiffusionRun):
    """The dwarf whose loop over points is NumPy's."""

    def compute(self, kernel: Kernel, *arguments: Any, points: Any = "own", label: str = "") -> None:
        for z, y, x in self.places(points):
            wide = (z, slice(y.start - REACH, y.stop + REACH), slice(x.start - REACH, x.stop + REACH))
            numpy_step(self.field[wide], self.next[wide])


def numpy_loop(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Takes the steps on each rank. Collective; returns the seconds of the slowest rank and the largest value."""
    from tradewind.mpi import MPI

    running = NumpyRun(Diffusion(**payload["dwarf"]), comm, Diffusion(**payload["dwarf"]).box, "totals")
    samples_s = []
    for _ in range(payload["repeat"]):
        running.reset()
        comm.Barrier()
        begin = MPI.Wtime()
        running.advance(payload["steps"])
        samples_s.append(comm.allreduce(MPI.Wtime() - begin, MPI.MAX))
    return {"samples_s": samples_s, "maximum": running.diagnose().maximum}


def fortran_loop(program: Path, request: Diffusion, steps: int, repeat: int) -> dict[str, Any]:
    assert request.split is not None
    numbers = (*request.grid, request.split[0], steps, repeat)
    command = [*job.find_launcher().arguments(request.ranks), str(program), *map(str, numbers), str(request.strategy)]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return result


def compiled_loop(request: Diffusion, steps: int, repeat: int) -> dict[str, Any]:
    result = dwarf.run(request, steps, repeat=repeat)
    return {"samples_s": result["samples_s"], "maximum": result["maximum"]}


def contest(program: Path, request: Diffusion, rounds: int, few: int) -> dict[str, list[float]]:
    """Return the seconds per step of each loop. Raises VerificationError where as many steps end with other bits."""
    steps = max(2, POINT_STEPS // (request.grid[0] * request.grid[1] * request.grid[2]))
    slow = max(2, steps // FEWER_NUMPY_STEPS)
    step_s: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        payload = {"dwarf": asdict(request), "steps": slow, "repeat": few}
        results = {
            "fortran": (fortran_loop(program, request, steps, few), steps),
            "compiled": (compiled_loop(request, steps, few), steps),
            "numpy": (job.run(request.ranks, "loops:numpy_loop", payload), slow),
        }
        for name, (result, taken) in results.items():
            step_s[name] += [sample / taken for sample in result["samples_s"]]
        ends = {name: result["maximum"] for name, (result, taken) in results.items() if taken == steps}
        if len(set(ends.values())) > 1:
            raise VerificationError(f"after {steps * few} steps the largest values differ: {ends}")
    return step_s


def loops(rounds: int = 5, few: int = 3, rows: bool = False) -> None:
    """Some minutes on an idle machine."""
    if (program := built("diffusion_in_fortran")) is None:
        print("skipped: libtradewind or its Fortran module was not built (no MPI, or no gfortran)")
        return
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    medians: dict[tuple[str, str, tuple[int, int, int]], dict[int, float]] = defaultdict(dict)
    for grid in GRIDS:
        for ranks in RANKS:
            for strategy in STRATEGIES:
                found = contest(program, Diffusion(ranks=ranks, grid=grid, strategy=strategy), rounds, few)
                for name, step_s in found.items():
                    medians[name, strategy, grid][ranks] = statistics.median(step_s)
                print(line(grid, ranks, strategy, found))
    if rows:
        print("".join(sweep(*which, times) for which, times in sorted(medians.items())))


def line(grid: tuple[int, int, int], ranks: int, strategy: str, found: dict[str, list[float]]) -> str:
    base = statistics.median(found["compiled"])
    loops_of_run = ", ".join(
        f"{name} {1e3 * (middle := statistics.median(step_s)):.3f} ms ({1e3 * min(step_s):.3f} to "
        f"{1e3 * max(step_s):.3f} of {len(step_s)}; {middle / base:.2f} x compiled)"
        for name, step_s in found.items()
    )
    return f"{'x'.join(str(n) for n in grid)}, {ranks} ranks, {strategy}, per step: {loops_of_run}"


def sweep(name: str, strategy: str, grid: tuple[int, int, int], times: dict[int, float]) -> str:
    """A table of a study file."""
    points = "x".join(str(n) for n in grid)
    return f"""
[[sweep]]
name = "{name}, {strategy}, {points}"
kind = "published"
dwarf = "diffusion"
source = "benchmarks/loops.py --rows on {_core.cpu_name()}, {len(os.sched_getaffinity(0))} cores"
grid = "{points}"
strategy = "{strategy}"
ranks = {list(times)}
time = [{", ".join(f'"{1e6 * time:.1f}us"' for time in times.values())}]
"""


if __name__ == "__main__":
    loops(rows="--rows" in sys.argv[1:])
