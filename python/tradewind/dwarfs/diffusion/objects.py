"""A halo exchange of Python objects, as a first program with mpi4py may have it; here to be measured beside a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.on_grid import GridDwarf
    from tradewind.mpi.library import Array

_Z, _Y, _X = 0, 1, 2


def exchange_objects(comm: MPI.Intracomm, split: tuple[int, int], width: int, field: Array) -> None:
    """Fill the halo of [z][y][x] fields, periodic in x and y, from the direct neighbours. Collective.

    The lowercase `sendrecv` of mpi4py makes bytes of an array (pickle), sends them, and makes a new array of what
    arrives. First along x, then along y with the halo of x, so that corners travel, too.
    """
    cx, cy = split
    row, column = divmod(comm.Get_rank(), cx)
    _swap(comm, field, width, _X, row * cx + (column - 1) % cx, row * cx + (column + 1) % cx)
    _swap(comm, field, width, _Y, (row - 1) % cy * cx + column, (row + 1) % cy * cx + column)


def _swap(comm: MPI.Intracomm, field: Array, width: int, axis: int, before: int, after: int) -> None:
    """Along one axis: the first own points go to the rank before, the last ones to the rank after."""

    def strip(start: int) -> tuple[slice, ...]:
        whole = [slice(None)] * 3
        whole[axis] = slice(start, start + width)
        return tuple(whole)

    end = field.shape[axis] - width
    field[strip(end)] = comm.sendrecv(field[strip(width)], dest=before, source=after)
    field[strip(0)] = comm.sendrecv(field[strip(end - width)], dest=after, source=before)


def object_problems(dwarf: GridDwarf, width: int) -> list[str]:
    """Return why a dwarf cannot exchange objects: these go between neighbours only, without a plan."""
    problems = [
        f"{name} {getattr(dwarf, name)!r}: the strategy objects has no plan; leave it out"
        for name in ("algorithm", "transport", "packing")
        if getattr(dwarf, name) is not None
    ]
    if dwarf.split is not None:
        smallest = min(points // parts for points, parts in zip(dwarf.grid, dwarf.split, strict=False))
        if width > smallest:
            problems.append(
                f"width {width}: with the strategy objects, up to {smallest}, the smallest part, is allowed"
            )
    return problems
