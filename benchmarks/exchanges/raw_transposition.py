"""Transpositions as a model would write them with mpi4py and NumPy, where contiguous blocks are sent and received
where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.mpi import MPI

Array = Any
Slices = tuple[slice, ...]


def blocks(mine: Sequence[Sequence[int]], others: Sequence[Sequence[Sequence[int]]]) -> list[Slices]:
    """Slices (z, y, x) of my array that each other rank has in the other layout."""
    found = []
    for other in others:
        ranges = zip(*mine, *other, strict=True)
        parts = [slice(max(b, ob) - b, min(e, oe) - b) for b, e, ob, oe in ranges]
        found.append(tuple(reversed(parts)))
    return found


class Side:
    """A rank's blocks for the other ranks, one after another in a buffer, or in the array where they lie so."""

    def __init__(self, array: Array, slices: Sequence[Slices]) -> None:
        self.views = [array[s] for s in slices]
        self.counts = [view.size for view in self.views]
        self.first = np.concatenate([[0], np.cumsum(self.counts)[:-1]]).tolist()
        together = all(view.flags.c_contiguous for view in self.views) and array.flags.c_contiguous
        self.buffer = array.reshape(-1) if together else np.empty(array.size, array.dtype)
        self.packed = not together

    def part(self, rank: int) -> Array:
        begin = self.first[rank]
        return self.buffer[begin : begin + self.counts[rank]]

    def pack(self, but: int = -1) -> None:
        for rank, view in enumerate(self.views):
            if self.packed and rank != but:
                self.part(rank).reshape(view.shape)[...] = view

    def unpack(self, but: int = -1) -> None:
        for rank, view in enumerate(self.views):
            if self.packed and rank != but:
                view[...] = self.part(rank).reshape(view.shape)


class Raw:
    """One transposition of one field. `source` and `target` are dense arrays (nz, ny, nx)."""

    def __init__(self, comm: MPI.Intracomm, pattern: _core.Transpose, source: Array, target: Array) -> None:
        self.comm, self.rank = comm, comm.Get_rank()
        before, after = pattern.from_layout, pattern.to_layout
        ranks = range(comm.Get_size())
        self.sent = blocks(before.box(self.rank), [after.box(r) for r in ranks])
        self.received = blocks(after.box(self.rank), [before.box(r) for r in ranks])
        self.source, self.target = source, target


class Alltoallv(Raw):
    """Packed by NumPy, MPI_Alltoallv."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.out, self.into = Side(self.source, self.sent), Side(self.target, self.received)

    def __call__(self) -> None:
        self.out.pack()
        self.comm.Alltoallv(
            [self.out.buffer, self.out.counts, self.out.first, MPI.DOUBLE],
            [self.into.buffer, self.into.counts, self.into.first, MPI.DOUBLE],
        )
        self.into.unpack()


class IsendIrecv(Alltoallv):
    """Packed by NumPy, one non-blocking message a peer; the own block is copied."""

    def __call__(self) -> None:
        others = [rank for rank in range(self.comm.Get_size()) if rank != self.rank]
        requests = [self.comm.Irecv(self.into.part(rank), rank) for rank in others]
        self.out.pack(but=self.rank)
        requests += [self.comm.Isend(self.out.part(rank), rank) for rank in others]
        self.into.views[self.rank][...] = self.out.views[self.rank]
        MPI.Request.Waitall(requests)
        self.into.unpack(but=self.rank)


class Alltoallw(Raw):
    """MPI_Alltoallw with subarray types, as in mpi4py-fft."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        ranks = self.comm.Get_size()
        self.message = [self._side(self.source, self.sent, ranks), self._side(self.target, self.received, ranks)]

    def _side(self, array: Array, slices: Sequence[Slices], ranks: int) -> list[Any]:
        types = [subarray(array, part) for part in slices]
        return [array, [1] * ranks, [0] * ranks, types]

    def __call__(self) -> None:
        self.comm.Alltoallw(*self.message)


class Floor(Raw):
    """No message: what leaves the rank is gathered in a buffer, what stays is copied to where it belongs."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        others = [self.source[part] for rank, part in enumerate(self.sent) if rank != self.rank]
        self.copies = [(np.empty(view.shape), view) for view in others]
        self.copies.append((self.target[self.received[self.rank]], self.source[self.sent[self.rank]]))

    def __call__(self) -> None:
        for into, view in self.copies:
            into[...] = view


def subarray(array: Array, part: Slices) -> MPI.Datatype:
    """The type of a box of doubles in a dense array."""
    sizes = [s.stop - s.start for s in part]
    starts = [s.start for s in part]
    return MPI.DOUBLE.Create_subarray(list(array.shape), sizes, starts).Commit()


PEERS = {
    "packed Alltoallv": Alltoallv,
    "packed isend-irecv": IsendIrecv,
    "Alltoallw of subarrays": Alltoallw,
}
