"""Transpositions between layouts as a model makes them, with arrays of the shapes that it has."""

from __future__ import annotations

from typing import Any

import numpy as np

import tradewind as tw
from tradewind.layout.closed import own_ids, snake
from tradewind.points import redistribution

NX, NY, NZ = 6, 10, 4


def run(comm: Any, payload: None) -> list[str]:
    """Carries out all cases; the names of those in which some rank had other values than the whole array."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    grid = tw.Grid(NX, NY, NZ)
    rows, bands = tw.Blocks(grid, (1, ranks)), tw.Bands(grid, ranks)
    whole = tw.Whole(grid, ranks, max(1, ranks - 1))
    waves = tw.Wavenumbers(grid, snake(NX, ranks))
    lists = tw.Lists([np.arange(r, NX * NY * NZ, ranks)[::-1] for r in range(ranks)])
    wrong = []

    def values(layout: Any, shape: Any) -> np.ndarray[Any, Any]:
        return own_ids(layout, rank).astype("f8").reshape(shape)

    def check(name: str, made: Any, source: np.ndarray[Any, Any], target: np.ndarray[Any, Any], right: Any) -> None:
        made.plan(comm, source, target)()
        if not comm.allreduce(bool(np.array_equal(target, right)), op=min_of):
            wrong.append(name)

    from mpi4py import MPI

    min_of = MPI.LAND
    points = bands.shape(rank)[2]
    flat = values(bands, (NZ, points))
    check("rows to bands", tw.Transpose(rows, bands), values(rows, rows.shape(rank)), got := np.zeros_like(flat), flat)
    back = np.zeros((2 * rows.shape(rank)[0], *rows.shape(rank)[1:]))[::2]  # every second level of a larger array
    check("bands to rows", tw.Transpose(rows, bands).adjoint(), got, back, values(rows, rows.shape(rank)))
    inner = np.zeros((points, NZ)).T  # levels innermost
    check("levels innermost", tw.Transpose(rows, bands), values(rows, rows.shape(rank)), inner, flat)
    fields = values(whole, whole.shape(rank))
    check("bands to whole", tw.Transpose(bands, whole), flat, kept := np.zeros_like(fields), fields)
    check(
        "whole to waves",
        tw.Transpose(whole, waves),
        kept,
        held := np.zeros(waves.shape(rank)),
        right := values(waves, waves.shape(rank)),
    )
    own = values(lists, -1)
    check("waves to lists", tw.Transpose(waves, lists), held.ravel(), found := np.zeros_like(own), own)
    check("lists to waves", redistribution(comm, lists.ids(rank), waves), found, held.ravel(), right.ravel())
    check("bands to lists", redistribution(comm, bands, lists), flat.ravel(), found, own)
    return wrong


def gaps(comm: Any, payload: None) -> str:
    """Return the error for rows that do not follow each other in memory, where bands of them are wanted."""
    grid, rank, ranks = tw.Grid(NX, NY, NZ), comm.Get_rank(), comm.Get_size()
    rows, bands = tw.Blocks(grid, (1, ranks)), tw.Bands(grid, ranks)
    wide = np.zeros((*rows.shape(rank)[:2], NX + 1))[:, :, :NX]
    try:
        tw.Transpose(rows, bands).plan(comm, wide, np.zeros(bands.shape(rank)))
    except tw.InputError as error:
        return str(error)
    return ""
