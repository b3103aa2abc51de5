"""Loops of the dwarfs of limited areas, hirlam and bifourier, on one core beside a memory copy, in one run.

Bytes are the compulsory ones: each field read once, and each result written once.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from turns import seconds

from tradewind import _core
from tradewind.dwarfs.waves.plane_waves import mode_speeds

GRID = (512, 512, 40)
SAMPLES = 9
GOAL = 0.6


def stencils(precision: str) -> None:
    """Print the share of a copy's bandwidth that the stencils of hirlam reach."""
    nx, ny, nz = GRID
    random = np.random.default_rng(1)
    u, v, phi, after = (random.normal(size=(nz, ny + 2, nx + 2)).astype(precision) for _ in range(4))
    u_next, v_next, right = np.zeros_like(u), np.zeros_like(v), np.zeros((nz, ny, nx), precision)
    speeds, s, team = mode_speeds(nz), 1.35, _core.Team()
    loops: dict[str, tuple[int, Any]] = {
        "copy": (2, lambda: np.copyto(u_next, u)),
        "right-hand side": (4, lambda: _core.wave_right_side(u, v, phi, speeds, s, right, team)),
        "winds": (6, lambda: _core.wave_winds(u, v, phi, after, s, u_next, v_next, team)),
    }
    taken = seconds({name: loop for name, (_, loop) in loops.items()}, SAMPLES)
    rate = loops["copy"][0] / statistics.median(taken["copy"])
    print(f"  {precision}: a copy moves {rate * right.nbytes / 1e9:.1f} GB/s, read and written")
    for name, samples in taken.items():
        values, median = loops[name][0], statistics.median(samples)
        print(
            f"    {name}: median {1e3 * median:.1f} ms of {len(samples)}, minimum {1e3 * min(samples):.1f} ms; "
            f"{values} values per point, {values / median / rate:.2f} of the copy's bandwidth"
        )


def limited_area() -> None:
    """Print the figures of all loops."""
    print(f"stencils of hirlam, {'x'.join(map(str, GRID))}, one core; goal: {GOAL} of the copy's bandwidth or more")
    for precision in ("f8", "f4"):
        stencils(precision)


if __name__ == "__main__":
    limited_area()
