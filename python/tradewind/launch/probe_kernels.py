"""Rates of the kernels of dwarfs on one core, for a machine file."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from tradewind.dwarfs import find
from tradewind.dwarfs.frame.dwarf import PRECISIONS
from tradewind.dwarfs.frame.step import COMPUTE
from tradewind.machine.computing import rate_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpi4py import MPI

    from tradewind.dwarfs.frame.dwarf import Dwarf

_GRID = (120, 144, 60)
SIZES: dict[str, dict[str, Any]] = {
    "diffusion": {"grid": _GRID},
    "spherical_harmonics": {"truncation": 63, "levels": 12},
    "mpdata": {"grid": "O36", "levels": 20},
    "bifourier": {"grid": _GRID},
    "hirlam": {"grid": _GRID},
    "helmholtz": {"grid": _GRID, "rtol": 0.0, "iterations": 4},
    "semi_lagrangian": {"grid": _GRID},
    "nekbone": {"elements": (2, 4, 8)},
}
"""Other shapes than those that `tradewind run` takes, with about as many points: as many bytes in the caches."""
_MIN_SAMPLES = 3


class Timed(Protocol):
    """The part of a run that is timed, see `tradewind.dwarfs.frame.running.Running`."""

    def advance(self, steps: int) -> None:
        """Take steps."""

    def reset(self) -> None:
        """Begin to count seconds anew."""

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each part since `reset`."""


def kernel_rates(together: MPI.Intracomm | None = None) -> dict[str, float]:
    """Return the flops per second of each kernel of the dwarfs in either precision, on one core of this rank.

    The flops are those of the program that is simulated, the seconds those that a run of one rank counts as computing:
    the fewest of some samples. `together`: ranks that all do so at the same time, each by itself; the rates are those
    of the slowest one, on all of them.
    """
    from tradewind.mpi.library import MPI

    found: dict[str, float] = {}
    for kind, precision in product(SIZES, PRECISIONS):
        dwarf = find(kind)(1, precision=precision, **SIZES[kind])
        running = dwarf.on(MPI.COMM_SELF)
        if together is not None:
            together.Barrier()
        found |= rates_of(dwarf, running)
    if together is None:
        return found
    every = together.allgather(found)
    return {kernel: min(rates[kernel] for rates in every) for kernel in found}


def rates_of(dwarf: Dwarf, running: Timed, for_s: float = 1.0) -> dict[str, float]:
    """Return the rates of a dwarf on one rank, from samples that together take `for_s` seconds or more."""
    flops: dict[str, float] = defaultdict(float)
    for compute in dwarf.program().computes:
        if compute.flops:
            flops[compute.kernel] += compute.flops * compute.points_of(0) * compute.repeat
    best = dict.fromkeys(flops, math.inf)
    running.advance(dwarf.steps_per_round)
    end, samples = perf_counter() + for_s, 0
    while samples < _MIN_SAMPLES or perf_counter() < end:
        running.reset()
        running.advance(dwarf.steps_per_round)
        for kernel, seconds in _by_kernel(dwarf, running.seconds(), flops).items():
            best[kernel] = min(best[kernel], seconds)
        samples += 1
    return {kernel: flops[kernel] / best[kernel] for kernel in flops}


def _by_kernel(dwarf: Dwarf, parts: Mapping[str, float], kernels: Mapping[str, float]) -> dict[str, float]:
    """Seconds by kernel: those of the part of its name, or all that a dwarf computes which no other kernel names."""
    found: dict[str, float] = defaultdict(float)
    for part, seconds in parts.items():
        if part.startswith(COMPUTE):
            own, other = (
                rate_name(name, dwarf.precision) for name in (dwarf.kind + part.removeprefix(COMPUTE), dwarf.kind)
            )
            found[own if own in kernels else other] += seconds
    return {kernel: seconds for kernel, seconds in found.items() if kernel in kernels and seconds > 0}
