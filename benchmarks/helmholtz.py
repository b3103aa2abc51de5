"""Operator and preconditioner of the dwarf helmholtz on one core beside a memory copy, in one run.

Bytes are the compulsory ones: each factor and the field read once, the result written once.
``python benchmarks/helmholtz.py`` prints these; then each strategy of the dwarf, on all cores, and what of reductions
is hidden behind operator and preconditioner.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import numpy as np
from turns import seconds

from tradewind import _core
from tradewind.dwarfs.helmholtz import Helmholtz
from tradewind.dwarfs.helmholtz.operator import COLUMN, STENCIL, Atmosphere, blocked, columns, stencil
from tradewind.launch import job
from tradewind.launch.dwarf import run

GRID = (256, 128, 64)
SAMPLES = 9
GOAL = 0.7


def loops() -> None:
    """Print the share of a copy's bandwidth that operator and preconditioner reach."""
    nx, ny, nz = GRID
    factors = stencil(Atmosphere(GRID, 2000.0, 20000.0, 1500.0, 6.0, 1.0), ((0, 0, 0), GRID))
    solver, factors, team = blocked(columns(factors), rows_first=True), blocked(factors), _core.Team(1)
    field = np.random.default_rng(1).normal(size=(nz, ny + 2, nx + 2))
    right, out, solution = field[:, 1:-1, 1:-1].copy(), np.zeros((nz, ny, nx)), np.zeros((nz, ny, nx))
    target = np.empty_like(factors)
    number = right.nbytes
    moved = {
        "copy": 2 * factors.nbytes,
        "operator": (STENCIL + 2) * number,
        "columns": (COLUMN + 2) * number,
        "both": (STENCIL + COLUMN + 4) * number,
    }

    def operator() -> None:
        _core.helmholtz(field, factors, out, team)

    def preconditioner() -> None:
        _core.solve_columns(right, solver, solution, team)

    def both() -> None:
        preconditioner()
        operator()

    taken = seconds(
        {"copy": lambda: np.copyto(target, factors), "operator": operator, "columns": preconditioner, "both": both},
        SAMPLES,
    )
    rate = moved["copy"] / statistics.median(taken["copy"])
    print(f"  {nx}x{ny}x{nz}, one core; a copy moves {rate / 1e9:.1f} GB/s, read and written")
    for name, samples in taken.items():
        median = statistics.median(samples)
        share = moved[name] / median / rate
        print(
            f"  {name}: median {median * 1e3:.1f} ms of {len(samples)}, minimum {min(samples) * 1e3:.1f} ms; "
            f"{moved[name] // number * 8} bytes per point, {share:.2f} of the copy's bandwidth"
        )
    print(f"  goal: both at {GOAL} of the copy's bandwidth or more")


def strategies() -> None:
    """Print the time of an iteration of each strategy, on as many ranks as there are cores."""
    ranks = len(os.sched_getaffinity(0))
    for strategy in Helmholtz.strategies:
        dwarf = Helmholtz(ranks=ranks, grid=(128, 128, 64), strategy=strategy, rtol=0.0)
        result = run(dwarf, 1, repeat=5)
        parts = {row["part"]: row["median_s"] / result["iterations"] * 1e3 for row in result["parts"]}
        shown = ", ".join(f"{part} {time_ms:.2f}" for part, time_ms in parts.items() if time_ms >= 0.01)
        print(f"  {strategy}, {ranks} ranks, ms per iteration: {shown}; x copy {result['ratio_to_copy']:.2f}")


def hidden() -> None:
    """Print what is left of reductions behind operator and preconditioner, on as many ranks as there are cores."""
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    payload = {"grid": (256, 256, 32), "counts": (5, 2**20), "samples": SAMPLES}
    for line in job.run(len(os.sched_getaffinity(0)), "exchanges.hidden:hidden", payload):
        print(f"  {line}")


def helmholtz() -> None:
    """Print the figures of the loops, of the strategies, and of reductions that are hidden."""
    loops()
    strategies()
    hidden()


if __name__ == "__main__":
    helmholtz()
