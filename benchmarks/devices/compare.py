"""Tradewind on a device, in ten minutes at most; ``benchmarks/device.sh`` installs what this needs.

Prints figures of one run, with name and driver of the device, and keeps them as JSON. The simulated device rehearses it
at sizes that mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tradewind import launch
from tradewind.base.errors import TradewindError
from tradewind.device import SIMULATED
from tradewind.dwarfs.diffusion import Diffusion
from tradewind.dwarfs.mpdata import Mpdata
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
from tradewind.dwarfs.spherical_harmonics import SphericalHarmonics
from tradewind.launch.dwarf import run as run_dwarf

HERE = Path(__file__).parent
BUDGET_S = 540.0
"""A part begins only before; each takes a minute or less."""
NAIVE = 57.0
"""Times as fast as the naive loops, of MPDATA on a V100 (ESCAPE D3.4, Figure 15)."""
KEPT = ("wall_s", "steps", "ratio_to_copy", "device_copies", "energy_j")
"""Results of a run that are kept."""
METERED_S, MOST_STEPS = 4.0, 20_000
"""Seconds of steps whose joules are metered, and the most steps for them."""
Figures = dict[str, Any]


class Sizes:
    """Grids and steps: those of a device, or tiny ones."""

    def __init__(self, device: str) -> None:
        real = device != SIMULATED
        self.mesh, self.levels = ("O320", 60) if real else ("O8", 3)
        self.grid = (1024, 1024, 64) if real else (16, 16, 2)
        self.steps = 200 if real else 2
        self.plain_steps = 10 if real else 2
        self.checked = ((128, 96, 16), "O24", 8) if real else ((16, 12, 2), "O6", 2)
        self.copied_bytes = 2**28 if real else 2**16


def main() -> int:
    """Run all parts; 2 where there is no such device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("device-results.json"))
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
    sizes, began = Sizes(asked.device), time.monotonic()
    found: Figures = {}
    parts: dict[str, Callable[[str, int, Sizes], Figures]] = {
        "device": describe,
        "bits": bits,
        "copies": copies,
        "kernels": kernels,
        "steps": steps,
        "exchanges": exchanges,
    }
    for name, part in parts.items():
        if time.monotonic() - began > BUDGET_S:
            print(f"{name}: left out, no time is left")
            continue
        try:
            found[name] = part(asked.device, asked.ranks, sizes)
        except TradewindError as error:
            if name == "device":
                print(f"error: {error}", file=sys.stderr)
                return 2
            print(f"{name}: {error}")
            found[name] = {"error": str(error)}
    found["wall_s"] = time.monotonic() - began
    asked.results.write_text(json.dumps(found, indent=1) + "\n")
    print(f"all in {found['wall_s']:.0f} s; kept in {asked.results}")
    return 0


def describe(device: str, ranks: int, sizes: Sizes) -> Figures:
    """Name and driver."""
    found = launch.run(1, "on_ranks:describe", {"device": device}, timeout_s=120)
    print(f"{found['device']}; {ranks} ranks share it; MPI: {found['mpi']}")
    return found


def bits(device: str, ranks: int, sizes: Sizes) -> Figures:
    """Each dwarf on the device and on the host."""
    grid, mesh, levels = sizes.checked
    dwarfs = [
        ["diffusion", {"grid": grid, "strategy": "overlap"}],
        ["diffusion", {"grid": grid, "precision": "f4"}],
        ["mpdata", {"grid": mesh, "levels": levels, "limiter": True, "strategy": "renumbered"}],
        ["mpdata", {"grid": mesh, "levels": 4, "flow": "overturning", "tracer": "layer", "precision": "f4"}],
        ["semi_lagrangian", {"grid": (*grid[:2], 4), "tracers": 2, "strategy": "overlap"}],
        ["semi_lagrangian", {"grid": (36, 18, 4), "geometry": "sphere", "width": 20, "lift": 0.3}],
    ]
    found = {}
    for count in (1, ranks):
        for name, apart in launch.run(count, "on_ranks:bits", {"device": device, "dwarfs": dwarfs}, timeout_s=120):
            found[f"{name}, {count} ranks"] = apart
            print(f"bits: {name}, {count} ranks: {apart or 'those of the host'}")
    return found


