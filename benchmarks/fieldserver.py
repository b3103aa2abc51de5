"""The field server: how long a model waits for it, and how fast it packs.

``python benchmarks/fieldserver.py NAME ...`` runs some of `PARTS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from outputs.beside import beside
from outputs.disks import disks
from outputs.in_c import in_c
from outputs.inputs import inputs
from outputs.packing import compression, grib

PARTS: dict[str, Callable[[], object]] = {
    "grib": lambda: grib(320, 20),
    "compression": lambda: [compression(320, 20, 1), compression(320, 2, 10)],
    "beside": lambda: beside(320, 20, 10, 0.2),
    "c": lambda: in_c(320, 20, 16, 0.2),
    "disks": lambda: disks(320, 20, 8, 2.0),
    "inputs": lambda: inputs(8, 0.5, 320, 20),
}


def fieldserver(*names: str) -> None:
    """Some parts, or all, at full size."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    if len(os.sched_getaffinity(0)) < 2:
        print("the goals are of 2 cores")
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    if unknown := [name for name in sys.argv[1:] if name not in PARTS]:
        sys.exit(f"unknown part {', '.join(unknown)} (known: {', '.join(PARTS)})")
    fieldserver(*sys.argv[1:])
