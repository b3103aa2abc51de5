"""Real exchanges beside their peers: mpi4py with NumPy, derived types, GHEX, a memory copy, a plan's own floor.

``python benchmarks/exchange.py NAME ...`` runs some of `COMPARISONS`. As many ranks as the goals are meant for; run it
where each has a core of its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from tradewind.launch import bench, job
from tradewind.workload.exchange import Exchange

HIRLAM = (602, 568, 60)

# Name: ranks, function, payload.
COMPARISONS: dict[str, tuple[int, str, dict[str, Any]]] = {
    "call": (1, "exchanges.call:call", {"samples": 15, "calls": 100_000}),
    "memory": (2, "exchanges.call:memory", {"width": 2, "calls": 1000}),
    "transposition": (2, "exchanges.transposition:transposition", {"edge": 256, "few": 7, "samples": 25}),
    "redistribution": (
        2,
        "exchanges.redistribution:redistribution",
        {"grid": "602x568x60", "path": "xy-zy-zx-zy-xy", "few": 5, "samples": 15},
    ),
    "redistribution-all": (
        2,
        "exchanges.redistribution:redistribution",
        {"grid": "602x568x60", "path": "xy-z-x-z-xy", "few": 5, "samples": 15},
    ),
    "halo": (2, "exchanges.halo:halo", {"grid": [128, 128, 64], "repeat": 10, "few": 15, "samples": 51}),
    "fields": (
        2,
        "exchanges.fields:fields",
        {"halo": [128, 128, 64], "transpose": [128, 128, 128], "repeat": 5, "samples": 25},
    ),
    "fetch": (
        2,
        "exchanges.fetch:fetch",
        {"grid": [128, 128, 64], "width": 2, "points": 100_000, "levels": 60, "repeat": 5, "samples": 15},
    ),
    "gather-scatter": (
        2,
        "exchanges.gather_scatter:gather_scatter",
        {"elements": [8, 8, 4], "points": 8, "repeat": 50, "samples": 21},
    ),
    "pokes": (2, "exchanges.pokes:pokes", {"count": 1_000_000, "compute_s": 12e-3, "samples": 21}),
    "ahead": (4, "exchanges.ahead:ahead", {"edge": 256, "samples": 25}),
}


def exchange() -> None:
    """Everything: a few minutes."""
    hirlam()
    for name in COMPARISONS:
        compare(name)


def compare(name: str, **other: Any) -> None:
    """Prints the figures of one comparison. `other`: what its payload has else."""
    ranks, function, payload = COMPARISONS[name]
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    print(f"\n-- {name}")
    for line in job.run(ranks, function, payload | other):
        print(line)


def hirlam() -> None:
    """HIRLAM's grid: transposition of a slab and halo, ours and the MPI library's own."""
    for request in (
        Exchange("transpose", 2, HIRLAM, (2, 1), slab="xz", algorithm="ring-1"),
        Exchange("halo", 2, HIRLAM, (2, 1), width=3, periodic="xy", algorithm="sweep"),
    ):
        native = ["native"] if request.pattern == "transpose" else ["direct"]
        result = bench(request, [str(request.algorithm), *native], ["isend-irecv"], ["buffer"], repeat=20)
        for row in result["results"]:
            print(
                f"{request.pattern:>9} {row['algorithm']:>7}: median {row['median_s'] * 1e3:.2f} ms, "
                f"minimum {row['min_s'] * 1e3:.2f} ms; {row['ratio_to_copy']:.2f} x memory copy, "
                f"{row['ratio_to_floor']:.2f} x pack and local copy"
            )


if __name__ == "__main__":
    if unknown := [name for name in sys.argv[1:] if name not in COMPARISONS]:
        sys.exit(f"unknown comparison {', '.join(unknown)} (known: {', '.join(COMPARISONS)})")
    for chosen in sys.argv[1:] or COMPARISONS:
        compare(chosen)
