"""Loops of the dwarfs of limited areas, hirlam and bifourier, on one core beside others, in one run.

The stencils of hirlam stand beside a memory copy: bytes are the compulsory ones, each field read once and each result
written once. The bi-Fourier transform stands beside scipy.fft, which has no truncation, and beside ecTrans's transform
of a limited area where ectrans4py is installed.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import scipy.fft
from turns import seconds

from tradewind import _core
from tradewind.dwarfs.waves.plane_waves import mode_speeds
from tradewind.spectral.bifourier import EllipticTruncation

GRID = (512, 512, 40)
SAMPLES = 9
GOAL = 0.6
AREAS = ((256, 256, 48), (600, 600, 24))
"""Points along x and y, and fields."""
GOAL_OF_SCIPY = 1.5


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


def transform(area: tuple[int, int, int], precision: str) -> None:
    """Print the time of the transform both ways, with quadratic truncation, beside that of others."""
    nx, ny, fields = area
    points = np.random.default_rng(2).normal(size=(fields, ny, nx)).astype(precision)
    kept, ours, team = EllipticTruncation((nx, ny)), _core.AreaTransform(nx, ny), _core.Team()
    limits, complex_type = kept.limits.tolist(), {"f4": "c8", "f8": "c16"}[precision]
    waves = np.empty((fields, ny, kept.m_largest + 1), complex_type)
    ellipse, back = np.empty((kept.coefficients, 1, fields), complex_type), np.empty_like(points)

    def by_tradewind() -> None:
        ours.to_waves(points, waves, 1 / nx, team)
        ours.to_ellipse(waves, limits, ellipse, 1 / ny, team)
        ours.from_ellipse(ellipse, limits, waves, team)
        ours.to_lines(waves, back, 1.0, team)

    def by_scipy() -> None:
        scipy.fft.irfft2(scipy.fft.rfft2(points, norm="forward"), s=(ny, nx), norm="forward")

    loops: dict[str, Any] = {"Tradewind": by_tradewind, "scipy.fft": by_scipy}
    if precision == "f8" and (loop := by_ectrans(points, kept)):
        loops["ecTrans"] = loop
    taken = seconds(loops, SAMPLES)
    base = statistics.median(taken["Tradewind"])
    print(f"  {nx}x{ny}, {fields} fields, {precision}; goal: scipy.fft takes {GOAL_OF_SCIPY} times as long or more")
    for name, samples in taken.items():
        median = statistics.median(samples)
        print(
            f"    {name}: median {1e3 * median / fields:.3f} ms a field, both ways, of {len(samples)}, minimum "
            f"{1e3 * min(samples) / fields:.3f} ms; {median / base:.2f} times Tradewind"
        )


def by_ectrans(points: Any, kept: EllipticTruncation) -> Any:
    """Return a loop of ecTrans, field by field, as ectrans4py has it; None where that is not installed."""
    try:
        import ectrans4py
    except ImportError:
        print("ecTrans: skipped, ectrans4py is not installed")
        return None
    ectrans4py.init_env(omp_num_threads=1)
    nx, ny = kept.grid
    shape, spacing = (nx, ny, nx - 11, ny - 11, kept.m_largest, kept.n_largest, 99), (2000.0, 2000.0)
    count = ectrans4py.etrans_inq4py(*shape, *spacing)[1]
    lines = points.reshape(len(points), -1)

    def loop() -> None:
        for field in lines:
            found = np.asarray(ectrans4py.gp2sp_lam4py(count, *shape, *spacing, False, field))
            ectrans4py.sp2gp_lam4py(*shape, count, False, False, *spacing, found)

    return loop


def limited_area() -> None:
    """Print the figures of all loops."""
    print(f"stencils of hirlam, {'x'.join(map(str, GRID))}, one core; goal: {GOAL} of the copy's bandwidth or more")
    for precision in ("f8", "f4"):
        stencils(precision)
    print("bi-Fourier transform, one core")
    for area in AREAS:
        for precision in ("f8", "f4"):
            transform(area, precision)


if __name__ == "__main__":
    limited_area()
