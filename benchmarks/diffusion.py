"""The compiled loop of the dwarf diffusion on one core, beside a memory copy, NumPy and Numba in the same run."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from turns import seconds

from tradewind import _core
from tradewind.dwarfs.diffusion import ALPHA, Diffusion
from tradewind.launch.dwarf import run

Array = Any
Step = Callable[[Array, Array], object]
SIZES = ((128, 128, 64), (1024, 1024, 64))
GOALS = {(128, 128, 64): "; goal: 1.4 Gpoint/s", (1024, 1024, 64): ""}
SLOW_SAMPLES, SAMPLES = 5, 30
TEAM = _core.Team()


def numpy_step(source: Array, target: Array) -> None:
    def laplacian(f: Array) -> Array:
        return (f[:, 1:-1, :-2] + f[:, 1:-1, 2:]) + (f[:, :-2, 1:-1] + f[:, 2:, 1:-1]) - 4 * f[:, 1:-1, 1:-1]

    target[:, 2:-2, 2:-2] = source[:, 2:-2, 2:-2] - ALPHA * laplacian(laplacian(source))


def numba_step() -> Step | None:
    """The same in two loops over a level, compiled by Numba; None where it is not installed."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit  # type: ignore[untyped-decorator]
    def step(source: Array, target: Array) -> None:
        nz, ny, nx = source.shape
        lap = np.empty((ny, nx), source.dtype)
        for z in range(nz):
            f = source[z]
            for y in range(1, ny - 1):
                for x in range(1, nx - 1):
                    lap[y, x] = (f[y, x - 1] + f[y, x + 1]) + (f[y - 1, x] + f[y + 1, x]) - 4 * f[y, x]
            for y in range(2, ny - 2):
                for x in range(2, nx - 2):
                    again = (lap[y, x - 1] + lap[y, x + 1]) + (lap[y - 1, x] + lap[y + 1, x]) - 4 * lap[y, x]
                    target[z, y, x] = f[y, x] - ALPHA * again

    return step


def our_step(source: Array, target: Array) -> None:
    nz, ny, nx = source.shape
    _core.diffuse(source, target, (slice(0, nz), slice(2, ny - 2), slice(2, nx - 2)), ALPHA, TEAM)


def dwarf() -> None:
    """The whole dwarf on as many ranks as there are cores, exchange and all: they share the memory's bandwidth."""
    cores = len(os.sched_getaffinity(0))
    print(f"the dwarf on {cores} ranks, one per core")
    for grid, goal in (((128, 128, 64), ""), ((1024, 1024, 64), "; goal: at least 0.6")):
        result = run(Diffusion(ranks=cores, grid=grid), 8, repeat=11)
        print(
            f"  {'x'.join(str(n) for n in grid)}: {result['points_per_s'] / cores / 1e9:.2f} Gpoint/s per core, "
            f"{1 / result['ratio_to_copy']:.2f} of a memory copy{goal}"
        )


def diffusion() -> None:
    """Goals of a quiet machine."""
    kernel()
    dwarf()


def kernel() -> None:
    """The compiled loop on one core, in CPU time."""
    steps: dict[str, Step] = {
        "memory copy": lambda source, target: np.copyto(target, source),
        "ours": our_step,
        "numpy": numpy_step,
    }
    if compiled := numba_step():
        steps["numba"] = compiled
    else:
        print("numba: skipped, it is not installed")
    for nx, ny, nz in SIZES:
        source = np.random.default_rng(1).random((nz, ny + 4, nx + 4))
        target = np.zeros_like(source)
        print(f"{nx}x{ny}x{nz} doubles, one core{GOALS[nx, ny, nz]}")
        taken = seconds(
            {name: partial(step, source, target) for name, step in steps.items()}, SAMPLES, {"numpy": SLOW_SAMPLES}
        )
        copy = min(taken["memory copy"])
        for name, samples in taken.items():
            median, minimum = statistics.median(samples), min(samples)
            print(
                f"  {name:>11}: median {1e3 * median:.2f} ms of {len(samples)}, minimum {1e3 * minimum:.2f} ms: "
                f"{nx * ny * nz / minimum / 1e9:.2f} Gpoint/s, {copy / minimum:.2f} of a memory copy"
            )
