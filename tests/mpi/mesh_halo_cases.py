"""Halos of today's grids on MPI ranks: what arrives is the number of the point, and lies where the sphere has it."""

from __future__ import annotations

from typing import Any

import numpy as np

import tradewind as tw
from tradewind import _core


def run(comm: Any, _: None) -> list[str]:
    """Return the problems of all ranks."""
    ranks, rank = comm.Get_size(), comm.Get_rank()
    problems = []
    cube = [(tw.CubedSphere(4), 2)] if ranks % 6 == 0 else []
    for grid, width in [("R1B2", 2), (tw.Tripolar(10, 7, "F", "v"), 1), *cube]:
        halo = tw.MeshHalo(grid, ranks, width)
        numbers, place = halo.ids(rank)
        expected = np.full(halo.of(rank).points, -1)
        expected[place] = numbers
        field, surface = np.empty((3, expected.size), np.int64), expected.copy()
        field[:] = expected + 1000 * np.arange(3)[:, None]
        each = halo.of(rank)
        own = [halo.ids(peer) for peer in range(ranks)]
        there = [dict(zip(places.tolist(), ids.tolist(), strict=True)) for ids, places in own]
        expected[each.place] = [there[o][i] for o, i in zip(each.owner.tolist(), each.index.tolist(), strict=True)]
        halo.on(comm).plan(comm, [field, surface])()  # three levels and one, in one message
        for level, found in enumerate([*field, surface]):
            beyond = 1000 * (level % 3)
            if not np.array_equal(found, np.where(expected < 0, -1, expected) + beyond):
                problems.append(f"{grid}, level {level}")
    problems += _layers(comm)
    return [problem for found in comm.allgather(problems) for problem in found]


def _layers(comm: Any) -> list[str]:
    """A halo of a grid of one level moves fields with three levels and with one."""
    layout = _core.Blocks(_core.Grid(6, 8, 1), (1, comm.Get_size()))
    halo = _core.Halo(layout, 1, [True, True])
    _, ny, nx = halo.source_shape(comm.Get_rank())
    deep, flat = np.full((3, ny, nx), -1.0), np.full((1, ny, nx), -1.0)
    for array in (deep, flat):
        array[:, 1:-1, 1:-1] = 10 * comm.Get_rank() + np.arange(len(array))[:, None, None]
    tw.plan(halo, comm, [deep, flat])()
    next_rank = (comm.Get_rank() + 1) % comm.Get_size()
    right = np.array_equal(deep[:, -1, 1], 10 * next_rank + np.arange(3)) and flat[0, -1, 1] == 10 * next_rank
    return [] if right else [f"layers: {deep[:, -1, 1]} and {flat[0, -1, 1]}"]
