"""Redistributions that MPI ranks carry out, each compared with the same points of a whole array in NumPy."""

from __future__ import annotations

import itertools
import traceback
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError

GRID = (9, 6, 8)
METHODS = [(entry.name, packing) for entry in _core.transports() for packing in entry.packings if not entry.on_devices]
NATIVE = (_core.all_to_all_transport, "buffer")
even = _core.Parts.even


def layouts(ranks: int) -> dict[str, _core.Product]:
    """Layouts of one grid, with several runs per rank and with ranks that own nothing."""
    nx, ny, nz = GRID
    grid = _core.Grid(*GRID)
    snake = np.abs((np.arange(nx) % (2 * ranks)) - ranks + 0.5).astype(np.int32)  # 0 1 2 2 1 0 0 1 ...
    servers = max(1, ranks - 2)
    cuts = np.array([0, *sorted((ny * 3 * k // ranks) % (ny + 1) for k in range(1, ranks)), ny])
    return {
        "blocks": _core.Product(_core.Blocks(grid, (ranks, 1))),
        "cut": _core.Product(grid, [even(nx, 1), _core.Parts.cut(cuts), even(nz, 1)], (-1, 0, -1), 0, ranks, "cut"),
        "snake": _core.Product(
            grid, [_core.Parts.dealt(snake, ranks), even(ny, 1), even(nz, 1)], (0, -1, -1), 0, ranks, "snake"
        ),
        "whole": _core.Product(
            grid,
            [even(nx, 1), even(ny, 1), _core.Parts.dealt(np.arange(nz, dtype=np.int32) % servers, servers)],
            (-1, -1, 0),
            ranks - servers,
            ranks,
            "whole",
        ),
    }


def lined(named: dict[str, _core.Product]) -> dict[str, _core.Product]:
    """The same layouts of lines of different lengths."""
    begins, ends = np.array([0, 2, 1, 0, 3, 0, 5, 1]), np.array([6, 6, 3, 1, 3, 2, 6, 4])
    return {f"{name} in lines": layout.in_lines(begins, ends) for name, layout in named.items()}


def cases(ranks: int) -> list[tuple[str, str, str, str, str]]:
    """Before, after, algorithm, transport, packing: every pair of layouts, and every way with some pair."""
    named = layouts(ranks)
    named |= lined(named)
    pairs = itertools.cycle(
        [*itertools.permutations(layouts(ranks), 2), *itertools.permutations(lined(layouts(ranks)), 2)]
    )
    chosen = []
    for algorithm in ("ring-1", "ring-2", "burst", "pairwise", "bruck", "two-level-1", "two-level-2", "native"):
        for method in METHODS:
            before, after = next(pairs)
            pattern = _core.Redistribution(named[before], named[after])
            if algorithm == "native":
                if method == NATIVE:
                    chosen += [(*pair, algorithm, *method) for pair in itertools.permutations(lined(layouts(ranks)), 2)]
                continue
            try:
                schedule = _core.make_schedule(pattern, algorithm)
            except InputError:  # a radix beyond the rounds of few ranks, senders that are not the receivers
                continue
            if not _core.transport_refusal(schedule, *method):
                chosen.append((before, after, algorithm, *method))
    return chosen


def part(layout: _core.Product, rank: int, field: int) -> np.ndarray:
    """A rank's array, cut out of the whole one by the boxes that it owns."""
    shape = tuple(layout.grid.points)[::-1]
    whole = np.arange(np.prod(shape), dtype="f8").reshape(shape) + 1000 * field
    if not layout.boxes(rank):
        return np.empty(layout.shape(rank))
    taken = np.zeros((3, max(shape)), bool)
    for begin, end in layout.boxes(rank):
        for axis in range(3):
            taken[axis, begin[axis] : end[axis]] = True
    x, y, z = (np.flatnonzero(along) for along in taken)
    return whole[np.ix_(z, y, x)]


def run(comm: Any, payload: None) -> dict[str, str]:
    """Carries out all cases; by name what went wrong on any rank, "" where nothing did."""
    from tradewind.mpi import plan

    named = layouts(comm.Get_size())
    named |= lined(named)
    found = {}
    for case in cases(comm.Get_size()):
        before, after, algorithm, transport, packing = case
        pattern = _core.Redistribution(named[before], named[after])
        fields, wanted = ([part(named[name], comm.Get_rank(), f) for f in range(2)] for name in (before, after))
        targets = [np.full_like(array, -1) for array in wanted]
        problem = ""
        try:
            plan(pattern, comm, fields, targets, algorithm=algorithm, transport=transport, packing=packing)()
            if not all((got == right).all() for got, right in zip(targets, wanted, strict=True)):
                problem = "other values"
        except Exception:
            problem = traceback.format_exc()
        found[" ".join(case)] = "".join(comm.allgather(problem))
    return found
