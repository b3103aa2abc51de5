"""Time steps of dwarfs in single precision beside those in double precision, on one core, in one run.

``python benchmarks/precision.py [DWARF ...]`` prints for each the time of a step in single precision over that in
double precision, where both take turns, and how far the states lie apart after the same steps from the same start:
the largest difference over the largest value. ``transform`` is the spherical-harmonics transform alone.
"""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from turns import seconds

from tradewind.dwarfs import find
from tradewind.dwarfs.frame.dwarf import PRECISIONS
from tradewind.spectral import SpectralTransform

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradewind.dwarfs.frame.running import Running

SAMPLES = 9
CASES: dict[str, dict[str, Any]] = {
    "diffusion": {"grid": (128, 128, 64)},
    "helmholtz": {"grid": (64, 64, 64), "rtol": 0.0, "iterations": 20},
    "mpdata": {"grid": "O48", "levels": 32},
    "spherical_harmonics": {"truncation": 159, "levels": 16},
    "bifourier": {"grid": (128, 128, 32)},
    "hirlam": {"grid": (128, 128, 64)},
    "nekbone": {"elements": (8, 8, 4), "deformation": 0.1},
    "semi_lagrangian": {"grid": (128, 128, 64)},
}
"""Options of each dwarf that has both precisions: fields that are larger than the caches of a core."""
STEPS = 8
"""Steps of a sample, and those before the states are compared."""


def beside(name: str, options: dict[str, Any], samples: int = SAMPLES) -> tuple[float, float, float]:
    """Return median seconds per step in single and in double precision, and the distance of their states."""
    from tradewind.mpi.library import MPI

    runs: dict[str, Running] = {
        precision: find(name)(1, precision=precision, **options).on(MPI.COMM_SELF) for precision in PRECISIONS
    }
    for run in runs.values():
        run.reset()
        run.advance(STEPS)
    single, double = (np.asarray(run.gathered()) for run in runs.values())
    apart = float(np.abs(single - double).max() / np.abs(double).max())

    def steps_of(run: Running) -> Callable[[], None]:
        return lambda: run.advance(STEPS)

    taken = seconds({precision: steps_of(run) for precision, run in runs.items()}, samples)
    single_s, double_s = (statistics.median(taken[precision]) / STEPS for precision in PRECISIONS)
    return single_s, double_s, apart


def transform(grid: str = "O160", fields: int = 64, samples: int = SAMPLES) -> None:
    """Print the time of both directions of the spherical-harmonics transform, and how far fields lie apart."""
    made, random = SpectralTransform(grid), np.random.default_rng(1)
    shape = (made.truncation.coefficients, fields)
    double = random.normal(size=shape) + 1j * random.normal(size=shape)
    single = double.astype(np.complex64)
    points, floats = made.to_grid(double), made.to_grid(single)
    apart = float(np.abs(floats - points).max() / np.abs(points).max())
    loops = {
        "to_grid f4": lambda: made.to_grid(single, floats),
        "to_grid f8": lambda: made.to_grid(double, points),
        "to_spectral f4": lambda: made.to_spectral(floats, single),
        "to_spectral f8": lambda: made.to_spectral(points, double),
    }
    median = {name: statistics.median(taken) for name, taken in seconds(loops, samples).items()}
    for way in ("to_grid", "to_spectral"):
        single_s, double_s = (median[f"{way} {precision}"] / fields for precision in PRECISIONS)
        medians = f"{single_s * 1e3:.2f} and {double_s * 1e3:.2f} ms per field, CPU time, medians of {samples}"
        print(f"  {way} on {grid}, {fields} fields: f4 {single_s / double_s:.2f} x f8 ({medians})")
    print(f"    fields {apart:.1e} of the largest value apart")


def precision(*names: str) -> None:
    """Print the figures of some dwarfs, and of the transform; of all unless named."""
    for name in names or (*CASES, "transform"):
        if name == "transform":
            transform()
            continue
        options = CASES[name]
        single_s, double_s, apart = beside(name, options)
        shown = ", ".join(f"{key} {value}" for key, value in options.items())
        medians = f"{single_s * 1e3:.2f} and {double_s * 1e3:.2f} ms per step, CPU time, medians of {SAMPLES}"
        print(f"  {name}, {shown}: f4 {single_s / double_s:.2f} x f8 ({medians})")
        print(f"    after {STEPS} steps {apart:.1e} of the largest value apart")


if __name__ == "__main__":
    precision(*sys.argv[1:])
