"""Tradewind's own speed: ``make benchmark``, or ``python benchmarks/run.py NAME ...`` (see `PARTS`).
``million``, an hour long, and ``replay``, a quarter of one, run only where they are named.

Prints figures of one run on this machine, each with the number of samples, median and spread, and ratios where there
is something to compare with. Run it on an idle machine: two spinning threads on two busy cores measure the others.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from diffusion import diffusion
from exchange import exchange
from fieldserver import fieldserver
from helmholtz import helmholtz
from languages import languages
from limited_area import limited_area
from loops import loops
from million import million
from models import models
from mpdata import mpdata
from nekbone import nekbone
from peer import peer
from precision import precision
from replay import replay
from reports import reports
from semi_lagrangian import semi_lagrangian
from simulator import simulator
from skip import skip
from small_cases import small_cases
from spectral import spectral
from threads import threads

from tradewind import _core

BIN = Path(sys.executable).parent


def startup() -> None:
    """``tradewind --help``, as a user waits for it."""
    samples = []
    for _ in range(10):
        begin = time.perf_counter()
        subprocess.run([BIN / "tradewind", "--help"], check=True, stdout=subprocess.DEVNULL)
        samples.append(time.perf_counter() - begin)
    print(
        f"tradewind --help: median {statistics.median(samples):.3f} s of {len(samples)}, minimum {min(samples):.3f} s"
    )
    print("  goal: below 0.3 s")


def copy_rate() -> float:
    """Bytes that one core copies in a second, out of cache."""
    source = np.ones(32 * 1024 * 1024 // 8)
    target = np.empty_like(source)
    best = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - begin)
    return source.nbytes / best


PARTS: dict[str, Callable[[], None]] = {
    "simulator": simulator,
    "startup": startup,
    "exchange": exchange,
    "languages": languages,
    "limited_area": limited_area,
    "diffusion": diffusion,
    "helmholtz": helmholtz,
    "fieldserver": fieldserver,
    "loops": loops,
    "million": million,
    "models": models,
    "mpdata": mpdata,
    "nekbone": nekbone,
    "peer": peer,
    "precision": precision,
    "replay": replay,
    "reports": reports,
    "semi_lagrangian": semi_lagrangian,
    "skip": skip,
    "small_cases": small_cases,
    "spectral": spectral,
    "threads": threads,
}


LONG = ("million", "replay")


def main() -> None:
    names = sys.argv[1:] or [name for name in PARTS if name not in LONG]
    if unknown := [name for name in names if name not in PARTS]:
        sys.exit(f"unknown benchmark {', '.join(unknown)} (known: {', '.join(PARTS)})")
    load = os.getloadavg()[0]
    print(f"{_core.cpu_name()}, {os.cpu_count()} cores, load {load:.2f}; one core copies {copy_rate() / 1e9:.1f} GB/s")
    for name in names:
        print(f"\n== {name}")
        PARTS[name]()


if __name__ == "__main__":
    main()
