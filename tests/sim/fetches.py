"""Messages of any sizes between any ranks, as fetches of points, one step each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.machine import MachineFile

BYTES = 8
"""Bytes per point."""


def schedule(ranks: int, messages: Mapping[tuple[int, int], int]) -> _core.Schedule:
    """One stage in which each (sender, receiver) sends so many bytes, a multiple of 8; all at once."""
    maximum = max(messages.values()) // BYTES
    lists = []
    for rank in range(ranks):
        points = [(sender, size // BYTES) for (sender, receiver), size in sorted(messages.items()) if receiver == rank]
        owners = np.array([sender for sender, count in points for _ in range(count)], np.int64)
        indices = np.array([i for _, count in points for i in range(count)], np.int64)
        lists.append((owners, indices, np.arange(len(owners)), len(owners)))
    return _core.make_schedule(_core.Fetch([maximum] * ranks, lists), "direct")


def simulated(
    file: MachineFile,
    ranks: int,
    steps: Sequence[Mapping[tuple[int, int], int]],
    *,
    threads: int = 1,
    finite: bool = False,
    placement: _core.Placement | None = None,
    **options: Any,
) -> _core.SimulationResult:
    """Return the result of the core for the steps one after another, one rank per node."""
    built = file.machine.build()
    program = _core.Program([_core.Step(str(i), schedule(ranks, step), 1) for i, step in enumerate(steps)], BYTES)
    chosen = _core.SimulationOptions(
        packet_bytes=file.machine.packet.size, threads=threads, finite_buffers=finite, **options
    )
    place = placement or _core.Placement("linear", ranks, 1, built.nodes, 1)
    return _core.simulate_packets(built, program, place, chosen)