def copies(device: str, ranks: int, sizes: Sizes) -> Figures:
    """Rates of copies within the device, and between it and the host."""
    found = {}
    for count in (1, ranks):
        rates = launch.run(count, "on_ranks:copies", {"device": device, "bytes": sizes.copied_bytes}, timeout_s=120)
        found[str(count)] = rates
        shown = ", ".join(f"{name} {rate / 1e9:.1f} GB/s" for name, rate in rates.items())
        print(f"copies per rank, {count} ranks at once: {shown}")
    return found


def kernels(device: str, ranks: int, sizes: Sizes) -> Figures:
    """Each kernel of MPDATA: share of the rate of copies, and distance from the naive loops (Figures 15 and 16)."""
    payload = {"device": device, "grid": sizes.mesh, "levels": sizes.levels, "samples": sizes.plain_steps}
    found = launch.run(1, "on_ranks:kernels", payload, timeout_s=300)
    print(f"kernels of MPDATA on {sizes.mesh} x {sizes.levels} levels, doubles, beside {found['copy'] / 1e9:.0f} GB/s:")
    for name, each in found["kernels"].items():
        print(
            f"  {name:>17}: {1e3 * each['seconds']:.3f} ms, {each['flops_per_byte']:.2f} flops per byte, "
            f"{each['flops_per_s'] / 1e9:.0f} Gflop/s, {100 * each['share']:.0f} % of the roofline"
        )
    print(f"  a step {found['times_as_fast']:.1f} times as fast as by the naive loops; {NAIVE:.0f} on ESCAPE's V100")
    return found


def steps(device: str, ranks: int, sizes: Sizes) -> Figures:
    """Steps, with what travels between ranks and host, and joules where they can be read."""
    mesh: dict[str, Any] = {"grid": sizes.mesh, "levels": sizes.levels, "device": device}
    dwarfs: list[tuple[str, Any, int]] = []
    for count in (1, ranks):
        dwarfs += [
            (f"mpdata, {count} ranks", Mpdata(count, **mesh, strategy="renumbered"), sizes.steps),
            (f"mpdata by the host, {count} ranks", Mpdata(count, **mesh, strategy="staged"), sizes.plain_steps),
            (f"diffusion, {count} ranks", Diffusion(count, grid=sizes.grid, device=device), sizes.steps),
            (
                f"semi_lagrangian, {count} ranks",
                SemiLagrangian(count, grid=sizes.grid, tracers=2, device=device),
                sizes.plain_steps,
            ),
        ]
    if device != SIMULATED:  # that has no transforms
        dwarfs += [
            (
                f"spherical_harmonics TCo639, {count} ranks",
                SphericalHarmonics(count, truncation=639, levels=16, device=device),
                10,
            )
            for count in (1, ranks)
        ]
    found = {}
    for name, dwarf, number in dwarfs:
        result = run_dwarf(dwarf, number)
        if name.startswith("mpdata,") and device != SIMULATED:  # again, as long as counters of joules need
            number = max(number, min(MOST_STEPS, int(METERED_S * number / result["wall_s"])))
            result = run_dwarf(dwarf, number)
        joules = result.get("energy_j")
        watts = "" if joules is None else f", {joules / result['wall_s']:.0f} W"
        found[name] = {key: result.get(key) for key in KEPT}
        print(
            f"{name}: {1e3 * result['wall_s'] / number:.3f} ms per step, {result['ratio_to_copy']:.1f} x copy, "
            f"{result['device_copies']['to_host_bytes'] // number} bytes to the host per step{watts}"
        )
    return found


def exchanges(device: str, ranks: int, sizes: Sizes) -> Figures:
    """An all-to-all of a field by host buffers, by device arrays, by pushes (Figures 3 and 4), and by NCCL."""
    payload = {"device": device, "grid": sizes.grid, "samples": sizes.plain_steps}
    found = launch.run(ranks, "on_ranks:exchanges", payload, timeout_s=120)
    for name, each in found.items():
        figure = each["error"] if "error" in each else f"{1e3 * each['seconds']:.3f} ms; {each['staging']}"
        print(f"transposition, {ranks} ranks, {name}: {figure}")
    return found


if __name__ == "__main__":
    sys.exit(main())
