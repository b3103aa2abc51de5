"""Closed forms of the exchanges on a network without congestion: alpha-beta."""

from __future__ import annotations

import math

import numpy as np
from choices import LEVELS

BANDWIDTH = 10e9
RADIX = 4
"""Radix of the ring, as in the studies."""
RADICES = (4, 21)
"""Radices of the allreduces of the studies."""
VALUE_BYTES = 8
LATENCIES = {"fattree-L": 0.8e-6, "dragonfly-ML": 1.2e-6}
"""Seconds of the longest way through a machine, NICs included, at 100 ns per link; Valiant's goes there twice."""
SAMPLES = LEVELS * np.geomspace(1, 3000, 40)
"""Levels at which a form that is no line is followed."""


def ring(levels: float, columns: int, split: tuple[int, int], latency_s: float) -> float:
    """Return the seconds of three transpositions by ring-4 of a grid of `columns` columns."""
    amount = levels * columns * VALUE_BYTES / (split[0] * split[1])
    legs = (split[0], split[1], split[0])
    return sum(-(-(n - 1) // RADIX) * latency_s + amount * (n - 1) / n / BANDWIDTH for n in legs)


def bruck(levels: float, columns: int, split: tuple[int, int], latency_s: float) -> float:
    """Return the same by bruck, whose stages each send half of what a rank has."""
    amount = levels * columns * VALUE_BYTES / (split[0] * split[1])
    legs = (split[0], split[1], split[0])
    return sum(math.ceil(math.log2(n)) * (latency_s + amount / 2 / BANDWIDTH) for n in legs)


def halo(levels: float, points: tuple[int, int], split: tuple[int, int], width: int, latency_s: float) -> float:
    """Return the seconds of a halo: in one stage, or in two sweeps if it is wide (10 points or more)."""
    block = [n / parts for n, parts in zip(points, split, strict=True)]
    columns = (block[0] + 2 * width) * (block[1] + 2 * width) - block[0] * block[1]
    return (2 if width >= 10 else 1) * latency_s + columns * levels * VALUE_BYTES / BANDWIDTH


def allreduce(ranks: int, latency_s: float) -> float:
    """Return the seconds of an allreduce of three numbers by the better radix, with a fold where ranks are no power."""

    def stages(radix: int) -> int:
        whole = 0
        while radix ** (whole + 1) <= ranks:
            whole += 1
        return whole if radix**whole == ranks else whole + 2

    return min(stages(k) * (latency_s + 3 * VALUE_BYTES * (k - 1) / BANDWIDTH) for k in RADICES)
