"""The dwarf semi_lagrangian: a whole step beside the interpolation of its tracers alone, on all cores in one run."""

from __future__ import annotations

import os
from typing import Any

from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
from tradewind.launch.dwarf import run

STEPS, REPEAT = 2, 5
GRIDS: dict[str, Any] = {"plane": (512, 512, 20), "sphere": (512, 512, 20), "octahedral": "O254x20"}
"""About as many points each."""
STRATEGIES = {
    "plane": ("wide", "overlap", "on-demand"),
    "sphere": ("on-demand",),
    "octahedral": ("wide", "on-demand"),
}
GOALS = {"plane": {1: 2.5, 10: 1.4}, "sphere": {1: 4.0, 10: 2.0}, "octahedral": {1: 4.0, 10: 2.0}}
"""Step over interpolation at most, by the number of tracers."""


def ratio(dwarf: SemiLagrangian) -> dict[str, Any]:
    """Seconds of a step, of its parts in the median rank, and their ratio."""
    result = run(dwarf, STEPS, repeat=REPEAT)
    parts = {row["part"]: row["median_s"] / STEPS for row in result["parts"]}
    interpolation = parts["compute-interpolation"]
    return {
        "step_s": result["wall_s"] / STEPS,
        "interpolation_s": interpolation,
        "ratio": result["wall_s"] / STEPS / interpolation,
        "parts": {name: seconds for name, seconds in parts.items() if seconds > 0 and name != "all"},
    }


def semi_lagrangian() -> None:
    """Each strategy on a plane, on demand on the sphere, both on an octahedral grid."""
    ranks = os.cpu_count() or 1
    print(f"{', '.join(map(str, GRIDS.values()))}, doubles, {ranks} ranks, 12 points, a Courant number of 2.5")
    for geometry, grid in GRIDS.items():
        for strategy in STRATEGIES[geometry]:
            for tracers, goal in GOALS[geometry].items():
                dwarf = SemiLagrangian(ranks, grid=grid, geometry=geometry, strategy=strategy, tracers=tracers)
                found = ratio(dwarf)
                values = dwarf.points / ranks
                print(
                    f"  {geometry}, {strategy}, {tracers} tracers: step {1e3 * found['step_s']:.1f} ms, interpolation "
                    f"{1e3 * found['interpolation_s']:.1f} ms ({1e9 * found['interpolation_s'] / values:.1f} ns per "
                    f"value): {found['ratio']:.2f} (goal: at most {goal})"
                )
                print("   ", ", ".join(f"{name} {1e3 * s:.1f}" for name, s in found["parts"].items()), "ms")
