"""Flops that stand for those of a model, and their rate on one core."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tradewind.workload.arrays import Array

_POINTS = 4096
"""Values, which fit the first or second cache of a core."""
_SAMPLES, _TIMES = 100, 250


def values() -> Array:
    """Return an array to do flops on."""
    return np.linspace(0.5, 1.5, _POINTS)


def do_flops(values: Array, flops: int) -> None:
    """Multiply and add, in double precision."""
    for _ in range(-(-flops // (2 * _POINTS))):
        values = values * 0.999 + 0.001


def measure_flops() -> float:
    """Return the flops per second of `do_flops` on one core, in the fastest of many short samples."""
    array, flops, seconds = values(), 2 * _POINTS * _TIMES, []
    for _ in range(_SAMPLES):
        begin = perf_counter()
        do_flops(array, flops)
        seconds.append(perf_counter() - begin)
    return flops / min(seconds)
